"""Page images, rendered by Chromium and converted by Pillow to small grey PNGs, and their text
boxes."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import FloatRect, Page, ViewportSize, sync_playwright

from portal.datasets.imaging.drawing import Glyph, align, find_runs
from portal.facts.canonical import canonicalise

VIEWPORT_WIDTH = 816  # CSS pixels: 8.5 inches at 96 dpi
SCALE = 1.5  # device pixels per CSS pixel: 144 dpi
DPI = round(96 * SCALE)
GREYS = 16
DIGEST_KEY = "Page-SHA256"

# The picture of the home page: the top of a gold page, its facts marked as in the workbench.
MARKED_PAGE = "sample-fs-02"
MARKED_SIZE = (620, 430)  # narrower than the page images, so that it can be read on a screen
MARKED_COLOURS = 64
MARKS = """
number, date { text-decoration: underline solid 2px #0a57a6; text-decoration-skip-ink: none; }
number { background: #d3e5f8; }
date { background: #f9e4d2; text-decoration: underline dashed 2px #9c4700; }
"""


def render_images(pages: Iterable[Path], folder: Path) -> list[Path]:
    """Writes `folder/ID.png` for every `ID.html`. Raises FileNotFoundError without a Chromium."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with chromium_tab(VIEWPORT_WIDTH) as tab:
        for page in pages:
            tab.goto(page.resolve().as_uri())
            target = folder / f"{page.stem}.png"
            save_grey(tab.screenshot(full_page=True), target, page_digest(page))
            written.append(target)
    return written


# Returns [character, left, top, right, bottom] of each visible character, in device pixels.
_GLYPHS = """scale => {
  const glyphs = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    let at = 0;
    for (const char of walker.currentNode.data) {
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at += char.length);
      const box = range.getClientRects()[0];
      if (!box || !char.trim()) continue;
      const sides = [box.left, box.top, box.right, box.bottom];
      glyphs.push([char, ...sides.map((side) => side * scale)]);
    }
  }
  return glyphs;
}"""


def find_boxes(pages: Iterable[Path]) -> Iterator[tuple[str, list[list[int]]]]:
    """Yields the id of each page and its text boxes, in the stored form of the dataset manager."""
    with chromium_tab(VIEWPORT_WIDTH) as tab:
        for page in pages:
            tab.goto(page.resolve().as_uri())
            glyphs = [Glyph(char, 0, *sides) for char, *sides in tab.evaluate(_GLYPHS, SCALE)]
            text = canonicalise(page.read_text(encoding="utf-8")).text
            pairs = align(text, [glyph.char for glyph in glyphs])
            yield page.stem, [run.box() for run in find_runs(text, glyphs, pairs)]


@contextmanager
def chromium_tab(width: int) -> Iterator[Page]:
    """A page of a browser, `width` CSS pixels wide. Raises FileNotFoundError without a Chromium."""
    executable = shutil.which("chromium")
    if executable is None:
        raise FileNotFoundError(
            "No Chromium found: install the package `chromium` to render page images."
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
        )
        viewport = ViewportSize(width=width, height=100)
        yield browser.new_page(viewport=viewport, device_scale_factor=SCALE)
        browser.close()


def page_digest(page: Path) -> str:
    """A hash stored in the image, to detect outdated images."""
    return hashlib.sha256(page.read_bytes()).hexdigest()


def save_grey(screenshot: bytes, target: Path, digest: str) -> None:
    """Sixteen greys in four bits per pixel: smooth text in small files."""
    grey = Image.open(BytesIO(screenshot)).convert("L")
    step = 255 / (GREYS - 1)
    indices = grey.point([round(value / step) for value in range(256)])
    indices.putpalette([round(index * step) for index in range(GREYS) for _ in range(3)])
    note = PngInfo()
    note.add_text(DIGEST_KEY, digest)
    indices.save(target, optimize=True, bits=4, dpi=(DPI, DPI), pnginfo=note)


def render_marked(gold: Path, target: Path) -> None:
    """Writes the top of a gold page with its facts marked. Raises FileNotFoundError without a
    Chromium."""
    width, height = MARKED_SIZE
    with chromium_tab(width) as tab:
        tab.goto(gold.resolve().as_uri())
        tab.add_style_tag(content=MARKS)
        clip = FloatRect(x=0, y=0, width=width, height=height)
        picture = Image.open(BytesIO(tab.screenshot(full_page=True, clip=clip)))
    note = PngInfo()
    note.add_text(DIGEST_KEY, page_digest(gold))
    picture.convert("RGB").quantize(MARKED_COLOURS).save(target, optimize=True, pnginfo=note)
