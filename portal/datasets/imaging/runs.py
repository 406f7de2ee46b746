"""Boxes of text runs: words, and the parts of words that a fact may begin or end at."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .paper import Glyph

if TYPE_CHECKING:
    from PIL import Image

# [start, end, left, top, width, height]: code points of the canonical text, pixels of the image.
Box = list[int]

# Between the darkest and the lightest point of a run's box; less is text that nobody can see.
_CONTRAST = 24
# Beside these a fact begins or ends within a word.
_BORDERS = frozenset("()[]{}$€£¥%*†‡/:;–—~")


@dataclass(frozen=True)
class Run:
    """Characters [start, end) of the text on one line of one sheet; the box in pixels."""

    start: int
    end: int
    sheet: int
    left: float
    top: float
    right: float
    bottom: float

    def box(self) -> Box:
        left, top = int(self.left), int(self.top)
        return [self.start, self.end, left, top, _up(self.right) - left, _up(self.bottom) - top]


def find_runs(
    text: str, glyphs: Sequence[Glyph], pairs: Iterable[tuple[int, int]]
) -> Iterator[Run]:
    """Joins neighbours of a word that stand beside each other; `pairs` as `align` gives them."""
    run: Run | None = None
    for offset, index in pairs:
        glyph = glyphs[index]
        if run is not None and _goes_on(text, run, offset, glyph):
            run = _joined(run, glyph)
            continue
        if run is not None:
            yield run
        run = Run(offset, offset + 1, glyph.sheet, glyph.left, glyph.top, glyph.right, glyph.bottom)
    if run is not None:
        yield run


def is_visible(run: Run, picture: "Image.Image") -> bool:
    """Whether anything stands out in the box of the run, in grey or in any of the colours."""
    box = (int(run.left), int(run.top), _up(run.right), _up(run.bottom))
    if box[0] >= box[2] or box[1] >= box[3]:
        return False
    bands: Any = picture.crop(box).split()
    extrema = [band.getextrema() for band in bands]
    return any(lightest - darkest >= _CONTRAST for darkest, lightest in extrema)


def _goes_on(text: str, run: Run, offset: int, glyph: Glyph) -> bool:
    if offset != run.end or glyph.sheet != run.sheet:
        return False
    if text[offset] in _BORDERS or text[offset - 1] in _BORDERS:
        return False
    height = run.bottom - run.top
    same_line = abs(glyph.bottom - run.bottom) < height / 2
    return same_line and -height / 2 < glyph.left - run.right < height


def _joined(run: Run, glyph: Glyph) -> Run:
    return replace(
        run,
        end=run.end + 1,
        left=min(run.left, glyph.left),
        top=min(run.top, glyph.top),
        right=max(run.right, glyph.right),
        bottom=max(run.bottom, glyph.bottom),
    )


def _up(value: float) -> int:
    return -int(-value // 1)
