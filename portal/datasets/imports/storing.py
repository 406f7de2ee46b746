"""Stores the pages and items of an import: checks one without a lock, then writes it.

It is compared with the dataset and written in one transaction with its ImportItem. A dry run only
writes the ImportItem, with what the import would do. `import_page` takes a page of `pages/`,
`import_item` an item of any other reader.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.datasets.imaging.pictures import Picture, PictureError, upright_picture
from portal.datasets.imaging.services import store_picture
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    ImportItem,
    ImportRun,
    XbrlFacts,
)
from portal.datasets.models.documents import document_source, strata_of
from portal.facts import Canonical, RefusedHtml, TagError, canonicalise, decode_html
from portal.facts.xbrl import XbrlDetail, XbrlResources, read_resources, read_xbrl_details
from portal.files.archives import Archive, ArchiveFault

from .completing import Draft, Outcome, Record, Result, XbrlRows, complete, store_record
from .items import (
    DocumentMeta,
    JsonError,
    MetaError,
    MetaIndex,
    SourceItem,
    check_plain,
    refused,
)
from .labelled_pages import gold_difference
from .opening import PageFile, Refusal


def xbrl_rows(html: str, canonical: Canonical, resources: XbrlResources | None = None) -> XbrlRows:
    """Reads the inline XBRL of a page.

    `resources` are those of the whole filing if `html` is one of its pages. XBRL only makes
    suggestions to annotators, so a failure does not refuse the page.
    """
    known = read_resources(html) if resources is None else resources
    try:
        page = read_xbrl_details(html, canonical, known)
    except (TagError, RefusedHtml) as error:
        return XbrlRows(note=f"inline XBRL not imported: {error}")
    return XbrlRows([_xbrl_row(detail) for detail in page.details], _hidden_note(page.hidden))


def _hidden_note(hidden: int) -> str:
    if not hidden:
        return ""
    facts = "1 fact" if hidden == 1 else f"{hidden:,} facts"
    return f"inline XBRL of {facts} not imported: the page hides the text"


def _xbrl_row(detail: XbrlDetail) -> list[Any]:
    period = "/".join(part for part in detail.period if part)
    about = {"sign": detail.sign, "scale": detail.scale, "unit": detail.unit, "period": period}
    known = {key: value for key, value in about.items() if value}
    return [*detail.fact, known] if known else [*detail.fact]


def picture_sha256(*, name: str, benchmark: str, prompt: str, pictures: Sequence[Picture]) -> str:
    """The hash that identifies a picture document, instead of the hash of its HTML.

    It is the SHA-256 of the canonical JSON of name, benchmark, prompt and picture hashes in order,
    because benchmarks ask several questions about one picture.
    """
    content = {
        "benchmark": benchmark,
        "name": name,
        "pictures": [picture.sha256 for picture in pictures],
        "prompt": prompt,
    }
    written = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


# The text hash of pictures.
_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
_NAME_LENGTH = 300
_NAME_HEAD, _NAME_TAIL = 200, 60


def report_name(where: str) -> str:
    """The name of a report row for a place in a source; a long one is shortened with a hash.

    >>> report_name("pages/a.html")
    'pages/a.html'
    """
    if len(where) <= _NAME_LENGTH:
        return where
    digest = hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{where[:_NAME_HEAD]}…{digest}…{where[-_NAME_TAIL:]}"


def write_draft(*, run: ImportRun, where: str, draft: Draft | Refusal) -> None:
    """Writes the document and its ImportItem, or the refusal. Idempotent.

    If two imports store the same page at once, the slower one finds the other's document.
    """
    name = report_name(where)
    try:
        _write_once(run, name, draft)
    except IntegrityError:
        if not run.items.filter(name=name).exists():
            _write_once(run, name, draft)


@transaction.atomic
def _write_once(run: ImportRun, name: str, draft: Draft | Refusal) -> None:
    if isinstance(draft, Refusal):
        result = Result(Outcome.REFUSED, draft.code, notes=[draft.reason])
    else:
        result = _store(run, draft)
        for fault in draft.faults:
            _report_fault(run, fault, result.document)
    ImportItem.objects.create(
        run=run,
        name=name,
        document=result.document,
        outcome=result.outcome,
        code=result.code,
        reason="; ".join(result.notes),
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


def _store(run: ImportRun, draft: Draft) -> Result:
    """Compares the draft with the dataset and stores new data."""
    digest = draft.html_sha256
    clashing = Document.objects.filter(
        Q(name=draft.name) | Q(html_sha256=digest), dataset=run.dataset
    )
    by_name = {document.name: document for document in clashing}
    stored = by_name.pop(draft.name, None)
    if stored is not None and stored.html_sha256 == digest:
        return complete(run, stored, draft)
    if stored is not None:
        what = "page" if draft.canonical else "picture"
        note = f"another document with this name already exists; rename the {what}"
        return Result(Outcome.REFUSED, "name_taken", stored, [note])
    for other in by_name.values():
        note = f"has the same content as {other.name}"
        return Result(Outcome.REFUSED, "duplicate_content", other, [note])
    return _imported(run, draft)


def create_document(
    dataset: Dataset, name: str, canonical: Canonical | None, **fields: Any
) -> Document:
    """Stores a page with its content, or a picture without `canonical`."""
    document = Document.objects.create(
        dataset=dataset,
        name=name,
        kind=Document.Kind.PAGE if canonical else Document.Kind.PICTURE,
        text_sha256=canonical.text_sha256 if canonical else _EMPTY_SHA256,
        text_chars=len(canonical.text) if canonical else 0,
        **fields,
    )
    if canonical:
        DocumentContent.objects.create(document=document, html=canonical.html, text=canonical.text)
    return document


def _imported(run: ImportRun, draft: Draft) -> Result:
    code = ""
    notes = _remarks(draft)
    if not draft.pictures and draft.expects_image:
        code = "no_image"
        notes.append("no image: it was rejected" if draft.image_refused else "no image")
    document = None if run.is_dry_run else _new_document(run, draft)
    return Result(Outcome.IMPORTED, code, document, notes)


def _remarks(draft: Draft) -> list[str]:
    """Remarks on the content of a page."""
    notes = list(draft.canonical.notes) if draft.canonical else []
    return [*notes, draft.xbrl.note] if draft.xbrl.note else notes


def _new_document(run: ImportRun, draft: Draft) -> Document:
    meta = draft.meta or DocumentMeta()
    document = create_document(
        run.dataset,
        draft.name,
        draft.canonical,
        language=draft.language,
        source=document_source(meta.source_url, draft.benchmark),
        source_sha256=draft.source_sha256,
        html_sha256=draft.html_sha256,
        **(strata_of(draft.record.gold) if draft.record else {}),
        **meta.fields(),
    )
    if draft.xbrl.rows:
        XbrlFacts.objects.create(document=document, facts=draft.xbrl.rows)
    for number, picture in enumerate(draft.pictures, start=1):
        store_picture(document, picture, number)
    if draft.record is not None:
        store_record(document, draft.record)
    return document


# Bytes; all pictures of one item are in memory together.
PICTURES_LIMIT = 200 * 1024 * 1024


def import_item(*, run: ImportRun, item: SourceItem | Refusal) -> None:
    """Imports or refuses one item and writes its ImportItem."""
    if isinstance(item, Refusal):
        write_draft(run=run, where=item.name, draft=item)
    else:
        write_draft(run=run, where=item.where, draft=_draft_item(item))


def _draft_item(item: SourceItem) -> Draft | Refusal:
    """Checks the item without the database."""
    try:
        if item.record is not None:
            check_plain(item.record)
    except JsonError as error:
        return Refusal(item.where, "bad_record", f"record: {error}")
    return _draft_picture(item) if item.html is None else _draft_page(item, item.html)


def _draft_page(item: SourceItem, html: str) -> Draft | Refusal:
    """A page is imported without pictures and gold that are faulty."""
    try:
        canonical = canonicalise(html)
    except RefusedHtml as fault:
        return refused(item.where, fault)
    pictures, refusals = _check_pictures(item)
    record, misplaced = _check_gold(item, canonical)
    return Draft(
        name=item.name,
        source_sha256=hashlib.sha256(html.encode("utf-8", "surrogatepass")).hexdigest(),
        html_sha256=canonical.html_sha256,
        canonical=canonical,
        meta=item.meta,
        xbrl=xbrl_rows(html, canonical, item.xbrl),
        pictures=[] if refusals else pictures,
        record=record,
        language=item.language,
        benchmark=item.benchmark,
        faults=[*item.faults, *refusals, *([misplaced] if misplaced else [])],
        expects_image=bool(item.pictures),
        image_refused=bool(refusals),
    )


def _draft_picture(item: SourceItem) -> Draft | Refusal:
    """A picture document needs all of its pictures, because a question may refer to each."""
    if not item.pictures:
        return Refusal(item.where, "empty", "has neither a page nor an image")
    pictures, refusals = _check_pictures(item)
    if refusals:
        first = refusals[0]
        return Refusal(item.where, first.code, f"{first.name}: {first.reason}")
    whole = hashlib.sha256()
    for picture in pictures:
        whole.update(picture.data)
    return Draft(
        name=item.name,
        source_sha256=whole.hexdigest(),
        html_sha256=picture_sha256(
            name=item.name, benchmark=item.benchmark, prompt=item.prompt, pictures=pictures
        ),
        meta=item.meta,
        pictures=pictures,
        record=_record_of(item),
        language=item.language,
        benchmark=item.benchmark,
        faults=item.faults,
    )


def _check_pictures(item: SourceItem) -> tuple[list[Picture], list[Refusal]]:
    """The pictures in order, and a refusal for each faulty one."""
    pictures: list[Picture] = []
    refusals: list[Refusal] = []
    total = 0
    for number, file in enumerate(item.pictures, start=1):
        try:
            data = file.read()
            total += len(data)
            if total > PICTURES_LIMIT:
                reason = f"the images exceed {PICTURES_LIMIT // 1024**2} MB together"
                raise ArchiveFault("too_large", reason)
            pictures.append(upright_picture(data))
        except (ArchiveFault, PictureError) as fault:
            # Several items can refer to the same file, so the name includes the item.
            refusals.append(refused(f"{item.where} image {number}, {file.shown}", fault))
    return pictures, refusals


def _check_gold(item: SourceItem, canonical: Canonical) -> tuple[Record | None, Refusal | None]:
    """Apart from its tags, gold must equal the page; otherwise no release could be made."""
    html: Any = (item.record or {}).get("html")
    if isinstance(html, str) and (reason := gold_difference(html, canonical)):
        return None, Refusal(f"{item.where} gold", "gold_differs", reason)
    return _record_of(item), None


def _record_of(item: SourceItem) -> Record | None:
    if item.record is None:
        return None
    return Record(item.benchmark, item.record, item.prompt)


def import_page(*, run: ImportRun, archive: Archive, page: PageFile, meta: MetaIndex) -> None:
    """Imports or refuses one page and writes its ImportItem."""
    write_draft(run=run, where=page.file.shown, draft=_draft_file(archive, page, meta))


def _draft_file(archive: Archive, page: PageFile, meta: MetaIndex) -> Draft | Refusal:
    """Checks the page without the database."""
    shown = page.file.shown
    try:
        described = meta.of(page.name)
        data = archive.read(page.file.path)
        html = decode_html(data)
        canonical = canonicalise(html)
    except (MetaError, ArchiveFault, RefusedHtml) as fault:
        return refused(shown, fault)
    picture, refusal = _check_image(archive, page)
    return Draft(
        name=page.name,
        source_sha256=hashlib.sha256(data).hexdigest(),
        html_sha256=canonical.html_sha256,
        canonical=canonical,
        meta=described,
        xbrl=xbrl_rows(html, canonical),
        pictures=[picture] if picture else [],
        faults=[refusal] if refusal else [],
        image_refused=refusal is not None,
    )


def _check_image(archive: Archive, page: PageFile) -> tuple[Picture | None, Refusal | None]:
    if page.image is None:
        return None, None
    try:
        return upright_picture(archive.read(page.image.path)), None
    except (ArchiveFault, PictureError) as fault:
        return None, refused(page.image.shown, fault)
