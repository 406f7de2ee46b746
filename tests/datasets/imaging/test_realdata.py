"""Boxes on real pages: an OCR engine reads the fact in its box."""

import io
import json
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from portal.datasets.imaging.renderer import Rendered, RenderedImage, Renderer
from portal.facts import canonicalise, decode_html
from tests.programs import require_program
from tests.shared import REALDATA, needs_realdata

pytestmark = [pytest.mark.browser, needs_realdata]


@pytest.fixture(autouse=True)
def tesseract() -> str:
    """Skips the test without the engine, or fails if services are required."""
    return require_program("tesseract")


PAGES, FACTS_PER_PAGE = 12, 8
# 96 of 96 on these pages, and 98.9 % of 528 facts on all pages.
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
    """Return image and box (left, top, right, bottom) of the runs that overlap the fact."""
    for image in rendered.images:
        touched = [box for box in image.boxes if box[0] < end and start < box[1]]
        if touched:
            sides = [(x, y, x + width, y + height) for _, _, x, y, width, height in touched]
            lefts, tops, rights, bottoms = zip(*sides, strict=True)
            return image, [min(lefts), min(tops), max(rights), max(bottoms)]
    return None


def read(boxes: Sequence[tuple[RenderedImage, list[int]]], folder: Path) -> list[str]:
    """Read each box, drawn on white, with tesseract.

    One process reads all boxes: it takes longer to start than to read one.
    """
    crops = []
    for number, (image, box) in enumerate(boxes):
        with Image.open(io.BytesIO(image.png)) as picture:
            crop = picture.convert("L").crop(tuple(box))  # type: ignore[arg-type]
        crops.append(folder / f"{number}.png")
        ImageOps.expand(crop, border=30, fill=255).save(crops[-1], dpi=(300, 300))
    listed = folder / "crops.txt"
    listed.write_text("\n".join(map(str, crops)))
    done = subprocess.run(
        ["tesseract", str(listed), "-", "--psm", "6"],
        capture_output=True,
        check=True,
        env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    texts = done.stdout.decode().removesuffix("\f").split("\f")
    assert len(texts) == len(boxes)
    return texts


def digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def test_ocr_reads_gold_facts_in_their_boxes(tmp_path: Path) -> None:
    total, found, missed = 0, 0, []
    similarities = {}
    with Renderer("chromium") as renderer:
        for name, spans in facts_of(pages()):
            html = decode_html((REALDATA / "pages" / f"{name}.html").read_bytes())
            canonical = canonicalise(html)
            rendered = renderer.render(canonical.html, canonical.text)
            similarities[name] = rendered.similarity
            meant = [span for span in spans if digits(canonical.text[slice(*span)])]
            places = [place(rendered, *span) for span in meant]
            texts = iter(read([at for at in places if at], tmp_path))
            for span, at in zip(meant, places, strict=True):
                quote = canonical.text[slice(*span)]
                total += 1
                seen = next(texts) if at else ""
                if digits(quote) in digits(seen):
                    found += 1
                else:
                    missed.append((name, quote, seen))
    assert total >= PAGES * FACTS_PER_PAGE * 0.6
    assert found / total >= LEAST_READ, missed
    assert min(similarities.values()) > 0.95, similarities
