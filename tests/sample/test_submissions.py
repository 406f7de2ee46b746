"""The shipped OCR output and the conversion from word boxes to HTML. Runs no OCR engine."""

import json
from functools import cache

import pytest

from portal.facts import read_tags, visible_text
from sample.generator.build import DATA
from sample.generator.ocr import RUNS, Run, images_digest
from sample.generator.ocr_layout import cells_of, layout_html, plain_html, read_tsv
from sample.generator.pages import PAGES

TSV = "\n".join(
    [
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num"
        "\tleft\ttop\twidth\theight\tconf\ttext",
        "4\t1\t1\t1\t1\t0\t10\t10\t90\t12\t-1\t",
        "5\t1\t1\t1\t1\t1\t10\t10\t30\t12\t96\tNet",
        "5\t1\t1\t1\t1\t2\t46\t10\t40\t12\t96\tloss",
        "5\t1\t1\t1\t2\t1\t10\t30\t30\t12\t96\tR&D",
        "5\t1\t2\t1\t1\t1\t10\t60\t300\t2\t95\t ",
        '5\t1\t3\t1\t1\t1\t10\t70\t40\t12\t90\t"Cash',
        "5\t1\t3\t1\t1\t2\t200\t70\t8\t12\t80\t$",
        "5\t1\t3\t1\t1\t3\t300\t70\t50\t12\t70\t(1,204)",
        "5\t1\t3\t1\t2\t1\t10\t90\t40\t12\t90\tTotal",
    ]
)


def test_blocks_become_paragraphs_or_tables_with_unaltered_words() -> None:
    html = layout_html(read_tsv(TSV))
    assert "<p>Net loss<br>\nR&amp;D</p>" in html
    assert '<tr><td>"Cash</td><td>$</td><td>(1,204)</td></tr>\n<tr><td>Total</td></tr>' in html
    assert visible_text(html) == 'Net loss R&D "Cash $ (1,204) Total'


def test_words_stay_in_one_cell_until_the_gap_is_wide() -> None:
    words = read_tsv(TSV)
    assert cells_of(words[:2]) == [["Net", "loss"]]
    assert cells_of(words[3:6]) == [['"Cash'], ["$"], ["(1,204)"]]


def test_empty_output_is_an_empty_page() -> None:
    assert visible_text(layout_html(read_tsv(TSV.splitlines()[0]))) == ""


def test_plain_output_keeps_its_lines_and_escapes_markup() -> None:
    html = plain_html("a < b\n1,204 & 7\n")
    assert "<pre>\na &lt; b\n1,204 &amp; 7\n</pre>" in html
    assert visible_text(html) == "a < b 1,204 & 7"


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.key)
def test_predictions_name_every_page_exactly_once(run: Run) -> None:
    path = DATA / "submissions" / f"{run.key}.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [page.id for page in PAGES]
    assert all(set(line) == {"id", "html"} for line in lines)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.key)
def test_model_card_names_engine_version_and_command(run: Run) -> None:
    card = json.loads((DATA / "submissions" / f"{run.key}.json").read_text(encoding="utf-8"))
    assert card["sample"] is True
    assert card["category"] == "ocr_pipeline"
    assert card["engine"].startswith("tesseract ")
    assert card["engine"] in card["notes"]
    assert card["command"] in card["notes"]
    assert card["image_dpi"] == run.dpi
    images = [DATA / "images" / f"{page.id}.png" for page in PAGES]
    assert card["images_sha256"] == images_digest(images), "stale: python -m sample.generator --ocr"
    assert card["link"].startswith("https://")


def test_submissions_hold_only_the_runs() -> None:
    names = {path.name for path in (DATA / "submissions").iterdir()}
    assert names == {f"{run.key}.{suffix}" for run in RUNS for suffix in ("json", "jsonl")}


def test_full_resolution_finds_far_more_facts_than_half() -> None:
    """A rough check: the share of gold values that occur anywhere in the output."""
    shares = {run.key: share_found(run.key) for run in RUNS}
    assert shares["tesseract"] > 0.8
    assert shares["tesseract_text"] > 0.6
    assert shares["tesseract_72dpi"] < 0.4


@cache
def gold_quotes(page_id: str) -> list[str]:
    gold = (DATA / "gold" / f"{page_id}.html").read_text(encoding="utf-8")
    page = read_tags(gold, ("Number", "Date"))
    return [page.canonical.text[span.start : span.end] for span in page.spans]


def share_found(key: str) -> float:
    found = total = 0
    path = DATA / "submissions" / f"{key}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        prediction = json.loads(line)
        text = visible_text(prediction["html"])
        quotes = gold_quotes(prediction["id"])
        found += sum(quote in text for quote in quotes)
        total += len(quotes)
    return found / total
