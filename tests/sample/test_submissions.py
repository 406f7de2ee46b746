"""The shipped OCR output and the conversion from word boxes to HTML. Runs no OCR engine."""

import json
import re
from datetime import date
from functools import cache

import pytest

from factboard.ocr import (
    Box,
    boxes_html,
    cells_of,
    layout_html,
    plain_html,
    read_tsv,
    rows_of,
)
from portal.facts import read_tags, visible_text
from sample.generator import hiding
from sample.generator.build import DATA
from sample.generator.ocr import RUNS, Run, images_digest
from sample.generator.pages import PAGES
from scoring.benchmarks import GoldLine, PredictionLine, Scores, get_benchmark
from scoring.benchmarks.answers import changes_of

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


def test_boxes_at_one_height_become_a_row_from_left_to_right() -> None:
    boxes = [
        Box(left=300, top=41, bottom=59, text="(1,204)"),
        Box(left=10, top=10, bottom=30, text="Net loss & more"),
        Box(left=10, top=40, bottom=60, text="Cash"),
        Box(left=10, top=61, bottom=80, text="Total"),
    ]
    assert [[box.text for box in row] for row in rows_of(boxes)] == [
        ["Net loss & more"],
        ["Cash", "(1,204)"],
        ["Total"],
    ]
    html = boxes_html(boxes)
    assert "<p>Net loss &amp; more</p>\n<table>" in html
    assert "<tr><td>Cash</td><td>(1,204)</td></tr>\n</table>\n<p>Total</p>" in html


def test_page_without_boxes_is_empty() -> None:
    assert visible_text(boxes_html([])) == ""


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.key)
def test_predictions_name_every_page_exactly_once(run: Run) -> None:
    path = DATA / "submissions" / f"{run.key}.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [page.id for page in PAGES]
    assert all(set(line) == {"id", "html"} for line in lines)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.key)
def test_model_card_names_engine_version_date_and_command(run: Run) -> None:
    card = json.loads((DATA / "submissions" / f"{run.key}.json").read_text(encoding="utf-8"))
    assert card["sample"] is True
    assert card["category"] == "ocr_pipeline"
    assert run.engine.name in card["engine"]
    assert re.search(r"\d\.\d", card["engine"]), "no version"
    assert card["command"] == run.command
    assert date.fromisoformat(card["made_on"])
    for shown in ("engine", "command", "made_on"):
        assert card[shown] in card["notes"]
    assert card["image_dpi"] == run.dpi
    images = [DATA / "images" / f"{page.id}.png" for page in PAGES]
    assert card["images_sha256"] == images_digest(images), "stale: python -m sample.generator --ocr"
    assert card["link"].startswith("https://")


def test_submissions_hold_only_the_runs() -> None:
    names = {path.name for path in (DATA / "submissions").iterdir()}
    keys = [*(run.key for run in RUNS), hiding.KEY]
    assert names == {f"{key}.{suffix}" for key in keys for suffix in ("json", "jsonl")}


def test_row_that_hides_the_right_pages_is_caught() -> None:
    """No number of the hidden pages counts, and the row is the last of the board."""
    caught = graded(hiding.KEY)
    assert caught.scores["n_ffa"] == 0
    assert ffa(caught) < min(ffa(graded(run.key)) for run in RUNS)
    assert changes_of(caught.counts) == {"reasoning removed": 15, "hidden text removed": 15}


def test_full_resolution_finds_far_more_facts_than_half() -> None:
    """A rough check: the share of gold values that occur anywhere in the output."""
    shares = {run.key: share_found(run.key) for run in RUNS}
    assert shares["tesseract"] > 0.8
    assert shares["tesseract_text"] > 0.6
    assert shares["tesseract_72dpi"] < 0.4


def test_engines_rank_differently_by_text_and_by_facts() -> None:
    """Each figure is over all pages of the engine's output, by the benchmark's own scorer."""
    scores = {key: graded(key).scores for key in ("rapidocr", "tesseract", "tesseract_column")}
    by_text = sorted(scores, key=lambda key: scores[key]["general"] or 0, reverse=True)
    by_facts = sorted(scores, key=lambda key: scores[key]["ffa"] or 0, reverse=True)
    assert by_text == ["tesseract_column", "tesseract", "rapidocr"]
    assert by_facts == ["rapidocr", "tesseract_column", "tesseract"]


@cache
def graded(key: str) -> Scores:
    spec = get_benchmark("fincriticaled")
    options = spec.check_options({})
    gold = [line for line in spec.read_gold(DATA / "gold") if isinstance(line, GoldLine)]
    predictions = {
        line.id: line.payload
        for line in spec.read_predictions(DATA / "submissions" / f"{key}.jsonl")
        if isinstance(line, PredictionLine)
    }
    results = [spec.score_item(line.payload, predictions[line.id], options) for line in gold]
    return spec.aggregate(results, options)


def ffa(scores: Scores) -> float:
    return scores.scores["ffa"] or 0


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
