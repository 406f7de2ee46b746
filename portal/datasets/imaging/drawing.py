"""From a PDF to pictures with the boxes of their text. `draw_document` runs in the child process.

The characters on the sheets and their places are read from the PDF. `align` finds which printed
character is which character of the canonical text. A browser prints the text in its order but
for what floats or is placed, changes its case where the style says so, and adds bullets. So the
two texts, without white space, are aligned by their longest common subsequence; the rest is then
looked for wherever it was printed. `find_runs` joins the characters to words. `areas_of` is the
twin of static/js/lib/boxes.js.
"""

import io
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from .renderer import DPI, POINTS_PER_INCH, Box, Limits, RenderingError, print_fitting

if TYPE_CHECKING:
    from PIL import Image


SCALE = DPI / POINTS_PER_INCH
# What is lighter than this on an otherwise white sheet is nothing.
_INK = 245
# Red, green and blue of a grey are no further apart.
_GREY_WITHIN = 8
_END_OF_LINE_HYPHEN = "\x02"


@dataclass(frozen=True)
class Glyph:
    """A character as it is printed: its sheet from 0, and its box in pixels."""

    char: str
    sheet: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Sheet:
    """The picture of one sheet; `number` counts from 0 and blank sheets as well."""

    number: int
    picture: "Image.Image"


def open_pdf(data: bytes) -> Any:
    """A PdfDocument; the caller closes it."""
    import pypdfium2

    return pypdfium2.PdfDocument(data)


def printed_sheets(pdf: Any) -> int:
    """How many sheets have text or anything else on them."""
    return sum(1 for number in range(len(pdf)) if next(iter(pdf[number].get_objects()), None))


def read_glyphs(pdf: Any) -> list[Glyph]:
    """Every character that stands on a sheet, without white space, in the order of the PDF."""
    glyphs: list[Glyph] = []
    for number in range(len(pdf)):
        glyphs.extend(_glyphs_of(pdf[number], number))
    return glyphs


def _glyphs_of(page: Any, number: int) -> list[Glyph]:
    from pypdfium2 import raw

    width, height = page.get_size()
    text = page.get_textpage()
    box = raw.FS_RECTF()
    glyphs = []
    for index in range(text.count_chars()):
        if raw.FPDFText_IsGenerated(text, index) == 1:
            continue
        char = chr(raw.FPDFText_GetUnicode(text, index))
        if char == _END_OF_LINE_HYPHEN:
            char = "-"
        if char.isspace() or not raw.FPDFText_GetLooseCharBox(text, index, box):
            continue
        if box.right <= 0 or box.left >= width or box.top <= 0 or box.bottom >= height:
            continue
        glyphs.append(
            Glyph(
                char,
                number,
                max(box.left, 0.0) * SCALE,
                max(height - box.top, 0.0) * SCALE,
                min(box.right, width) * SCALE,
                min(height - box.bottom, height) * SCALE,
            )
        )
    text.close()
    return glyphs


def draw_sheets(pdf: Any) -> list[Sheet]:
    """The sheets as pictures of 300 dpi, in grey where they have no colour; blank ones are
    dropped.
    """
    sheets = []
    for number in range(len(pdf)):
        picture = pdf[number].render(scale=SCALE).to_pil().convert("RGB")
        if min(darkest for darkest, _ in picture.getextrema()) < _INK:
            sheets.append(Sheet(number, picture if has_colour(picture) else picture.convert("L")))
    return sheets


def has_colour(picture: "Image.Image") -> bool:
    """Whether any point of an RGB picture is another colour than a grey."""
    from PIL import ImageChops

    red, green, blue = picture.split()
    apart: list[Any] = [
        ImageChops.difference(red, other).getextrema()[1] for other in (green, blue)
    ]
    return bool(max(apart) > _GREY_WITHIN)


def png(picture: "Image.Image") -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG", dpi=(DPI, DPI))
    return stream.getvalue()


# Cells of the alignment's table, one bit each: 100 MB.
_CELLS = 800_000_000
# A stretch that was printed elsewhere is found by at least so many characters.
_LEAST_MOVED = 3
_HYPHENS = dict.fromkeys("\u2010\u2011", "-")


def align(text: str, printed: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (offset in `text`, index in `printed`), by offset; each at most once.

    >>> align("a bc", ["A", "b", "x", "c"])
    [(0, 0), (2, 1), (3, 3)]
    """
    offsets = [offset for offset, char in enumerate(text) if _is_printed(char)]
    source = "".join(_plain(text[offset]) for offset in offsets)
    target = "".join(_plain(char) for char in printed)
    pairs = [
        (offsets[a + step], b + step)
        for a, b, length in _matches(source, target)
        for step in range(length)
    ]
    return sorted(pairs)


def printable_count(text: str) -> int:
    """How many characters of the text a picture can show."""
    return sum(map(_is_printed, text))


def _is_printed(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char) not in {"Cc", "Cf"}


def _plain(char: str) -> str:
    """One character for one, so that indices stay what they are."""
    lower = char.lower()
    plain = lower if len(lower) == 1 else char
    return _HYPHENS.get(plain, plain)


def _matches(source: str, target: str) -> Iterator[tuple[int, int, int]]:
    if source == target:
        yield 0, 0, len(source)
        return
    blocks = _in_order(source, target)
    yield from blocks
    yield from _moved(source, target, blocks)


def _in_order(source: str, target: str) -> list[tuple[int, int, int]]:
    if len(source) * len(target) > _CELLS:
        # Too long to align as a whole; the ends are what mostly agrees.
        head = _common(source, target)
        tail = _common(source[head:][::-1], target[head:][::-1])
        return [(0, 0, head), (len(source) - tail, len(target) - tail, tail)]
    from rapidfuzz.distance import LCSseq

    blocks = LCSseq.opcodes(source, target).as_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size]


def _common(one: str, other: str) -> int:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _moved(
    source: str, target: str, blocks: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Blocks among what is left over of both, the longest of each stretch first."""
    left = _gaps([(a, length) for a, _, length in blocks], len(source))
    printed = _gaps([(b, length) for _, b, length in blocks], len(target))
    while left and printed:
        start, end = left.pop()
        best = max(
            ((*_longest(source[start:end], target[low:high]), low, high) for low, high in printed),
            key=lambda found: found[2],
        )
        a, b, length, low, high = best
        if length < min(_LEAST_MOVED, end - start):
            continue
        yield start + a, low + b, length
        rest = [(start, start + a), (start + a + length, end)]
        left.extend((x, y) for x, y in rest if x < y)
        printed.remove((low, high))
        printed.extend((x, y) for x, y in [(low, low + b), (low + b + length, high)] if x < y)


def _longest(one: str, other: str) -> tuple[int, int, int]:
    match = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return match.a, match.b, match.size


def _gaps(taken: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    gaps, at = [], 0
    for start, length in sorted(taken):
        if start > at:
            gaps.append((at, start))
        at = start + length
    if at < end:
        gaps.append((at, end))
    return gaps


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
            run = _joined_run(run, glyph)
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


def _joined_run(run: Run, glyph: Glyph) -> Run:
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


@dataclass(frozen=True)
class Area:
    """Pixels of the image."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def areas_of(boxes: Sequence[Sequence[int]], start: int, end: int) -> list[Area]:
    """One area for each line that [start, end) stands on; `boxes` as they are stored.

    A word of which only a part is meant is cut in proportion.

    >>> areas_of([[0, 4, 100, 50, 40, 20]], 1, 3)
    [Area(left=110.0, top=50, right=130.0, bottom=70)]
    """
    areas: list[Area] = []
    for box in boxes[bisect_right(boxes, start, key=lambda box: box[1]) :]:
        if box[0] >= end:
            break
        area = _cut(box, start, end)
        if areas and _is_beside(areas[-1], area):
            areas[-1] = _joined_areas(areas[-1], area)
        else:
            areas.append(area)
    return areas


def _cut(box: Sequence[int], start: int, end: int) -> Area:
    first, last, left, top, width, height = box

    def share(offset: int) -> float:
        return left + width * (min(max(offset, first), last) - first) / (last - first)

    return Area(share(start), top, share(end), top + height)


def _is_beside(one: Area, other: Area) -> bool:
    """The next word of the same line begins within a character or two of where one ended."""
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    gap = other.left - one.right
    return overlap > one.height / 2 and -one.height / 2 <= gap < one.height


def _joined_areas(one: Area, other: Area) -> Area:
    return replace(
        one,
        top=min(one.top, other.top),
        right=max(one.right, other.right),
        bottom=max(one.bottom, other.bottom),
    )


# What takes more Letter sheets than these fits on no long one either.
_WORTH_A_LONG_SHEET = 4


@dataclass
class Drawn:
    """One picture with the boxes of the text on it."""

    picture: "Image.Image"
    boxes: list[Box] = field(default_factory=list)


@dataclass(frozen=True)
class Drawing:
    """A document's pictures; `similarity` is the share of its text that they show, 0 to 1."""

    pictures: list[Drawn]
    similarity: float


def draw_document(tab: Any, html: str, text: str, limits: Limits) -> Drawing:
    """Raises RenderingError for what has too many sheets, cannot be printed or shows nothing."""
    pdf = _print(tab, html, limits)
    try:
        return draw_pdf(pdf, text)
    finally:
        pdf.close()


def _print(tab: Any, html: str, limits: Limits) -> Any:
    """On one sheet if any holds it, else on several Letter ones."""
    several: Any = None
    sheets = limits.sheets + 1
    for data in print_fitting(tab, html, sheets=sheets):
        pdf = open_pdf(data)
        used = printed_sheets(pdf)
        if used > limits.sheets:
            pdf.close()
            raise RenderingError("too_long", f"more than {limits.sheets} sheets of paper")
        if used <= 1:
            return pdf
        if several is not None:
            pdf.close()
            continue
        several = pdf
        if used > _WORTH_A_LONG_SHEET:
            break
    return several


def draw_pdf(pdf: Any, text: str) -> Drawing:
    """The pictures of a PDF and where `text` stands on them."""
    drawn = {sheet.number: Drawn(sheet.picture) for sheet in draw_sheets(pdf)}
    if not drawn:
        raise RenderingError("blank", "nothing of it is visible on paper")
    glyphs = read_glyphs(pdf)
    shown = 0
    for run in find_runs(text, glyphs, align(text, [glyph.char for glyph in glyphs])):
        on = drawn.get(run.sheet)
        if on is not None and is_visible(run, on.picture):
            on.boxes.append(run.box())
            shown += run.end - run.start
    similarity = shown / max(printable_count(text), 1)
    return Drawing([drawn[number] for number in sorted(drawn)], similarity)
