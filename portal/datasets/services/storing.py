"""What becomes of something that could be a document: compared with what the dataset holds, and
written in one transaction with its report.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.datasets.models import (
    Document,
    DocumentContent,
    DocumentRecord,
    ImportItem,
    ImportRun,
    PageImage,
    XbrlFacts,
)
from portal.datasets.models.documents import document_source, image_path
from portal.datasets.sources.layout import Refusal
from portal.datasets.sources.meta import DocumentMeta
from portal.datasets.sources.pictures import Picture
from portal.facts import Canonical

from .released import release_reason

Outcome = ImportItem.Outcome

# Of an empty text, which a picture has.
_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
_NAME_LENGTH = 300
_NAME_HEAD, _NAME_TAIL = 200, 60


@dataclass(frozen=True)
class Record:
    """The gold line that came with a document, and the key of the benchmark it is of."""

    benchmark: str
    gold: dict[str, Any]
    prompt: str = ""


@dataclass(frozen=True)
class Draft:
    """Something that could become a document: a page, or without `canonical` a picture.

    `html_sha256` is that of the canonical HTML; what it is for a picture says `picture_sha256`.
    `xbrl` are rows for XbrlFacts, None where its inline XBRL could not be placed. `faults` are
    what was wrong with it and refuses nothing; they are reported under names of their own.
    """

    name: str
    source_sha256: str
    html_sha256: str
    canonical: Canonical | None = None
    meta: DocumentMeta | None = None
    xbrl: Sequence[Any] | None = ()
    pictures: Sequence[Picture] = ()
    record: Record | None = None
    language: str = ""
    benchmark: str = ""
    faults: Sequence[Refusal] = ()
    expects_image: bool = True
    image_refused: bool = False


@dataclass(frozen=True)
class Verdict:
    """What becomes of it; `notes` are remarks that refuse nothing."""

    outcome: ImportItem.Outcome
    code: str = ""
    document: Document | None = None
    notes: list[str] = field(default_factory=list)


class _Late(NamedTuple):
    """A remark on what came for a document that was here, and whether the document got it."""

    note: str
    is_added: bool = False


def report_name(where: str) -> str:
    """A place in a source as the name of a report's row: a long one is cut in its middle, and
    stays unlike any other.

    >>> report_name("pages/a.html")
    'pages/a.html'
    """
    if len(where) <= _NAME_LENGTH:
        return where
    digest = hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{where[:_NAME_HEAD]}…{digest}…{where[-_NAME_TAIL:]}"


def write_draft(*, run: ImportRun, where: str, draft: Draft | Refusal) -> None:
    """Writes the document and its ImportItem, or the refusal; a second time nothing.

    Of two imports of the same page at the same time the slower one finds the other's document.
    """
    name = report_name(where)
    try:
        _write(run, name, draft)
    except IntegrityError:
        if not run.items.filter(name=name).exists():
            _write(run, name, draft)


@transaction.atomic
def _write(run: ImportRun, name: str, draft: Draft | Refusal) -> None:
    if isinstance(draft, Refusal):
        verdict = Verdict(Outcome.REFUSED, draft.code, notes=[draft.reason])
    else:
        verdict = _settle(run, draft)
        for fault in draft.faults:
            _report_fault(run, fault, verdict.document)
    ImportItem.objects.create(
        run=run,
        name=name,
        document=verdict.document,
        outcome=verdict.outcome,
        code=verdict.code,
        reason="; ".join(verdict.notes),
    )


def _report_fault(run: ImportRun, refusal: Refusal, document: Document | None) -> None:
    ImportItem.objects.get_or_create(
        run=run,
        name=report_name(refusal.name),
        defaults={
            "document": document,
            "outcome": Outcome.REFUSED,
            "code": refusal.code,
            "reason": refusal.reason,
        },
    )


def _settle(run: ImportRun, draft: Draft) -> Verdict:
    """Compares the draft with what the dataset holds, and stores what is new."""
    digest = draft.html_sha256
    clashing = Document.objects.filter(
        Q(name=draft.name) | Q(html_sha256=digest), dataset=run.dataset
    )
    by_name = {document.name: document for document in clashing}
    stored = by_name.pop(draft.name, None)
    if stored is not None and stored.html_sha256 == digest:
        return _here_already(stored, draft)
    if stored is not None:
        what = "page" if draft.canonical else "picture"
        note = f"a document of this name with other content is here already; rename the {what}"
        return Verdict(Outcome.REFUSED, "name_taken", stored, [note])
    for other in by_name.values():
        note = f"the same content as {other.name}"
        return Verdict(Outcome.REFUSED, "duplicate_content", other, [note])
    return _imported(run, draft)


def _imported(run: ImportRun, draft: Draft) -> Verdict:
    canonical, meta = draft.canonical, draft.meta or DocumentMeta()
    document = Document.objects.create(
        dataset=run.dataset,
        name=draft.name,
        kind=Document.Kind.PAGE if canonical else Document.Kind.PICTURE,
        language=draft.language,
        source=document_source(meta.source_url, draft.benchmark),
        source_sha256=draft.source_sha256,
        html_sha256=draft.html_sha256,
        text_sha256=canonical.text_sha256 if canonical else _EMPTY_SHA256,
        text_chars=len(canonical.text) if canonical else 0,
        **meta.fields(),
    )
    notes = _store_content(document, draft)
    for number, picture in enumerate(draft.pictures, start=1):
        store_picture(document, picture, number)
    if draft.record is not None:
        _store_record(document, draft.record)
    code = ""
    if not draft.pictures and draft.expects_image:
        code = "no_image"
        notes.append("no image: it was refused" if draft.image_refused else "no image")
    return Verdict(Outcome.IMPORTED, code, document, notes)


def _store_content(document: Document, draft: Draft) -> list[str]:
    """What only a page has; returns remarks."""
    canonical = draft.canonical
    if canonical is None:
        return []
    DocumentContent.objects.create(document=document, html=canonical.html, text=canonical.text)
    notes = list(canonical.notes)
    if draft.xbrl:
        XbrlFacts.objects.create(document=document, facts=draft.xbrl)
    elif draft.xbrl is None:
        notes.append("its inline XBRL could not be placed and was left out")
    return notes


def _store_record(document: Document, record: Record) -> None:
    DocumentRecord.objects.create(
        document=document, benchmark=record.benchmark, gold=record.gold, prompt=record.prompt
    )


def _here_already(stored: Document, draft: Draft) -> Verdict:
    """What is here already. Only images and gold may still be added; nothing is overwritten."""
    late = [*_late_images(stored, draft.pictures), *_late_record(stored, draft.record)]
    notes = [part.note for part in late]
    if draft.meta is not None:
        differing = [
            key for key, value in draft.meta.fields().items() if getattr(stored, key) != value
        ]
        if differing:
            notes.append(f"{', '.join(differing)} differ from what is stored, which was kept")
    is_updated = any(part.is_added for part in late)
    return Verdict(Outcome.UPDATED if is_updated else Outcome.UNCHANGED, "", stored, notes)


def _late_images(stored: Document, pictures: Sequence[Picture]) -> list[_Late]:
    if not pictures:
        return []
    images = [image.sha256 for image in stored.images.order_by("number")]
    if not images:
        # Freezing locks documents, so that no release comes in between.
        Document.objects.select_for_update().get(pk=stored.pk)
        if reason := release_reason(stored):
            return [_Late(f"its image was left out: {reason}")]
        for number, picture in enumerate(pictures, start=1):
            store_picture(stored, picture, number)
        note = "image added" if len(pictures) == 1 else f"{len(pictures)} images added"
        return [_Late(note, is_added=True)]
    if images == [picture.sha256 for picture in pictures]:
        return []
    its, kept = ("image differs", "one") if len(pictures) == 1 else ("images differ", "ones")
    which = "which was kept" if kept == "one" else "which were kept"
    return [_Late(f"its {its} from the stored {kept}, {which}")]


def _late_record(stored: Document, record: Record | None) -> list[_Late]:
    if record is None:
        return []
    known = DocumentRecord.objects.filter(document=stored).first()
    if known is None:
        _store_record(stored, record)
        return [_Late("gold added", is_added=True)]
    if (known.benchmark, known.gold, known.prompt) != (
        record.benchmark,
        record.gold,
        record.prompt,
    ):
        return [_Late("its gold differs from the stored one, which was kept")]
    return []


def store_picture(document: Document, picture: Picture, number: int = 1) -> PageImage:
    """Stores an image under its content's hash; a file cut off by a kill is replaced."""
    image = PageImage(
        document=document,
        number=number,
        width=picture.width,
        height=picture.height,
        sha256=picture.sha256,
    )
    storage = image.file.storage
    path = image_path(image, f"page{picture.suffix}")
    if storage.exists(path) and storage.size(path) != len(picture.data):
        storage.delete(path)
    if not storage.exists(path):
        path = storage.save(path, ContentFile(picture.data))
    image.file.name = path
    image.save()
    return image
