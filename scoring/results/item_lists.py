"""The items of a grading as a sorted, filtered and paginated list, and a chart of their scores.

The available filters depend on what the phase shows: with scores per item, the scores; with every
fact, also the parts and kinds of errors, which reveal something about the gold. Items are sorted by
the benchmark's columns; user input never becomes a path into JSON. If a phase rounds its scores,
publishes them later or in parts, only organisers see individual items and their chart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, FloatField, OrderBy, Q, QuerySet
from django.db.models.expressions import Func
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Floor

from scoring.access import Viewer, require_items
from scoring.benchmarks import Column
from scoring.charts.shapes import Axis, Bar, Bars
from scoring.figures import Figure, columns_of, figure, show
from scoring.leaderboard.charts import BoardChart
from scoring.leaderboard.columns import Head
from scoring.models import Grading, ItemScore, Phase, Submission
from scoring.models.gradings import ERROR_MARK

HARDEST, EASIEST, NAME = "hardest", "easiest", "name"
ORDERS = {
    "": "Release order",
    HARDEST: "Lowest score first",
    EASIEST: "Highest score first",
    NAME: "By ID",
}
_POSITION = F("item__position").asc()


@dataclass(frozen=True)
class ItemOrder:
    """`key` is the value in the URL, empty for the release's order. `value` is None if the order is
    not numeric. Items without a value come last in either direction."""

    key: str
    words: str
    value: F | Func | None = None
    is_ascending: bool = True

    @property
    def terms(self) -> list[OrderBy]:
        """Ties keep the release's order."""
        if self.value is not None:
            way = self.value.asc if self.is_ascending else self.value.desc
            return [way(nulls_last=True), _POSITION]
        return [F("item__name").asc(), _POSITION] if self.key == NAME else [_POSITION]

    def sides(
        self, rows: QuerySet[ItemScore], score: ItemScore
    ) -> tuple[QuerySet[ItemScore], QuerySet[ItemScore]]:
        """Return the rows before the score, nearest first, and the rows after it."""
        if self.value is not None:
            rows = rows.alias(value=self.value)
        before, after = (rows.filter(side).order_by(*self.terms) for side in self._sides(score))
        return before.reverse(), after

    def _sides(self, score: ItemScore) -> tuple[Q, Q]:
        place = score.item.position
        before, after = Q(item__position__lt=place), Q(item__position__gt=place)
        if self.key == NAME:
            return Q(item__name__lt=score.item.name), Q(item__name__gt=score.item.name)
        if self.value is None:
            return before, after
        # Compare the value as the database reads it from the JSON; its last digit may differ from
        # Python's.
        [here] = ItemScore.objects.values_list(self.value).get(pk=score.pk)
        if here is None:
            unvalued = Q(value__isnull=True)
            return Q(value__isnull=False) | (unvalued & before), unvalued & after
        less, more = Q(value__lt=here), Q(value__gt=here)
        first, then = (less, more) if self.is_ascending else (more, less)
        same = Q(value=here)
        return first | (same & before), then | (same & after) | Q(value__isnull=True)


def item_columns(grading: Grading) -> list[Column]:
    """Return the figures that items are listed with and can be ordered by."""
    spec = grading.submission.phase.board.spec
    return [column for column in columns_of(spec, grading.options) if column.headline]


def item_orders(columns: Sequence[Column]) -> dict[str, ItemOrder]:
    """Return every order of items with these columns, by key. A column's own key puts the best
    first, with a minus before it the worst."""
    orders = {key: ItemOrder(key, words) for key, words in ORDERS.items()}
    for key in (HARDEST, EASIEST):
        orders[key] = ItemOrder(key, ORDERS[key], F("score"), key == HARDEST)
    for column in columns:
        value = Cast(KeyTextTransform(column.key, "figures"), FloatField())
        is_up = column.direction == "up"
        for key, words, ascending in (
            (column.key, "best first", not is_up),
            (f"-{column.key}", "worst first", is_up),
        ):
            orders.setdefault(key, ItemOrder(key, f"{column.label}, {words}", value, ascending))
    return orders


PER_PAGE = 50
# Tolerance for sums of floats that should be 1.
NEARLY_ONE = 1 - 1e-9
LONGEST_SEARCH = 200
_SCORE_HELP = "Main score of the item"

MISSING, WRONG, RIGHT = "missing", "wrong", "right"
SHOWN = {
    "": "All items",
    MISSING: "No prediction",
    WRONG: "Not fully correct",
    RIGHT: "Fully correct",
}
_KINDS = {
    MISSING: Q(missing=True),
    WRONG: Q(score__lt=NEARLY_ONE),
    RIGHT: Q(score__gte=NEARLY_ONE),
}


@dataclass(frozen=True)
class ItemQuery:
    """The requested filters and order. Empty means all items, in the release's order. `order` is a
    key of `item_orders`."""

    order: str = ""
    show: str = ""
    part: str = ""
    error: str = ""
    q: str = ""

    @classmethod
    def parse(cls, order: str, show: str, part: str, error: str, q: str) -> "ItemQuery":
        """Unknown kinds are ignored."""
        # PostgreSQL does not accept NUL.
        part, error, q = (text.replace("\0", "")[:LONGEST_SEARCH] for text in (part, error, q))
        return cls(order, show if show in SHOWN else "", part, error, q)

    def at(self, level: Phase.Diagnostics, grading: Grading) -> "ItemQuery":
        """Limit the query to this level of diagnostics and to an order that the grading has."""
        order = self.order if self.order in orders_of(grading) else ""
        shows_facts = level == Phase.Diagnostics.FACTS
        return replace(self, order=order, **({} if shows_facts else {"part": "", "error": ""}))

    @property
    def parameters(self) -> dict[str, str]:
        return {name: value for name, value in vars(self).items() if value}

    @property
    def is_filtered(self) -> bool:
        return bool(self.show or self.part or self.error or self.q)

    def filtered(self, scores: QuerySet[ItemScore]) -> QuerySet[ItemScore]:
        rows = scores.filter(_KINDS[self.show]) if self.show else scores
        if self.part:
            rows = rows.filter(part=self.part)
        if self.error:
            rows = rows.filter(errors__contains=f"{ERROR_MARK}{self.error}{ERROR_MARK}")
        return rows.filter(item__name__icontains=self.q) if self.q else rows


EVERYTHING = ItemQuery()


@dataclass(frozen=True)
class ItemLine:
    """One item of a grading with its own figures."""

    name: str
    is_missing: bool
    figures: tuple[Figure, ...]
    counts: dict[str, int]
    score: float | None
    part: str | None
    """None if the reader may not see it."""
    errors: list[str] | None

    @property
    def score_text(self) -> str:
        return show(self.score)

    @property
    def scores(self) -> dict[str, float | None]:
        return {figure.key: figure.value for figure in self.figures}

    def without(self, key: str) -> "ItemLine":
        return replace(self, figures=tuple(each for each in self.figures if each.key != key))

    @property
    def scored(self) -> tuple[Figure, ...]:
        """The figures that this item has: text similarity alone if it holds no facts."""
        return tuple(figure for figure in self.figures if figure.value is not None)


@dataclass(frozen=True)
class ItemList:
    page: Page[ItemScore]
    name_head: Head
    score_head: Head
    heads: tuple[Head, ...]
    """Headings of the figures."""
    lines: list[ItemLine]
    asked: ItemQuery
    part_name: str
    """The name of the parts; empty if there are none or they are hidden."""
    parts: list[str]
    errors: list[str]
    query: str
    """The parameters of the list, encoded, without the page."""
    grading: str
    """The number of the earlier result on show; empty for the current one."""
    is_summarised: bool
    """Whether all scores to sort by are ready, as far as this page shows."""

    orders: dict[str, str]
    """The options of the form by key, including the requested order."""

    shown = SHOWN

    @property
    def has_facts(self) -> bool:
        return any("facts" in line.counts for line in self.lines)

    @property
    def shows_errors(self) -> bool:
        return bool(self.errors)


def orders_of(grading: Grading) -> dict[str, ItemOrder]:
    return item_orders(item_columns(grading))


def item_scores(grading: Grading, asked: ItemQuery = EVERYTHING) -> QuerySet[ItemScore]:
    """Return the requested items without their gold, which is large."""
    scores = grading.item_scores.select_related("item").defer("item__gold", "item__facts")
    return asked.filtered(scores).order_by(*orders_of(grading)[asked.order].terms)


def item_list(
    user: Viewer,
    submission: Submission,
    grading: Grading,
    *,
    page: str,
    asked: ItemQuery = EVERYTHING,
    earlier: str = "",
) -> ItemList:
    """Return a page of the items. Three queries. `earlier` is the number of an earlier grading."""
    level = require_items(user, submission, grading.release)
    asked = asked.at(level, grading)
    shown = Paginator(item_scores(grading, asked), PER_PAGE).get_page(page)
    lines = [item_line(submission, grading, score, level) for score in shown]
    parts, errors = _choices(grading) if level == Phase.Diagnostics.FACTS else ([], [])
    parameters = ({"grading": earlier} if earlier else {}) | asked.parameters
    orders, columns = orders_of(grading), item_columns(grading)
    same = _repeated(columns, lines)
    score = ("Score", _SCORE_HELP) if same is None else (same.label, same.help)
    return ItemList(
        page=shown,
        name_head=_head("Item", "By ID", (NAME,), parameters),
        score_head=_head(*score, (HARDEST, EASIEST), parameters),
        heads=tuple(_figure_head(column, parameters) for column in columns if column != same),
        lines=[line.without(same.key) for line in lines] if same else lines,
        asked=asked,
        part_name=submission.phase.board.spec.part_name if parts else "",
        parts=parts,
        errors=errors,
        query=urlencode(parameters),
        grading=earlier,
        orders={key: orders[key].words for key in (*ORDERS, asked.order)},
        is_summarised=all(score.figures is not None for score in shown),
    )


def _repeated(columns: Sequence[Column], lines: Sequence[ItemLine]) -> Column | None:
    """Return the column of the main score, if its figures are the scores of the listed items."""
    main = next((column for column in columns if column.rank == "board"), None)
    if main is None or not lines or any(line.scores[main.key] != line.score for line in lines):
        return None
    return main


def _figure_head(column: Column, parameters: Mapping[str, str]) -> Head:
    """A heading that orders the worst first, then the best."""
    worst, best = f"-{column.key}", column.key
    return _head(column.label, column.help, (worst, best), parameters, column.direction)


def _head(
    label: str,
    words: str,
    orders: Sequence[str],
    parameters: Mapping[str, str],
    direction: str = "up",
) -> Head:
    """Return the heading. `orders` are its first order and an optional second one. The first is
    ascending unless the better `direction` is down."""
    current = parameters.get("order", "")
    following = orders[-1] if current == orders[0] else orders[0]
    aria_sort = ""
    if current in orders:
        is_ascending = (current == orders[0]) == (direction == "up")
        aria_sort = "ascending" if is_ascending else "descending"
    query = urlencode({**parameters, "order": following})
    return Head(label, words, query, aria_sort, "↓" if direction == "down" else "")


def item_line(
    submission: Submission, grading: Grading, score: ItemScore, level: Phase.Diagnostics
) -> ItemLine:
    """Return the item's figures, computed as if it were a whole submission."""
    spec = submission.phase.board.spec
    columns = item_columns(grading)
    result: dict[str, Any] = score.result
    alone = spec.aggregate([result], spec.check_options(grading.options))
    shows_facts = level == Phase.Diagnostics.FACTS
    return ItemLine(
        name=score.item.name,
        is_missing=alone.missing > 0,
        figures=tuple(figure(column, alone.scores, alone.counts) for column in columns),
        counts=alone.counts,
        score=score.score,
        part=score.part if shows_facts else None,
        errors=score.error_names if shows_facts else None,
    )


def _choices(grading: Grading) -> tuple[list[str], list[str]]:
    """Return the parts and the kinds of errors of the grading. One query."""
    pairs = grading.item_scores.order_by().values_list("part", "errors").distinct()
    parts: set[str] = set()
    errors: set[str] = set()
    for part, named in pairs:
        parts.add(part or "")
        errors.update(named.split(ERROR_MARK))
    return sorted(parts - {""}), sorted(errors - {""})


def neighbours(grading: Grading, score: ItemScore, asked: ItemQuery) -> tuple[str, str]:
    """Return the names of the previous and the next item in this order, empty at the ends."""
    items = asked.filtered(ItemScore.objects.filter(grading=grading))
    names: list[Any] = [
        rows.values_list("item__name", flat=True).first() or ""
        for rows in orders_of(grading)[asked.order].sides(items, score)
    ]
    return names[0], names[1]


_RANGES = 10
# 0.7 belongs in the seventh range, however the float is stored.
_NEARLY = 1e-9


def score_chart(user: Viewer, submission: Submission, grading: Grading) -> BoardChart:
    """Return the chart of item scores. Raises Http404 unless readers may see individual items. One
    query."""
    require_items(user, submission, grading.release)
    counts = [0] * _RANGES
    unscored = 0
    tenths = grading.item_scores.order_by().annotate(
        tenth=Floor(F("score") * float(_RANGES) + _NEARLY)
    )
    for tenth, count in tenths.values_list("tenth").annotate(Count("pk")):
        if tenth is None:
            unscored += count
        else:
            counts[max(0, min(int(tenth), _RANGES - 1))] += count
    bars = tuple(Bar(i / _RANGES, (i + 1) / _RANGES, count) for i, count in enumerate(counts))
    description = "Number of items by score. Each item is scored separately."
    if unscored:
        description += f" Items without a score: {unscored:,}."
    return BoardChart(
        key="scores",
        title="Item scores",
        description=description,
        shape=Bars(Axis("Item score", "%", 0), "Items", bars) if any(counts) else None,
        too_little="No item has a score.",
    )
