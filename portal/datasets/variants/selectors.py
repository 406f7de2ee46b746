"""The stress variants of a dataset."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator

from portal.accounts.access import is_organiser
from portal.datasets.access import visible_releases
from portal.datasets.documents.selectors import listed_datasets
from portal.datasets.models import Dataset, DatasetTask, Release

PER_PAGE = 20


@dataclass(frozen=True)
class VariantRow:
    """A variant in the list.

    `task` is its newest task and `carriable` are the releases that can be copied to it, newest
    first; both are for organisers.
    """

    dataset: Dataset
    task: DatasetTask | None
    carriable: list[Release]


@dataclass(frozen=True)
class VariantList:
    """A page of the variants of `base`. For a variant, `base` is its original dataset."""

    base: Dataset
    page: Page[Dataset]
    rows: list[VariantRow]
    may_manage: bool


def variant_list(user: Any, dataset: Dataset, *, page: str = "1") -> VariantList:
    """Return the visible variants by title, with at most four queries."""
    base = dataset.derived_from or dataset
    may_manage = is_organiser(user)
    variants = listed_datasets(user).filter(derived_from=base).order_by("title", "pk")
    shown: Page[Dataset] = Paginator(variants, PER_PAGE).get_page(page)
    released = list(visible_releases(user, base).order_by("-frozen_at", "-id"))
    tasks = _newest_tasks(shown) if may_manage else {}
    rows = [
        VariantRow(
            dataset=variant,
            task=tasks.get(variant.pk),
            carriable=_carriable(variant, released) if may_manage else [],
        )
        for variant in shown
    ]
    return VariantList(base, shown, rows, may_manage)


def _newest_tasks(variants: Page[Dataset]) -> dict[int, DatasetTask]:
    tasks = DatasetTask.objects.filter(dataset__in=list(variants), kind=DatasetTask.Kind.DERIVE)
    found = {task.dataset_id: task for task in tasks.defer("report").order_by("pk")}
    for variant in variants:
        if variant.pk in found:
            found[variant.pk].dataset = variant
    return found


def _carriable(variant: Dataset, released: list[Release]) -> list[Release]:
    there = {release.version for release in variant.releases.all()}
    return [release for release in released if release.version not in there]
