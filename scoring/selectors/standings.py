"""Where the graded rows of a phase stand, for what compares two moments."""

from dataclasses import dataclass

from scoring.models import Board, Entry, Phase

from .leaderboards import leaderboard
from .ranking import competition_ranks


@dataclass(frozen=True)
class Standing:
    """A row's rank and score in the column that decides; None where it has none."""

    rank: int | None
    score: float | None


def standings(board: Board, phase: Phase) -> dict[int, Standing]:
    """The graded rows of a phase by the entry's key: their places by the figure that decides, among
    those that are ranked. One query.

    Places, for ranks by significance are found later, by a job.
    """
    table = leaderboard(board, phase)
    column = next(each for each in table.columns if each.decides)
    found: dict[int, Standing] = {}
    for section in table.sections:
        if section.kind != Entry.Kind.GRADED:
            continue
        scores = [row.values[column.basis] for row in section.rows]
        competing = [
            score if row.ranks[column.key] is not None else None
            for row, score in zip(section.rows, scores, strict=True)
        ]
        places = competition_ranks(competing, higher_is_better=column.higher_is_better)
        for row, place, score in zip(section.rows, places, scores, strict=True):
            found[row.entry.pk] = Standing(place, score)
    return found
