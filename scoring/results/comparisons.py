"""Comparisons of two to five entries: figures, paired tests, items, kinds of errors.

The other entries are compared with the first. Every reader of the board sees totals. If a phase
rounds its scores or publishes them in parts, only organisers see tests and counts, which would undo
that. Single items are named if the phase shows them for all of the submissions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from django.core.cache import cache
from django.db.models import Count
from django.utils import timezone

from scoring.access import Viewer, diagnostics_for
from scoring.benchmarks import Column, deciding_column
from scoring.figures import NO_FIGURE, columns_of, is_score, p_words, show
from scoring.leaderboard.disclosure import entry_as_shown, shows_exact_scores
from scoring.leaderboard.selectors import ranked_scores
from scoring.leaderboard.services import (
    ByFigure,
    grading_stamp,
    kept_replicates,
    paired_test,
)
from scoring.models import Board, Entry, Grading, ItemScore, Phase, Submission
from scoring.models.gradings import error_names

from .selection import FEWEST, compared_entries

if TYPE_CHECKING:
    from scoring.metrics.intervals import PairedTest


# Smaller differences are noise of the summation.
_NOISE = 1e-9


class Duel(NamedTuple):
    """Over the items with a score from both: how often the first is ahead, level, behind."""

    wins: int
    ties: int
    losses: int


def duel(first: Mapping[int, float], second: Mapping[int, float]) -> Duel:
    """Count by item; higher is better. Items that only one of them has a score for are ignored.

    >>> duel({1: 0.5, 2: 1.0, 3: 0.0, 4: 1.0}, {1: 0.25, 2: 1.0, 3: 0.5})
    Duel(wins=1, ties=1, losses=1)
    """
    differences = [value - second[item] for item, value in first.items() if item in second]
    wins = sum(difference > _NOISE for difference in differences)
    losses = sum(difference < -_NOISE for difference in differences)
    return Duel(wins, len(differences) - wins - losses, losses)


def most_disputed(systems: Sequence[Mapping[int, float]], most: int) -> list[int]:
    """Return the items on which the systems differ most, largest difference first, at most `most`.
    Items on which they agree or that lack a score are left out.

    >>> most_disputed([{1: 0.5, 2: 1.0, 3: 0.0}, {1: 0.25, 2: 1.0, 3: 0.5}], 5)
    [3, 1]
    """
    shared = set.intersection(*(set(system) for system in systems))
    scores = {item: [system[item] for system in systems] for item in shared}
    spreads = {item: max(values) - min(values) for item, values in scores.items()}
    apart = [item for item, spread in spreads.items() if spread > _NOISE]
    return sorted(apart, key=lambda item: (-spreads[item], item))[:most]


MOST_ITEMS = 20
NO_PREDICTION = "no prediction"
_KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True)
class ErrorRow:
    """The number of items of each grading with this kind of error."""

    name: str
    counts: list[int]


@dataclass(frozen=True)
class ItemDuels:
    """Duels by pair of positions, as `(0, 1)`, and the scores of disputed items, by key."""

    duels: Mapping[tuple[int, int], Duel]
    errors: list[ErrorRow]
    disputed: Mapping[int, list[float]]


def compared_items(gradings: Sequence[Grading]) -> ItemDuels | None:
    """Return the comparison of items, or None while scores from an earlier version of the site are
    being summarised. Cached, since finished gradings do not change. At most three queries."""
    key = "scoring:duels:2:" + ":".join(map(grading_stamp, gradings))
    items: ItemDuels | None = cache.get(key)
    if items is None:
        scores = ItemScore.objects.filter(grading__in=gradings)
        if scores.filter(part__isnull=True).exists():
            return None
        items = _computed(gradings)
        cache.set(key, items, _KEPT_SECONDS)
    return items


def _computed(gradings: Sequence[Grading]) -> ItemDuels:
    systems: dict[int, dict[int, float]] = {grading.pk: {} for grading in gradings}
    scored = ItemScore.objects.filter(grading__in=systems, score__isnull=False).order_by()
    for grading, item, score in scored.values_list("grading_id", "item_id", "score").iterator():
        systems[grading][item] = score if score is not None else 0.0
    ordered = [systems[grading.pk] for grading in gradings]
    return ItemDuels(
        duels={
            (first, second): duel(ordered[first], ordered[second])
            for first, second in combinations(range(len(ordered)), 2)
        },
        errors=_errors([grading.pk for grading in gradings]),
        disputed={
            item: [system[item] for system in ordered]
            for item in most_disputed(ordered, MOST_ITEMS)
        },
    )


def _errors(gradings: Sequence[int]) -> list[ErrorRow]:
    """Count the kinds of errors, most frequent first. One query."""
    grouped = (
        ItemScore.objects.filter(grading__in=gradings)
        .order_by()
        .values_list("grading_id", "missing", "errors")
        .annotate(number=Count("pk"))
    )
    counts = {grading: Counter[str]() for grading in gradings}
    for grading, missing, errors, number in grouped:
        counts[grading].update(dict.fromkeys(_kinds(missing, errors), number))
    total: Counter[str] = sum(counts.values(), Counter())
    names = sorted(total, key=lambda name: (-total[name], name))
    return [ErrorRow(name, [counts[grading][name] for grading in gradings]) for name in names]


def _kinds(missing: bool, errors: str) -> list[str]:
    return [*([NO_PREDICTION] if missing else []), *error_names(errors)]


NOT_TESTABLE = "n/a"


@dataclass(frozen=True)
class Contestant:
    """An entry that is compared, with its scores and replicates that this reader may see."""

    entry: Entry
    grading: Grading
    scores: Mapping[str, float | None]
    replicates: ByFigure
    rank: int | None
    """Its rank on the board by the main score."""

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
    """Two entries in the main score."""

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
    disputed: list[ItemRow]
    """The items on which they differ most; empty for readers who may not see individual items."""

    @property
    def is_ready(self) -> bool:
        return self.ready == len(self.contestants)

    @property
    def verdict(self) -> str:
        """A sentence on the two best models by the main score, with the test that ranks them on the
        board; empty for readers without tests and until the tests are computed."""
        key, sign = self.deciding.key, -1 if self.deciding.direction == "up" else 1
        scored = [each for each in self.contestants if each.scores.get(key) is not None]
        if not self.is_exact or not self.is_ready or len(scored) < FEWEST:
            return ""
        best, other = sorted(scored, key=lambda each: sign * (each.scores[key] or 0))[:2]
        words = _verdict(best.entry.name, other.entry.name, _difference(self.deciding, best, other))
        return f"{self.deciding.label}: {words}"

    @property
    def has_untestable(self) -> bool:
        """Whether a difference can have neither interval nor p-value."""
        shown = [cell.difference for row in self.figures for cell in row.cells if cell.difference]
        return any(
            test.is_untestable for test in (*shown, *(pair.difference for pair in self.pairs))
        )

    @property
    def error_rows(self) -> list[ErrorRow]:
        return self.items.errors if self.items else []

    @property
    def gradings(self) -> list[Grading]:
        return [contestant.grading for contestant in self.contestants]

    @property
    def query(self) -> str:
        return "entries=" + ",".join(str(contestant.entry.pk) for contestant in self.contestants)


def _verdict(leader: str, other: str, difference: Difference) -> str:
    if not difference.value:
        return f"{leader} and {other} have the same score."
    if difference.test is None:
        return f"{leader} leads. Its lead over {other} cannot be tested."
    negation = "" if difference.is_significant else "not "
    p = difference.p_text if difference.p_text.startswith("<") else f"= {difference.p_text}"
    return f"{leader} leads. Its lead over {other} is {negation}significant (p {p})."


def signed(value: float, column: Column, *, keeps_sign: bool = False) -> str:
    """Format a difference with its sign. With `keeps_sign`, a value that rounds to zero keeps it.

    >>> column = Column("ffa", "FFA", "", "")
    >>> signed(-0.0123, column), signed(-0.00001, column), signed(-0.00001, column, keeps_sign=True)
    ('−1.23', '0.00', '−0.00')
    """
    text = show(abs(value), unit=column.unit, decimals=column.decimals)
    is_zero = not value if keeps_sign else not text.strip("0.")
    return text if is_zero else f"{'+' if value > 0 else '−'}{text}"


def comparison(user: Viewer, board: Board, numbers: Sequence[int]) -> Comparison:
    """Compare the entries. The number of queries does not depend on the number of items. Raises
    ComparisonRefused."""
    entries = compared_entries(board, numbers)
    gradings = [entry.grading for entry in entries if entry.grading is not None]
    phase = gradings[0].submission.phase
    phase.board = board
    columns = columns_of(board.spec, gradings[0].options)
    exact = shows_exact_scores(user, phase)
    replicates = kept_replicates(gradings) if exact else {}
    ranks = ranked_scores(board, phase)
    contestants = [
        Contestant(
            entry,
            grading,
            _shown_scores(entry, phase),
            replicates.get(grading.pk, {}),
            ranks[entry.pk].rank,
        )
        for entry, grading in zip(entries, gradings, strict=True)
    ]
    shows = exact and _shows_items(user, gradings)
    items = compared_items(gradings) if exact else None
    deciding = deciding_column(columns)
    return Comparison(
        board=board,
        phase=phase,
        contestants=contestants,
        deciding=deciding,
        figures=[_row(column, contestants) for column in _main_first(columns) if column.headline],
        pairs=_pairs(contestants, deciding, items),
        is_exact=exact,
        ready=len(replicates),
        items=items,
        shows_items=shows,
        disputed=_disputed(contestants, items.disputed) if items and shows else [],
    )


def _main_first(columns: Sequence[Column]) -> list[Column]:
    """The column that ranks, then the others in their order."""
    return sorted(columns, key=lambda column: column.rank != "board")


def _disputed(
    contestants: Sequence[Contestant], disputed: Mapping[int, Sequence[float]]
) -> list[ItemRow]:
    rows = contestants[0].grading.item_scores.filter(item__in=disputed)
    names = dict(rows.values_list("item_id", "item__name"))
    return [
        ItemRow(
            names[item],
            [
                ItemCell(contestant.submission.pk, contestant.entry.name, score, show(score))
                for contestant, score in zip(contestants, scores, strict=True)
            ],
        )
        for item, scores in disputed.items()
    ]


def _shows_items(user: Viewer, gradings: Sequence[Grading]) -> bool:
    return all(
        diagnostics_for(user, grading.submission, grading.release) != Phase.Diagnostics.AGGREGATES
        for grading in gradings
    )


def _shown_scores(entry: Entry, phase: Phase) -> Mapping[str, float | None]:
    """Return the scores as the leaderboard shows them."""
    scores = entry_as_shown(entry, phase, timezone.now()).scores
    return {key: value if is_score(value) else None for key, value in scores.items()}


def _row(column: Column, contestants: Sequence[Contestant]) -> FigureRow:
    first = contestants[0]
    cells = []
    for contestant in contestants:
        value = contestant.scores.get(column.key)
        text = show(value, unit=column.unit, decimals=column.decimals)
        against = None if contestant is first else _difference(column, contestant, first)
        cells.append(FigureCell(contestant.entry.name, value, text, against))
    return FigureRow(column, cells)


def _difference(column: Column, first: Contestant, second: Contestant) -> Difference:
    ours, theirs = first.scores.get(column.key), second.scores.get(column.key)
    value = None if ours is None or theirs is None else ours - theirs
    drawn = first.replicates.get(column.key), second.replicates.get(column.key)
    test = paired_test(*drawn)
    untestable = value is not None and None not in drawn and test is None
    return Difference(value, test, column, is_untestable=untestable)


def _pairs(
    contestants: Sequence[Contestant], column: Column, items: ItemDuels | None
) -> list[Pair]:
    pairs = []
    for (n, first), (m, second) in combinations(enumerate(contestants), 2):
        counts = items.duels[n, m] if items else (None, None, None)
        pairs.append(Pair(first, second, _difference(column, first, second), *counts))
    return pairs
