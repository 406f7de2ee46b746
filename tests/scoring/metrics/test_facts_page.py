"""Reading pages: visible text as elsewhere, with the positions of facts and cells."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.facts import Span, canonicalise, read_tags, visible_text, write_tags
from scoring.metrics.facts import FactTagError, match_aligned, read_page, read_prediction
from scoring.metrics.facts import page as page_module
from scoring.metrics.facts.normalise import Normalised, hallucinated, normalise
from tests.shared import REALDATA, needs_realdata

MARKUP = st.lists(
    st.sampled_from(
        "a 1,200 &amp; &nbsp; < > <p> </p> <b> </b> <br> <td> <tr> <table> </table> <script> "
        "</script> "
        "<Number> </number> <Date> <noscript> </noscript> <title> <template> <!-- --> \n é 𝟙".split(
            " "
        )
    ),
    max_size=25,
).map("".join)


def test_facts_are_placed_in_the_visible_text() -> None:
    page = read_page("<p>Net <Number>\n(1,2<b>00)</b> </Number>of&nbsp;<DATE>May 1</DATE>.</p>")
    assert page.text == "Net (1,2 00) of May 1."
    assert [(f.n, f.type, f.value, page.text[f.start : f.end]) for f in page.facts] == [
        (0, "Number", "(1,2 00)", "(1,2 00)"),
        (1, "Date", "May 1", "May 1"),
    ]


def test_the_normalised_text_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def counted(text: str) -> Normalised:
        texts.append(text)
        return normalise(text)

    monkeypatch.setattr(page_module, "normalise", counted)
    gold = read_page("<p>Net <Number>$ ( 1,200 )</Number></p>")
    prediction = read_prediction("Net $(1,200)")
    match_aligned(gold, prediction)
    hallucinated(gold.normalised.text, prediction.normalised.text)
    assert texts == ["Net $ ( 1,200 )", "Net $(1,200)"]
    assert gold.normalised.text == "Net $(1,200)"


def test_fact_tags_split_no_word() -> None:
    page = read_page("<td>$(<Number>1,200</Number>)%</td>")
    assert page.text == "$(1,200)%"
    assert page.facts[0].value == "1,200"


def test_tags_with_one_id_are_one_fact() -> None:
    html = '<p>on <Date id="f3">July 29,</Date><br><Date id="f3">2023</Date></p>'
    (fact,) = read_page(html).facts
    assert fact.value == "July 29, 2023"


def test_a_span_over_several_elements_survives_writing_and_reading() -> None:
    canonical = canonicalise("<p>on July <b>29,</b><br>2023 or <i>5%</i></p>")
    start = canonical.text.index("July")
    spans = [
        Span(start, canonical.text.index(" or"), "Date"),
        Span(len(canonical.text) - 2, len(canonical.text), "Number"),
    ]
    page = read_page(write_tags(canonical.html, spans))
    assert [fact.value for fact in page.facts] == ["July 29, 2023", "5%"]


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<p><Number>1<Date>2</Date></Number></p>", "line 1: <Date> inside <Number>"),
        ("<p>1</Number></p>", "line 1: </Number> closes nothing"),
        ("<p>\n<Number>1</Date></p>", "line 2: </Date> closes nothing"),
        ("<p>\n\n<Number>1</p>", "line 3: <Number> is never closed"),
        ("<p><Number> <br></Number></p>", "line 1: <Number> contains no visible text"),
        ("<noscript><Number>1</Number></noscript>", "line 1: <Number> contains no visible text"),
        ("<b><Date id=a>1</Date>x<Date id=a>2</Date></b>", "there is other text between"),
    ],
)
def test_tags_that_mark_nothing_are_refused(html: str, message: str) -> None:
    with pytest.raises(FactTagError, match=message):
        read_page(html)


def test_tags_of_other_label_sets_are_unwrapped_but_mark_nothing() -> None:
    page = read_page("<p>1<Temporal>2</Temporal>3 <Ratio>4</Ratio></p>", ["Number", "Date"])
    assert page.text == "123 4"
    assert page.facts == ()


def test_cells_know_their_columns() -> None:
    page = read_page(
        "<table><tr><td rowspan=2>A</td><td colspan='2'>B</td></tr>"
        "<tr><td></td><td>C</td></tr></table>"
    )
    cells = [
        (page.text[c.start : c.end], c.row, c.column, c.columns, c.row_columns) for c in page.cells
    ]
    assert cells == [("A", 0, 0, 1, 3), ("B", 0, 1, 2, 3), ("C", 1, 2, 1, 3)]


def test_lines_are_the_text_between_blocks() -> None:
    page = read_prediction("a<p>b <i>c</i><br>d</p><table><tr><td>e<p>f</td></tr></table>g")
    assert [page.text[start:end] for start, end in page.lines] == ["a", "b c", "d", "g"]
    plain = read_prediction("a b\n\n  c\nd")
    assert [plain.text[start:end] for start, end in plain.lines] == ["a b", "c", "d"]


@given(MARKUP)
def test_the_text_is_the_visible_text(html: str) -> None:
    assert read_prediction(html).text == visible_text(html)


@given(MARKUP)
def test_reading_gold_fails_in_one_way_only(html: str) -> None:
    try:
        page = read_page(html)
    except FactTagError:
        return
    assert page.text == visible_text(html)
    assert all(page.text[fact.start : fact.end] == fact.value for fact in page.facts)


def test_hostile_tables_take_linear_time() -> None:
    html = "<table><tr>" * 20_000 + "<td rowspan=1000 colspan=1000>x" * 20_000
    assert len(read_prediction(html).text.split()) == 20_000


@needs_realdata
def test_facts_of_real_pages_are_those_of_the_gold_file() -> None:
    for line in (REALDATA / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        gold = json.loads(line)
        html = (REALDATA / "gold" / f"{gold['id']}.html").read_bytes().decode()
        page = read_page(html)
        assert page.text == visible_text(html)
        assert [(fact.type, fact.value) for fact in page.facts] == [
            (fact["type"], " ".join(fact["value"].split())) for fact in gold["facts"]
        ]


@needs_realdata
def test_facts_of_real_pages_are_the_spans_of_read_tags() -> None:
    for path in sorted((REALDATA / "gold").glob("*.html"))[::12]:
        html = path.read_bytes().decode()
        tagged = read_tags(html, ["Number", "Date"])
        quotes = [tagged.canonical.text[s.start : s.end] for s in tagged.spans]
        facts = read_page(html).facts
        assert [" ".join(quote.split()) for quote in quotes] == [fact.value for fact in facts]
