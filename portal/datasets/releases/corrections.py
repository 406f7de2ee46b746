"""The corrections that accepted disputes make to the gold of the next release, and its notes.

`note_disputes` and `settle_disputes` are called when a release is frozen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from portal.datasets.models import Dataset, Dispute, Document, Release, ReleaseItem
from portal.datasets.releases.publishing.diff import code

# Disputes that the notes list; the rest are counted.
MOST_LISTED = 200
LONGEST_CLAIM = 500
MOST_NAMED = 10
_HEADING = "### Resolved disputes"


def unsettled_disputes(dataset: Dataset) -> QuerySet[Dispute]:
    """Accepted disputes of the dataset that no later release has settled, oldest first."""
    accepted = Dispute.objects.filter(
        item__release__dataset=dataset, state=Dispute.State.ACCEPTED, settled_in=None
    )
    return accepted.select_related("item__release").defer("item__gold").order_by("pk")


def settled_by(rows: Iterable[ReleaseItem], disputes: Iterable[Dispute]) -> list[Dispute]:
    """The disputes whose gold changes in a release with these items.

    A removed item settles its disputes. A dispute of one fact stays unsettled while that fact is
    unchanged, even if the rest of the item changes.
    """
    by_name = {row.name: row for row in rows}
    return [dispute for dispute in disputes if _is_changed(dispute, by_name.get(dispute.item.name))]


def _is_changed(dispute: Dispute, now: ReleaseItem | None) -> bool:
    was = dispute.item
    if now is None:
        return True
    if now.sha256 == was.sha256:
        return False
    disputed = [_place(fact) for fact in was.facts if fact["n"] == dispute.fact]
    return not any(fact in disputed for fact in map(_place, now.facts))


def _place(fact: Mapping[str, Any]) -> tuple[Any, ...]:
    """A fact without its number, which changes with the facts before it."""
    return tuple(fact[key] for key in ("type", "value", "start", "end"))


def unsettled_warning(dataset: Dataset) -> str:
    """A warning about accepted disputes that are still unsettled; empty if there are none."""
    waiting = [
        f"{dispute.pk} ({dispute.item.name})"
        for dispute in unsettled_disputes(dataset)[:MOST_NAMED]
    ]
    if not waiting:
        return ""
    more = unsettled_disputes(dataset).count() - len(waiting)
    named = ", ".join(waiting) + (f" and {more:,} more" if more else "")
    return f"These accepted disputes are not resolved, because their gold has not changed: {named}."


def dispute_notes(disputes: Sequence[Dispute]) -> str:
    """The section of the release notes about these disputes, in Markdown; empty for none.

    Notes are public, so they show neither item nor claim where the gold is hidden.
    """
    if not disputes:
        return ""
    documents = [dispute.item.document_id for dispute in disputes if dispute.item.document_id]
    hidden = Document.objects.filter(pk__in=documents).hidden()
    closed = set(hidden.values_list("pk", flat=True))
    lines = [_line(dispute, closed) for dispute in disputes[:MOST_LISTED]]
    if len(disputes) > MOST_LISTED:
        lines.append(f"- and {len(disputes) - MOST_LISTED:,} more")
    return "\n".join([_HEADING, "", *lines]) + "\n"


def dispute_mark(dispute: Dispute) -> str:
    """The text by which a dispute is found in notes."""
    return f"Dispute {dispute.pk}:"


def _line(dispute: Dispute, closed: set[int]) -> str:
    item = dispute.item
    if not item.release.opens(item.split) or item.document_id in closed:
        return f"- {dispute_mark(dispute)} the gold is hidden"
    start = f"- {dispute_mark(dispute)} {code(item.name, longest=len(item.name))}"
    what = "whole item" if dispute.fact is None else f"fact {dispute.fact}"
    return f"{start}, {what}: {code(dispute.claim, longest=LONGEST_CLAIM)}"


CHANGE, REMOVE, ADD = "change", "remove", "add"
BY_HAND = "no correction can be applied; correct the gold manually"

Fact = dict[str, Any]


@dataclass(frozen=True)
class PlannedCorrection:
    """An accepted dispute and its effect on the gold; `reason` says why it has none."""

    dispute: Dispute
    words: str
    reason: str = ""

    @property
    def applies(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Corrections:
    """The facts of corrected items by name, and all accepted disputes."""

    facts: dict[str, list[Fact]] = field(default_factory=dict)
    planned: list[PlannedCorrection] = field(default_factory=list)


def corrections_for(release: Release) -> Corrections:
    """Applies the accepted, unsettled disputes to the gold of this release."""
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
    """The corrections for the newest release of the dataset; empty without a release."""
    newest = dataset.releases.order_by("-pk").first()
    return corrections_for(newest).planned if newest else []


def correction_words(dispute: Dispute) -> str:
    """The correction of a dispute as text; empty if it has none."""
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
    """Changes the list in place; returns the reason if it cannot."""
    correction = dispute.correction
    if not correction:
        return BY_HAND
    if facts is None:
        return "the release has no such item"
    was = disputed_fact(dispute)
    place = next((n for n, fact in enumerate(facts) if was and _place(fact) == _place(was)), None)
    if correction["act"] != ADD and place is None:
        return "the disputed fact is no longer in the gold"
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


def note_disputes(release: Release, rows: Sequence[ReleaseItem]) -> list[Dispute]:
    """Returns the disputes that a release settles and adds them to its notes.

    Skips disputes that the notes already name. Runs in the transaction that freezes, with the
    dataset locked.
    """
    settled = settled_by(rows, unsettled_disputes(release.dataset))
    missing = [dispute for dispute in settled if dispute_mark(dispute) not in release.notes]
    if missing:
        release.notes = "\n\n".join(
            part for part in (release.notes.strip(), dispute_notes(missing)) if part
        )
    return settled


def settle_disputes(settled: Sequence[Dispute], release: Release) -> None:
    """Marks the disputes as settled in the release, once that is stored."""
    Dispute.objects.filter(pk__in=[dispute.pk for dispute in settled]).update(settled_in=release)
