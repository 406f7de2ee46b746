"""Importing one item of any reader: judged without a lock, then written with its report."""

import hashlib
from typing import Any

from portal.datasets.models import ImportRun
from portal.datasets.sources.gold import gold_difference
from portal.datasets.sources.items import SourceItem
from portal.datasets.sources.json_values import JsonError, check_plain
from portal.datasets.sources.layout import Refusal
from portal.datasets.sources.pictures import Picture, PictureError, check_picture
from portal.facts import Canonical, RefusedHtml, canonicalise
from portal.files.archives import ArchiveFault

from .judging import picture_sha256, xbrl_rows
from .storing import Draft, Record, write_draft

# All pictures of one item are in memory together.
PICTURES_LIMIT = 200 * 1024 * 1024


def import_item(*, run: ImportRun, item: SourceItem | Refusal) -> None:
    """Imports one item, or refuses it by its place; its ImportItem is written with it."""
    if isinstance(item, Refusal):
        write_draft(run=run, where=item.name, draft=item)
    else:
        write_draft(run=run, where=item.where, draft=_judge_item(item))


def _judge_item(item: SourceItem) -> Draft | Refusal:
    """All that takes time or is refused for the item's own sake. Reads nothing of the database."""
    try:
        if item.record is not None:
            check_plain(item.record)
    except JsonError as error:
        return Refusal(item.where, "bad_record", f"its record: {error}")
    return _judge_picture(item) if item.html is None else _judge_page(item, item.html)


def _judge_page(item: SourceItem, html: str) -> Draft | Refusal:
    """A page loses a picture that cannot be taken, and gold that is not of it; it stays itself."""
    try:
        canonical = canonicalise(html)
    except RefusedHtml as fault:
        return Refusal(item.where, fault.code, fault.reason)
    pictures, refusals = _judge_pictures(item)
    record, misplaced = _judge_gold(item, canonical)
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


def _judge_picture(item: SourceItem) -> Draft | Refusal:
    """A picture is nothing without all that it shows: a question may need every one of them."""
    if not item.pictures:
        return Refusal(item.where, "empty", "it has neither a page nor a picture")
    pictures, refusals = _judge_pictures(item)
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
        record=_record(item),
        language=item.language,
        benchmark=item.benchmark,
        faults=item.faults,
    )


def _judge_pictures(item: SourceItem) -> tuple[list[Picture], list[Refusal]]:
    """The pictures in order; a refusal for each that cannot be taken."""
    pictures: list[Picture] = []
    refusals: list[Refusal] = []
    total = 0
    for number, file in enumerate(item.pictures, start=1):
        try:
            data = file.read()
            total += len(data)
            if total > PICTURES_LIMIT:
                reason = f"its pictures are larger than {PICTURES_LIMIT // 1024**2} MB together"
                raise ArchiveFault("too_large", reason)
            pictures.append(check_picture(data))
        except (ArchiveFault, PictureError) as fault:
            # Several items may name the same file: a row is reported under its item, too.
            name = f"{item.where} picture {number}, {file.shown}"
            refusals.append(Refusal(name, fault.code, str(fault)))
    return pictures, refusals


def _judge_gold(item: SourceItem, canonical: Canonical) -> tuple[Record | None, Refusal | None]:
    """Gold with tags must be the page and tags; a release could not be made of it else."""
    html: Any = (item.record or {}).get("html")
    if isinstance(html, str) and (reason := gold_difference(html, canonical)):
        return None, Refusal(f"{item.where} gold", "gold_differs", reason)
    return _record(item), None


def _record(item: SourceItem) -> Record | None:
    if item.record is None:
        return None
    return Record(item.benchmark, item.record, item.prompt)
