"""Creating and editing datasets, editing what describes documents, and holding documents back.

Content never changes, and neither do frozen releases, which have lines of their own.
`check_fields` says what may be written into the fields that describe a document. Forms,
serializers and services ask it, so that a page and the API refuse the same.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

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
from portal.datasets.models.documents import document_source

# Of one document, and of many at once.
EDITABLE = (
    "doc_type",
    "company",
    "form_type",
    "fiscal_year",
    "language",
    "source_url",
    "licence",
    "metadata",
)
BULK_EDITABLE = ("doc_type", "company", "form_type", "fiscal_year", "language", "licence")
METADATA_LIMIT = LINE_LIMIT
_EMPTY = DocumentMeta().fields()
MAX_LANGUAGE = 12


def check_fields(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as they are stored; `source` follows `source_url`.

    Raises ValidationError by field: for a field that is none of EDITABLE, and for a value that an
    import would refuse in it.
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
    """The JSON object that a person wrote. Raises ValidationError, which names the line."""
    data = text.encode("utf-8", errors="surrogatepass")
    try:
        _check_size(len(data))
        return read_object(data)
    except JsonError as error:
        raise ValidationError(f"Line {error.line}: {error}.") from error
    except ValueError as error:
        raise ValidationError(str(error)) from error


def sourced(document: Document, source_url: str) -> str:
    """Where the document comes from once it has this address; a benchmark's name stays.

    Without an address it has the source it had, unless that was the host of the former one.
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
        raise ValueError("This is nested too deeply, or holds half a character.") from error
    except JsonError as error:
        raise ValueError(_sentence(str(error))) from error


def _language(value: Any) -> str:
    text = str(value or "").strip()
    if len(text) > MAX_LANGUAGE or not text.isprintable():
        raise ValueError(f"A language is a code such as en or zh, of at most {MAX_LANGUAGE} signs.")
    return text


def _check_size(size: int) -> None:
    if size > METADATA_LIMIT:
        raise ValueError(f"This is longer than {METADATA_LIMIT // 1024} kB.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


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
    """Creates an empty dataset; raises ValidationError by field."""
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
def edit_dataset(*, dataset: Dataset, changes: dict[str, Any], actor: User | None) -> Dataset:
    """Writes the fields of EDITABLE that differ; the log keeps what they were."""
    stored = Dataset.objects.select_for_update().get(pk=dataset.pk)
    before = {
        name: getattr(stored, name)
        for name in sorted(DATASET_FIELDS & changes.keys())
        if getattr(stored, name) != changes[name]
    }
    for name in before:
        setattr(stored, name, changes[name])
    stored.full_clean(exclude=["created_by"])
    if before:
        stored.save(update_fields=list(before))
        record_event(verb="edit_dataset", subject=stored, actor=actor, before=before)
    return stored


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
