"""Which figures of a grading a reader may see.

A phase may round its scores, publish them later, or publish the scores of a public part of its
items while it is open and those of the private part after it closes. Organisers see everything.
Figures that would undo the rounding or the split are left out: counts, figures of subsets, and
scores of individual items.

No one can find out which items are in which part. They are drawn with a secret of the phase, so the
draw is repeatable. Each subset, task or document type contributes the same share.
"""

import hmac
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, TypeVar

from django.utils import timezone

from portal.accounts.access import is_organiser
from scoring.access import Viewer, are_scores_shown, is_rounding
from scoring.benchmarks import Column, View
from scoring.figures import columns_of, show
from scoring.models import Entry, Grading, Phase, Window

from .columns import BoardColumn

PUBLIC, PRIVATE, ALL = "public", "private", "all"
PARTS = {PUBLIC: "Public part", PRIVATE: "Private part", ALL: "All items"}
# Gold fields that define the strata. Missing fields make no difference.
_STRATA = ("gold__subset", "gold__task", "document__doc_type")


def shown_part(phase: Phase, now: datetime) -> str:
    """Return the part whose scores are shown now: the private part from the closing time on."""
    return PRIVATE if phase.window(now) == Window.CLOSED else PUBLIC


def public_count(total: int, share: int) -> int:
    """Return the number of public items: `share` percent, rounded half up, at least one in each
    part.

    >>> public_count(10, 25), public_count(3, 1), public_count(3, 99)
    (3, 1, 2)
    """
    return min(max((total * share + 50) // 100, 1), total - 1)


def public_items(phase: Phase, release: int) -> frozenset[int]:
    """Return the keys of the public items of this release, or of all items if the phase has no
    parts. One query."""
    items = phase.items_of(release)
    rows: list[tuple[Any, ...]] = list(items.values_list("pk", "name", *_STRATA))
    if phase.public_share is None or len(rows) < 2:
        return frozenset(row[0] for row in rows)
    rows.sort(key=lambda row: (_stratum(row), _place(phase.part_salt, row[1])))
    left, places = public_count(len(rows), phase.public_share), len(rows)
    drawn: set[int] = set()
    for _, members in groupby(rows, key=_stratum):
        stratum = list(members)
        # Carry the rounding remainder to the next strata, so that the sum is exact.
        here = round(left * len(stratum) / places)
        drawn.update(row[0] for row in stratum[:here])
        left, places = left - here, places - len(stratum)
    return frozenset(drawn)


def _stratum(row: tuple[Any, ...]) -> list[str]:
    return [str(value or "") for value in row[2:]]


def _place(salt: str, name: str) -> str:
    return hmac.digest(salt.encode(), name.encode(), "sha256").hex()


# More decimals than any column shows.
ALL_DECIMALS = 20
AnyColumn = TypeVar("AnyColumn", Column, BoardColumn)


def as_shown(user: Viewer, phase: Phase, grading: Grading) -> Grading:
    """Return the grading with the figures that this user may see. Do not save it."""
    shown = copy(grading)
    if not are_scores_shown(user, phase):
        shown.scores, shown.counts, shown.subsets = {}, {}, {}
    elif is_shown_in_parts(user, phase):
        scores = grading.parts.get(shown_part(phase, timezone.now()), {})
        shown.scores = rounded_scores(phase, scores)
        shown.counts, shown.subsets = {}, {}
    elif is_rounding(user, phase):
        shown.scores = rounded_scores(phase, grading.scores)
        shown.counts, shown.subsets = {}, {}
    return shown


def is_shown_in_parts(user: Viewer, phase: Phase) -> bool:
    """Whether the user sees the scores of one part only. Organisers see both parts and the
    total."""
    return phase.has_parts and not is_organiser(user)


def shows_exact_scores(user: Viewer, phase: Phase) -> bool:
    """Whether the user sees unrounded scores over all items."""
    return (
        are_scores_shown(user, phase)
        and not is_rounding(user, phase)
        and not is_shown_in_parts(user, phase)
    )


def part_words(phase: Phase, part: str) -> str:
    """Describe in a sentence which items a part counts. Empty if the phase has no parts."""
    if not phase.has_parts:
        return ""
    if part == PUBLIC:
        return (
            f"Scores cover the public part of the phase, {phase.public_share}% of its items. "
            "Scores for the other items are published when the phase closes."
        )
    if part == PRIVATE:
        return (
            "Scores cover the private part of the phase: all items except the "
            f"{phase.public_share}% whose scores were published while it was open."
        )
    return "Scores cover all items, public and private."


def shown_scores(phase: Phase, grading: Grading) -> dict[str, Any]:
    """Return the scores of a new leaderboard entry. For a phase in parts, those of the public
    part."""
    return rounded_scores(
        phase, grading.parts.get(PUBLIC, {}) if phase.has_parts else grading.scores
    )


def shown_parts(phase: Phase, grading: Grading) -> dict[str, dict[str, Any]]:
    """Return the scores by part that an entry stores, so that a phase can close automatically."""
    if not phase.has_parts:
        return {}
    parts = {**grading.parts, ALL: grading.scores}
    return {part: rounded_scores(phase, scores) for part, scores in parts.items()}


def entry_as_shown(entry: Entry, phase: Phase | None, now: datetime, *, part: str = "") -> Entry:
    """Return the entry with the scores that are shown now, or those of `part`. Do not save it."""
    if phase is not None and phase.has_parts and entry.is_graded:
        entry.scores = entry.parts.get(part or shown_part(phase, now), {})
    return entry


def rounded_scores(phase: Phase, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Round scores to the phase's number of decimals of a percentage, if it has one.

    Scores are rates in [0, 1], so one decimal of a percentage is the third decimal of the rate.
    Counts are left out, because they would undo the rounding.
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
    """Whether the view is hidden, because the phase rounds scores and the view only has counts."""
    return (
        view is not None
        and phase.score_decimals is not None
        and all(column.is_count for column in view.columns)
    )


def shown_views(phase: Phase, views: Iterable[View]) -> tuple[View, ...]:
    """Return the views that are not withheld, each with `shown_columns`."""
    return tuple(
        replace(view, columns=shown_columns(phase, view.columns))
        for view in views
        if not is_withheld(phase, view)
    )


def shown_columns(phase: Phase, columns: tuple[AnyColumn, ...]) -> tuple[AnyColumn, ...]:
    """Limit the columns' decimals to those that the phase shows."""
    return tuple(
        replace(column, decimals=min(column.decimals, shown_decimals(phase, column.unit)))
        for column in columns
    )


def shown_decimals(phase: Phase, unit: str) -> int:
    """Return the number of decimals that `rounded_scores` leaves; for percentages two fewer."""
    places = ALL_DECIMALS if phase.score_decimals is None else phase.score_decimals
    return places if unit == "%" else places + 2


@dataclass(frozen=True)
class PartFigure:
    """A headline figure of a submission, over the items of each part and over all."""

    label: str
    help: str
    public: str
    private: str
    both: str


def part_figures(phase: Phase, grading: Grading) -> list[PartFigure]:
    """Return the headline figures by part. Empty if the phase has no parts."""
    if not phase.has_parts:
        return []
    scores = {**grading.parts, ALL: grading.scores}
    columns = columns_of(phase.board.spec, grading.options)
    return [
        PartFigure(
            label=column.label,
            help=column.help,
            public=_shown(column, scores, PUBLIC),
            private=_shown(column, scores, PRIVATE),
            both=_shown(column, scores, ALL),
        )
        for column in columns
        if column.headline
    ]


def _shown(column: Column, scores: Mapping[str, Mapping[str, Any]], part: str) -> str:
    value = scores.get(part, {}).get(column.key)
    return show(value, unit=column.unit, decimals=column.decimals)


def shown_part_words(user: Viewer, phase: Phase) -> str:
    """Describe which items the figures count that this user sees."""
    part = shown_part(phase, timezone.now()) if is_shown_in_parts(user, phase) else ALL
    return part_words(phase, part)
