"""The figures of both parts of a phase beside each other, for organisers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from scoring.access import Viewer
from scoring.benchmarks import Column
from scoring.models import Grading, Phase

from .figures import columns_of, show
from .parts import ALL, PRIVATE, PUBLIC, told_part
from .telling import is_told_in_parts, part_words


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
    part = told_part(phase, timezone.now()) if is_told_in_parts(user, phase) else ALL
    return part_words(phase, part)
