"""Where the graded rows of a phase stand, for what compares two moments."""

from dataclasses import dataclass

from scoring.models import Board, Entry, Phase

from .leaderboards import leaderboard


@dataclass(frozen=True)
class Standing:
    """A row's rank and score in the column that decides; None where it has none."""

    rank: int | None
    score: float | None


def standings(board: Board, phase: Phase) -> dict[int, Standing]:
    """The graded rows of a phase by the entry's key: their ranks on the board by the figure that
    decides, and their scores. One query."""
    table = leaderboard(board, phase)
    column = next(each for each in table.columns if each.decides)
    return {
        row.entry.pk: Standing(row.ranks[column.key], row.values[column.basis])
        for section in table.sections
        if section.kind == Entry.Kind.GRADED
        for row in section.rows
    }
