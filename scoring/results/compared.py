"""Which entries can be compared, and how they differ item by item.

For two systems, counts which one is ahead; for all, finds the items on which they disagree most and
counts the kinds of errors.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Count

from scoring.leaderboard.services import grading_stamp
from scoring.models import Board, Entry, Grading, ItemScore
from scoring.models.gradings import ERROR_MARK

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
    spreads = {item: _spread([system[item] for system in systems]) for item in shared}
    apart = [item for item, spread in spreads.items() if spread > _NOISE]
    return sorted(apart, key=lambda item: (-spreads[item], item))[:most]


def _spread(values: list[float]) -> float:
    return max(values) - min(values)


FEWEST, MOST = 2, 5
_NUMBER = re.compile(r"[0-9]{1,15}")


class ComparisonRefused(ValueError):
    """These entries cannot be compared; the message gives the reason in a sentence."""


def entry_numbers(texts: Iterable[str]) -> list[int]:
    """Parse distinct numbers, in the requested order, from one or more texts such as `1,2`.

    >>> entry_numbers(["3,1", "3"])
    [3, 1]
    """
    words = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    for word in words:
        if not _NUMBER.fullmatch(word):
            raise ComparisonRefused(f"“{word[:40]}” is not an entry number.")
    return list(dict.fromkeys(map(int, words)))


def compared_entries(board: Board, numbers: Sequence[int]) -> list[Entry]:
    """Return the entries in the requested order, with all data that a comparison needs. One query.
    Raises ComparisonRefused if they cannot be compared."""
    if not FEWEST <= len(numbers) <= MOST:
        raise ComparisonRefused(
            f"Choose {FEWEST} to {MOST} entries to compare. You chose {len(numbers)}."
        )
    found = {
        entry.pk: entry
        for entry in Entry.objects.filter(board=board, pk__in=numbers).select_related(
            "phase",
            "grading__release__dataset",
            "grading__submission__phase__board",
            "grading__submission__team",
        )
    }
    for number in numbers:
        if number not in found:
            raise ComparisonRefused(f"This board has no entry {number}.")
    entries = [found[number] for number in numbers]
    for entry in entries:
        if entry.grading is None:
            raise ComparisonRefused(
                f"“{entry.name}” was not graded here, so it has no items to compare."
            )
    _check_alike(entries)
    return entries


def _check_alike(entries: Sequence[Entry]) -> None:
    first = entries[0]
    for other in entries[1:]:
        names = f"“{first.name}” and “{other.name}”"
        if first.phase_id != other.phase_id:
            raise ComparisonRefused(f"{names} belong to different phases.")
        if _release(first) != _release(other):
            raise ComparisonRefused(f"{names} were graded on different releases of the gold.")
        if first.signature != other.signature:
            raise ComparisonRefused(f"{names} were graded by different rules.")


def _release(entry: Entry) -> int | None:
    return None if entry.grading is None else entry.grading.release_id


MOST_ITEMS = 20
NO_PREDICTION = "no prediction"
_KEPT_SECONDS = 24 * 3600


class DisputedItem(NamedTuple):
    """An item and each grading's score of it."""

    name: str
    scores: list[float]


class ErrorRow(NamedTuple):
    """The number of items of each grading with this kind of error."""

    name: str
    counts: list[int]


@dataclass(frozen=True)
class ItemDuels:
    """Duels by pair of positions, as `(0, 1)`. `disputed` is empty for readers who may not see
    single items."""

    duels: Mapping[tuple[int, int], Duel]
    errors: list[ErrorRow]
    disputed: list[DisputedItem] = field(default_factory=list)


@dataclass(frozen=True)
class _Kept:
    """The cached result over all items. Finished gradings do not change."""

    duels: Mapping[tuple[int, int], Duel]
    errors: list[ErrorRow]
    disputed: list[tuple[int, list[float]]]


def compared_items(gradings: Sequence[Grading], *, names_items: bool) -> ItemDuels | None:
    """Return the comparison of items, or None while scores from an earlier version of the site are
    being summarised. At most four queries."""
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
    named = [name for name in errors.split(ERROR_MARK) if name]
    return [*([NO_PREDICTION] if missing else []), *named]


def _named(grading: Grading, disputed: Iterable[tuple[int, list[float]]]) -> list[DisputedItem]:
    rows: Any = grading.item_scores.filter(item__in=[item for item, _ in disputed])
    names = dict(rows.values_list("item_id", "item__name"))
    return [DisputedItem(names[item], scores) for item, scores in disputed]
