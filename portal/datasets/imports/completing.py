"""Documents of an import, and how they complete or update those that exist.

An image or a value that a document lacks is added. A different one replaces it only if the import
updates, and never in a release. Text and gold are never replaced.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from portal.audit.models import record_event
from portal.datasets.imaging.pictures import Picture
from portal.datasets.imaging.services import release_reason, replace_images
from portal.datasets.models import Document, DocumentRecord, ImportItem, ImportRun
from portal.datasets.models.documents import document_source, strata_of
from portal.facts import Canonical

from .items import DocumentMeta
from .opening import Refusal

Outcome = ImportItem.Outcome


class XbrlRows(NamedTuple):
    """The filer's inline XBRL tags as rows of XbrlFacts, and a remark on those left out."""

    rows: Sequence[list[Any]] = ()
    note: str = ""


@dataclass(frozen=True)
class Record:
    """The imported gold line and prompt of a document, and the key of its benchmark."""

    benchmark: str
    gold: dict[str, Any]
    prompt: str = ""


@dataclass(frozen=True)
class Draft:
    """A checked document before it is stored: a page, or a picture if `canonical` is None.

    `html_sha256` is that of the canonical HTML, or `picture_sha256`. `faults` do not refuse the
    document; each has its own row in the report.
    """

    name: str
    source_sha256: str
    html_sha256: str
    canonical: Canonical | None = None
    meta: DocumentMeta | None = None
    xbrl: XbrlRows = field(default_factory=XbrlRows)
    pictures: Sequence[Picture] = ()
    record: Record | None = None
    language: str = ""
    benchmark: str = ""
    faults: Sequence[Refusal] = ()
    expects_image: bool = True
    image_refused: bool = False


@dataclass(frozen=True)
class Result:
    """The outcome of one document; `notes` are remarks for the report."""

    outcome: ImportItem.Outcome
    code: str = ""
    document: Document | None = None
    notes: list[str] = field(default_factory=list)


def store_record(document: Document, record: Record) -> None:
    DocumentRecord.objects.create(
        document=document, benchmark=record.benchmark, gold=record.gold, prompt=record.prompt
    )


class _Late(NamedTuple):
    """A remark on new data for an existing document, and whether the data were stored."""

    note: str
    is_stored: bool = False


def complete(run: ImportRun, stored: Document, draft: Draft) -> Result:
    """Adds missing images, gold and metadata to an existing document. Different images and metadata
    replace those of the document only if the import updates, and never in a release."""
    late = [
        *_late_images(run, stored, draft.pictures),
        *_late_record(run, stored, draft.record),
        *_late_meta(run, stored, draft),
    ]
    outcome = Outcome.KEPT if late else Outcome.UNCHANGED
    if any(part.is_stored for part in late):
        outcome = Outcome.UPDATED
    return Result(outcome, "", stored, [part.note for part in late])


_NO_META = DocumentMeta().fields()
_SHOWN_VALUE = 60


def _late_meta(run: ImportRun, stored: Document, draft: Draft) -> Iterator[_Late]:
    """Fills empty fields and adds keys of the metadata, and replaces different values if the import
    updates. A value that the source lacks is no difference."""
    given = draft.meta.fields() if draft.meta else {}
    if all(value in (_NO_META[key], getattr(stored, key)) for key, value in given.items()):
        return
    current = Document.objects.select_for_update().get(pk=stored.pk)
    was = _flat({key: getattr(current, key) for key in given})
    told = _flat(given)
    added = [key for key in told if key not in was]
    differing = sorted(key for key in told if key in was and was[key] != told[key])
    if added:
        yield _Late(f"metadata added: {', '.join(sorted(added))}", is_stored=True)
    replaced: list[str] = []
    if differing and run.updates and not (reason := release_reason(current)):
        replaced = differing
        shown = (f"{key} ({_shown(was[key])} → {_shown(told[key])})" for key in differing)
        yield _Late(f"metadata changed: {', '.join(shown)}", is_stored=True)
    elif differing:
        because = f": {reason}" if run.updates else ""
        yield _Late(f"different values not imported: {', '.join(differing)}{because}")
    if not run.is_dry_run:
        _write_meta(run, current, {key: told[key] for key in [*added, *replaced]}, draft.benchmark)


def _flat(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that have a value, and the keys of the other metadata, in one mapping."""
    fields = {key: value for key, value in meta.items() if value != _NO_META[key]}
    return {**fields.pop("metadata", {}), **fields}


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN_VALUE else f"{text[: _SHOWN_VALUE - 1]}…"


def _write_meta(
    run: ImportRun, document: Document, values: Mapping[str, Any], benchmark: str
) -> None:
    if not values:
        return
    changes = {key: value for key, value in values.items() if key in _NO_META}
    rest = {key: value for key, value in values.items() if key not in _NO_META}
    if rest:
        changes["metadata"] = {**document.metadata, **rest}
    if "source_url" in changes:
        changes["source"] = document_source(changes["source_url"], benchmark)
    before = {key: getattr(document, key) for key in changes}
    Document.objects.filter(pk=document.pk).update(**changes)
    record_event(verb="edit_document", subject=document, actor=run.created_by, before=before)


def _late_images(run: ImportRun, stored: Document, pictures: Sequence[Picture]) -> list[_Late]:
    images = [image.sha256 for image in stored.images.order_by("number")]
    if not pictures or images == [picture.sha256 for picture in pictures]:
        return []
    if images and not run.updates:
        return [_Late(f"different image{'s' if len(pictures) > 1 else ''} not imported")]
    # Freezing locks documents too, so no release can be made in between.
    Document.objects.select_for_update().get(pk=stored.pk)
    if reason := release_reason(stored):
        return [_Late(f"image not imported: {reason}")]
    if not run.is_dry_run:
        replace_images(document=stored, pictures=pictures, actor=run.created_by)
    done = "replaced" if images else "added"
    note = f"image {done}" if len(pictures) == 1 else f"{len(pictures)} images {done}"
    return [_Late(note, is_stored=True)]


def _late_record(run: ImportRun, stored: Document, record: Record | None) -> list[_Late]:
    """Adds missing gold. Different gold is never replaced, as experts may have checked it."""
    if record is None:
        return []
    known = DocumentRecord.objects.filter(document=stored).first()
    if known is None:
        if not run.is_dry_run:
            store_record(stored, record)
            if strata := strata_of(record.gold):
                Document.objects.filter(pk=stored.pk).update(**strata)
        return [_Late("gold added", is_stored=True)]
    if (known.benchmark, known.gold, known.prompt) != (
        record.benchmark,
        record.gold,
        record.prompt,
    ):
        return [_Late("different gold not imported")]
    return []
