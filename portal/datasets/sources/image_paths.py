"""Finding the picture that a table or a line names, wherever the source keeps it."""

import base64
import binascii
import unicodedata
from collections import defaultdict

from portal.files.archives import ArchiveFault

from .items import ItemError, PictureFile
from .layout import printable
from .opening import SourceFiles

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif")
_SHOWN = 100
# Folders inside each other that are compared.
_DEEPEST = 12


class PicturePaths:
    """The pictures of a source by their paths.

    A path as published often begins with a folder of its authors' machines or lacks one of ours:
    the longest common end decides, and it must be the file's whole name at least.
    """

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._by_end: dict[str, list[str]] = defaultdict(list)
        for name in files.named(*PICTURE_SUFFIXES):
            plain = _plain(name)
            for end in _ends(plain.split("/")):
                self._by_end[end].append(name)
            for end in _ends(plain.rpartition(".")[0].split("/")):
                self._by_end[end].append(name)

    def find(self, path: str, *, beside: str = "") -> PictureFile:
        """The picture that `path` names, seen from the folder `beside`; its suffix may be left
        out. Raises ItemError if there is none, or if several fit equally well.
        """
        plain = _plain(path)
        if not plain or ".." in plain.split("/"):
            raise ItemError("no_image", f"{shown(path)} is not the path of a picture")
        ends = _ends(f"{_plain(beside)}/{plain}".strip("/").split("/"))
        found = next((self._by_end[end] for end in reversed(ends) if end in self._by_end), [])
        if not found:
            raise ItemError("no_image", f"there is no picture {shown(path)}")
        if len(found) > 1:
            reason = f"{shown(path)} may be {shown(found[0])} or {shown(found[1])}"
            raise ItemError("several_images", reason)
        return self.file(found[0])

    def file(self, name: str) -> PictureFile:
        """The picture of the source with exactly this name."""
        files = self._files
        files.use(name)
        return PictureFile(printable(name), lambda: files.read(name))


def embedded_picture(where: str, data: bytes) -> PictureFile:
    """A picture that came inside a table."""
    return PictureFile(where, lambda: data)


def picture_from_text(where: str, text: str, limit: int) -> PictureFile | None:
    """The picture that a text holds in base64, with or without `data:image/…;base64,` before it;
    None for a text that is rather a path. Raises ItemError if it is too large or damaged.

    It is decoded when it is read, so that a table of many costs no more than its text.
    """
    head, comma, rest = text.partition(",")
    is_data = head.startswith("data:") and comma == ","
    # No path is as long, and one ends in a suffix.
    if not is_data and (len(text) < 300 or text.lower().endswith(PICTURE_SUFFIXES)):
        return None
    packed = rest if is_data else text
    if len(packed) > limit:
        raise ItemError("too_large", "its picture is larger than allowed")

    def read() -> bytes:
        try:
            return base64.b64decode("".join(packed.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise ArchiveFault("image_broken", f"{where}: the picture is no base64") from error

    return PictureFile(where, read)


def shown(path: str) -> str:
    """A path as messages have it."""
    plain = printable(path)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def _plain(path: str) -> str:
    """With forward slashes, and composed: ZIPs of some systems keep accents apart."""
    return unicodedata.normalize("NFC", path.strip().replace("\\", "/")).removeprefix("./")


def _ends(parts: list[str]) -> list[str]:
    """The last part, the last two and so on, up to _DEEPEST.

    >>> _ends(["a", "b", "c.png"])
    ['c.png', 'b/c.png', 'a/b/c.png']
    """
    deepest = min(len(parts), _DEEPEST)
    return ["/".join(parts[-count:]) for count in range(1, deepest + 1)]
