"""Facts as span elements: exact writing, round trips, and errors with their place."""

import contextlib
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from portal.facts import (
    FactSpan,
    RefusedHtml,
    TagError,
    canonical_text,
    canonicalise,
    read_span_elements,
    read_value,
    write_span_elements,
)
from tests.facts.strategies import ANY_STRING, PAGES, spans_over
from tests.many import drawn

LABELS = ("Number", "Date", "FinancialConcept")
TAG = re.compile(r'<span data-fact="[^"]*"[^>]*>([^<]*)</span>')
FACT = '<span data-fact="a" data-type="Number">'
OTHER = '<span data-fact="b" data-type="Date"'


def _fact(html: str, key: str, quote: str, label: str = "Number") -> FactSpan:
    start = canonical_text(html).index(quote)
    return FactSpan(key, label, start, start + len(quote), quote, *read_value(quote, label))


def test_facts_are_written_as_elements_beside_the_page_s_own() -> None:
    html = '<p><span style="color:red">Net <b>(1,2</b>00)</span> in 2025</p>'
    spans = [_fact(html, "y", "2025", "Date"), _fact(html, "n", "(1,200)")]
    said = 'data-fact="n" data-type="Number" data-value="-1200" data-sign="parentheses"'
    written = write_span_elements(html, spans)
    assert written == (
        f'<p><span style="color:red">Net <b><span {said}>(1,2</span></b>'
        f"<span {said}>00)</span></span> in "
        '<span data-fact="y" data-type="Date" data-value="2025" data-sign="">2025</span></p>'
    )
    page = read_span_elements(written)
    assert page.canonical == canonicalise(html)
    assert page.spans == [spans[1], spans[0]]


def test_a_fact_over_cells_keeps_the_white_space_at_its_edges() -> None:
    html = canonicalise("<table><tr>\n<td>(1,200</td>\n<td>)</td>\n<td>x</td></tr></table>").html
    span = _fact(html, "n", "\n(1,200\n)\n")
    written = write_span_elements(html, [span])
    assert written.count('data-before="1" data-after="1"') == 2
    assert read_span_elements(written).spans == [span]


@pytest.mark.parametrize(
    "text",
    ['"><script>', "a'b", "&amp;&lt;", "\t\n\r\f x", "\U0001f4b6e\u0301", "data-fact=b", "<!--"],
)
def test_a_key_may_hold_anything(text: str) -> None:
    html = "<p>Net <b>lo</b>ss</p>"
    span = FactSpan(text, "FinancialConcept", 4, 8, "loss", "", "")
    written = write_span_elements(html, [span])
    assert "<script" not in written
    assert read_span_elements(written).spans == [span]


def test_nothing_to_write_is_the_page_itself() -> None:
    assert write_span_elements("<p>x</p>", []) == "<p>x</p>"
    assert read_span_elements("<p><span>x</span></p>").spans == []


@pytest.mark.parametrize(
    ("html", "values"),
    [
        (f"<p>{FACT}(1,200)</span></p>", [("(1,200)", "-1200", "parentheses")]),
        ("<p><SPAN DATA-FACT=a data-type='Date'>May 1</SPAN></p>", [("May 1", "--05-01", "")]),
        (f"<p><span>{FACT}1<span> </span><i>2</i></span></span>3</p>", [("1 2", "", "")]),
        (f"<p><span>x{FACT}5</span></p>", [("5", "5", "plain")]),
        (f"</span><p>{FACT}5</span></p>", [("5", "5", "plain")]),
        # Of an attribute given twice the first counts; those within another attribute do not.
        (f"<p>{FACT[:-1]} data-fact=b>5</span></p>", [("5", "5", "plain")]),
        ('<p><span style=" data-fact=a">5</span></p>', []),
        ('<p><span data-value="5">5</span><!-- <span data-fact=a> --></p>', []),
        # Empty is what the annotator says; absent is not.
        ('<p><span data-fact=a data-type=Number data-value="">5</span></p>', [("5", "", "")]),
    ],
)  # fmt: skip
def test_elements_of_others_are_read(html: str, values: list[tuple[str, str, str]]) -> None:
    found = read_span_elements(html).spans
    assert [(span.quote, span.value, span.sign) for span in found] == values


@pytest.mark.parametrize(
    ("html", "reason", "column"),
    [
        (f"<p>{FACT}5</p>", "never closed", 4),
        (f"<p>{FACT}5{FACT}6</span></span></p>", "inside another", 44),
        (f"<p>{FACT} </span>x</p>", "no visible text", 4),
        ("<p>x <span data-fact=a>5</span></p>", "label in data-type", 6),
        ("<p><span data-fact='' data-type=Number>5</span></p>", "data-fact is empty", 4),
        ("<p><span data-fact=a data-type=Table>5</span></p>", "name of an HTML element", 4),
        (f"<p>{FACT[:-1]} data-value=1,200 data-sign=plain>5</span></p>", "a decimal", 4),
        (f"<p>{FACT[:-1]} data-before=2>5</span></p>", "do not match the white space", 4),
        (f"<p>x{FACT[:-1]} data-before=1>5</span></p>", "do not match the white space", 5),
        (f"<p>{FACT[:-1]} data-after=-1>5</span></p>", "must be counts", 4),
        (f"<p>{FACT}5</span> {FACT[:-1]} data-sign=minus>6</span></p>", "differ", 52),
        (f"<p>{FACT}5</span>x{FACT}6</span></p>", "are not adjacent", 52),
        (f"<p>{FACT[:-1]} data-after=1>5</span> {OTHER} data-before=1>6</span>", "conflict", 65),
        ("<noscript>" + FACT + "5</span></noscript><p>x</p>", "does not keep", 11),
    ],
)
def test_faulty_elements_are_refused_with_their_place(html: str, reason: str, column: int) -> None:
    with pytest.raises(TagError) as caught:
        read_span_elements(html)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        (FactSpan("", "Number", 4, 5, "1", "1", "plain"), "key of its own"),
        (FactSpan("k", "Table", 4, 5, "1", "", ""), "HTML element"),
        (FactSpan("k", "Number", 4, 5, "2", "2", "plain"), "quote of span 'k'"),
        (FactSpan("k", "Number", 4, 9, "1", "1", "plain"), "not a valid range"),
    ],
)
def test_bad_spans_are_not_written(span: FactSpan, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        write_span_elements("<p>Net 1</p>", [span])


def test_two_spans_with_one_key_are_not_written() -> None:
    html = "<p>1 2</p>"
    with pytest.raises(ValueError, match="key of its own"):
        write_span_elements(html, [_fact(html, "k", "1"), _fact(html, "k", "2")])


@drawn(PAGES, st.data(), examples=150)
def test_elements_come_off_without_a_trace_and_facts_come_back(
    page: str, data: st.DataObject
) -> None:
    try:
        document = canonicalise(page)
    except RefusedHtml:
        assume(False)
    spans = []
    for number, span in enumerate(data.draw(spans_over(document.text, LABELS))):
        quote = document.text[span.start : span.end]
        value, sign = data.draw(st.sampled_from([read_value(quote, span.label), ("", "")]))
        key = f"{number}{data.draw(st.text(max_size=4))}"
        spans.append(FactSpan(key, span.label, span.start, span.end, quote, value, sign))
    written = write_span_elements(document.html, spans)
    assert TAG.sub(r"\1", written) == document.html
    result = read_span_elements(written)
    assert result.canonical == document
    assert result.spans == spans


@given(ANY_STRING, st.sampled_from(["", FACT, "</span>", f"<p>{FACT}1</span>"]))
@settings(max_examples=200, deadline=None)
def test_reading_raises_nothing_but_its_own_errors(html: str, fact: str) -> None:
    with contextlib.suppress(RefusedHtml, TagError):
        page = read_span_elements(html[: len(html) // 2] + fact + html[len(html) // 2 :])
        written = write_span_elements(page.canonical.html, page.spans)
        assert read_span_elements(written) == page
