"""What people say of the fields of a sampled document, verdict by verdict."""

from typing import Any

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.record_fields import is_storable, record_fields
from portal.datasets.models import Batch, BatchDocument, Inspection
from portal.datasets.selectors.acceptance import batch_schema, stamp_of

from .acceptance import AcceptanceRefused

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
    """Keeps a verdict on one field of a sampled document; the same one again changes nothing.

    `correct_value` of a wrong field is None while nobody gave it. `base` is the stamp of the
    verdict that the person saw, empty for none, None to overrule whatever is there: somebody
    else's newer verdict is refused with the code `conflict`. Raises AcceptanceRefused.
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
    """Takes a verdict back, so that the field has none. Raises AcceptanceRefused."""
    _open_batch_of(sampled)
    before = sampled.inspections.filter(field=field).select_related("inspector").first()
    if before is None:
        return
    _check_base(before, base)
    _record_change(before, actor)
    before.delete()


def _open_batch_of(sampled: BatchDocument) -> Batch:
    """The batch, locked: it may be closed at this very moment."""
    batch = Batch.objects.select_for_update().get(pk=sampled.batch_id)
    if batch.state != Batch.State.OPEN:
        raise AcceptanceRefused(
            f"Batch {batch.number} is {batch.state}: its verdicts are final.", code="closed"
        )
    return batch


def _check(
    batch: Batch, sampled: BatchDocument, field: str, is_right: bool, correct_value: Any
) -> None:
    if not sampled.is_sampled:
        raise AcceptanceRefused("This document was not drawn.", code="unknown")
    if field not in batch_schema(batch).names:
        raise AcceptanceRefused(f"{field[:80]!r} is not a field of the batch.", code="unknown")
    if is_right or correct_value is None:
        return
    if not is_storable(correct_value):
        raise AcceptanceRefused(
            "It has a character or number that cannot be kept.", field="correct_value"
        )
    value = record_fields(sampled.document.record.gold).get(field)
    if value == correct_value and type(value) is type(correct_value):
        raise AcceptanceRefused(
            "This is what the record has; the field would be right.", field="correct_value"
        )


def _check_base(before: Inspection | None, base: str | None) -> None:
    if base is None or base == stamp_of(before):
        return
    if before is None:
        message = "Somebody took the verdict on this field back meanwhile."
    else:
        said = "right" if before.is_right else "wrong"
        message = f"{before.inspector} said “{said}” meanwhile."
    raise AcceptanceRefused(f"{message} Say it again to overrule.", code="conflict")


def _record_change(before: Inspection, actor: User) -> None:
    """First verdicts are rows; of those that are overruled only the log tells."""
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
