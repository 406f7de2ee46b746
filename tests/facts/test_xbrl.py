"""Facts of inline XBRL are located at their text in the document."""

import itertools

import pytest

from portal.facts import canonicalise, decode_html, read_xbrl
from portal.facts.xbrl import locate_elements
from tests.shared import FILINGS, needs_filings

HEAD = (
    '<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body><div style="display:none">'
    '<ix:header><ix:hidden><ix:nonFraction name="a:Hidden">7</ix:nonFraction></ix:hidden>'
    "</ix:header></div>"
)


def found(body: str, head: str = HEAD) -> list[tuple[str, str, str]]:
    html = f"{head}{body}</body></html>"
    canonical = canonicalise(html)
    return [
        (canonical.text[fact.start : fact.end], fact.kind, fact.concept)
        for fact in read_xbrl(html, canonical)
    ]


def test_numbers_stand_where_they_were_tagged() -> None:
    body = (
        '<p>Net ($<ix:nonFraction name="us-gaap:Loss" sign="-">1,200</ix:nonFraction>)</p>'
        '<table><tr><td>Sales</td><td><ix:nonFraction name="us-gaap:Revenues"><b>7</b>5'
        "</ix:nonFraction></td></tr></table>"
    )
    assert found(body) == [
        ("1,200", "number", "us-gaap:Loss"),
        ("75", "number", "us-gaap:Revenues"),
    ]


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("ixt:date-monthname-day-year-en", "date"),
        ("ixt-sec:durmonth", "date"),
        ("ixt:fixed-true", None),
        ("", None),
    ],
)
def test_of_other_elements_only_dates_are_facts(form: str, kind: str | None) -> None:
    body = f'<p><ix:nonNumeric name="dei:X" format="{form}">May 3, 2025</ix:nonNumeric></p>'
    expected = [("May 3, 2025", kind, "dei:X")] if kind else []
    assert found(body) == expected


def test_dash_for_zero_is_no_fact() -> None:
    assert found('<p>Net <ix:nonFraction name="a:B">&#8212;</ix:nonFraction></p>') == []
    assert found('<p>Net <ix:nonFraction name="a:B">no</ix:nonFraction> sales</p>') == []


def test_numbers_inside_a_tagged_text_are_facts() -> None:
    body = (
        '<ix:nonNumeric name="a:Note"><p>Of <ix:nonFraction name="a:B">5</ix:nonFraction>, '
        '<ix:nonFraction name="a:C">6</ix:nonFraction>.</p></ix:nonNumeric>'
    )
    assert found(body) == [("5", "number", "a:B"), ("6", "number", "a:C")]


def test_of_nested_numbers_the_outer_one_stays() -> None:
    inner = '<ix:nonFraction name="a:C">6</ix:nonFraction>'
    body = f'<p><ix:nonFraction name="a:B">{inner}</ix:nonFraction> and {inner}</p>'
    assert found(body) == [("6", "number", "a:B"), ("6", "number", "a:C")]


def test_prefix_is_what_the_page_declares() -> None:
    head = '<html xmlns:inline="http://www.xbrl.org/2013/inlineXBRL"><body>'
    body = '<p>Net <inline:nonFraction name="a:B">12</inline:nonFraction></p>'
    assert found(body, head) == [("12", "number", "a:B")]


def test_empty_and_unclosed_elements_are_left_out() -> None:
    body = '<p>1<ix:nonFraction name="a:B"/> 2<ix:nonFraction name="a:C"> 3</p>'
    assert found(body) == []


def test_page_without_inline_xbrl_has_none() -> None:
    assert found("<p>1,200</p>", "<html><body>") == []


FACT = '<ix:nonFraction name="a:N">7,777</ix:nonFraction>'


@pytest.mark.parametrize(
    "hidden",
    [
        f'<span style="display:none">{FACT}</span>7,777',
        f'<span style="visibility:hidden">{FACT}</span>7,777',
        f'<span style="font-size:0">{FACT}</span>7,777',
        f"<span hidden>{FACT}</span>7,777",
        f'<div style="display:none"><table><tr><td>{FACT}</td></tr></table></div>',
        f"<template>{FACT}</template>",
        '<ix:nonFraction name="a:N"><span style="display:none">7</span>&#8212;</ix:nonFraction>',
    ],
)
def test_fact_in_hidden_text_is_left_out_and_the_others_stay(hidden: str) -> None:
    date = '<ix:nonNumeric name="a:D" format="ixt:datemonthdayyear">March 5, 2024</ix:nonNumeric>'
    html = f'{HEAD}<p><ix:nonFraction name="a:S">3,333</ix:nonFraction></p><p>{hidden}</p>{date}'
    html += "</body></html>"
    canonical = canonicalise(html)
    elements = locate_elements(html, canonical)
    shown = [canonical.text[one.fact.start : one.fact.end] for one in elements.shown]
    assert shown == ["3,333", "March 5, 2024"]
    assert elements.hidden == 1


@pytest.mark.parametrize(
    "tagged",
    [
        '7,7<span style="display:none">00</span>84',
        '<span style="display:none">00</span>7,784',
        '7,784<span style="display:none">00</span>',
        "  7,784 ",
    ],
)
def test_shown_part_of_a_fact_is_its_place(tagged: str) -> None:
    body = f'<p>Net <ix:nonFraction name="a:N">{tagged}</ix:nonFraction> more</p>'
    assert found(body) == [("7,784", "number", "a:N")]


@pytest.mark.parametrize(
    ("written", "form", "kind"),
    [("Twenty-one", "nonFraction", "number"), ("three months", "nonNumeric", "date")],
)
def test_words_for_a_number_or_duration_are_facts(written: str, form: str, kind: str) -> None:
    body = f'<p>Of <ix:{form} name="a:N" format="ixt-sec:durwordsen">{written}</ix:{form}></p>'
    assert found(body) == [(written, kind, "a:N")]


@pytest.mark.slow
@needs_filings
def test_facts_of_real_filings_are_numbers_and_dates() -> None:
    path = FILINGS / "nflx-10-q-2025-07-18.html"
    html = decode_html(path.read_bytes())
    canonical = canonicalise(html)
    facts = read_xbrl(html, canonical)
    assert len(facts) > 900
    assert canonical.text[facts[0].start : facts[0].end] == "June 30, 2025"
    assert all(a.end <= b.start for a, b in itertools.pairwise(facts))
    texts = {canonical.text[f.start : f.end] for f in facts}
    # Values in words are facts too; everything else has a digit.
    words = {text for text in texts if not any(c.isdigit() for c in text)}
    assert words == {"five-year", "ten-year", "one-year", "three-year", "three years", "one"}
