"""The rendering process: a document becomes a PDF, and the PDF images with text boxes.

`python -m portal.datasets.imaging.drawing CHROMIUM LIMITS` reads a line of JSON per document,
{html, text, folder}, and writes one for each: {"similarity", "pictures": [{file, width, height,
boxes, thumbnail}]} or {"code", "reason"}. Its first line is {"ready": true}, or {"no_browser"} with
the reason. It ends when its input ends, so that it does not outlive its worker.

The PDF gives the characters of each sheet and their positions. `align` matches them with the
canonical text. A browser prints the text in order, except for floating and positioned elements,
changes its case by style, and adds bullets. So the two texts, without white space, are aligned by
their longest common subsequence; the remaining characters are then searched everywhere. `find_runs`
joins characters to words. `areas_of` must match static/js/lib/boxes.js.
"""

import io
import json
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .pictures import thumbnail
from .renderer import (
    DPI,
    POINTS_PER_INCH,
    Box,
    Limits,
    NoBrowserError,
    RenderingError,
    open_tab,
    print_fitting,
)

if TYPE_CHECKING:
    from PIL import Image

SCALE = DPI / POINTS_PER_INCH
# Lighter pixels count as white.
_INK = 245
# The largest difference between the red, green and blue of a grey pixel.
_GREY_WITHIN = 8
_END_OF_LINE_HYPHEN = "\x02"


@dataclass(frozen=True)
class Glyph:
    """A printed character: its sheet, from 0, and its box in pixels."""

    char: str
    sheet: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Sheet:
    """The image of one sheet; `number` counts from 0 and includes blank sheets."""

    number: int
    picture: "Image.Image"


def open_pdf(data: bytes) -> Any:
    """Open a PdfDocument. The caller closes it."""
    import pypdfium2

    return pypdfium2.PdfDocument(data)


def printed_sheets(pdf: Any) -> int:
    """Return the number of sheets that are not empty."""
    return sum(1 for number in range(len(pdf)) if next(iter(pdf[number].get_objects()), None))


def read_glyphs(pdf: Any) -> list[Glyph]:
    """Return all characters except white space, in the order of the PDF."""
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
    """Render the sheets at 300 dpi, in greyscale if they have no colour, without blank ones."""
    sheets = []
    for number in range(len(pdf)):
        picture = pdf[number].render(scale=SCALE).to_pil().convert("RGB")
        if min(darkest for darkest, _ in picture.getextrema()) < _INK:
            sheets.append(Sheet(number, picture if has_colour(picture) else picture.convert("L")))
    return sheets


def has_colour(picture: "Image.Image") -> bool:
    """Whether an RGB picture has a pixel that is not grey."""
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
# The shortest moved part of a text that is searched, in characters.
_LEAST_MOVED = 3
_HYPHENS = dict.fromkeys("\u2010\u2011", "-")


def align(text: str, printed: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs (offset in `text`, index in `printed`) by offset, each at most once.

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
    """Return the number of characters that a picture can show."""
    return sum(map(_is_printed, text))


def _is_printed(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char) not in {"Cc", "Cf"}


def _plain(char: str) -> str:
    """Normalise a character to one character, so that indices stay valid."""
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
        # Too long to align completely; usually the ends agree.
        head = _common(source, target)
        tail = _common(source[head:][::-1], target[head:][::-1])
        return [(0, 0, head), (len(source) - tail, len(target) - tail, tail)]
    from rapidfuzz.distance import LCSseq

    blocks = LCSseq.opcodes(source, target).as_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size]


def _common(first: str, second: str) -> int:
    for index, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return index
    return min(len(first), len(second))


def _moved(
    source: str, target: str, blocks: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Match the remaining parts of both texts, the longest common block first."""
    left = _gaps([(a, length) for a, _, length in blocks], len(source))
    printed = _gaps([(b, length) for _, b, length in blocks], len(target))
    while left and printed:
        start, end = left.pop()
        best = max(
            ((*_longest(source[start:end], target[low:high]), low, high) for low, high in printed),
            key=lambda match: match[2],
        )
        a, b, length, low, high = best
        if length < min(_LEAST_MOVED, end - start):
            continue
        yield start + a, low + b, length
        rest = [(start, start + a), (start + a + length, end)]
        left.extend((x, y) for x, y in rest if x < y)
        printed.remove((low, high))
        printed.extend((x, y) for x, y in [(low, low + b), (low + b + length, high)] if x < y)


def _longest(first: str, second: str) -> tuple[int, int, int]:
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return match.a, match.b, match.size


def _gaps(blocks: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    gaps, at = [], 0
    for start, length in sorted(blocks):
        if start > at:
            gaps.append((at, start))
        at = start + length
    if at < end:
        gaps.append((at, end))
    return gaps


# The least contrast within the box of visible text.
_CONTRAST = 24
# A fact can begin or end next to these characters within a word.
_BORDERS = frozenset("()[]{}$€£¥%*†‡/:;–—~")


@dataclass(frozen=True)
class Run:
    """Characters [start, end) of the text on one line of a sheet, with their box in pixels."""

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
    """Join adjacent characters of a word. `pairs` is the result of `align`."""
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
    """Whether the box of the run has enough contrast in any colour channel."""
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
    """A rectangle of an image, in pixels."""

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
    """Return one area for each line of [start, end). `boxes` are in the stored form.

    The box of a word that is only partly in the range is cut in proportion.

    >>> areas_of([[0, 4, 100, 50, 40, 20]], 1, 3)
    [Area(left=110.0, top=50, right=130.0, bottom=70)]
    """
    areas: list[Area] = []
    for box in boxes[bisect_right(boxes, start, key=lambda box: box[1]) :]:
        if box[0] >= end:
            break
        area = _cut(box, start, end)
        if areas and _is_next_to(areas[-1], area):
            areas[-1] = _joined_areas(areas[-1], area)
        else:
            areas.append(area)
    return areas


def _cut(box: Sequence[int], start: int, end: int) -> Area:
    first, last, left, top, width, height = box

    def share(offset: int) -> float:
        return left + width * (min(max(offset, first), last) - first) / (last - first)

    return Area(share(start), top, share(end), top + height)


def _is_next_to(first: Area, second: Area) -> bool:
    """Whether the second area is on the same line and starts about a character after the first."""
    overlap = min(first.bottom, second.bottom) - max(first.top, second.top)
    gap = second.left - first.right
    return overlap > first.height / 2 and -first.height / 2 <= gap < first.height


def _joined_areas(first: Area, second: Area) -> Area:
    return replace(
        first,
        top=min(first.top, second.top),
        right=max(first.right, second.right),
        bottom=max(first.bottom, second.bottom),
    )


# A document with more sheets of 11 inches does not fit on a longer sheet.
_WORTH_A_LONG_SHEET = 4


@dataclass
class Drawn:
    """A picture with its text boxes."""

    picture: "Image.Image"
    boxes: list[Box] = field(default_factory=list)


@dataclass(frozen=True)
class Drawing:
    """The pictures of a document; `similarity` is the share of its text in them, from 0 to 1."""

    pictures: list[Drawn]
    similarity: float


def draw_document(tab: Any, html: str, text: str, limits: Limits) -> Drawing:
    """Draw a document. Raises RenderingError if it is too long, blank or cannot be printed."""
    pdf = _print(tab, html, limits)
    try:
        return draw_pdf(pdf, text)
    finally:
        pdf.close()


def _print(tab: Any, html: str, limits: Limits) -> Any:
    """Print on one sheet if a paper size is long enough, else on several sheets of 11 inches."""
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
    """Return the pictures of a PDF with the boxes of `text`."""
    drawn = {sheet.number: Drawn(sheet.picture) for sheet in draw_sheets(pdf)}
    if not drawn:
        raise RenderingError("blank", "the printed page is blank")
    glyphs = read_glyphs(pdf)
    shown = 0
    for run in find_runs(text, glyphs, align(text, [glyph.char for glyph in glyphs])):
        on = drawn.get(run.sheet)
        if on is not None and is_visible(run, on.picture):
            on.boxes.append(run.box())
            shown += run.end - run.start
    similarity = shown / max(printable_count(text), 1)
    return Drawing([drawn[number] for number in sorted(drawn)], similarity)


def main(executable: str, limits: Limits) -> None:
    try:
        with open_tab(executable) as tab:
            _answer({"ready": True})
            for line in sys.stdin:
                _answer(_render(tab, json.loads(line), limits))
    except NoBrowserError as error:
        _answer({"no_browser": str(error)})


def _render(tab: Any, asked: dict[str, str], limits: Limits) -> dict[str, Any]:
    html = Path(asked["html"]).read_text(encoding="utf-8")
    text = Path(asked["text"]).read_text(encoding="utf-8")
    folder = Path(asked["folder"])
    try:
        drawing = draw_document(tab, html, text, limits)
    except RenderingError as error:
        return {"code": error.code, "reason": error.reason}
    pictures = []
    for number, drawn in enumerate(drawing.pictures, start=1):
        file, small = folder / f"{number}.png", folder / f"{number}.webp"
        file.write_bytes(png(drawn.picture))
        small.write_bytes(thumbnail(drawn.picture))
        width, height = drawn.picture.size
        pictures.append({"file": file.name, "thumbnail": small.name, "width": width})
        pictures[-1] |= {"height": height, "boxes": drawn.boxes}
    return {"similarity": drawing.similarity, "pictures": pictures}


def _answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Limits(**json.loads(sys.argv[2])))
