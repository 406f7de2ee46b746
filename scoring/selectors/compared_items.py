"""Several gradings item by item: who is ahead how often, where they disagree, what goes wrong."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Count

from scoring.metrics.duels import Duel, duel, most_disputed
from scoring.models import Grading, ItemScore
from scoring.models.gradings import ERROR_MARK

from .replicates import grading_stamp

MOST_ITEMS = 20
NO_PREDICTION = "no prediction"
_KEPT_SECONDS = 24 * 3600


class DisputedItem(NamedTuple):
    """An item and each grading's score of it."""

    name: str
    scores: list[float]


class ErrorRow(NamedTuple):
    """How many items of each grading have this kind of error."""

    name: str
    counts: list[int]


@dataclass(frozen=True)
class ItemDuels:
    """By pair of places, as `(0, 1)`; `disputed` is empty for who may not see single items."""

    duels: Mapping[tuple[int, int], Duel]
    errors: list[ErrorRow]
    disputed: list[DisputedItem] = field(default_factory=list)


@dataclass(frozen=True)
class _Kept:
    """What is computed of all items, and kept: finished gradings do not change."""

    duels: Mapping[tuple[int, int], Duel]
    errors: list[ErrorRow]
    disputed: list[tuple[int, list[float]]]


def compared_items(gradings: Sequence[Grading], *, names_items: bool) -> ItemDuels | None:
    """None while scores of an earlier version of the site are still being summarised. At most four
    queries."""
    key = "scoring:duels:1:" + ":".join(map(grading_stamp, gradings))
    kept: _Kept | None = cache.get(key)
    if kept is None:
        scores = ItemScore.objects.filter(grading__in=gradings)
        if scores.filter(part__isnull=True).exists():
            return None
        kept = _computed(gradings)
        cache.set(key, kept, _KEPT_SECONDS)
    disputed = _named(gradings[0], kept.disputed) if names_items else []
    return ItemDuels(kept.duels, kept.errors, disputed)


def _computed(gradings: Sequence[Grading]) -> _Kept:
    systems: dict[int, dict[int, float]] = {grading.pk: {} for grading in gradings}
    scored = ItemScore.objects.filter(grading__in=systems, score__isnull=False).order_by()
    for grading, item, score in scored.values_list("grading_id", "item_id", "score").iterator():
        systems[grading][item] = score if score is not None else 0.0
    ordered = [systems[grading.pk] for grading in gradings]
    return _Kept(
        duels={
            (first, second): duel(ordered[first], ordered[second])
            for first, second in combinations(range(len(ordered)), 2)
        },
        errors=_errors([grading.pk for grading in gradings]),
        disputed=[
            (item, [system[item] for system in ordered])
            for item in most_disputed(ordered, MOST_ITEMS)
        ],
    )


def _errors(gradings: Sequence[int]) -> list[ErrorRow]:
    """The most frequent kinds first. One query."""
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
    named = [name for name in errors.split(ERROR_MARK) if name]
    return [*([NO_PREDICTION] if missing else []), *named]


def _named(grading: Grading, disputed: Iterable[tuple[int, list[float]]]) -> list[DisputedItem]:
    rows: Any = grading.item_scores.filter(item__in=[item for item, _ in disputed])
    names = dict(rows.values_list("item_id", "item__name"))
    return [DisputedItem(names[item], scores) for item, scores in disputed]
