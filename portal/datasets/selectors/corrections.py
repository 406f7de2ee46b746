"""Accepted disputes as corrections of gold: what each changes, and what becomes of the facts of a
release when they are applied to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from portal.datasets.models import Dataset, Dispute, Release
from portal.datasets.publishing.change_notes import code

from .dispute_notes import unsettled_disputes

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
