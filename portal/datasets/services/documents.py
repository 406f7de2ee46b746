"""Editing what describes documents, one or many, and holding them back.

Content never changes, and neither do frozen releases, which have lines of their own.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.document_fields import BULK_EDITABLE, check_fields, sourced
from portal.datasets.models import Dataset, Document

State = Document.State

# Of so many documents the log keeps each one's former values, of more how many had which.
BEFORE_KEPT = 1_000
_VALUES_KEPT = 50


@dataclass(frozen=True)
class Hold:
    """Documents are held back for a `reason`, or taken up again where there is none."""

    reason: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        state = State.HELD if self.reason else State.ACTIVE
        return {"state": state, "held_reason": self.reason}


@transaction.atomic
def edit_document(
    *, document: Document, changes: Mapping[str, Any], actor: User | None
) -> Document:
    """Writes the fields that differ; the log keeps what they were. Raises ValidationError."""
    checked = check_fields(changes)
    stored = Document.objects.select_for_update().get(pk=document.pk)
    if "source_url" in checked:
        checked["source"] = sourced(stored, checked["source_url"])
    before = {
        name: getattr(stored, name)
        for name, value in sorted(checked.items())
        if getattr(stored, name) != value
    }
    if before:
        Document.objects.filter(pk=stored.pk).update(**{name: checked[name] for name in before})
        record_event(verb="edit_document", subject=stored, actor=actor, before=before)
    stored.refresh_from_db()
    return stored


@transaction.atomic
def bulk_edit_documents(
    *,
    dataset: Dataset,
    documents: QuerySet[Document],
    changes: Mapping[str, Any] | None = None,
    hold: Hold | None = None,
    actor: User | None,
) -> int:
    """Gives all documents of the query the same values; all of them or none. Returns how many.

    `changes` has fields of BULK_EDITABLE. Raises ValidationError by field, and for nothing to do.
    """
    checked = check_fields(changes or {})
    if alone := sorted(checked.keys() - set(BULK_EDITABLE)):
        raise ValidationError({alone[0]: ["This field is edited in each document alone."]})
    if hold is not None:
        checked |= hold.fields
    if not checked:
        raise ValidationError("Choose at least one field to change.")
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    # A set of keys: what is written may be what the query asks for.
    chosen = Document.objects.filter(dataset=dataset, pk__in=documents.order_by().values("pk"))
    before = _before(chosen, sorted(checked))
    count = chosen.update(**checked)
    record_event(
        verb="edit_documents",
        subject=dataset,
        actor=actor,
        documents=count,
        changes=checked,
        before=before,
    )
    return count


def hold_documents(*, dataset: Dataset, keys: list[int], reason: str, actor: User | None) -> int:
    """Holds back those of the documents that are active, for one reason; returns how many."""
    active = dataset.documents.filter(pk__in=keys, state=State.ACTIVE)
    return bulk_edit_documents(dataset=dataset, documents=active, hold=Hold(reason), actor=actor)


def _before(chosen: QuerySet[Document], names: list[str]) -> dict[str, Any]:
    """What the documents have: each one's values by name, or how many have which value."""
    rows = chosen.order_by("name").values_list("name", *names)
    listed = list(rows[: BEFORE_KEPT + 1])
    if len(listed) <= BEFORE_KEPT:
        return {"fields": names, "values": {name: values for name, *values in listed}}
    counts = {name: Counter[str]() for name in names}
    for _, *values in rows.iterator():
        for name, value in zip(names, values, strict=True):
            counts[name][str(value)] += 1
    return {"counts": {name: dict(counts[name].most_common(_VALUES_KEPT)) for name in names}}
