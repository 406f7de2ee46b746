"""What the drawing process made, kept in the cache under names that change with what it is of."""

import gzip
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from django.core.cache import cache

from scoring.charts.drawing import DrawingError, draw_png, draw_svg, library_version, make_library
from scoring.charts.look import WIDE, Room, Words, with_words
from scoring.charts.shapes import Shape
from scoring.charts.specs import specification

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


def kept_svgs(wanted: Mapping[str, Sketch]) -> dict[str, str]:
    """Pictures by name. All that are not kept are drawn together, since starting takes longer than
    drawing. Raises DrawingError."""
    found: dict[str, str] = cache.get_many(wanted)
    if len(found) == len(wanted):
        return found
    with _process():
        # Who held the lock before may have drawn these.
        found = cache.get_many(wanted)
        missing = {name: each for name, each in wanted.items() if name not in found}
        if missing:
            svgs = draw_svg([specification(each.shape, each.room) for each in missing.values()])
            drawn = {
                name: with_words(svg, each.words)
                for (name, each), svg in zip(missing.items(), svgs, strict=True)
            }
            cache.set_many(drawn, _WEEK)
            found |= drawn
    return found


def kept_png(name: str, shape: Shape) -> bytes:
    """In the light colours. Raises DrawingError."""
    found = cache.get(name)
    if found is None:
        with _process():
            found = b64encode(draw_png(specification(shape))).decode()
        cache.set(name, found, _WEEK)
    return b64decode(found)


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
