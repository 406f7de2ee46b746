"""Real filings: every page and every fact of the gold."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from portal.facts import LABEL_SETS, Canonical, canonicalise, decode_html, read_tags, write_tags
from tests.many import each_part, part_of
from tests.shared import FILINGS, REALDATA, needs_filings, needs_realdata

# A <title> inside this page's body counts as text for the gold's author; browsers do not show it.
TITLE_IN_BODY = "buckle_ex991_p001"
LARGE = 1_000_000


def _page(folder: str, name: str) -> str:
    return decode_html((REALDATA / folder / f"{name}.html").read_bytes())


@needs_realdata
@each_part
def test_the_gold_of_every_real_page_is_read_exactly(part: str) -> None:
    lines = (REALDATA / "gold.jsonl").read_text("utf-8").splitlines()
    for line in part_of(lines, part):
        gold = json.loads(line)
        name = gold["id"]
        document = canonicalise(_page("pages", name))
        page = read_tags(_page("gold", name), LABEL_SETS["v1"])
        assert page.canonical == document, name
        assert [(span.label, document.text[span.start : span.end]) for span in page.spans] == [
            (fact["type"], fact["value"]) for fact in gold["facts"]
        ], name
        tagged = write_tags(document.html, page.spans)
        assert read_tags(tagged, LABEL_SETS["v1"]) == page, name
        if name != TITLE_IN_BODY:
            assert document.text_sha256 == gold["text_sha256"], name
    assert len(lines) == len(list((REALDATA / "pages").iterdir()))


def _filings() -> list[Any]:
    """The filings, of which the large ones are left to the long run."""
    paths = sorted(FILINGS.iterdir()) if FILINGS.is_dir() else []
    marks = {path: [pytest.mark.slow] if path.stat().st_size > LARGE else [] for path in paths}
    return [pytest.param(path, marks=marks[path], id=path.name) for path in paths]


@cache
def _document(path: Path) -> Canonical:
    return canonicalise(decode_html(path.read_bytes()))


@needs_filings
@pytest.mark.parametrize("path", _filings())
def test_whole_filings_become_documents(path: Path) -> None:
    document = _document(path)
    assert canonicalise(document.html) == document
    assert document.notes == ()
    assert len(document.text) > 5_000


@pytest.mark.slow
@needs_filings
def test_the_filing_whose_wrapper_swallows_it_is_rescued() -> None:
    document = _document(FILINGS / "camp4_424b4.htm")
    assert "CAMP4 Therapeutics" in document.text
    assert "tm2415452-18_424b4" not in document.text


@needs_filings
def test_hidden_xbrl_is_gone_and_tagged_text_stays() -> None:
    document = _document(FILINGS / "aapl-10-k-2024-11-01.html")
    assert "fasb.org" not in document.text
    assert "391,035" in document.text


@needs_filings
def test_a_plain_text_filing_keeps_its_lines() -> None:
    document = _document(FILINGS / "20-F_0000928385-01-500187.html")
    assert document.html.startswith("<pre>")
    assert "\nHigh (USD per EUR)             0.8993      0.8806" in document.text
