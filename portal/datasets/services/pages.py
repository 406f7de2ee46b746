"""Importing one page of `pages/`: judged without a lock, then written with its report."""

import hashlib

from portal.datasets.models import ImportRun
from portal.datasets.sources.layout import PageFile, Refusal
from portal.datasets.sources.meta import MetaError, MetaIndex
from portal.datasets.sources.pictures import Picture, PictureError, check_picture
from portal.facts import RefusedHtml, canonicalise, decode_html
from portal.files.archives import Archive, ArchiveFault

from .judging import xbrl_rows
from .storing import Draft, store_picture, write_draft

__all__ = ["import_page", "store_picture"]


def import_page(*, run: ImportRun, archive: Archive, page: PageFile, meta: MetaIndex) -> None:
    """Imports one page, or refuses it by name; either way its ImportItem is written with it."""
    write_draft(run=run, where=page.file.shown, draft=_judge_file(archive, page, meta))


def _judge_file(archive: Archive, page: PageFile, meta: MetaIndex) -> Draft | Refusal:
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
    picture, refusal = _judge_image(archive, page)
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


def _judge_image(archive: Archive, page: PageFile) -> tuple[Picture | None, Refusal | None]:
    if page.image is None:
        return None, None
    try:
        return check_picture(archive.read(page.image.path)), None
    except (ArchiveFault, PictureError) as fault:
        return None, Refusal(page.image.shown, fault.code, str(fault))
