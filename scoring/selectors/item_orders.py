"""The orders of a grading's items: by place, name, score, or any figure that the list shows.

What may be ordered by are the benchmark's own columns; no text of a reader becomes a path into
JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, FloatField, OrderBy, Q, QuerySet
from django.db.models.expressions import Func
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from scoring.benchmarks import Column
from scoring.models import Grading, ItemScore

from .figures import columns_of

HARDEST, EASIEST, NAME = "hardest", "easiest", "name"
ORDERS = {
    "": "As in the release",
    HARDEST: "Hardest first",
    EASIEST: "Easiest first",
    NAME: "By name",
}
_POSITION = F("item__position").asc()


@dataclass(frozen=True)
class ItemOrder:
    """`key` is what an address says, and empty for the release's order. `value` is None where no
    number is ordered by; items without it come last, whichever end is first."""

    key: str
    words: str
    value: F | Func | None = None
    is_ascending: bool = True

    @property
    def terms(self) -> list[OrderBy]:
        """Items that are equal keep the release's order."""
        if self.value is not None:
            way = self.value.asc if self.is_ascending else self.value.desc
            return [way(nulls_last=True), _POSITION]
        return [F("item__name").asc(), _POSITION] if self.key == NAME else [_POSITION]

    def sides(
        self, rows: QuerySet[ItemScore], score: ItemScore
    ) -> tuple[QuerySet[ItemScore], QuerySet[ItemScore]]:
        """Those of the rows that stand before the score, nearest first, and those after it."""
        if self.value is not None:
            rows = rows.alias(value=self.value)
        before, after = (rows.filter(each).order_by(*self.terms) for each in self._sides(score))
        return before.reverse(), after

    def _sides(self, score: ItemScore) -> tuple[Q, Q]:
        place = score.item.position
        before, after = Q(item__position__lt=place), Q(item__position__gt=place)
        if self.key == NAME:
            return Q(item__name__lt=score.item.name), Q(item__name__gt=score.item.name)
        if self.value is None:
            return before, after
        # As the database reads it out of the JSON, or the last digit might differ.
        [here] = ItemScore.objects.values_list(self.value).get(pk=score.pk)
        if here is None:
            unvalued = Q(value__isnull=True)
            return Q(value__isnull=False) | (unvalued & before), unvalued & after
        less, more = Q(value__lt=here), Q(value__gt=here)
        first, then = (less, more) if self.is_ascending else (more, less)
        same = Q(value=here)
        return first | (same & before), then | (same & after) | Q(value__isnull=True)


def item_columns(grading: Grading) -> list[Column]:
    """The figures that items are listed with, and can be ordered by."""
    spec = grading.submission.phase.board.spec
    return [column for column in columns_of(spec, grading.options) if column.headline]


def item_orders(columns: Sequence[Column]) -> dict[str, ItemOrder]:
    """Every order of items with these columns, by its key: a column's own has the best first, with
    a minus before it the worst."""
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
