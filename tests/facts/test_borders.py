"""Where blocks and cells begin in a text that shows no space between them."""

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings

from portal.facts import RefusedHtml, canonical_text, canonicalise, find_facts, text_borders
from tests.facts.strategies import PAGES


def _stretches(html: str) -> list[str]:
    text = canonical_text(html)
    return [text[start:end] for start, end in pairwise([0, *text_borders(html), len(text)])]


def _row(*cells: str) -> str:
    return f"<table><tbody><tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr></tbody></table>"


@pytest.mark.parametrize(
    ("html", "stretches"),
    [
        (_row("1,586", "1,702"), ["1,586", "1,702"]),
        ("<p>Total 12</p>34", ["Total 12", "34"]),
        ("<p>12<br>34</p>", ["12", "34"]),
        ("<p>12<img>34<b>56</b><span>78</span></p>", ["12", "345678"]),
        ("<p>&amp;\U0001f4b6e\u0301</p><p>5</p>", ["&\U0001f4b6e\u0301", "5"]),
        ("<pre>12\n34</pre>", ["12\n34"]),
        (_row("1", _row("2", "3"), "4"), ["1", "2", "3", "4"]),
        ("<table>\n<tbody><tr><td>1</td>\n<td>2</td></tr></tbody></table>", ["\n", "1", "\n", "2"]),
        # Footnote marks are separated from numbers, but not from words.
        ("<p>1,200<sup>3</sup></p>", ["1,200", "3"]),
        ("<p>Earnings<sup>1</sup>20</p>", ["Earnings1", "20"]),
        ("<p>5<sup>th</sup> of May</p>", ["5th of May"]),
        ("<p>Rate <sup>1</sup>/<sub>2</sub>%</p>", ["Rate ", "1/2%"]),
        ('<p>1,200<span style="vertical-align:super">3</span></p>', ["1,200", "3"]),
        ('<p>15<span style="position:relative;top:-3.5pt">1</span></p>', ["15", "1"]),
        ('<p>15<font style="font-size:65%;vertical-align:top">1</font></p>', ["15", "1"]),
        ('<p>15<font style="font-size:65%">1</font></p>', ["151"]),
        # Elements that styles put elsewhere, and figures that are none together.
        ('<p><span style="display:inline-block;width:9px">11</span>22</p>', ["11", "22"]),
        ('<p>20<span style="display:inline-block">25</span></p>', ["2025"]),
        ('<p><b style="position:absolute;left:9px">11</b><b>22</b></p>', ["11", "22"]),
        ('<p><b style="float:left">11</b>22</p>', ["11", "22"]),
        ("<p><b>1,234</b><b>5,678</b></p>", ["1,234", "5,678"]),
        ("<p><b>1,2</b><b>34</b></p>", ["1,234"]),
        # Lines of one cell that break a date, but not the heads of two cells.
        (_row("June 30,<br>2025"), ["June 30,2025"]),
        (_row("<p>Dec.</p>\n<p>31, 2025</p>"), ["Dec.\n31, 2025"]),
        (_row("June 30,", "2025"), ["June 30,", "2025"]),
        (_row("in 30,<br>2025"), ["in 30,", "2025"]),
        ("", [""]),
    ],
)
def test_text_borders_part_what_a_reader_sees_apart(html: str, stretches: list[str]) -> None:
    assert _stretches(html) == stretches


@pytest.mark.parametrize(
    ("html", "marks"),
    [
        ("<p>1,200<sup>(1)</sup> and <sup>2,3</sup></p>", ["(1)", "2,3"]),
        ("<p>5<sup>1</sup>/<sub>2</sub> of m<sup>2</sup></p>", ["2"]),
        ("<p>5<sup>th</sup>, <sup>1,200</sup></p>", []),
    ],
)
def test_raised_marks_of_footnotes_are_no_facts(html: str, marks: list[str]) -> None:
    text, borders = canonical_text(html), text_borders(html)
    assert [text[start:end] for start, end in borders.raised] == marks
    found = {text[fact.start : fact.end] for fact in find_facts(text, borders)}
    assert found.isdisjoint({"(1)", "2", "3"})


@given(PAGES)
@settings(max_examples=100, deadline=None)
def test_text_borders_are_ascending_and_inside_the_text(page: str) -> None:
    try:
        document = canonicalise(page)
    except RefusedHtml:
        assume(False)
    borders = text_borders(document.html)
    assert list(borders) == sorted(set(borders))
    assert all(0 < border < len(document.text) for border in borders)
