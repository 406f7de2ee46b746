"""Create and edit datasets, edit the metadata of documents, and hold documents back.

Content and frozen releases never change. `check_fields` validates metadata for forms, serializers
and services, so that pages and the API accept the same values.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string
from django.utils.text import capfirst

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.imports.items import (
    LINE_LIMIT,
    DocumentMeta,
    JsonError,
    described,
    read_object,
)
from portal.datasets.models import Dataset, Document
from portal.datasets.models.documents import STRATA_FIELDS, document_source
from portal.web.refusals import Refused

# Fields that can be edited in many documents at once, and in one.
BULK_EDITABLE = ("doc_type", "company", "form_type", "fiscal_year", "language", "licence")
EDITABLE = (*BULK_EDITABLE, "source_url", "metadata")
_UNEDITED = ("source", "kind", "source_sha256", "text_chars", *STRATA_FIELDS)
# Fields that a masked or captured copy of a document shares with it.
COPIED = (*BULK_EDITABLE, "source_url", *_UNEDITED)
METADATA_LIMIT = LINE_LIMIT
_EMPTY = DocumentMeta().fields()
MAX_LANGUAGE = 12


def check_fields(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Validate changes and return the values to store.

    Raises ValidationError by field for a field not in EDITABLE, and for a value that an import
    would refuse.
    """
    checked: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, value in changes.items():
        try:
            checked[name] = _checked(name, value)
        except ValueError as error:
            faults[name] = str(error)
    if faults:
        raise ValidationError({name: [message] for name, message in faults.items()})
    return checked


def read_metadata(text: str) -> dict[str, Any]:
    """Parse a JSON object that a user entered. Raises ValidationError with the line."""
    data = text.encode("utf-8", errors="surrogatepass")
    try:
        _check_size(len(data))
        return read_object(data)
    except JsonError as error:
        raise ValidationError(f"Line {error.line}: {error}.") from error
    except ValueError as error:
        raise ValidationError(str(error)) from error


def sourced(document: Document, source_url: str) -> str:
    """Return the source of a document with a new URL: a benchmark's name, or the host of the URL.

    Without a URL, the document keeps its source, unless that was the host of its old URL.
    """
    former = document_source(document.source_url)
    benchmark = "" if document.source == former else document.source
    return document_source(source_url, benchmark)


def _checked(name: str, value: Any) -> Any:
    if name not in EDITABLE:
        raise ValueError("This field cannot be changed.")
    if name == "metadata":
        return _metadata(value)
    if name == "language":
        return _language(value)
    if value in (None, ""):
        return _EMPTY[name]
    try:
        return getattr(described({name: value}), name)
    except ValueError as error:
        raise ValueError(_sentence(str(error).removeprefix(f"{name}: "))) from error


def _metadata(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("This must be a JSON object.")
    try:
        data = json.dumps(value, ensure_ascii=False).encode("utf-8")
        _check_size(len(data))
        return read_object(data)
    except (RecursionError, UnicodeEncodeError) as error:
        raise ValueError("This is nested too deeply or contains an invalid character.") from error
    except JsonError as error:
        raise ValueError(_sentence(str(error))) from error


def _language(value: Any) -> str:
    text = str(value or "").strip()
    if len(text) > MAX_LANGUAGE or not text.isprintable():
        raise ValueError(
            f"Enter a language code such as en or zh, of up to {MAX_LANGUAGE} characters."
        )
    return text


def _check_size(size: int) -> None:
    if size > METADATA_LIMIT:
        raise ValueError(f"This is longer than {METADATA_LIMIT // 1024} kB.")


def _sentence(text: str) -> str:
    return f"{capfirst(text)}."


# By dotted path, because releases build on documents.
CHECK_PUBLICATION = "portal.datasets.releases.overlaps.check_publication"


class PublicationRefused(Refused):
    """The dataset would publish the gold of `count` documents that other datasets hide.

    `count` confirms them; it is 0 if the user may not see all of the other releases.
    """

    code = "overlaps"

    def __init__(self, faults: Sequence[str], count: int) -> None:
        super().__init__("; ".join(faults), field="visibility")
        self.faults, self.count = faults, count


DATASET_FIELDS = frozenset({"title", "description", "licence", "visibility"})


@transaction.atomic
def create_dataset(
    *,
    slug: str,
    title: str,
    description: str = "",
    licence: str = "",
    visibility: str = Dataset.Visibility.PRIVATE,
    is_sample: bool = False,
    actor: User | None = None,
) -> Dataset:
    """Create an empty dataset. Raises ValidationError by field."""
    dataset = Dataset(
        slug=slug,
        title=title,
        description=description,
        licence=licence,
        visibility=visibility,
        is_sample=is_sample,
        created_by=actor,
    )
    dataset.full_clean(exclude=["created_by"])
    dataset.save()
    record_event(verb="create_dataset", subject=dataset, actor=actor, slug=slug)
    return dataset


@transaction.atomic
def edit_dataset(
    *, dataset: Dataset, changes: dict[str, Any], actor: User | None, accept_overlaps: int = 0
) -> Dataset:
    """Store the DATASET_FIELDS that differ, and log their previous values.

    Raises PublicationRefused if this publishes gold that other datasets hide, unless
    `accept_overlaps` is the number of these documents.
    """
    stored = Dataset.objects.select_for_update().get(pk=dataset.pk)
    before = _replaced(stored, {name: changes[name] for name in DATASET_FIELDS & changes.keys()})
    for name in before:
        setattr(stored, name, changes[name])
    stored.full_clean(exclude=["created_by"])
    if before.get("visibility") == Dataset.Visibility.PRIVATE:
        refused = import_string(CHECK_PUBLICATION)(stored, accept_overlaps, actor)
        if refused.faults:
            raise PublicationRefused(refused.faults, refused.confirmed_by)
    if before:
        stored.save(update_fields=list(before))
        record_event(verb="edit_dataset", subject=stored, actor=actor, before=before)
    return stored


State = Document.State

# The log keeps the previous values of up to so many documents, and counts of values for more.
BEFORE_KEPT = 1_000
_VALUES_KEPT = 50


@dataclass(frozen=True)
class Hold:
    """Hold documents back for a `reason`, or make them active without one."""

    reason: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        state = State.HELD if self.reason else State.ACTIVE
        return {"state": state, "held_reason": self.reason}


@transaction.atomic
def edit_document(
    *, document: Document, changes: Mapping[str, Any], actor: User | None
) -> Document:
    """Store the fields that differ, and log their previous values. Raises ValidationError."""
    checked = check_fields(changes)
    stored = Document.objects.select_for_update().get(pk=document.pk)
    if "source_url" in checked:
        checked["source"] = sourced(stored, checked["source_url"])
    before = _replaced(stored, checked)
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
    dry_run: bool = False,
) -> int:
    """Give all documents of a query the same values in one transaction, and return their number.

    `changes` has fields of BULK_EDITABLE. `dry_run` only checks and counts. Raises ValidationError
    by field, or if nothing changes.
    """
    checked = check_fields(changes or {})
    if alone := sorted(checked.keys() - set(BULK_EDITABLE)):
        reason = "This field can be edited only on the document’s own page."
        raise ValidationError({alone[0]: [reason]})
    if hold is not None:
        checked |= hold.fields
    if not checked:
        raise ValidationError("Choose at least one field to change.")
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    # Filter by keys, because the update may change the fields that the query filters by.
    chosen = Document.objects.filter(dataset=dataset, pk__in=documents.order_by().values("pk"))
    if dry_run:
        return chosen.count()
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


def _replaced(stored: Dataset | Document, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the current values of the fields that change, by name."""
    return {
        name: getattr(stored, name)
        for name, value in sorted(changes.items())
        if getattr(stored, name) != value
    }


def hold_documents(*, dataset: Dataset, keys: list[int], reason: str, actor: User | None) -> int:
    """Hold the active ones of the documents back and return their number."""
    active = dataset.documents.filter(pk__in=keys, state=State.ACTIVE)
    return bulk_edit_documents(dataset=dataset, documents=active, hold=Hold(reason), actor=actor)


def _before(chosen: QuerySet[Document], names: list[str]) -> dict[str, Any]:
    """Return the current values of each document by name, or counts of values for many."""
    rows = chosen.order_by("name").values_list("name", *names)
    listed = list(rows[: BEFORE_KEPT + 1])
    if len(listed) <= BEFORE_KEPT:
        return {"fields": names, "values": {name: values for name, *values in listed}}
    counts = {name: Counter[str]() for name in names}
    for _, *values in rows.iterator():
        for name, value in zip(names, values, strict=True):
            counts[name][str(value)] += 1
    return {"counts": {name: dict(counts[name].most_common(_VALUES_KEPT)) for name in names}}
