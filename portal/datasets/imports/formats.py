"""The registry of import formats: page, API and command offer what is registered here."""

from collections.abc import Callable
from dataclasses import dataclass

from .items import SourceItems

# That of `ImportRun.form`.
_KEY_LENGTH = 14


@dataclass(frozen=True)
class ImportFormat:
    """A format of imports, for page, API and command.

    `read` yields the items of a source, given its original name and the limits. It also gets the
    `benchmark` if the format `has_benchmark`. Only `pages` has none: it is read with its metadata.
    `suffixes` are those of the files it reads; files with one in `alone` need no ZIP around them.
    `about` is a sentence for the import page.
    """

    key: str
    title: str
    read: Callable[..., SourceItems] | None
    suffixes: tuple[str, ...]
    alone: tuple[str, ...] = ()
    about: str = ""
    has_benchmark: bool = False


_formats: dict[str, ImportFormat] = {}


def register_format(new: ImportFormat) -> None:
    """Call once for each format, from an AppConfig for a format of your own."""
    if new.key in _formats:
        raise ValueError(f"there is already an import format {new.key!r}")
    if not 0 < len(new.key) <= _KEY_LENGTH:
        raise ValueError(f"the key {new.key!r} must have 1 to {_KEY_LENGTH} characters")
    _formats[new.key] = new


def import_format(key: str) -> ImportFormat:
    """Raises KeyError for an unknown format."""
    return _formats[key]


def format_choices() -> list[tuple[str, str]]:
    """The key and title of every format, in the order of registration."""
    return [(each.key, each.title) for each in _formats.values()]


def format_title(key: str) -> str:
    """The title of a format; its key if it is not registered any more."""
    return _formats[key].title if key in _formats else key
