"""What the drawing process made, kept in the cache by what it was made of."""

import gzip
import threading
from base64 import b64decode, b64encode
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from django.core.cache import cache

from portal.web.conditional import etag_of
from scoring.charts.drawing import DrawingError, draw_png, draw_svg, library_version, make_library
from scoring.charts.look import WIDE, Room, Words, with_words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification

_Key = TypeVar("_Key", bound=Hashable)
_WEEK = 7 * 24 * 60 * 60
# One drawing process at a time: it takes a processor and much memory.
_one_at_a_time = threading.Lock()
_LONGEST_WAIT = 30


@contextmanager
def _process() -> Iterator[None]:
    if not _one_at_a_time.acquire(timeout=_LONGEST_WAIT):
        raise DrawingError("other charts are being drawn")
    try:
        yield
    finally:
        _one_at_a_time.release()


class Sketch(NamedTuple):
    """What is to be drawn."""

    shape: Shape
    words: Words
    room: Room = WIDE


def kept_svgs(wanted: Mapping[_Key, Sketch]) -> dict[_Key, str]:
    """Pictures by key. All that are not kept are drawn together, since starting takes longer than
    drawing. Two that say the same are one picture, for whoever asks. Raises DrawingError."""
    specs = {key: specification(each.shape, each.room) for key, each in wanted.items()}
    names = {key: _name("svg", specs[key], each.words) for key, each in wanted.items()}
    found: dict[str, str] = cache.get_many(set(names.values()))
    if len(found) < len(set(names.values())):
        with _process():
            # Who held the lock before may have drawn these.
            found = cache.get_many(set(names.values()))
            missing = {name: key for key, name in names.items() if name not in found}
            if missing:
                svgs = draw_svg([specs[key] for key in missing.values()])
                drawn = {
                    name: with_words(svg, wanted[key].words)
                    for (name, key), svg in zip(missing.items(), svgs, strict=True)
                }
                cache.set_many(drawn, _WEEK)
                found |= drawn
    return {key: found[name] for key, name in names.items()}


def kept_png(shape: Shape) -> bytes:
    """In the light colours. Raises DrawingError."""
    spec = specification(shape)
    name = _name("png", spec)
    found = cache.get(name)
    if found is None:
        with _process():
            found = b64encode(draw_png(spec)).decode()
        cache.set(name, found, _WEEK)
    return b64decode(found)


def _name(form: str, *made_of: Any) -> str:
    """Changes with what is drawn and with what draws it."""
    return f"chart:{form}:{etag_of(library_version(), *made_of)}"


def kept_library() -> bytes:
    """The library for browsers, compressed with gzip. Raises DrawingError."""
    name = f"chart-library:{library_version()}"
    found = cache.get(name)
    if found is None:
        with _process():
            found = cache.get(name)
            if found is None:
                found = b64encode(gzip.compress(make_library().encode(), mtime=0)).decode()
                cache.set(name, found, None)
    return b64decode(found)
