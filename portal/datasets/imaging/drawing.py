"""One document: from canonical HTML to pictures with their boxes. Runs in the child process."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import paper
from .alignment import align, printable_count
from .chromium import print_fitting
from .limits import Limits, RenderingError
from .runs import Box, find_runs, is_visible

if TYPE_CHECKING:
    from PIL import Image

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
        pdf = paper.open_pdf(data)
        used = paper.printed_sheets(pdf)
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
    drawn = {sheet.number: Drawn(sheet.picture) for sheet in paper.draw_sheets(pdf)}
    if not drawn:
        raise RenderingError("blank", "nothing of it is visible on paper")
    glyphs = paper.read_glyphs(pdf)
    shown = 0
    for run in find_runs(text, glyphs, align(text, [glyph.char for glyph in glyphs])):
        on = drawn.get(run.sheet)
        if on is not None and is_visible(run, on.picture):
            on.boxes.append(run.box())
            shown += run.end - run.start
    similarity = shown / max(printable_count(text), 1)
    return Drawing([drawn[number] for number in sorted(drawn)], similarity)
