"""The sheets of a PDF: the characters on them with their places, and their pictures."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .limits import DPI, POINTS_PER_INCH

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
