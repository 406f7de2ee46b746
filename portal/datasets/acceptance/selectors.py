"""Batches: candidate documents, progress of the inspection, accuracies and audit reports."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from portal.datasets.documents.selectors import PER_PAGE
from portal.datasets.models import (
    Batch,
    BatchDocument,
    Dataset,
    Document,
    DocumentRecord,
    Inspection,
    PageImage,
    Selection,
)
from portal.datasets.responses import TextFile
from portal.web.charts import Line, LineChart, Point, line_chart
from portal.web.queries import count_by

from .audits import (
    Acceptance,
    AuditReport,
    FaultCount,
    FieldAccuracy,
    Verdict,
    accept,
    audit_csv,
    audit_markdown,
    audit_report,
    field_accuracy,
    pooled,
    validation_counts,
    written_value,
)
from .records import (
    FieldFault,
    FieldRule,
    Schema,
    derived_schema,
    is_empty,
    read_schema,
    record_fields,
)

# The number of records from which a schema is derived.
_RECORDS_READ = 200


@dataclass(frozen=True)
class Candidates:
    """The documents that a batch may contain; an empty filter allows all."""

    selection: Selection | None = None
    doc_type: str = ""
    language: str = ""


@dataclass(frozen=True)
class BatchRow:
    """A batch in the list with `said` of `due` verdicts; `overall` covers all fields."""

    batch: Batch
    documents: int
    said: int
    due: int
    overall: FieldAccuracy


@dataclass(frozen=True)
class ClosedBatch:
    """A closed batch with the accuracy over all fields."""

    number: int
    state: str
    overall: FieldAccuracy


@dataclass(frozen=True)
class BatchList:
    """A page of batches, with the accuracy over all `accepted` batches.

    `records` documents have a record, and `waiting` of them can go into a batch.
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
    in_batch = BatchDocument.objects.filter(document=OuterRef("pk")).exclude(
        batch__state=Batch.State.REJECTED
    )
    documents = dataset.documents.filter(record__isnull=False, state=Document.State.ACTIVE)
    documents = documents.filter(~Exists(in_batch))
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
    """Return the rows of the batches in their order, with two queries."""
    documents = count_by(BatchDocument.objects.filter(batch__in=batches), "batch")
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
        overall = field_accuracy("overall", right, count, due - count)
        rows.append(BatchRow(batch, documents.get(batch.pk, 0), count, due, overall))
    return rows


def batch_verdicts(batch: Batch) -> list[Verdict]:
    """Return the verdicts on the sample of a batch; those on wrong fields have their values."""
    inspections = (
        Inspection.objects.filter(batch_document__batch=batch)
        .order_by("batch_document__document__name", "field")
        .values_list(
            "batch_document__document__name", "field", "is_right", "correct_value", "comment"
        )
    )
    verdicts = [Verdict(*row) for row in inspections]
    values = _values(batch, {verdict.document for verdict in verdicts if not verdict.is_right})
    return [
        verdict
        if verdict.is_right
        else verdict._replace(value=values[verdict.document].get(verdict.field))
        for verdict in verdicts
    ]


def batch_acceptance(batch: Batch, verdicts: Iterable[Verdict]) -> Acceptance:
    """Return the result of the inspection so far."""
    sampled = batch.documents.filter(is_sampled=True).values_list("document__name", flat=True)
    return accept(
        fields=batch_schema(batch).names,
        sampled=sampled,
        verdicts=verdicts,
        threshold=batch.threshold,
    )


def verdict_version(inspection: Inspection | None) -> str:
    """Return the version of a verdict; "" for none."""
    return inspection.inspected_at.isoformat() if inspection else ""


def closed_batches(dataset: Dataset) -> list[ClosedBatch]:
    """Return the closed batches by number. Only one key of the long reports is loaded."""
    closed = dataset.batches.exclude(state=Batch.State.OPEN).order_by("number")
    rows = closed.values_list("number", "state", "report__overall")
    return [ClosedBatch(number, state, FieldAccuracy(**overall)) for number, state, overall in rows]


def _values(batch: Batch, names: set[str]) -> dict[str, dict[str, object]]:
    """The fields of documents of a batch, by name of the document."""
    if not names:
        return {}
    records = DocumentRecord.objects.filter(
        document__batches__batch=batch, document__name__in=names
    ).values_list("document__name", "gold")
    return {name: record_fields(gold) for name, gold in records}


# A line needs at least two points.
_LEAST = 2
_MOST = 40


def accuracy_chart(dataset: Dataset, closed: Sequence[ClosedBatch]) -> LineChart | None:
    """Chart the overall accuracy of the latest closed batches; None for fewer than two."""
    shown = closed[-_MOST:]
    if len(shown) < _LEAST:
        return None
    points = [_point(batch) for batch in shown]
    lowest = min(
        end for point in points for end in (point.low, point.value, 1.0) if end is not None
    )
    return line_chart(
        "accuracy",
        f"Accuracy of the batches of {dataset.title}, with 95% intervals",
        [str(batch.number) for batch in shown],
        [Line("first", "all fields", points)],
        axis="batch",
        step=0.05 if lowest >= 0.7 else 0.2,
    )


def _point(batch: ClosedBatch) -> Point:
    overall = batch.overall
    tooltip = f"batch {batch.number}, {batch.state}: {100 * (overall.accuracy or 0):.1f}%"
    if overall.low is not None and overall.high is not None:
        tooltip += f" [{100 * overall.low:.1f}, {100 * overall.high:.1f}], n = {overall.n:,}"
    return Point(overall.accuracy, overall.low, overall.high, tooltip)


@dataclass(frozen=True)
class BatchPage:
    """A batch. `page` lists its sampled documents, or those with faults.

    `next` is the first document to inspect. `may_close` is true once the result is final. `held` is
    the number of documents that the rejected batch still holds.
    """

    batch: Batch
    acceptance: Acceptance
    documents: int
    faulty: int
    fault_counts: list[FaultCount]
    page: Page[BatchDocument]
    shows_faults: bool
    next: BatchDocument | None
    may_close: bool
    held: int


def get_batch_page(batch: Batch, *, show: str = "", page: str = "1", held: int = 0) -> BatchPage:
    verdicts = batch_verdicts(batch)
    acceptance = batch_acceptance(batch, verdicts)
    validation = validation_counts(batch_faults(batch))
    faulty = show == "faults"
    listed = with_faults(batch) if faulty else sampled_documents(batch)
    return BatchPage(
        batch=batch,
        acceptance=acceptance,
        documents=batch.documents.count(),
        faulty=validation.documents_with_faults,
        fault_counts=validation.counts,
        page=Paginator(listed, PER_PAGE).get_page(page),
        shows_faults=faulty,
        next=next_to_inspect(batch),
        may_close=bool(acceptance.failing) or acceptance.state != "incomplete",
        held=held,
    )


def sampled_documents(batch: Batch) -> QuerySet[Any]:
    """Return the sample by name. `said` and `wrong` count the verdicts on each document."""
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
    """Return the documents with faults by name."""
    faulty = batch.documents.exclude(faults=[]).select_related("document")
    return faulty.defer("document__metadata").order_by("document__name")


def next_to_inspect(batch: Batch, after: str = "") -> BatchDocument | None:
    """Return the next document with fields to inspect, starting again from the first one."""
    fields = len(batch_schema(batch).names)
    waiting = sampled_documents(batch).filter(said__lt=fields)
    following = waiting.filter(document__name__gt=after).first() if after else None
    document: BatchDocument | None = following or waiting.exclude(document__name=after).first()
    return document


def audit_of(batch: Batch) -> dict[str, Any]:
    """Return the AuditReport as JSON: the stored one of a closed batch, the current one if open."""
    if batch.state != Batch.State.OPEN:
        report: dict[str, Any] = batch.report
        return report
    verdicts = batch_verdicts(batch)
    return asdict(current_audit(batch, batch_acceptance(batch, verdicts), verdicts))


def current_audit(batch: Batch, acceptance: Acceptance, verdicts: Iterable[Verdict]) -> AuditReport:
    return audit_report(
        acceptance,
        verdicts,
        batch_faults(batch),
        batch_size=batch.documents.count(),
        seed=batch.seed,
    )


def audit_file(batch: Batch, form: str) -> TextFile:
    """Return the report as a file. `form` is json, markdown or csv."""
    stem = f"audit-{batch.dataset.slug}-batch-{batch.number}"
    report = audit_of(batch)
    if form == "json":
        text = json.dumps(report, ensure_ascii=False, indent=1)
        return TextFile(f"{stem}.json", "application/json", text)
    if form == "csv":
        return TextFile(f"{stem}.csv", "text/csv", audit_csv(report))
    title = f"Audit report: batch {batch.number} of {batch.dataset.title}"
    return TextFile(f"{stem}.md", "text/markdown", audit_markdown(report, title))


def batch_faults(batch: Batch) -> dict[str, list[FieldFault]]:
    """Return the faults of every document by name."""
    rows = batch.documents.values_list("document__name", "faults")
    return {name: [FieldFault(**fault) for fault in faults] for name, faults in rows}


Said: TypeAlias = Literal["", "right", "wrong"]


@dataclass(frozen=True)
class ShownValue:
    """A value for display: `text`, the `lines` of a list, or `rows` with the `columns` of objects.

    `missing` is `absent` if the record does not have the key, and `empty` if the value is empty.
    """

    text: str = ""
    lines: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    missing: Literal["", "absent", "empty"] = ""


@dataclass(frozen=True)
class InspectedField:
    """A field of a sampled document with its verdict."""

    number: int
    """From 1."""
    name: str
    kind: str
    value: ShownValue
    faults: tuple[str, ...]
    said: Said
    inspector: str
    base: str
    """The version of the verdict."""
    correct: str
    should_be_empty: bool
    comment: str
    raw: Any
    """The JSON value, for the API; `raw_correct` is the correct value."""
    raw_correct: Any


@dataclass(frozen=True)
class InspectionPage:
    """A sampled document with its `position` by name; `said` of its fields have a verdict."""

    batch: Batch
    sampled: BatchDocument
    images: list[PageImage]
    fields: list[InspectedField]
    position: int
    previous: str
    following: str
    next_open: str

    @property
    def said(self) -> int:
        return sum(bool(field.said) for field in self.fields)


def inspection_page(batch: Batch, sampled: BatchDocument) -> InspectionPage:
    document = sampled.document
    names = list(sampled_documents(batch).values_list("document__name", flat=True))
    place = names.index(document.name)
    waiting = next_to_inspect(batch, document.name)
    return InspectionPage(
        batch=batch,
        sampled=sampled,
        images=list(document.images.all()),
        fields=inspected_fields(batch, sampled),
        position=place + 1,
        previous=names[place - 1] if place else "",
        following=names[place + 1] if place + 1 < len(names) else "",
        next_open=waiting.document.name if waiting else "",
    )


def inspected_fields(batch: Batch, sampled: BatchDocument) -> list[InspectedField]:
    """Return the fields of the batch in their order, with values and verdicts."""
    record = record_fields(sampled.document.record.gold)
    said = {row.field: row for row in sampled.inspections.select_related("inspector")}
    return [
        _field(number, rule, record, sampled.faults, said.get(rule.name))
        for number, rule in enumerate(batch_schema(batch).fields, start=1)
    ]


def shown_value(record: Mapping[str, Any], rule: FieldRule) -> ShownValue:
    """Prepare a field for display: a text, a list by line, or objects as a table."""
    if rule.name not in record:
        return ShownValue(missing="absent")
    value = record[rule.name]
    if is_empty(value):
        return ShownValue(missing="empty")
    if not isinstance(value, list):
        return ShownValue(text=written_value(value))
    if not all(isinstance(item, Mapping) for item in value):
        return ShownValue(lines=tuple(written_value(item) for item in value))
    known = [item.name for item in rule.items]
    others = dict.fromkeys(str(key) for item in value for key in item if key not in known)
    columns = (*known, *others)
    rows = tuple(tuple(written_value(item.get(column)) for column in columns) for item in value)
    return ShownValue(columns=columns, rows=rows)


def _field(
    number: int,
    rule: FieldRule,
    record: Mapping[str, Any],
    faults: Sequence[Mapping[str, str]],
    said: Inspection | None,
) -> InspectedField:
    correct = said.correct_value if said else None
    return InspectedField(
        number=number,
        name=rule.name,
        kind=rule.kind,
        value=shown_value(record, rule),
        faults=tuple(fault["message"] for fault in faults if fault["field"] == rule.name),
        said=("right" if said.is_right else "wrong") if said else "",
        inspector=str(said.inspector) if said else "",
        base=verdict_version(said),
        correct="" if correct is None else written_value(correct),
        should_be_empty=correct == "",
        comment=said.comment if said else "",
        raw=record.get(rule.name),
        raw_correct=correct,
    )
