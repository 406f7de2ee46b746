"""What the notes of a release say of the disputes it settles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from portal.datasets.models import Dataset, Dispute, Document
from portal.datasets.publishing.change_notes import code

# So many are told of one by one.
MOST_TOLD = 200
LONGEST_CLAIM = 500
MOST_NAMED = 10
_HEADING = "### Disputes settled"


@dataclass(frozen=True)
class NewGold:
    """The gold of an item in a coming release: its hash and its facts, as ReleaseItem has them."""

    sha256: str
    facts: Sequence[Mapping[str, Any]] = ()


def unsettled_disputes(dataset: Dataset) -> QuerySet[Dispute]:
    """Accepted ones of the dataset's releases that no later release has settled, oldest first."""
    accepted = Dispute.objects.filter(
        item__release__dataset=dataset, state=Dispute.State.ACCEPTED, settled_in=None
    )
    return accepted.select_related("item__release").defer("item__gold").order_by("pk")


def settled_by(gold: Mapping[str, NewGold], disputes: Iterable[Dispute]) -> list[Dispute]:
    """Those whose gold is another one in a release with this gold, by the items' names.

    A missing item settles what was disputed in it. Where one fact was disputed, it is unsettled as
    long as this fact is there as it was, whatever else changed in the item.
    """
    return [dispute for dispute in disputes if _is_changed(dispute, gold.get(dispute.item.name))]


def _is_changed(dispute: Dispute, now: NewGold | None) -> bool:
    was = dispute.item
    if now is None:
        return True
    if now.sha256 == was.sha256:
        return False
    disputed = [_place(fact) for fact in was.facts if fact["n"] == dispute.fact]
    return not any(fact in disputed for fact in map(_place, now.facts))


def _place(fact: Mapping[str, Any]) -> tuple[Any, ...]:
    """A fact without its number, which moves with the facts before it."""
    return tuple(fact[key] for key in ("type", "value", "start", "end"))


def unsettled_warning(dataset: Dataset) -> str:
    """What those who have just frozen a release should know; empty if there is nothing."""
    waiting = [
        f"{dispute.pk} ({dispute.item.name})"
        for dispute in unsettled_disputes(dataset)[:MOST_NAMED]
    ]
    if not waiting:
        return ""
    more = unsettled_disputes(dataset).count() - len(waiting)
    named = ", ".join(waiting) + (f" and {more:,} more" if more else "")
    return f"Accepted disputes stay unsettled, for their gold is as it was: {named}."


def dispute_notes(disputes: Sequence[Dispute]) -> str:
    """What the notes of a release say of them, in Markdown; empty for none.

    Notes are read by everybody: where the gold is hidden, they say that and no more.
    """
    if not disputes:
        return ""
    documents = [dispute.item.document_id for dispute in disputes if dispute.item.document_id]
    hidden = Document.objects.filter(pk__in=documents).hidden()
    closed = set(hidden.values_list("pk", flat=True))
    lines = [_line(dispute, closed) for dispute in disputes[:MOST_TOLD]]
    if len(disputes) > MOST_TOLD:
        lines.append(f"- and {len(disputes) - MOST_TOLD:,} more")
    return "\n".join([_HEADING, "", *lines]) + "\n"


def dispute_mark(dispute: Dispute) -> str:
    """By which notes are known to tell of it."""
    return f"Dispute {dispute.pk}:"


def _line(dispute: Dispute, closed: set[int]) -> str:
    item = dispute.item
    start = f"- {dispute_mark(dispute)} {code(item.name, longest=len(item.name))}"
    if not item.release.opens(item.split) or item.document_id in closed:
        return f"{start}, the gold is hidden"
    what = "as a whole" if dispute.fact is None else f"fact {dispute.fact}"
    return f"{start}, {what}: {code(dispute.claim, longest=LONGEST_CLAIM)}"
