"""What a reader may see of a grading's figures.

A phase may round its scores, publish them later, or publish those of one part of its items while it
is open and those of the other part once it has closed. Organisers see everything. Where figures are
rounded or count one part, whatever could undo that is left out: counts, figures of subsets, and the
scores of single items.

Nobody learns which items are in which part. A secret of the phase draws them, the same ones each
time. The public part has its share of every subset, task or kind of document.
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
from scoring.models import Entry, Grading, Phase, Window

from .columns import BoardColumn
from .figures import columns_of, show

PUBLIC, PRIVATE, ALL = "public", "private", "all"
PARTS = {PUBLIC: "Public part", PRIVATE: "Private part", ALL: "All items"}
# What the strata are made by; where the gold has no such field it makes no difference.
_STRATA = ("gold__subset", "gold__task", "document__doc_type")


def shown_part(phase: Phase, now: datetime) -> str:
    """The part whose scores are told now: from the closing instant on the private one."""
    return PRIVATE if phase.window(now) == Window.CLOSED else PUBLIC


def public_count(total: int, share: int) -> int:
    """How many items are public: `share` percent, rounded half up, at least one in each part.

    >>> public_count(10, 25), public_count(3, 1), public_count(3, 99)
    (3, 1, 2)
    """
    return min(max((total * share + 50) // 100, 1), total - 1)


def public_items(phase: Phase, release: int) -> frozenset[int]:
    """Keys of the items of the public part, in the release with this key; of all items where the
    phase has no parts. One query."""
    items = phase.items_of(release)
    rows: list[tuple[Any, ...]] = list(items.values_list("pk", "name", *_STRATA))
    if phase.public_share is None or len(rows) < 2:
        return frozenset(row[0] for row in rows)
    rows.sort(key=lambda row: (_stratum(row), _place(phase.part_salt, row[1])))
    left, places = public_count(len(rows), phase.public_share), len(rows)
    drawn: set[int] = set()
    for _, members in groupby(rows, key=_stratum):
        stratum = list(members)
        # What rounding takes from one stratum the next ones get, so that the sum is exact.
        here = round(left * len(stratum) / places)
        drawn.update(row[0] for row in stratum[:here])
        left, places = left - here, places - len(stratum)
    return frozenset(drawn)


def _stratum(row: tuple[Any, ...]) -> list[str]:
    return [str(value or "") for value in row[2:]]


def _place(salt: str, name: str) -> str:
    return hmac.digest(salt.encode(), name.encode(), "sha256").hex()


# More than any column shows.
ALL_DECIMALS = 20
AnyColumn = TypeVar("AnyColumn", Column, BoardColumn)


def as_shown(user: Viewer, phase: Phase, grading: Grading) -> Grading:
    """The grading with the figures that this reader may know. It must not be saved."""
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


def shown_scores(phase: Phase, grading: Grading) -> dict[str, Any]:
    """What of a grading's scores its entry on the leaderboard has at first: of a phase in parts
    those of the public one."""
    return rounded_scores(
        phase, grading.parts.get(PUBLIC, {}) if phase.has_parts else grading.scores
    )


def shown_parts(phase: Phase, grading: Grading) -> dict[str, dict[str, Any]]:
    """The scores by part that an entry keeps, so that a phase can close without anybody's help."""
    if not phase.has_parts:
        return {}
    parts = {**grading.parts, ALL: grading.scores}
    return {part: rounded_scores(phase, scores) for part, scores in parts.items()}


def entry_as_shown(entry: Entry, phase: Phase | None, now: datetime, *, part: str = "") -> Entry:
    """The entry with the scores that are told now, or those of `part`. It must not be saved."""
    if phase is not None and phase.has_parts and entry.kind == Entry.Kind.GRADED:
        entry.scores = entry.parts.get(part or shown_part(phase, now), {})
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


def shown_views(phase: Phase, views: Iterable[View]) -> tuple[View, ...]:
    """The views that the phase tells anything of, each with `shown_columns`."""
    return tuple(
        replace(view, columns=shown_columns(phase, view.columns))
        for view in views
        if not is_withheld(phase, view)
    )


def shown_columns(phase: Phase, columns: tuple[AnyColumn, ...]) -> tuple[AnyColumn, ...]:
    """The columns with no more decimals than the phase tells, so that none looks measured that was
    rounded away."""
    return tuple(
        replace(column, decimals=min(column.decimals, shown_decimals(phase, column.unit)))
        for column in columns
    )


def shown_decimals(phase: Phase, unit: str) -> int:
    """How many decimals a figure has after `rounded_scores`; a percentage has two fewer."""
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
    """Empty where the phase has no parts."""
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
    """Whose items the figures count that this user reads of a submission."""
    part = shown_part(phase, timezone.now()) if is_shown_in_parts(user, phase) else ALL
    return part_words(phase, part)
