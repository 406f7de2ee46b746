"""Importing one page: judged without a lock, then written in one transaction with its report."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.common.archives import Archive, ArchiveFault
from portal.datasets.models import (
    Document,
    DocumentContent,
    ImportItem,
    ImportRun,
    PageImage,
    XbrlFacts,
)
from portal.datasets.models.documents import image_path
from portal.datasets.sources.layout import PageFile, Refusal
from portal.datasets.sources.meta import DocumentMeta, MetaError, MetaIndex
from portal.datasets.sources.pictures import Picture, PictureError, check_picture
from portal.facts import (
    Canonical,
    RefusedHtml,
    TagError,
    XbrlFact,
    canonicalise,
    decode_html,
    read_xbrl,
)

Outcome = ImportItem.Outcome


@dataclass(frozen=True)
class Draft:
    """A page that could become a document.

    `xbrl` is None where its inline XBRL could not be placed; `image_refusal` says why its image was
    left out.
    """

    name: str
    source_sha256: str
    canonical: Canonical
    meta: DocumentMeta | None
    xbrl: Sequence[XbrlFact] | None
    picture: Picture | None
    image_refusal: Refusal | None


@dataclass(frozen=True)
class Verdict:
    """What becomes of a page; `notes` are remarks that refuse nothing."""

    outcome: ImportItem.Outcome
    code: str = ""
    document: Document | None = None
    notes: list[str] = field(default_factory=list)


def import_page(*, run: ImportRun, archive: Archive, page: PageFile, meta: MetaIndex) -> None:
    """Imports one page, or refuses it by name; either way its ImportItem is written with it.

    Of two imports of the same page at the same time the slower one finds the other's document.
    """
    draft = _judge(archive, page, meta)
    try:
        _write(run, page, draft)
    except IntegrityError:
        _write(run, page, draft)


def _judge(archive: Archive, page: PageFile, meta: MetaIndex) -> Draft | Refusal:
    """All that takes time or is refused for the file's own sake. Reads nothing of the database."""
    shown = page.file.shown
    try:
        described = meta.of(page.name)
        data = archive.read(page.file.path)
        html = decode_html(data)
        canonical = canonicalise(html)
    except MetaError as fault:
        return Refusal(shown, "bad_meta", str(fault))
    except ArchiveFault as fault:
        return Refusal(shown, fault.code, str(fault))
    except RefusedHtml as fault:
        return Refusal(shown, fault.code, fault.reason)
    picture, image_refusal = _judge_image(archive, page)
    source_sha256 = hashlib.sha256(data).hexdigest()
    xbrl = _judge_xbrl(html, canonical)
    return Draft(page.name, source_sha256, canonical, described, xbrl, picture, image_refusal)


def _judge_xbrl(html: str, canonical: Canonical) -> list[XbrlFact] | None:
    """What the filer tagged; it helps annotators, so that a page without it is no worse."""
    try:
        return read_xbrl(html, canonical)
    except (TagError, RefusedHtml):
        return None


def _judge_image(archive: Archive, page: PageFile) -> tuple[Picture | None, Refusal | None]:
    if page.image is None:
        return None, None
    try:
        return check_picture(archive.read(page.image.path)), None
    except (ArchiveFault, PictureError) as fault:
        return None, Refusal(page.image.shown, fault.code, str(fault))


@transaction.atomic
def _write(run: ImportRun, page: PageFile, draft: Draft | Refusal) -> None:
    if run.items.filter(name=page.file.shown).exists():
        return
    if isinstance(draft, Refusal):
        verdict = Verdict(Outcome.REFUSED, draft.code, notes=[draft.reason])
    else:
        verdict = _settle(run, draft)
        if draft.image_refusal is not None:
            _report_image(run, draft.image_refusal, verdict.document)
    ImportItem.objects.create(
        run=run,
        name=page.file.shown,
        document=verdict.document,
        outcome=verdict.outcome,
        code=verdict.code,
        reason="; ".join(verdict.notes),
    )


def _report_image(run: ImportRun, refusal: Refusal, document: Document | None) -> None:
    ImportItem.objects.get_or_create(
        run=run,
        name=refusal.name,
        defaults={
            "document": document,
            "outcome": Outcome.REFUSED,
            "code": refusal.code,
            "reason": refusal.reason,
        },
    )


def _settle(run: ImportRun, draft: Draft) -> Verdict:
    """Compares the draft with what the dataset holds, and stores what is new."""
    digest = draft.canonical.html_sha256
    clashing = Document.objects.filter(
        Q(name=draft.name) | Q(html_sha256=digest), dataset=run.dataset
    )
    by_name = {document.name: document for document in clashing}
    stored = by_name.pop(draft.name, None)
    if stored is not None and stored.html_sha256 == digest:
        return _unchanged(stored, draft)
    if stored is not None:
        note = "a document of this name with other content is here already; rename the page"
        return Verdict(Outcome.REFUSED, "name_taken", stored, [note])
    for other in by_name.values():
        note = f"the same content as {other.name}"
        return Verdict(Outcome.REFUSED, "duplicate_content", other, [note])
    return _imported(run, draft)


def _imported(run: ImportRun, draft: Draft) -> Verdict:
    canonical = draft.canonical
    document = Document.objects.create(
        dataset=run.dataset,
        name=draft.name,
        source_sha256=draft.source_sha256,
        html_sha256=canonical.html_sha256,
        text_sha256=canonical.text_sha256,
        text_chars=len(canonical.text),
        **(draft.meta or DocumentMeta()).fields(),
    )
    DocumentContent.objects.create(document=document, html=canonical.html, text=canonical.text)
    notes = list(canonical.notes)
    if draft.xbrl:
        XbrlFacts.objects.create(document=document, facts=draft.xbrl)
    elif draft.xbrl is None:
        notes.append("its inline XBRL could not be placed and was left out")
    code = ""
    if draft.picture is not None:
        store_picture(document, draft.picture)
    else:
        code = "no_image"
        notes.append("no image" if draft.image_refusal is None else "no image: it was refused")
    return Verdict(Outcome.IMPORTED, code, document, notes)


def _unchanged(stored: Document, draft: Draft) -> Verdict:
    """A page that is here already. Only an image may still be added; nothing is overwritten."""
    notes = []
    image = stored.images.first()
    if draft.picture is not None and image is None:
        store_picture(stored, draft.picture)
        notes.append("image added")
    elif draft.picture is not None and image is not None and image.sha256 != draft.picture.sha256:
        notes.append("its image differs from the stored one, which was kept")
    if draft.meta is not None:
        differing = [
            key for key, value in draft.meta.fields().items() if getattr(stored, key) != value
        ]
        if differing:
            notes.append(f"{', '.join(differing)} differ from what is stored, which was kept")
    return Verdict(Outcome.UNCHANGED, "", stored, notes)


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
