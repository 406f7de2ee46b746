"""What accepted disputes change in the gold of the next release, and what its notes say of them.

`note_disputes` and `settle_disputes` are called when a release is frozen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from portal.datasets.models import Dataset, Dispute, Document, Release, ReleaseItem
from portal.datasets.releases.publishing.diff import code

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


CHANGE, REMOVE, ADD = "change", "remove", "add"
BY_HAND = "it has no correction that can be applied; change the gold by hand"

Fact = dict[str, Any]


@dataclass(frozen=True)
class PlannedCorrection:
    """An accepted dispute and what it does to the gold of a release; `reason` says why nothing."""

    dispute: Dispute
    words: str
    reason: str = ""

    @property
    def applies(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Corrections:
    """The facts of the items that are corrected, by name, and every accepted dispute."""

    facts: dict[str, list[Fact]] = field(default_factory=dict)
    planned: list[PlannedCorrection] = field(default_factory=list)


def corrections_for(release: Release) -> Corrections:
    """What the accepted disputes that no release has settled make of this release's gold."""
    disputes = list(unsettled_disputes(release.dataset))
    names = {dispute.item.name for dispute in disputes}
    items = release.items.filter(name__in=names).only("name", "facts")
    found = Corrections({item.name: list(item.facts) for item in items})
    touched: set[str] = set()
    for dispute in disputes:
        name = dispute.item.name
        reason = _apply(dispute, found.facts.get(name))
        found.planned.append(PlannedCorrection(dispute, correction_words(dispute), reason))
        if not reason:
            touched.add(name)
    kept = {name: facts for name, facts in found.facts.items() if name in touched}
    return Corrections(kept, found.planned)


def planned_corrections(dataset: Dataset) -> list[PlannedCorrection]:
    """For the newest release of the dataset; none while there is no release."""
    newest = dataset.releases.order_by("-pk").first()
    return corrections_for(newest).planned if newest else []


def correction_words(dispute: Dispute) -> str:
    """What the correction of a dispute does, in words; empty where it has none."""
    correction = dispute.correction
    if not correction:
        return ""
    was = disputed_fact(dispute)
    before = f"{was['type']} {code(was['value'])}" if was else ""
    after = f"{correction.get('type')} {code(str(correction.get('value')))}"
    if correction["act"] == REMOVE:
        return f"remove {before}"
    return f"add {after}" if correction["act"] == ADD else f"change {before} to {after}"


def disputed_fact(dispute: Dispute) -> Fact | None:
    facts: Iterable[Fact] = dispute.item.facts
    return next((fact for fact in facts if fact["n"] == dispute.fact), None)


def _apply(dispute: Dispute, facts: list[Fact] | None) -> str:
    """Changes the list; says why it does not."""
    correction = dispute.correction
    if not correction:
        return BY_HAND
    if facts is None:
        return "the release has no such item"
    was = disputed_fact(dispute)
    place = next((n for n, fact in enumerate(facts) if was and _same(fact, was)), None)
    if correction["act"] != ADD and place is None:
        return "the fact is not there as it was disputed"
    rest = [fact for n, fact in enumerate(facts) if n != place]
    if correction["act"] == REMOVE:
        facts[:] = rest
        return ""
    new = {key: correction[key] for key in ("type", "value", "start", "end")}
    if clash := overlapping(rest, new["start"], new["end"]):
        return f"it would overlap the fact {code(clash['value'])}"
    facts[:] = [*rest, new]
    return ""


def overlapping(facts: Sequence[Fact], start: int, end: int) -> Fact | None:
    return next((fact for fact in facts if fact["start"] < end and start < fact["end"]), None)


def _same(fact: Fact, other: Fact) -> bool:
    return all(fact[key] == other[key] for key in ("type", "value", "start", "end"))


def note_disputes(release: Release, rows: Sequence[ReleaseItem]) -> list[Dispute]:
    """The disputes that a release about to be frozen settles by its items; its notes name each.

    What its draft named already is not said twice. Runs in the transaction that freezes, with the
    dataset locked.
    """
    gold = {row.name: NewGold(row.sha256, row.facts) for row in rows}
    settled = settled_by(gold, unsettled_disputes(release.dataset))
    missing = [dispute for dispute in settled if dispute_mark(dispute) not in release.notes]
    if missing:
        release.notes = "\n\n".join(
            part for part in (release.notes.strip(), dispute_notes(missing)) if part
        )
    return settled


def settle_disputes(settled: Sequence[Dispute], release: Release) -> None:
    """Points them at the release, once that is stored."""
    Dispute.objects.filter(pk__in=[dispute.pk for dispute in settled]).update(settled_in=release)
