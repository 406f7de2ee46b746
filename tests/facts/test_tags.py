"""Inline fact tags: exact writing, round trips, and errors with their place."""

import contextlib
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from portal.facts import (
    LABEL_SETS,
    Canonical,
    RefusedHtml,
    Span,
    TagError,
    canonicalise,
    read_tags,
    trim_span,
    write_tags,
)
from tests.counting import LINEAR, growth
from tests.facts.strategies import ANY_STRING, PAGES, spans_over
from tests.many import drawn

LABELS = LABEL_SETS["v1"]
# Fact tags, but not those in an attribute or a comment of the pages below.
ANY_TAG = re.compile(r"(?i)(?<!')(?<!-- )</?(?:number|date)\b[^>]*>")
TAG = re.compile(r'</?(?:Number|Date)(?: id="f\d+")?>')


def _table(*cells: str) -> str:
    row = " ".join(f"<td>{cell}</td>" for cell in cells)
    return f"<table><tbody><tr>{row}</tr></tbody></table>"


@pytest.mark.parametrize(
    ("html", "spans", "tagged"),
    [
        ("<p>Net 1,200</p>", [(4, 9)], "<p>Net <Number>1,200</Number></p>"),
        ("1,200", [(0, 5)], "<Number>1,200</Number>"),
        ("<p>12</p>", [(0, 1), (1, 2)], "<p><Number>1</Number><Number>2</Number></p>"),
        # Entities count one, and stay whole.
        ("<p>&amp;&nbsp;&lt;5&gt;</p>", [(2, 4)], "<p>&amp;&nbsp;<Number>&lt;5</Number>&gt;</p>"),
        ("<p>\U0001f4b65</p>", [(1, 2)], "<p>\U0001f4b6<Number>5</Number></p>"),
        # Over elements: fragments with one id.
        ("<p>(1,<b>2</b>00)</p>", [(0, 7)],
         '<p><Number id="f0">(1,</Number><b><Number id="f0">2</Number></b>'
         '<Number id="f0">00)</Number></p>'),
        ("<p>7 1<b>2</b></p>", [(0, 1), (2, 4)],
         '<p><Number>7</Number> <Number id="f1">1</Number>'
         '<b><Number id="f1">2</Number></b></p>'),
        # Over cells: the white space between them gets no tag.
        (_table("(1,200", ")"), [(0, 8)],
         _table('<Number id="f0">(1,200</Number>', '<Number id="f0">)</Number>')),
        ("<p>1<b> </b>2</p>", [(0, 3)],
         '<p><Number id="f0">1</Number><b> </b><Number id="f0">2</Number></p>'),
        ("<pre>  1\n 2</pre>", [(1, 6)], "<pre> <Number> 1\n 2</Number></pre>"),
    ],
)  # fmt: skip
def test_write_tags_and_back(html: str, spans: list[tuple[int, int]], tagged: str) -> None:
    document = canonicalise(html)
    assert document.html == html
    given_spans = [Span(start, end, "Number") for start, end in spans]
    assert write_tags(html, list(reversed(given_spans))) == tagged
    page = read_tags(tagged, LABELS)
    assert page.canonical == document
    assert page.spans == given_spans


def test_write_tags_moves_an_edge_between_cells_to_the_nearest_text() -> None:
    html = _table("1", "2", "3")
    tagged = write_tags(html, [Span(1, 4, "Date")])
    assert tagged == _table("1", "<Date>2</Date>", "3")


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ([Span(0, 9, "Number")], "not a valid range"),
        ([Span(0, 3, "Number"), Span(2, 4, "Date")], "overlaps"),
        ([Span(0, 3, "Table")], "HTML element"),
        ([Span(0, 3, "a b")], "cannot be a tag name"),
        ([Span(3, 4, "Number")], "no visible text"),
    ],
)
def test_write_tags_refuses_bad_spans(spans: list[Span], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        write_tags("<p>Net 1</p>", spans)


@pytest.mark.parametrize(
    ("html", "values"),
    [
        ("<P><NUMBER>1</NUMBER> <date  class=x>May 1</DATE ></P>", ["1", "May 1"]),
        ("<p>$ <Number> 1,200\n</Number></p>", [" 1,200\n"]),
        ("<p><Number id=a>1</Number><b><Number id='a'>2</Number></b></p>", ["12"]),
        # In places where a parser would move the tag itself.
        ("<table><tr><Number><td>1</td></Number></tr></table>", ["1"]),
        ("<table><tr><td>(1</td><td>)</td></tr></table>"
         .replace("(1", "<Number>(1").replace(")", ")</Number>"), ["(1)"]),
        ("<table><Number>7</Number><tr><td>1</td></tr></table>", ["7"]),
        ("<table>\n<Number>\n<tr><td>1</td></tr></Number></table>", ["1"]),
        ("<table><tr><td>1</td><Number id=a> </Number>"
         "<td><Number id=a>2</Number></td></tr></table>", ["2"]),
        ("<pre><Number>\n1</Number></pre>", ["1"]),
        ("<p><Number>1<!-- x --><i>2</i></Number></p>", ["12"]),
        # Private-use characters of the page's own.
        ("<p>\U0010fffd0\U0010fffd &#x10fffc; <Number>1</Number></p>", ["1"]),
        # Text that only looks like a fact tag.
        ("<p title='<Number>'>&lt;Number&gt;<!-- <Number> --><Number>1</Number></p>", ["1"]),
        ("<p>no facts</p>", []),
    ],
)  # fmt: skip
def test_read_tags_finds_the_values(html: str, values: list[str]) -> None:
    page = read_tags(html, LABELS)
    assert [page.canonical.text[span.start : span.end] for span in page.spans] == values
    assert page.canonical == canonicalise(ANY_TAG.sub("", html))


def test_read_tags_gives_the_label_as_configured() -> None:
    page = read_tags("<p><REPORTINGENTITY>Acme</ReportingEntity></p>", LABEL_SETS["v2"])
    assert page.spans == [Span(0, 4, "ReportingEntity")]


@pytest.mark.parametrize(
    ("html", "reason", "line", "column"),
    [
        ("<p>\n <Number>1</p>", "<number> is never closed", 2, 2),
        ("<p>1</Number></p>", "</number> has no opening tag", 1, 5),
        ("<p><Number>1</Date></p>", "</date> where </number> is expected", 1, 13),
        ("<p><Number><Date>1</Date></Number></p>", "<date> inside <number>", 1, 12),
        ("<p>x<Number/></p>", "contains no text", 1, 5),
        ("<p>x<Number> </Number></p>", "<number> contains no visible text", 1, 5),
        ("<p>x<Number>&nbsp;</Number></p>", "<number> contains no visible text", 1, 5),
        ("<p>x<Number id=a> </Number></p>", "<number> contains no visible text", 1, 5),
        ("<p>x</p>\n<noscript><Number>1</Number></noscript>", "does not keep", 2, 11),
        ("<p><Number id=a>1</Number><Date id=a>2</Date></p>", "two labels", 1, 27),
        ("<p><Number id=a>1</Number>x<Number id=a>2</Number></p>", "are not adjacent", 1, 28),
        ("<p>&a<Number>mp;1</Number></p>", "would change how the rest", 1, 6),
    ],
)
def test_read_tags_says_what_is_wrong_and_where(
    html: str, reason: str, line: int, column: int
) -> None:
    with pytest.raises(TagError) as caught:
        read_tags(html, LABELS)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


def test_read_tags_refuses_a_page_without_text() -> None:
    with pytest.raises(RefusedHtml):
        read_tags("<p></p>", LABELS)


@drawn(PAGES, st.data(), examples=150)
def test_tags_come_off_without_a_trace_and_spans_come_back(page: str, data: st.DataObject) -> None:
    try:
        document = canonicalise(page)
    except RefusedHtml:
        assume(False)
    spans = data.draw(spans_over(document.text, LABELS))
    tagged = write_tags(document.html, spans)
    assert TAG.sub("", tagged) == document.html
    result = read_tags(tagged, LABELS)
    assert result.canonical == document
    if "<table" not in document.html:
        assert result.spans == spans
    trimmed = [trim_span(document.text, span) for span in spans]
    assert [trim_span(document.text, span) for span in result.spans] == trimmed
    assert read_tags(write_tags(document.html, trimmed), LABELS).spans == trimmed


@given(ANY_STRING)
@settings(max_examples=250, deadline=None)
def test_read_tags_raises_nothing_but_its_own_errors(html: str) -> None:
    with contextlib.suppress(RefusedHtml, TagError):
        page = read_tags(html, LABELS)
        assert read_tags(write_tags(page.canonical.html, page.spans), LABELS) == page


def test_many_tags_are_written_and_read_in_linear_time() -> None:
    def page(size: int) -> tuple[Canonical, list[Span]]:
        cells = "".join(f"<tr><td>Row &amp; {n}</td><td>(1,{n:03})</td></tr>" for n in range(size))
        padding = f'<p style="margin:0">{"some more words " * 30}</p>' * size
        document = canonicalise(f"{padding}<table>{cells}</table>")
        matches = re.finditer(r"\(1,\d+\)", document.text)
        return document, [Span(match.start(), match.end(), "Number") for match in matches]

    pages = {size: page(size) for size in (150, 300)}

    def write_and_read(size: int) -> None:
        document, spans = pages[size]
        assert len(spans) == size
        assert read_tags(write_tags(document.html, spans), LABELS).spans == spans

    assert growth(write_and_read, 150) <= LINEAR
