"""Parquet as it is common on hubs of data sets: pictures embedded, one row per item.

Pictures are columns of `{bytes, path}`, or of lists of them. By their names are known: `id` (or
`name`, `image_id`, `file_name`), `html` (or `text_html`, `matched_html`), `prompt` (or `question`),
`language`, and what describes a document. All other columns are its record when a benchmark is
named, and else its metadata.
"""

from collections.abc import Sequence
from typing import Any

from portal.files.archives import ArchiveFault, ArchiveLimits

from .image_paths import PicturePaths
from .items import ItemError, PictureFile, SourceItem, SourceItems, item_name, name_from_path
from .layout import Refusal, printable
from .meta import DocumentMeta, described
from .opening import Source, open_source
from .parquet_rows import read_parquet_rows
from .table_rows import MOST_PICTURES, TableRow, is_picture, pictures_of, refused

_IDS = ("id", "name", "image_id", "file_name")
_HTML = ("html", "text_html", "matched_html")
_PROMPTS = ("prompt", "question")
_DESCRIBED = ("doc_type", "company", "form_type", "fiscal_year", "source_url", "licence")
_LANGUAGE_LENGTH = 12


def read_parquet(
    source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> SourceItems:
    """One item per row of all `.parquet` files, in the order of their names. A row without html
    and without picture is refused. Raises ArchiveFault when the source as a whole is unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.named(".parquet")
        if not tables:
            raise ArchiveFault("no_table", "there is no .parquet in it")
        paths = PicturePaths(files)
        for table in tables:
            with files.open(table) as file:
                for row in read_parquet_rows(file, printable(table), limits):
                    yield row if isinstance(row, Refusal) else _item(row, paths, limits, benchmark)


def _item(
    row: TableRow, paths: PicturePaths, limits: ArchiveLimits, benchmark: str
) -> SourceItem | Refusal:
    values = dict(row.values)
    try:
        pictures = _take_pictures(row, values, paths, limits)
        html = _take_text(values, _HTML)
        if html is None and not pictures:
            raise ItemError("empty", "it has neither html nor a picture")
        name = _take_name(row, values)
        prompt = _take_text(values, _PROMPTS) or ""
        language = _take_text(values, ("language",)) or ""
        meta = described({key: values.pop(key) for key in _DESCRIBED if key in values})
        _check_rest(values)
    except ItemError as error:
        return refused(row.where, error)
    except ValueError as error:
        return Refusal(row.where, "bad_meta", str(error))
    if len(language) > _LANGUAGE_LENGTH:
        values["language"], language = language, ""
    record = {"id": name, **values} if benchmark else None
    if record is None:
        meta = DocumentMeta(**{**meta.fields(), "metadata": values})
    return SourceItem(
        row.where, name, html, tuple(pictures), record, benchmark, prompt, language, meta
    )


def _take_pictures(
    row: TableRow, values: dict[str, Any], paths: PicturePaths, limits: ArchiveLimits
) -> Sequence[PictureFile]:
    columns = [key for key, value in values.items() if is_picture(value)]
    found: list[PictureFile] = []
    for column in columns:
        found += pictures_of(row, column, paths, limits)
        del values[column]
    if len(found) > MOST_PICTURES:
        raise ItemError("too_many", f"more than {MOST_PICTURES} pictures")
    return found


def _take_name(row: TableRow, values: dict[str, Any]) -> str:
    """The id, else the name of the first picture's file, else the row's own place."""
    for key in _IDS:
        if isinstance(values.get(key), str | int):
            return item_name(str(values.pop(key)))
    for value in row.values.values():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict) and is_picture(first) and isinstance(first.get("path"), str):
            return name_from_path(first["path"])
    table = name_from_path(row.where.rpartition(":")[0])
    return item_name(f"{table}_r{row.number + 1:06d}")


def _take_text(values: dict[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        if isinstance(values.get(key), str):
            return str(values.pop(key))
    return None


def _check_rest(values: dict[str, Any]) -> None:
    for key, value in values.items():
        if _holds_bytes(value):
            raise ItemError("bad_value", f"{key!r:.60} holds bytes that are no picture")


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_bytes(part) for part in value.values())
    if isinstance(value, list):
        return any(_holds_bytes(part) for part in value)
    return isinstance(value, bytes)
