"""Pairs of documents that are almost the same. For organisers alone."""

from collections import Counter
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet

from portal.datasets.models import Dataset, DatasetTask, NearDuplicate

from .personal_data import last_task

PER_PAGE = 50


@dataclass(frozen=True)
class DuplicatesPage:
    """Most alike first; `counts` by decision."""

    page: Page[NearDuplicate]
    counts: dict[str, int]
    last_search: DatasetTask | None


@dataclass(frozen=True)
class PairPage:
    """One pair, and the next that is still to be decided."""

    pair: NearDuplicate
    following: NearDuplicate | None


def find_pairs(dataset: Dataset, *, decision: str = "") -> QuerySet[NearDuplicate]:
    pairs = NearDuplicate.objects.filter(second__dataset=dataset)
    if decision:
        pairs = pairs.filter(decision=decision)
    return (
        pairs.select_related("first", "second", "decided_by")
        .defer("first__metadata", "second__metadata")
        .order_by("-similarity", "id")
    )


def duplicates_page(dataset: Dataset, *, decision: str = "", page: str = "1") -> DuplicatesPage:
    counted = NearDuplicate.objects.filter(second__dataset=dataset).order_by()
    counts = Counter(dict(counted.values_list("decision").annotate(Count("id"))))
    pages = Paginator(find_pairs(dataset, decision=decision), PER_PAGE)
    shown: Page[NearDuplicate] = pages.get_page(page)
    for pair in shown:
        pair.first.dataset = pair.second.dataset = dataset
    return DuplicatesPage(
        page=shown,
        counts={value: counts[value] for value in NearDuplicate.Decision.values},
        last_search=last_task(dataset, DatasetTask.Kind.DUPLICATES),
    )


def pair_page(pair: NearDuplicate) -> PairPage:
    waiting = find_pairs(pair.second.dataset, decision=NearDuplicate.Decision.OPEN)
    return PairPage(pair, waiting.exclude(pk=pair.pk).first())
