"""Receipts: one JSON file per picture, of the same name, beside it or in a folder of its own.

The object is either the fields themselves or holds them under `fields`. What of it is gold says the
benchmark's own reader.
"""

from pathlib import PurePosixPath
from typing import Any

from portal.files.archives import ArchiveFault, ArchiveLimits

from .image_paths import PICTURE_SUFFIXES, PicturePaths
from .items import ItemError, SourceItem, SourceItems, item_name
from .json_values import JsonError, read_object
from .layout import Refusal, printable
from .meta import DocumentMeta
from .opening import Source, SourceFiles, open_source
from .table_rows import refused

BENCHMARK = "receiptbench"
_ABOUT = ("id", "language", "category", "balanced")


def read_receipts(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per JSON file, in the order of their names; then the pictures that have none.
    Raises ArchiveFault when the source as a whole is unusable.
    """
    with open_source(source, name, limits) as files:
        objects = files.named(".json")
        if not objects:
            raise ArchiveFault("no_json", "there is no .json in it")
        paths = PicturePaths(files)
        used: set[str] = set()
        for member in objects:
            yield _item(files, member, paths, used)
        for picture in files.named(*PICTURE_SUFFIXES):
            if printable(picture) not in used:
                files.use(picture)
                reason = "there is no JSON file of this name"
                yield Refusal(printable(picture), "image_without_record", reason)


def _item(
    files: SourceFiles, member: str, paths: PicturePaths, used: set[str]
) -> SourceItem | Refusal:
    shown = printable(member)
    path = PurePosixPath(member)
    try:
        name = item_name(path.stem)
        value = read_object(files.read(member))
        picture = paths.find(path.stem, beside=path.parent.as_posix())
    except JsonError as error:
        return Refusal(f"{shown}:{error.line}", "bad_json", str(error))
    except ArchiveFault as fault:
        return Refusal(shown, fault.code, str(fault))
    except ItemError as error:
        return refused(shown, error)
    used.add(picture.shown)
    language = value.get("language")
    return SourceItem(
        shown,
        name,
        pictures=(picture,),
        record={"id": name, **_record(value)},
        benchmark=BENCHMARK,
        language=_language(language),
        meta=DocumentMeta(metadata={}),
    )


def _record(value: dict[str, Any]) -> dict[str, Any]:
    """The object as a line of gold, but for its id: a document is called as its files are."""
    about = {key: value[key] for key in _ABOUT if key in value and key != "id"}
    if "fields" in value:
        return {**about, "fields": value["fields"]}
    return {**about, "fields": {key: part for key, part in value.items() if key not in _ABOUT}}


def _language(value: Any) -> str:
    """A tag such as `en`; the names of languages in words stay in the record alone."""
    is_tag = isinstance(value, str) and len(value) <= 12 and value.isascii()
    return value if is_tag and value[:2].islower() and value[2:3] in ("", "-") else ""
