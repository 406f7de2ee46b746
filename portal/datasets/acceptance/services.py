"""Open a batch, save verdicts on its sampled documents, close it, release its documents."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.draws import draw
from portal.datasets.models import (
    Batch,
    BatchDocument,
    Dataset,
    Document,
    DocumentRecord,
    Inspection,
)
from portal.web.refusals import Refused

from .audits import THRESHOLD, Acceptance
from .records import (
    FieldFault,
    Schema,
    SchemaError,
    is_storable,
    read_schema,
    record_fields,
    validate_record,
)
from .selectors import (
    Candidates,
    batch_acceptance,
    batch_candidates,
    batch_schema,
    batch_verdicts,
    current_audit,
    verdict_version,
)

MAX_BATCH = 5_000
AT_ONCE = 200
# The length of `Inspection.field`.
_LONGEST_FIELD = 80
# Per record. A record that does not fit the schema at all would otherwise fill the database.
_FAULTS_KEPT = 200

State = Document.State


class AcceptanceRefused(Refused):
    """`code` is one of invalid, empty, changed, closed, unfinished, conflict, unknown."""

    code = "invalid"


def read_batch_schema(data: Any) -> Schema:
    """Read the schema of a batch. Raises AcceptanceRefused if it cannot be used."""
    if not is_storable(data):
        raise AcceptanceRefused(
            "The schema contains a character or number that cannot be stored.", field="schema"
        )
    try:
        schema = read_schema(data)
    except SchemaError as error:
        raise AcceptanceRefused(str(error), field="schema") from error
    for name in schema.names:
        if len(name) > _LONGEST_FIELD or not name.isprintable():
            reason = f"a name may have up to {_LONGEST_FIELD} printable characters"
            raise AcceptanceRefused(f"fields: {name[:40]!r}: {reason}", field="schema")
    return schema


def open_batch(
    *,
    dataset: Dataset,
    schema: Any,
    sample_size: int,
    seed: int,
    threshold: float = THRESHOLD,
    size: int | None = None,
    candidates: Candidates | None = None,
    actor: User | None,
) -> Batch:
    """Open a batch of active documents with a record that no open or accepted batch contains.

    `schema` is plain JSON for `read_schema`. `candidates` limits the documents, and `size` their
    number; the first ones by name are taken. All records are validated. The seed draws
    `sample_size` documents, or all if there are fewer. Raises AcceptanceRefused.
    """
    read = read_batch_schema(schema)
    if not 0 < threshold <= 1:
        raise AcceptanceRefused("Must be above 0 and at most 100%.", field="threshold")
    wanted = batch_candidates(dataset, candidates or Candidates()).order_by("name")
    keys = list(wanted.values_list("pk", "name")[: min(size or MAX_BATCH + 1, MAX_BATCH + 1)])
    _check_size(keys)
    # Records never change, so they are validated before the dataset is locked.
    faults = _validated([pk for pk, _ in keys], read)
    sampled = set(draw([name for _, name in keys], sample_size, seed))
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        _check_still_there(dataset, candidates or Candidates(), [pk for pk, _ in keys])
        last = dataset.batches.order_by("-number").values_list("number", flat=True).first() or 0
        batch = Batch.objects.create(
            dataset=dataset,
            number=last + 1,
            fields=schema if isinstance(schema, Mapping) else {"fields": schema},
            threshold=threshold,
            seed=seed,
            sample_size=len(sampled),
            created_by=actor,
        )
        BatchDocument.objects.bulk_create(
            [
                BatchDocument(
                    batch=batch,
                    document_id=pk,
                    is_sampled=name in sampled,
                    faults=[fault._asdict() for fault in faults[pk][:_FAULTS_KEPT]],
                )
                for pk, name in keys
            ],
            batch_size=AT_ONCE,
        )
        record_event(
            verb="open_batch",
            subject=batch,
            actor=actor,
            dataset=dataset.slug,
            number=batch.number,
            documents=len(keys),
            sample=len(sampled),
            seed=seed,
            threshold=threshold,
        )
    return batch


@transaction.atomic
def close_batch(*, batch: Batch, actor: User | None) -> Batch:
    """Accept or reject a batch and store its audit report. Hold all documents of a rejected batch.

    A batch is rejected early if a field can no longer reach the threshold. Raises
    AcceptanceRefused if the result is still open or the batch is closed.
    """
    stored = Batch.objects.select_for_update().select_related("dataset").get(pk=batch.pk)
    if stored.state != Batch.State.OPEN:
        raise AcceptanceRefused(f"Batch {stored.number} is already {stored.state}.", code="closed")
    verdicts = batch_verdicts(stored)
    acceptance = batch_acceptance(stored, verdicts)
    if acceptance.state == "incomplete" and not acceptance.failing:
        missing = acceptance.overall.missing
        raise AcceptanceRefused(
            f"{missing:,} field{'s' if missing > 1 else ''} of the sample"
            f" {'are' if missing > 1 else 'is'} not inspected yet.",
            code="unfinished",
        )
    stored.state = Batch.State.REJECTED if acceptance.failing else Batch.State.ACCEPTED
    stored.closed_at = timezone.now()
    report = asdict(current_audit(stored, acceptance, verdicts))
    stored.report = report | {"state": str(stored.state)}
    stored.save(update_fields=["state", "closed_at", "report"])
    held = _hold_back(stored, acceptance) if acceptance.failing else 0
    record_event(
        verb="close_batch",
        subject=stored,
        actor=actor,
        dataset=stored.dataset.slug,
        number=stored.number,
        state=str(stored.state),
        failing=list(acceptance.failing),
        held=held,
    )
    return stored


@transaction.atomic
def put_back_batch(*, batch: Batch, actor: User | None) -> int:
    """Make the documents of a rejected batch active again and return how many were held.

    Documents that are now held for another reason stay held. Raises AcceptanceRefused unless the
    batch was rejected.
    """
    stored = Batch.objects.select_for_update().get(pk=batch.pk)
    if stored.state != Batch.State.REJECTED:
        raise AcceptanceRefused(
            "Only the documents of a rejected batch can be returned.", code="closed"
        )
    count: int = held_by(stored).update(state=State.ACTIVE, held_reason="")
    if count:
        record_event(verb="put_back_batch", subject=stored, actor=actor, documents=count)
    return count


def held_by(batch: Batch) -> Any:
    """A queryset of the documents that a rejected batch holds."""
    documents = Document.objects.filter(batches__batch=batch, state=State.HELD)
    return documents.filter(held_reason__startswith=_reason(batch))


def _hold_back(batch: Batch, acceptance: Acceptance) -> int:
    failing = ", ".join(acceptance.failing)
    return Document.objects.filter(batches__batch=batch, state=State.ACTIVE).update(
        state=State.HELD, held_reason=f"{_reason(batch)}below the required accuracy: {failing}"
    )


def _reason(batch: Batch) -> str:
    """The beginning of the `held_reason` that a rejected batch gives its documents."""
    return f"batch {batch.number} was rejected; "


def _check_size(keys: list[tuple[int, str]]) -> None:
    if not keys:
        raise AcceptanceRefused(
            "No matching document is available. A document needs a record, and must not be held"
            " back or in an open or accepted batch.",
            code="empty",
        )
    if len(keys) > MAX_BATCH:
        raise AcceptanceRefused(
            f"A batch can have up to {MAX_BATCH:,} documents. Enter a maximum number of documents.",
            field="size",
        )


def _check_still_there(dataset: Dataset, candidates: Candidates, keys: list[int]) -> None:
    """A batch that was opened at the same time may contain some of the documents."""
    if batch_candidates(dataset, candidates).filter(pk__in=keys).count() < len(keys):
        raise AcceptanceRefused(
            "Another batch was opened with some of these documents. Try again.", code="changed"
        )


def _validated(keys: list[int], schema: Schema) -> dict[int, list[FieldFault]]:
    faults: dict[int, list[FieldFault]] = {}
    for start in range(0, len(keys), AT_ONCE):
        records = DocumentRecord.objects.in_bulk(keys[start : start + AT_ONCE])
        for pk, record in records.items():
            faults[int(pk)] = validate_record(record_fields(record.gold), schema)
    return faults


LONGEST_COMMENT = 2_000


@transaction.atomic
def save_verdict(
    *,
    sampled: BatchDocument,
    field: str,
    is_right: bool,
    correct_value: Any = None,
    comment: str = "",
    base: str | None = None,
    actor: User,
) -> Inspection:
    """Save a verdict on one field of a sampled document. Saving it twice changes nothing.

    `correct_value` is None if the inspector did not give one. `base` is the version of the verdict
    that the inspector saw, "" for none; a newer verdict by someone else then raises a conflict.
    With None the new verdict replaces any other. Raises AcceptanceRefused.
    """
    batch = _open_batch_of(sampled)
    _check(batch, sampled, field, is_right, correct_value)
    given: dict[str, Any] = {
        "is_right": is_right,
        "correct_value": None if is_right else correct_value,
        "comment": comment.strip()[:LONGEST_COMMENT],
    }
    before = sampled.inspections.filter(field=field).select_related("inspector").first()
    if before is None and base in ("", None):
        return Inspection.objects.create(
            batch_document=sampled, field=field, inspector=actor, **given
        )
    if before is not None and all(getattr(before, name) == given[name] for name in given):
        return before
    _check_base(before, base)
    assert before is not None
    _record_change(before, actor)
    for name, value in given.items():
        setattr(before, name, value)
    before.inspector = actor
    before.save()
    return before


@transaction.atomic
def clear_verdict(
    *, sampled: BatchDocument, field: str, base: str | None = None, actor: User
) -> None:
    """Remove the verdict on a field. Raises AcceptanceRefused."""
    _open_batch_of(sampled)
    before = sampled.inspections.filter(field=field).select_related("inspector").first()
    if before is None:
        return
    _check_base(before, base)
    _record_change(before, actor)
    before.delete()


def _open_batch_of(sampled: BatchDocument) -> Batch:
    """Lock the batch, because another request may be closing it."""
    batch = Batch.objects.select_for_update().get(pk=sampled.batch_id)
    if batch.state != Batch.State.OPEN:
        raise AcceptanceRefused(
            f"Batch {batch.number} is {batch.state}. Its inspection results can no longer change.",
            code="closed",
        )
    return batch


def _check(
    batch: Batch, sampled: BatchDocument, field: str, is_right: bool, correct_value: Any
) -> None:
    if not sampled.is_sampled:
        raise AcceptanceRefused("This document is not in the sample.", code="unknown")
    if field not in batch_schema(batch).names:
        raise AcceptanceRefused(f"{field[:80]!r} is not a field of the batch.", code="unknown")
    if is_right or correct_value is None:
        return
    if not is_storable(correct_value):
        raise AcceptanceRefused(
            "The value contains a character or number that cannot be stored.",
            field="correct_value",
        )
    value = record_fields(sampled.document.record.gold).get(field)
    if value == correct_value and type(value) is type(correct_value):
        raise AcceptanceRefused(
            "The record already has this value. Mark the field as correct.", field="correct_value"
        )


def _check_base(before: Inspection | None, base: str | None) -> None:
    if base is None or base == verdict_version(before):
        return
    if before is None:
        message = "Another inspector cleared the result of this field."
    else:
        verdict = "correct" if before.is_right else "wrong"
        message = f"{before.inspector} marked this field as {verdict}."
    raise AcceptanceRefused(f"{message} Save your result again to replace it.", code="conflict")


def _record_change(before: Inspection, actor: User) -> None:
    """Log a verdict that is about to be replaced or removed: its row does not keep it."""
    record_event(
        verb="change_inspection",
        subject=before,
        actor=actor,
        field=before.field,
        was_right=before.is_right,
        correct_value=before.correct_value,
        comment=before.comment,
        inspector=before.inspector_id,
    )
