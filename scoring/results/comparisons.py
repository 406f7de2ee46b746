"""Comparisons of two to five entries: figures, paired tests, items, kinds of errors.

The other entries are compared with the first. Every reader of the board sees totals. If a phase
rounds its scores or publishes them in parts, only organisers see tests and counts, which would undo
that. Single items are named if the phase shows them for all of the submissions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from django.utils import timezone

from scoring.access import Viewer, are_scores_shown, diagnostics_for, is_rounding
from scoring.benchmarks import Column, deciding_column
from scoring.leaderboard.disclosure import entry_as_shown, is_shown_in_parts
from scoring.leaderboard.figures import NO_FIGURE, columns_of, is_score, show
from scoring.leaderboard.services import ByFigure, kept_replicates
from scoring.models import Board, Entry, Grading, Phase, Submission

from .compared import ErrorRow, ItemDuels, compared_entries, compared_items

if TYPE_CHECKING:
    from scoring.metrics.intervals import PairedTest, Replicates


NOT_TESTABLE = "n/a"
# The level of the paired tests, whose module loads numpy.
_LEVEL = 0.05


@dataclass(frozen=True)
class Contestant:
    """An entry that is compared."""

    entry: Entry
    grading: Grading

    @property
    def submission(self) -> Submission:
        return self.grading.submission


@dataclass(frozen=True)
class Difference:
    """The first figure minus the second, its paired test, and both as text.

    The test is None if there is none for this reader or figure, or none yet. A figure is untestable
    (`is_untestable`) if a part of it depends on a single document.
    """

    value: float | None
    test: "PairedTest | None"
    column: Column
    is_untestable: bool = False

    @property
    def text(self) -> str:
        return NO_FIGURE if self.value is None else signed(self.value, self.column)

    @property
    def interval_text(self) -> str:
        """Such as `−1.20 to +0.35`; n/a if untestable, empty without a test. A bound that rounds to
        0 keeps its sign, so that the text excludes 0 if the interval does."""
        if self.test is None or self.test.interval is None:
            return NOT_TESTABLE if self.is_untestable else ""
        ends = self.test.interval.low, self.test.interval.high
        return " to ".join(signed(end, self.column, keeps_sign=True) for end in ends)

    @property
    def p_text(self) -> str:
        if self.test is None:
            return NOT_TESTABLE if self.is_untestable else ""
        return p_words(self.test.p_value)

    @property
    def is_significant(self) -> bool:
        return self.test is not None and self.test.is_significant


@dataclass(frozen=True)
class FigureCell:
    """One entry's figure and its difference from the first entry's; None for the first itself."""

    system: str
    value: float | None
    text: str
    difference: Difference | None


@dataclass(frozen=True)
class FigureRow:
    column: Column
    cells: list[FigureCell]


@dataclass(frozen=True)
class Pair:
    """Two entries in the deciding figure."""

    first: Contestant
    second: Contestant
    difference: Difference
    wins: int | None
    ties: int | None
    losses: int | None


@dataclass(frozen=True)
class ItemCell:
    """One entry's score of an item, and the submission that links to the item's page."""

    submission: int
    system: str
    score: float
    text: str


@dataclass(frozen=True)
class ItemRow:
    name: str
    cells: list[ItemCell]


@dataclass(frozen=True)
class Comparison:
    board: Board
    phase: Phase
    contestants: list[Contestant]
    deciding: Column
    figures: list[FigureRow]
    pairs: list[Pair]
    is_exact: bool
    """Whether this reader sees more than the figures of the leaderboard."""
    ready: int
    """For how many entries the replicates are ready."""
    items: ItemDuels | None
    shows_items: bool

    @property
    def is_ready(self) -> bool:
        return self.ready == len(self.contestants)

    @property
    def has_untestable(self) -> bool:
        """Whether a difference can have neither interval nor p-value."""
        shown = [cell.difference for row in self.figures for cell in row.cells if cell.difference]
        return any(
            each.is_untestable for each in (*shown, *(pair.difference for pair in self.pairs))
        )

    @property
    def error_rows(self) -> list[ErrorRow]:
        return self.items.errors if self.items else []

    @property
    def disputed(self) -> list[ItemRow]:
        """The items on which they differ most; empty for readers who may not see single items."""
        found = self.items.disputed if self.items else []
        return [
            ItemRow(
                item.name,
                [
                    ItemCell(each.submission.pk, each.entry.name, score, show(score))
                    for each, score in zip(self.contestants, item.scores, strict=True)
                ],
            )
            for item in found
        ]

    @property
    def gradings(self) -> list[Grading]:
        return [each.grading for each in self.contestants]

    @property
    def query(self) -> str:
        return "entries=" + ",".join(str(each.entry.pk) for each in self.contestants)


def signed(value: float, column: Column, *, keeps_sign: bool = False) -> str:
    """Format a difference with its sign. With `keeps_sign`, a value that rounds to zero keeps it.

    >>> column = Column("ffa", "FFA", "", "")
    >>> signed(-0.0123, column), signed(-0.00001, column), signed(-0.00001, column, keeps_sign=True)
    ('−1.23', '0.00', '−0.00')
    """
    text = show(abs(value), unit=column.unit, decimals=column.decimals)
    is_zero = not value if keeps_sign else not text.strip("0.")
    return text if is_zero else f"{'+' if value > 0 else '−'}{text}"


def p_words(p_value: float) -> str:
    """Format with three decimals, never rounded up to the significance level.

    >>> p_words(0.0719), p_words(50 / 1001)
    ('0.072', '<0.050')
    """
    text, level = f"{p_value:.3f}", f"{_LEVEL:.3f}"
    return f"<{level}" if p_value < _LEVEL and text == level else text


def comparison(user: Viewer, board: Board, numbers: Sequence[int]) -> Comparison:
    """Compare the entries. The number of queries does not depend on the number of items. Raises
    ComparisonRefused."""
    contestants = [
        Contestant(entry, entry.grading)
        for entry in compared_entries(board, numbers)
        if entry.grading is not None
    ]
    phase = contestants[0].submission.phase
    phase.board = board
    gradings = [each.grading for each in contestants]
    columns = columns_of(board.spec, gradings[0].options)
    exact = _is_exact(user, phase)
    kept = kept_replicates(gradings) if exact else {}
    shows = exact and _shows_items(user, contestants)
    items = compared_items(gradings, names_items=shows) if exact else None
    shown = [_shown_scores(each.entry, phase) for each in contestants]
    replicates = [kept.get(grading.pk, {}) for grading in gradings]
    deciding = deciding_column(columns)
    return Comparison(
        board=board,
        phase=phase,
        contestants=contestants,
        deciding=deciding,
        figures=[
            _row(column, contestants, shown, replicates) for column in columns if column.headline
        ],
        pairs=_pairs(contestants, deciding, shown, replicates, items),
        is_exact=exact,
        ready=len(kept),
        items=items,
        shows_items=shows,
    )


def _is_exact(user: Viewer, phase: Phase) -> bool:
    return (
        are_scores_shown(user, phase)
        and not is_rounding(user, phase)
        and not is_shown_in_parts(user, phase)
    )


def _shows_items(user: Viewer, contestants: Sequence[Contestant]) -> bool:
    return all(
        diagnostics_for(user, each.submission, each.grading.release) != Phase.Diagnostics.AGGREGATES
        for each in contestants
    )


def _shown_scores(entry: Entry, phase: Phase) -> Mapping[str, float | None]:
    """Return the scores as the leaderboard shows them."""
    scores = entry_as_shown(entry, phase, timezone.now()).scores
    return {key: value if is_score(value) else None for key, value in scores.items()}


def _row(
    column: Column,
    contestants: Sequence[Contestant],
    shown: Sequence[Mapping[str, float | None]],
    replicates: Sequence[ByFigure],
) -> FigureRow:
    cells = []
    for place, (each, scores) in enumerate(zip(contestants, shown, strict=True)):
        value = scores.get(column.key)
        text = show(value, unit=column.unit, decimals=column.decimals)
        against = _difference(column, shown, replicates, place, 0) if place else None
        cells.append(FigureCell(each.entry.name, value, text, against))
    return FigureRow(column, cells)


def _difference(
    column: Column,
    shown: Sequence[Mapping[str, float | None]],
    replicates: Sequence[ByFigure],
    first: int,
    second: int,
) -> Difference:
    ours, theirs = shown[first].get(column.key), shown[second].get(column.key)
    value = None if ours is None or theirs is None else ours - theirs
    drawn = replicates[first].get(column.key), replicates[second].get(column.key)
    test = _test(*drawn)
    untestable = value is not None and None not in drawn and test is None
    return Difference(value, test, column, is_untestable=untestable)


def _test(first: "Replicates | None", second: "Replicates | None") -> "PairedTest | None":
    from scoring.metrics.intervals import paired_bootstrap

    if first is None or second is None or first.key != second.key:
        return None
    return paired_bootstrap(first, second)


def _pairs(
    contestants: Sequence[Contestant],
    column: Column,
    shown: Sequence[Mapping[str, float | None]],
    replicates: Sequence[ByFigure],
    items: ItemDuels | None,
) -> list[Pair]:
    pairs = []
    for first, second in combinations(range(len(shown)), 2):
        difference = _difference(column, shown, replicates, first, second)
        counted = items.duels.get((first, second)) if items else None
        pairs.append(
            Pair(
                contestants[first],
                contestants[second],
                difference,
                *(counted or (None, None, None)),
            )
        )
    return pairs
