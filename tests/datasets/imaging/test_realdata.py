"""Boxes on real pages: an OCR engine reads the fact where its box is."""

import io
import json
import random
import re
import subprocess
from collections.abc import Iterator, Sequence

import pytest
from PIL import Image, ImageOps

from portal.datasets.imaging.renderer import Rendered, RenderedImage, Renderer
from portal.facts import canonicalise, decode_html
from tests.programs import require_program
from tests.shared import REALDATA, needs_realdata

pytestmark = [pytest.mark.browser, needs_realdata]


@pytest.fixture(autouse=True)
def tesseract() -> str:
    """Skipped without it, and a failure where services must run."""
    return require_program("tesseract")


PAGES, FACTS_PER_PAGE = 12, 8
# 96 of 96 on the pages drawn here, 98.9 % of 528 facts of all pages.
LEAST_READ = 0.93


def pages() -> list[str]:
    names = sorted(path.stem for path in (REALDATA / "pages").glob("*.html"))
    return random.Random(6).sample(names, PAGES)


def facts_of(wanted: Sequence[str]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    with (REALDATA / "gold.jsonl").open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["id"] in wanted:
                spans = [(fact["start"], fact["end"]) for fact in line["facts"]]
                some = random.Random(6).sample(spans, min(FACTS_PER_PAGE, len(spans)))
                yield line["id"], some


def place(rendered: Rendered, start: int, end: int) -> tuple[RenderedImage, list[int]] | None:
    """Image and box, left, top, right, bottom, of the runs that the fact touches."""
    for image in rendered.images:
        touched = [box for box in image.boxes if box[0] < end and start < box[1]]
        if touched:
            sides = [(x, y, x + width, y + height) for _, _, x, y, width, height in touched]
            lefts, tops, rights, bottoms = zip(*sides, strict=True)
            return image, [min(lefts), min(tops), max(rights), max(bottoms)]
    return None


def read(image: RenderedImage, box: Sequence[int]) -> str:
    """What tesseract reads in the box, which stands on white for it."""
    with Image.open(io.BytesIO(image.png)) as picture:
        crop = picture.convert("L").crop(tuple(box))  # type: ignore[arg-type]
    crop = ImageOps.expand(crop, border=30, fill=255)
    stream = io.BytesIO()
    crop.save(stream, "PNG", dpi=(300, 300))
    done = subprocess.run(
        ["tesseract", "-", "-", "--psm", "6"],
        input=stream.getvalue(),
        capture_output=True,
        check=True,
        env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return done.stdout.decode()


def digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def test_ocr_reads_gold_facts_in_their_boxes() -> None:
    total, found, missed = 0, 0, []
    similarities = {}
    with Renderer("chromium") as renderer:
        for name, spans in facts_of(pages()):
            html = decode_html((REALDATA / "pages" / f"{name}.html").read_bytes())
            canonical = canonicalise(html)
            rendered = renderer.render(canonical.html, canonical.text)
            similarities[name] = rendered.similarity
            for start, end in spans:
                quote = canonical.text[start:end]
                if not digits(quote):
                    continue
                total += 1
                at = place(rendered, start, end)
                seen = read(*at) if at else ""
                if digits(quote) in digits(seen):
                    found += 1
                else:
                    missed.append((name, quote, seen))
    assert total >= PAGES * FACTS_PER_PAGE * 0.6
    assert found / total >= LEAST_READ, missed
    assert min(similarities.values()) > 0.95, similarities
