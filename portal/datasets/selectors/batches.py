"""The page of a batch: how far its inspection is, what it says, and what validation found."""

import json
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet

from portal.datasets.curation.acceptance import Acceptance, audit_report, validation_counts
from portal.datasets.curation.audit_files import audit_csv, audit_markdown
from portal.datasets.curation.records import FieldFault
from portal.datasets.file_responses import TextFile
from portal.datasets.models import Batch, BatchDocument

from .acceptance import batch_acceptance, batch_schema, batch_verdicts

PER_PAGE = 50


@dataclass(frozen=True)
class BatchPage:
    """A batch; `page` has its sampled documents, or, if asked for, those with faults.

    `next` is the first sampled document that is not inspected yet. `may_close` says whether the
    verdict is sure by now, `held` how many documents the rejected batch holds back still.
    """

    batch: Batch
    acceptance: Acceptance
    documents: int
    faulty: int
    fault_counts: list[dict[str, Any]]
    page: Page[BatchDocument]
    shows_faults: bool
    next: BatchDocument | None
    may_close: bool
    held: int


def get_batch_page(batch: Batch, *, show: str = "", page: str = "1", held: int = 0) -> BatchPage:
    verdicts = batch_verdicts(batch)
    acceptance = batch_acceptance(batch, verdicts)
    counts = validation_counts(_faults(batch))
    faulty = show == "faults"
    listed = with_faults(batch) if faulty else sampled_documents(batch)
    return BatchPage(
        batch=batch,
        acceptance=acceptance,
        documents=batch.documents.count(),
        faulty=counts["documents_with_faults"],
        fault_counts=counts["counts"],
        page=Paginator(listed, PER_PAGE).get_page(page),
        shows_faults=faulty,
        next=next_to_inspect(batch),
        may_close=bool(acceptance.failing) or acceptance.state != "incomplete",
        held=held,
    )


def sampled_documents(batch: Batch) -> QuerySet[Any]:
    """The sample by name, with `said` and `wrong`, the numbers of verdicts on each."""
    return (
        batch.documents.filter(is_sampled=True)
        .select_related("document")
        .defer("document__metadata")
        .annotate(
            said=Count("inspections"),
            wrong=Count("inspections", filter=Q(inspections__is_right=False)),
        )
        .order_by("document__name")
    )


def with_faults(batch: Batch) -> QuerySet[Any]:
    """The documents in which validation found something, by name."""
    faulty = batch.documents.exclude(faults=[]).select_related("document")
    return faulty.defer("document__metadata").order_by("document__name")


def next_to_inspect(batch: Batch, after: str = "") -> BatchDocument | None:
    """The first document after the one of this name with fields to inspect; then from the start."""
    fields = len(batch_schema(batch).names)
    waiting = sampled_documents(batch).filter(said__lt=fields)
    following = waiting.filter(document__name__gt=after).first() if after else None
    found: BatchDocument | None = following or waiting.exclude(document__name=after).first()
    return found


def audit_of(batch: Batch) -> dict[str, Any]:
    """The audit report: of a closed batch as it was closed, of an open one as it is now."""
    if batch.state != Batch.State.OPEN:
        report: dict[str, Any] = batch.report
        return report
    verdicts = batch_verdicts(batch)
    return audit_report(
        batch_acceptance(batch, verdicts),
        verdicts,
        _faults(batch),
        batch_size=batch.documents.count(),
        seed=batch.seed,
    )


def audit_file(batch: Batch, form: str) -> TextFile:
    """The report as a file; `form` is json, markdown or csv."""
    stem = f"audit-{batch.dataset.slug}-batch-{batch.number}"
    report = audit_of(batch)
    if form == "json":
        text = json.dumps(report, ensure_ascii=False, indent=1)
        return TextFile(f"{stem}.json", "application/json", text)
    if form == "csv":
        return TextFile(f"{stem}.csv", "text/csv", audit_csv(report))
    title = f"Audit report: batch {batch.number} of {batch.dataset.title}"
    return TextFile(f"{stem}.md", "text/markdown", audit_markdown(report, title))


def _faults(batch: Batch) -> dict[str, list[FieldFault]]:
    rows = batch.documents.values_list("document__name", "faults")
    return {name: [FieldFault(**fault) for fault in faults] for name, faults in rows}
