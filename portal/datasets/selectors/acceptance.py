"""Batches: which documents may go into one, where they stand, and the accuracy over all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from portal.datasets.curation.acceptance import (
    Acceptance,
    FieldAccuracy,
    Verdict,
    accept,
    pooled,
)
from portal.datasets.curation.record_fields import derived_schema, record_fields
from portal.datasets.curation.schemas import Schema, read_schema
from portal.datasets.models import (
    Batch,
    BatchDocument,
    Dataset,
    Document,
    DocumentRecord,
    Inspection,
    Selection,
)

PER_PAGE = 50
# A schema is made up from so many records.
_RECORDS_READ = 200


@dataclass(frozen=True)
class Candidates:
    """Which documents a batch is to have; what is empty leaves all of them in."""

    selection: Selection | None = None
    doc_type: str = ""
    language: str = ""


@dataclass(frozen=True)
class BatchRow:
    """A batch in the list: `said` of `due` verdicts are there; `overall` is all fields together."""

    batch: Batch
    documents: int
    said: int
    due: int
    overall: FieldAccuracy


@dataclass(frozen=True)
class ClosedBatch:
    """A closed batch with the accuracy of all fields together."""

    number: int
    state: str
    closed_at: datetime | None
    overall: FieldAccuracy


@dataclass(frozen=True)
class BatchList:
    """`accepted` is the accuracy over all accepted batches.

    Of the documents, `records` have a record, and `waiting` of these could go into a batch.
    """

    page: Page[Batch]
    rows: list[BatchRow]
    accepted: FieldAccuracy
    closed: list[ClosedBatch]
    records: int
    waiting: int


def batch_schema(batch: Batch) -> Schema:
    return read_schema(batch.fields)


def batch_candidates(dataset: Dataset, candidates: Candidates) -> QuerySet[Document]:
    """Active documents with a record that are in no open or accepted batch."""
    taken = BatchDocument.objects.filter(document=OuterRef("pk")).exclude(
        batch__state=Batch.State.REJECTED
    )
    documents = dataset.documents.filter(record__isnull=False, state=Document.State.ACTIVE)
    documents = documents.filter(~Exists(taken))
    if candidates.selection:
        documents = documents.filter(selections=candidates.selection)
    if candidates.doc_type:
        documents = documents.filter(doc_type=candidates.doc_type)
    if candidates.language:
        documents = documents.filter(language=candidates.language)
    return documents


def suggested_schema(dataset: Dataset) -> dict[str, object]:
    """A schema that fits the first records of a dataset."""
    records = DocumentRecord.objects.filter(document__dataset=dataset).order_by("document__name")
    golds = records.values_list("gold", flat=True)[:_RECORDS_READ]
    return derived_schema(record_fields(gold) for gold in golds)


def batch_list(dataset: Dataset, page: str = "1") -> BatchList:
    shown = Paginator(dataset.batches.defer("report").order_by("-number"), PER_PAGE).get_page(page)
    closed = closed_batches(dataset)
    accepted = [batch.overall for batch in closed if batch.state == Batch.State.ACCEPTED]
    records = dataset.documents.filter(record__isnull=False)
    return BatchList(
        page=shown,
        rows=batch_rows(list(shown)),
        accepted=pooled(accepted, "accepted"),
        closed=closed,
        records=records.count(),
        waiting=batch_candidates(dataset, Candidates()).count(),
    )


def batch_rows(batches: Sequence[Batch]) -> list[BatchRow]:
    """Rows in the order of the batches: two queries, however many they are."""
    documents = dict(
        BatchDocument.objects.filter(batch__in=batches)
        .order_by()
        .values_list("batch")
        .annotate(Count("id"))
    )
    said = {
        key: (count, right)
        for key, count, right in Inspection.objects.filter(batch_document__batch__in=batches)
        .order_by()
        .values_list("batch_document__batch")
        .annotate(said=Count("id"), right=Count("id", filter=Q(is_right=True)))
    }
    rows = []
    for batch in batches:
        count, right = said.get(batch.pk, (0, 0))
        due = batch.sample_size * len(batch_schema(batch).names)
        overall = FieldAccuracy("overall", right, count, due - count)
        rows.append(BatchRow(batch, documents.get(batch.pk, 0), count, due, overall))
    return rows


def batch_verdicts(batch: Batch) -> list[Verdict]:
    """What was said so far of the sample of a batch, with the values it was said of."""
    inspections = (
        Inspection.objects.filter(batch_document__batch=batch)
        .order_by("batch_document__document__name", "field")
        .values_list(
            "batch_document__document__name", "field", "is_right", "correct_value", "comment"
        )
    )
    found = [Verdict(*row) for row in inspections]
    values = _values(batch, {verdict.document for verdict in found if not verdict.is_right})
    return [
        verdict
        if verdict.is_right
        else verdict._replace(value=values[verdict.document].get(verdict.field))
        for verdict in found
    ]


def batch_acceptance(batch: Batch, verdicts: Iterable[Verdict]) -> Acceptance:
    """What the verdicts say of a batch as they are now."""
    sampled = batch.documents.filter(is_sampled=True).values_list("document__name", flat=True)
    return accept(
        fields=batch_schema(batch).names,
        sampled=sampled,
        verdicts=verdicts,
        threshold=batch.threshold,
    )


def stamp_of(inspection: Inspection | None) -> str:
    """Tells one verdict on a field from the next one; empty for none."""
    return inspection.inspected_at.isoformat() if inspection else ""


def closed_batches(dataset: Dataset) -> list[ClosedBatch]:
    """The closed batches by number. Of their reports, which are long, one line is read."""
    closed = dataset.batches.exclude(state=Batch.State.OPEN).order_by("number")
    return [
        ClosedBatch(
            number,
            state,
            closed_at,
            FieldAccuracy("overall", overall["right"], overall["n"], overall["missing"]),
        )
        for number, state, closed_at, overall in closed.values_list(
            "number", "state", "closed_at", "report__overall"
        )
    ]


def _values(batch: Batch, names: set[str]) -> dict[str, dict[str, object]]:
    """The fields of documents of a batch, by name of the document."""
    if not names:
        return {}
    records = DocumentRecord.objects.filter(
        document__batches__batch=batch, document__name__in=names
    ).values_list("document__name", "gold")
    return {name: record_fields(gold) for name, gold in records}
