"""FCMBench as published: JSON Lines, and the pictures that the lines name.

A line is `{"id", "images": [path, …], "question", "response", "task", "subtask", "robustness"}`.
The paths begin wherever the authors' folder of pictures began. `subtask` begins with `en.` for
questions in English; the others are Chinese.
"""

from typing import Any

from portal.files.archives import ArchiveFault, ArchiveLimits

from .gold import bounded_lines
from .image_paths import PicturePaths
from .items import ItemError, PictureFile, SourceItem, SourceItems, item_name
from .json_values import JsonError, read_object
from .layout import Refusal, printable
from .meta import DocumentMeta
from .opening import Source, open_source
from .table_rows import MOST_PICTURES, refused

BENCHMARK = "fcmbench"
_GOLD = ("id", "task", "subtask", "robustness", "response")
_LONGEST_PATH = 1_000


def read_fcmbench(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per question. One whose pictures cannot all be found is refused; the rest of a line
    is the business of the benchmark's own reader. Raises ArchiveFault when the source as a whole is
    unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.named(".jsonl", ".jsonl.gz")
        if not tables:
            raise ArchiveFault("no_lines", "there is no .jsonl in it")
        paths = PicturePaths(files)
        for table in tables:
            shown = printable(table)
            with files.open(table) as file:
                for number, line in bounded_lines(file, shown, limits):
                    if line.strip():
                        yield _item(f"{shown}:{number}", line, table.rpartition("/")[0], paths)


def _item(where: str, line: bytes, folder: str, paths: PicturePaths) -> SourceItem | Refusal:
    try:
        value = read_object(line)
        given = value.get("id")
        if not isinstance(given, str):
            raise ItemError("bad_name", "id: missing, or not a text")
        name = item_name(given)
        pictures = _pictures(value.get("images"), folder, paths)
        prompt = value.get("question", "")
        if not isinstance(prompt, str):
            raise ItemError("bad_value", "question: must be a text")
    except JsonError as error:
        return Refusal(where, "bad_json", str(error))
    except ItemError as error:
        return refused(where, error)
    return SourceItem(
        where,
        name,
        pictures=pictures,
        record={key: value[key] for key in _GOLD if key in value},
        benchmark=BENCHMARK,
        prompt=prompt,
        language=_language(value.get("subtask")),
        meta=DocumentMeta(metadata=_rest(value)),
    )


def _pictures(value: Any, folder: str, paths: PicturePaths) -> tuple[PictureFile, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value:
        raise ItemError("no_image", "images: missing, or not a list of paths")
    if len(value) > MOST_PICTURES:
        raise ItemError("too_many", f"images: more than {MOST_PICTURES}")
    for path in value:
        if not isinstance(path, str) or len(path) > _LONGEST_PATH:
            reason = f"images: a path is a text of at most {_LONGEST_PATH} characters"
            raise ItemError("no_image", reason)
    return tuple(paths.find(path, beside=folder) for path in value)


def _language(subtask: Any) -> str:
    if not isinstance(subtask, str):
        return ""
    return "en" if subtask.startswith("en.") else "zh"


def _rest(value: dict[str, Any]) -> dict[str, Any]:
    """All that is neither gold nor asked: the paths as published among it."""
    return {key: part for key, part in value.items() if key not in (*_GOLD, "question")}
