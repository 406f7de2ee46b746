"""The list of datasets and the card of one."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from portal.accounts.access import is_organiser
from portal.datasets.access import visible_datasets, visible_releases
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentType,
    ImportItem,
    ImportRun,
    Release,
)

LATEST_IMPORTS = 5


@dataclass(frozen=True)
class DatasetRow:
    """A dataset in the list; `version` is that of its newest visible release, empty for none."""

    dataset: Dataset
    documents: int
    releases: int
    version: str


@dataclass(frozen=True)
class TypeCount:
    value: str
    label: str
    count: int
    percent: float


@dataclass(frozen=True)
class ImportRow:
    """An import in a list, with the number of files per outcome, and of those not read."""

    run: ImportRun
    imported: int
    updated: int
    unchanged: int
    refused: int
    left_out: int


@dataclass(frozen=True)
class DatasetCard:
    """What stands on a dataset's page above its documents; `imports` is for organisers."""

    dataset: Dataset
    documents: int
    types: list[TypeCount]
    releases: list[Release]
    imports: list[ImportRow]
    may_manage: bool


def dataset_rows(user: Any) -> list[DatasetRow]:
    datasets = list(visible_datasets(user))
    documents = _documents_by_dataset(datasets)
    versions: dict[int, list[str]] = {}
    releases = Release.objects.filter(dataset__in=datasets).order_by("-frozen_at", "-id")
    for release in releases if is_organiser(user) else releases.listed():
        versions.setdefault(release.dataset_id, []).append(release.version)
    return [
        DatasetRow(
            dataset=dataset,
            documents=documents[dataset.pk],
            releases=len(versions.get(dataset.pk, [])),
            version=next(iter(versions.get(dataset.pk, [])), ""),
        )
        for dataset in datasets
    ]


def dataset_card(user: Any, dataset: Dataset) -> DatasetCard:
    types = type_counts(dataset)
    may_manage = is_organiser(user)
    return DatasetCard(
        dataset=dataset,
        documents=sum(row.count for row in types),
        types=types,
        releases=list(visible_releases(user, dataset)),
        imports=import_rows(dataset.imports.all()[:LATEST_IMPORTS]) if may_manage else [],
        may_manage=may_manage,
    )


def type_counts(dataset: Dataset) -> list[TypeCount]:
    """Documents per type, the types in their fixed order, those without documents left out."""
    counted = dataset.documents.order_by().values_list("doc_type").annotate(Count("id"))
    counts = dict(counted)
    total = sum(counts.values())
    return [
        TypeCount(value, str(label), counts[value], 100 * counts[value] / total)
        for value, label in DocumentType.choices
        if value in counts
    ]


def import_rows(runs: Iterable[ImportRun]) -> list[ImportRow]:
    listed = list(runs)
    counts: Counter[tuple[int, str]] = Counter()
    items = ImportItem.objects.filter(run__in=listed).order_by()
    for run, outcome, count in items.values_list("run", "outcome").annotate(Count("id")):
        counts[run, outcome] = count
    return [
        ImportRow(
            run=run,
            imported=counts[run.pk, ImportItem.Outcome.IMPORTED],
            updated=counts[run.pk, ImportItem.Outcome.UPDATED],
            unchanged=counts[run.pk, ImportItem.Outcome.UNCHANGED],
            refused=counts[run.pk, ImportItem.Outcome.REFUSED],
            left_out=sum(run.ignored.values()),
        )
        for run in listed
    ]


def _documents_by_dataset(datasets: list[Dataset]) -> Counter[int]:
    documents = Document.objects.filter(dataset__in=datasets).order_by()
    return Counter(dict(documents.values_list("dataset").annotate(Count("id"))))
