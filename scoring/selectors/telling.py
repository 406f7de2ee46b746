"""What of a grading's figures a reader is told: a hidden phase may round them, tell them later, or
tell those of a part of its items while it is open and those of the others once it has closed.

Organisers read everything. Where figures are rounded or those of a part, whatever could undo that
is left out: counts, figures of subsets, and the scores of single items.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from django.utils import timezone

from portal.accounts.access import is_organiser
from scoring.access import Viewer, are_scores_told, is_rounding
from scoring.benchmarks import Column, View
from scoring.models import Entry, Grading, Phase

from .headings import BoardColumn
from .parts import ALL, PRIVATE, PUBLIC, told_part

# More than any column shows.
ALL_DECIMALS = 20
AnyColumn = TypeVar("AnyColumn", Column, BoardColumn)


def as_told(user: Viewer, phase: Phase, grading: Grading) -> Grading:
    """The grading with the figures that this reader may know. It must not be saved."""
    shown = copy(grading)
    if not are_scores_told(user, phase):
        shown.scores, shown.counts, shown.subsets = {}, {}, {}
    elif is_told_in_parts(user, phase):
        scores = grading.parts.get(told_part(phase, timezone.now()), {})
        shown.scores = rounded_scores(phase, scores)
        shown.counts, shown.subsets = {}, {}
    elif is_rounding(user, phase):
        shown.scores = rounded_scores(phase, grading.scores)
        shown.counts, shown.subsets = {}, {}
    return shown


def is_told_in_parts(user: Viewer, phase: Phase) -> bool:
    """Whether the user reads the scores of one part alone; organisers read both, and all."""
    return phase.has_parts and not is_organiser(user)


def part_words(phase: Phase, part: str) -> str:
    """What the figures of a part count, in a sentence; empty where the phase has none."""
    if not phase.has_parts:
        return ""
    if part == PUBLIC:
        return (
            f"These figures count the public part, {phase.public_share} % of the items. The "
            "others count once the phase has closed."
        )
    if part == PRIVATE:
        return (
            f"These figures count the private part: the items without the {phase.public_share} % "
            "whose scores were told before the phase closed."
        )
    return "These figures count all items, the public and the private part together."


def told_scores(phase: Phase, grading: Grading) -> dict[str, Any]:
    """What of a grading's scores its entry on the leaderboard has at first: of a phase in parts
    those of the public one."""
    return rounded_scores(
        phase, grading.parts.get(PUBLIC, {}) if phase.has_parts else grading.scores
    )


def told_parts(phase: Phase, grading: Grading) -> dict[str, dict[str, Any]]:
    """The scores by part that an entry keeps, so that a phase can close without anybody's help."""
    if not phase.has_parts:
        return {}
    parts = {**grading.parts, ALL: grading.scores}
    return {part: rounded_scores(phase, scores) for part, scores in parts.items()}


def entry_as_told(entry: Entry, phase: Phase | None, now: datetime, *, part: str = "") -> Entry:
    """The entry with the scores that are told now, or those of `part`. It must not be saved."""
    if phase is not None and phase.has_parts and entry.kind == Entry.Kind.GRADED:
        entry.scores = entry.parts.get(part or told_part(phase, now), {})
    return entry


def rounded_scores(phase: Phase, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Scores to as many decimals of a percentage as the phase tells; as they are if it does not.

    A score is a rate in [0, 1], so that one decimal of a percentage is the third of the rate. What
    is no rate but a count is left out, since it would undo the rounding.
    """
    if phase.score_decimals is None:
        return dict(scores)
    places = phase.score_decimals + 2
    counts = phase.counting_figures
    return {
        key: None if value is None else round(value, places)
        for key, value in scores.items()
        if key not in counts
    }


def is_withheld(phase: Phase, view: View | None) -> bool:
    """Whether the phase tells nothing of a view, because it rounds and the view only counts."""
    return (
        view is not None
        and phase.score_decimals is not None
        and all(column.is_count for column in view.columns)
    )


def told_views(phase: Phase, views: Iterable[View]) -> tuple[View, ...]:
    """The views that the phase tells anything of, each with `told_columns`."""
    return tuple(
        replace(view, columns=told_columns(phase, view.columns))
        for view in views
        if not is_withheld(phase, view)
    )


def told_columns(phase: Phase, columns: tuple[AnyColumn, ...]) -> tuple[AnyColumn, ...]:
    """The columns with no more decimals than the phase tells, so that none looks measured that was
    rounded away."""
    return tuple(
        replace(column, decimals=min(column.decimals, told_decimals(phase, column.unit)))
        for column in columns
    )


def told_decimals(phase: Phase, unit: str) -> int:
    """How many decimals a figure has after `rounded_scores`; a percentage has two fewer."""
    places = ALL_DECIMALS if phase.score_decimals is None else phase.score_decimals
    return places if unit == "%" else places + 2
