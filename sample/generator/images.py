"""Page images, rendered by Chromium and converted by Pillow to small grey PNGs."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Page, ViewportSize, sync_playwright

VIEWPORT_WIDTH = 816  # CSS pixels: 8.5 inches at 96 dpi
SCALE = 1.5  # device pixels per CSS pixel: 144 dpi
DPI = round(96 * SCALE)
GREYS = 16
DIGEST_KEY = "Page-SHA256"


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
