"""Findings of personal data with their context, near duplicates and selections, for organisers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Greatest, Substr

from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentType,
    NearDuplicate,
    PiiFinding,
    ReleaseItem,
    Selection,
)
from portal.web.queries import count_by

from .draws import StratifiedSample, StratumSample

PER_PAGE = 50
# Characters that are shown on each side of a finding.
CONTEXT = 70


@dataclass(frozen=True)
class FindingRow:
    """A finding with its text, the text around it, and the releases of its document."""

    finding: PiiFinding
    before: str
    found: str
    after: str
    releases: list[str]

    @property
    def is_cut(self) -> bool:
        """Whether the text continues after the shown part."""
        return len(self.after) == CONTEXT

    @property
    def document(self) -> Document:
        return self.finding.document


@dataclass(frozen=True)
class FindingsPage:
    """A page of findings, `counts` by decision, and the number of `documents` with open ones."""

    page: Page[PiiFinding]
    rows: list[FindingRow]
    counts: dict[str, int]
    documents: int
    last_scan: DatasetTask | None


def find_findings(dataset: Dataset, *, kind: str = "", decision: str = "") -> QuerySet[PiiFinding]:
    """Return findings by document and position."""
    findings = PiiFinding.objects.filter(document__dataset=dataset)
    if kind:
        findings = findings.filter(kind=kind)
    if decision:
        findings = findings.filter(decision=decision)
    return findings.select_related("decided_by").order_by("document__name", "start", "id")


def findings_page(
    dataset: Dataset, *, kind: str = "", decision: str = "", page: str = "1"
) -> FindingsPage:
    found = find_findings(dataset, kind=kind, decision=decision)
    shown: Page[PiiFinding] = Paginator(found, PER_PAGE).get_page(page)
    counts = count_by(find_findings(dataset, kind=kind), "decision")
    still = find_findings(dataset, decision=PiiFinding.Decision.OPEN).order_by()
    return FindingsPage(
        page=shown,
        rows=finding_rows(dataset, shown),
        counts={value: counts.get(value, 0) for value in PiiFinding.Decision.values},
        documents=still.values("document").distinct().count(),
        last_scan=last_task(dataset, DatasetTask.Kind.PII),
    )


def finding_rows(dataset: Dataset, findings: Iterable[PiiFinding]) -> list[FindingRow]:
    """Return the rows of findings of one dataset, with three queries.

    The database cuts out the context, so that no whole text is loaded.
    """
    listed = list(findings)
    documents = {
        document.pk: document
        for document in dataset.documents.filter(
            pk__in={finding.document_id for finding in listed}
        ).defer("metadata")
    }
    contexts = _contexts([finding.pk for finding in listed])
    releases = _releases(list(documents))
    rows = []
    for finding in listed:
        finding.document = documents[finding.document_id]
        finding.document.dataset = dataset
        context = contexts.get(finding.pk, "")
        before = min(finding.start, CONTEXT)
        length = finding.end - finding.start
        rows.append(
            FindingRow(
                finding=finding,
                before=context[:before],
                found=context[before : before + length],
                after=context[before + length : before + length + CONTEXT],
                releases=releases.get(finding.document_id, []),
            )
        )
    return rows


def last_task(dataset: Dataset, kind: DatasetTask.Kind) -> DatasetTask | None:
    task = dataset.tasks.filter(kind=kind).defer("report").first()
    if task is not None:
        task.dataset = dataset
    return task


def _contexts(keys: list[int]) -> dict[int, str]:
    start = Greatest(F("start") - CONTEXT, 0) + 1
    length = F("end") - F("start") + 2 * CONTEXT
    rows = PiiFinding.objects.filter(pk__in=keys).order_by()
    cut = Substr("document__content__text", start, length)
    return dict(rows.annotate(context=cut).values_list("pk", "context"))


def _releases(keys: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    items = ReleaseItem.objects.filter(document__in=keys).order_by("release_id")
    for key, version in items.values_list("document", "release__version"):
        if key is not None:
            found.setdefault(key, []).append(version)
    return found


def find_pairs(dataset: Dataset, *, decision: str = "") -> QuerySet[NearDuplicate]:
    """Return the pairs of a dataset, the most similar ones first."""
    pairs = NearDuplicate.objects.filter(second__dataset=dataset)
    if decision:
        pairs = pairs.filter(decision=decision)
    return (
        pairs.select_related("first__dataset", "second__dataset", "decided_by")
        .defer("first__metadata", "second__metadata")
        .order_by("-similarity", "id")
    )


def following_pair(pair: NearDuplicate) -> NearDuplicate | None:
    """Return the next open pair."""
    waiting = find_pairs(pair.second.dataset, decision=NearDuplicate.Decision.OPEN)
    return waiting.exclude(pk=pair.pk).first()


# A longer table is cut and shows the number of strata that are left out.
STRATA_SHOWN = 200


def strata_rows(
    sample: StratifiedSample, fields: tuple[str, ...]
) -> list[tuple[list[str], StratumSample]]:
    """Return the first STRATA_SHOWN strata with their values for display."""
    types: dict[str, str] = {value: str(label) for value, label in DocumentType.choices}
    rows = []
    for stratum in sample.strata[:STRATA_SHOWN]:
        values = [
            types.get(value, value) if name == "doc_type" else value or "unknown"
            for name, value in zip(fields, stratum.stratum, strict=True)
        ]
        rows.append((values, stratum))
    return rows


def selection_rows(dataset: Dataset) -> QuerySet[Selection]:
    """Return selections, newest first, with their number of documents as `drawn`."""
    rows = dataset.selections.select_related("created_by").annotate(drawn=Count("documents"))
    return rows.order_by("-id")


def selected_documents(selection: Selection, *, page: str = "1") -> Page[Document]:
    documents = selection.documents.select_related("dataset").order_by("name").defer("metadata")
    shown: Page[Document] = Paginator(documents, PER_PAGE).get_page(page)
    return shown


def selection_lines(selection: Selection) -> Iterator[list[Any]]:
    """Yield the rows of the CSV file: the header, then the documents by name."""
    columns = ["name", "doc_type", "fiscal_year", "company", "source", "language"]
    yield columns
    rows = selection.documents.order_by("name").values_list(*columns)
    for row in rows.iterator(chunk_size=1_000):
        yield list(row)
