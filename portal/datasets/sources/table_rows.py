"""A row of a table, whatever file it came in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portal.files.archives import ArchiveLimits

from .image_paths import PicturePaths, embedded_picture, picture_from_text
from .items import ItemError, PictureFile
from .layout import Refusal

MOST_COLUMNS = 1_000
# Pictures of one item; the questions with the most have about ten.
MOST_PICTURES = 100
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\0", b"MM\0*", b"BM")


@dataclass(frozen=True)
class TableRow:
    """A row: where it stands, its number from 0, and the values that are not missing, by column.

    Values are plain JSON, or bytes, or lists and objects that hold bytes.
    """

    where: str
    number: int
    values: Mapping[str, Any]


def is_picture(value: Any) -> bool:
    """Whether a value holds a picture: bytes of one, an object `{bytes, path}`, or a list of such
    things.
    """
    if isinstance(value, list):
        return bool(value) and all(is_picture(part) for part in value)
    if isinstance(value, dict):
        return "bytes" in value and value.keys() <= {"bytes", "path"}
    return isinstance(value, bytes) and value.startswith(_SIGNATURES)


def pictures_of(
    row: TableRow, column: str, paths: PicturePaths, limits: ArchiveLimits
) -> list[PictureFile]:
    """The pictures of a column: embedded, in base64, or as paths into the source. Raises
    ItemError.
    """
    value = row.values[column]
    parts = value if isinstance(value, list) else [value]
    if len(parts) > MOST_PICTURES:
        raise ItemError("too_many", f"{column!r:.60} holds more than {MOST_PICTURES} pictures")
    several = len(parts) > 1
    return [
        _picture(f"{row.where} {column}{f' {n}' if several else ''}", part, paths, limits)
        for n, part in enumerate(parts, start=1)
    ]


def _picture(where: str, value: Any, paths: PicturePaths, limits: ArchiveLimits) -> PictureFile:
    if isinstance(value, dict):
        data, path = value.get("bytes"), value.get("path")
        value = path if data is None else data
    if isinstance(value, bytes):
        if len(value) > limits.member:
            raise ItemError("too_large", "its picture is larger than allowed")
        return embedded_picture(where, value)
    if not isinstance(value, str) or not value.strip():
        raise ItemError("no_image", "neither a picture nor the path of one")
    return picture_from_text(where, value, limits.member) or paths.find(value)


def refused(where: str, error: ItemError) -> Refusal:
    return Refusal(where, error.code, str(error))
