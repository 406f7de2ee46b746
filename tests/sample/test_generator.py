"""The shipped pages, gold and metadata: reproducible, consistent, fictional, small."""

import json
import re
from collections import Counter

import pytest
from django.conf import settings
from PIL import Image

from portal.datasets.imaging.drawing import areas_of
from portal.facts import canonicalise, read_tags
from sample.generator.annotators import LABELS
from sample.generator.build import DATA, built
from sample.generator.images import (
    DIGEST_KEY,
    GREYS,
    MARKED_PAGE,
    MARKED_SIZE,
    SCALE,
    VIEWPORT_WIDTH,
    page_digest,
)
from sample.generator.layout import NOTICE
from sample.generator.pages import PAGES
from tests.many import together

MARKED = settings.BASE_DIR / "static" / "images" / "marked-page.png"
TEMPLATES = settings.BASE_DIR / "templates"
IDS = [page.id for page in PAGES]
DOC_TYPES = (
    "financial_statement",
    "supplemental_report",
    "tax_form",
    "securities_transaction",
    "financial_legal",
)
MEGABYTE = 1_000_000

# Formats of the guidelines: numbers without currency symbols, dates without words around them.
NUMBER = re.compile(
    r"-?[\d,]+(\.\d+)?%?|\([\d,]+(\.\d+)?\)%?|(\d+ )?\d+/\d+%?",
)
COUNT = r"(?:\d+|one|two|three|five|ten|twelve|thirty)"
UNIT = r"(?:fiscal quarters?|(?:business|trading) days?|days?|weeks?|months?|years?)"
MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
DATE = re.compile(
    rf"{MONTH} \d{{1,2}}(, \d{{4}})?|{MONTH} \d{{4}}|\d{{1,2}} {MONTH} \d{{4}}|\d\d/\d\d/\d{{4}}"
    rf"|Q[1-4] \d{{4}}|Second Quarter Fiscal \d{{4}}|\d{{4}}|(?i:(?:{COUNT}|six|nine)[ -]{UNIT})",
)


def read(name: str) -> str:
    return (DATA / name).read_bytes().decode("utf-8")


def test_regenerated_files_equal_the_shipped_ones() -> None:
    for name, text in built():
        assert read(name) == text, f"{name} is stale: run python -m sample.generator"


@pytest.mark.parametrize(
    ("folder", "suffix"), [("pages", "html"), ("gold", "html"), ("images", "png")]
)
def test_folders_hold_only_the_pages(folder: str, suffix: str) -> None:
    assert {path.name for path in (DATA / folder).iterdir()} == {f"{id_}.{suffix}" for id_ in IDS}


def test_each_document_type_has_six_pages() -> None:
    assert Counter(page.doc_type for page in PAGES) == dict.fromkeys(DOC_TYPES, 6)


@together("page_id", IDS)
def test_gold_without_its_tags_is_the_page(page_id: str) -> None:
    gold, page = read(f"gold/{page_id}.html"), read(f"pages/{page_id}.html")
    for label in LABELS:
        gold = gold.replace(f"<{label}>", "").replace(f"</{label}>", "")
    assert gold == page


@together("page_id", IDS)
def test_gold_reads_as_spans_of_the_page(page_id: str) -> None:
    tagged = read_tags(read(f"gold/{page_id}.html"), LABELS)
    canonical = canonicalise(read(f"pages/{page_id}.html"))
    assert tagged.canonical == canonical
    shapes = {"Number": NUMBER, "Date": DATE}
    for span in tagged.spans:
        quote = canonical.text[span.start : span.end]
        assert shapes[span.label].fullmatch(quote), quote
        around = canonical.text[span.start - 1] + canonical.text[span.end]
        assert around[0] != "-", f"the sign of {quote} is missing"
        assert around != "()" or span.label == "Date", f"the parentheses of {quote} are missing"


def test_metadata_names_every_page_once_and_marks_it_as_sample() -> None:
    lines = [json.loads(line) for line in read("meta.jsonl").splitlines()]
    assert [line["id"] for line in lines] == IDS
    for line in lines:
        gold = read(f"gold/{line['id']}.html")
        assert line["sample"] is True
        assert line["licence"] == "CC0-1.0"
        assert (line["n_number"], line["n_date"]) == (
            gold.count("<Number>"),
            gold.count("<Date>"),
        )
        assert line["n_number"] > 0
        assert line["n_date"] > 0


@together("page_id", IDS)
def test_every_page_says_that_it_is_fictional_and_holds_no_real_looking_numbers(
    page_id: str,
) -> None:
    page = read(f"pages/{page_id}.html")
    assert page.count(NOTICE) == 1
    identifiers = re.findall(r"\b\d{3}-\d{2}-\d{4}\b|\b\d{2}-\d{7}\b", page)
    assert set(identifiers) <= {"000-00-0000", "00-0000000"}
    assert not re.search(r"\(\d{3}\) ?\d{3}-\d{4}|\b\d{3}-\d{3}-\d{4}\b", page)


@together("page_id", IDS)
def test_page_image_is_grey_sharp_and_of_the_shipped_page(page_id: str) -> None:
    with Image.open(DATA / "images" / f"{page_id}.png") as image:
        assert image.width == VIEWPORT_WIDTH * SCALE
        assert 700 < image.height < 2200
        digest = page_digest(DATA / "pages" / f"{page_id}.html")
        assert image.info[DIGEST_KEY] == digest, "stale: python -m sample.generator --images"
        palette = image.getpalette() or []
        greys = {tuple(palette[n : n + 3]) for n in range(0, 3 * GREYS, 3)}
        assert all(red == green == blue for red, green, blue in greys)


def test_picture_of_the_home_page_is_small_and_of_its_gold_page() -> None:
    with Image.open(MARKED) as image:
        assert image.size == tuple(round(SCALE * side) for side in MARKED_SIZE)
        digest = page_digest(DATA / "gold" / f"{MARKED_PAGE}.html")
        assert image.info[DIGEST_KEY] == digest, "stale: python -m sample.generator --images"
        template = (TEMPLATES / "home" / "example.html").read_text(encoding="utf-8")
        assert f'width="{image.width}" height="{image.height}"' in template
    assert MARKED.stat().st_size < 40_000


def test_shipped_data_are_small() -> None:
    sizes = {path: path.stat().st_size for path in DATA.rglob("*") if path.is_file()}
    images = sum(size for path, size in sizes.items() if path.suffix == ".png")
    assert images < 2.5 * MEGABYTE
    assert sum(sizes.values()) < 4 * MEGABYTE


@together("page_id", IDS)
def test_every_fact_has_its_place_on_the_page_image(page_id: str) -> None:
    """Its boxes are on the image, and there is ink in each."""
    lines = map(json.loads, read("boxes.jsonl").splitlines())
    boxes = next(line["boxes"] for line in lines if line["id"] == page_id)
    spans = read_tags(read(f"gold/{page_id}.html"), LABELS).spans
    with Image.open(DATA / "images" / f"{page_id}.png") as image:
        grey = image.convert("L")
    for span in spans:
        areas = areas_of(boxes, span.start, span.end)
        assert areas, span
        for area in areas:
            assert min(area.left, area.top) >= 0
            assert area.right <= image.width
            assert area.bottom <= image.height
            box = (int(area.left), int(area.top), int(area.right), int(area.bottom))
            assert len(grey.crop(box).getcolors() or []) > 1, span
