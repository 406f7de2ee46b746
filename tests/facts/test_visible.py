"""The visible text: hand-made tables, and a slower twin that walks a tree."""

import json

import lxml.html
import pytest
from hypothesis import given, settings
from rapidfuzz.distance import Levenshtein

from portal.facts import canonicalise, visible_text
from portal.facts.markup import RefusedHtml
from tests.counting import LINEAR, growth
from tests.facts.strategies import ANY_STRING, PAGES
from tests.many import drawn, together
from tests.shared import ORACLE, REALDATA, needs_oracle, needs_realdata


@together(
    "html text",
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("<p> a\n b&nbsp;&nbsp;c </p>", "a b c"),
        ("<p>1<b>2</b>3</p>", "1 2 3"),
        ("<p>$ <Number>1,2</Number>00</p>", "$ 1,200"),
        ("<p><NUMBER>1</NUMBER><date id='f1'>2</date>3</p>", "123"),
        ("<p>&am<Number>p;</Number></p>", "&"),
        ("<script>a</script><style>b</style>c<p>", "c"),
        ("<noscript>a<p>b</p></noscript>c<template>d</template><iframe>e</iframe>f<br>", "c f"),
        ("<template>a<template>b</template>c</template>d<br>", "d"),
        ("<title>T &amp; t</title><textarea>x <b></textarea>", "T & t x <b>"),
        ("<noscript>a<template>b</noscript>c<br>", "c"),
        ("<p><title>never closed", "never closed"),
        ("<p>a<!-- b -->c</p>", "a c"),
        ("<p title='a>b'>c</p>", "c"),
        ("<p>1 < 2 and 3 > 2</p>", "1 < 2 and 3 > 2"),
        ("<p>cut off <b", "cut off"),
        ("", ""),
        ("  plain &amp; simple\n text ", "plain &amp; simple text"),
        ("5 < 6", "5 < 6"),
        ("6 > 5", "6 > 5"),
        ("<![CDATA[x]]><?php y ?><!doctype html>z<p>", "z"),
    ],
)
def test_visible_text_of_hand_made_pages(html: str, text: str) -> None:
    assert visible_text(html) == text


def test_visible_text_unwraps_only_the_labels_given() -> None:
    html = "<p>1<Number>2</Number><Amount>3</Amount>4</p>"
    assert visible_text(html) == "12 3 4"
    assert visible_text(html, ["Amount"]) == "1 2 34"


def _by_tree(html: str) -> str:
    root = lxml.html.document_fromstring(f"<!DOCTYPE html><html><body>{html}</body></html>")
    nodes = (" ".join(str(node).split()) for node in root.itertext())
    return " ".join(node for node in nodes if node)


@given(PAGES)
@settings(max_examples=80, deadline=None)
def test_visible_text_of_clean_html_equals_the_text_of_its_tree(page: str) -> None:
    try:
        html = canonicalise(page).html
    except RefusedHtml:
        return
    if "<" in html:
        assert visible_text(html) == _by_tree(html)


@drawn(ANY_STRING, examples=150)
def test_visible_text_of_any_string_is_one_trimmed_line(text: str) -> None:
    result = visible_text(text)
    assert result == " ".join(result.split())


@pytest.mark.parametrize("piece", ["<div>", "<a b='", "<!--", "<title>", "<noscript>", "<a =", "<"])
def test_visible_text_takes_linear_time(piece: str) -> None:
    assert growth(lambda size: visible_text(piece * size + ">"), 2_000) <= LINEAR


@needs_oracle
@needs_realdata
def test_visible_text_gives_the_reference_edit_distance_of_every_real_prediction() -> None:
    expected = json.loads((ORACLE / "text" / "expected.json").read_text("utf-8"))
    compared = 0
    for engine, figures in expected.items():
        for name, (_, _, distance) in figures["items"].items():
            page = visible_text((REALDATA / "pages" / f"{name}.html").read_text("utf-8"))
            prediction = REALDATA / "predictions" / engine / f"{name}.html"
            read = visible_text(prediction.read_text("utf-8"))
            ours = Levenshtein.normalized_distance(page, read)
            assert ours == pytest.approx(distance, abs=1e-6), f"{engine} {name}"
            compared += 1
    assert compared > 0
