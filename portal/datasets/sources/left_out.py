"""Files of a source that its import does not read: how many in which folder, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass

from portal.datasets.models import ImportRun

from .image_paths import PICTURE_SUFFIXES

Form = ImportRun.Form

_GOLD = (
    "To use it as gold, choose “File of gold” when you freeze a release (or manage.py"
    " freeze_release SLUG --gold PATH), or import it into a campaign under “In and out”."
)
_PREDICTIONS = "Submit predictions to a leaderboard."
_LABELS = "To use labels, import them into a campaign under “In and out”."
_NESTED = "Only files that lie directly in pages/ and images/ are read."
_PICTURES = "Nothing that was read names these pictures."
_PAGES = "To import pages, put them in pages/ and choose the layout “pages”."
_OTHERWISE = "This layout does not read it: choose another layout, or leave it out of the archive."
# The first that a folder's or file's name holds decides.
_HINTS = (
    ("gold", _GOLD),
    ("pred", _PREDICTIONS),
    ("submission", _PREDICTIONS),
    ("label", _LABELS),
    ("annotation", _LABELS),
    ("image", _PICTURES),
    ("picture", _PICTURES),
    ("page", _PAGES),
)


@dataclass(frozen=True)
class LeftOut:
    """A folder, or a file outside all folders: how many files of it were not read."""

    folder: str
    files: int
    hint: str


def left_out(ignored: Mapping[str, int], form: str) -> list[LeftOut]:
    """What an import left out, with a hint for each folder. `ignored` is that of its run."""
    return [LeftOut(folder, files, _hint(folder, form)) for folder, files in ignored.items()]


def _hint(folder: str, form: str) -> str:
    name = folder.rstrip("/").rpartition("/")[2].lower()
    if form == Form.PAGES and name in {"pages", "images"}:
        return _NESTED
    if name.endswith(PICTURE_SUFFIXES):
        return _PICTURES
    return next((hint for word, hint in _HINTS if word in name), _OTHERWISE)
