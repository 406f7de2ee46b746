"""Readable excerpts of a text without separators between cells."""

from hypothesis import given
from hypothesis import strategies as st

from portal.facts import canonicalise
from portal.facts.page_text import Context, Excerpts

HTML = (
    "<p>Amounts in   millions</p><table><tr><td>Revenue</td><td></td><td>$</td><td>1,200</td>"
    "<td>1,100</td></tr></table><p>Loss of (<b>310</b>) &amp; more</p>"
)


def around(html: str, quote: str, reach: int = 90) -> Context:
    page = canonicalise(html)
    start = page.text.index(quote)
    return Excerpts(page.html, page.text, reach=reach).around(start, start + len(quote))


def test_cells_and_paragraphs_are_set_apart() -> None:
    context = around(HTML, "1,200")
    assert context.before == "Amounts in millions · Revenue · $ · "
    assert context.quote == "1,200"
    assert context.after == " · 1,100 · Loss of (310) & more"


def test_running_text_is_left_whole() -> None:
    assert around(HTML, "310")[1:] == ("310", ") & more")
    assert around(HTML, "310").before.endswith(" · Loss of (")


def test_context_is_as_long_as_asked() -> None:
    context = around(HTML, "1,200", reach=5)
    assert (len(context.before), len(context.after)) == (5, 5)


def test_plain_text_keeps_its_words() -> None:
    assert around("<pre>Total      1,200   USD</pre>", "1,200") == Context(
        "Total ", "1,200", " USD"
    )


@given(st.text(alphabet="ab <>&;/ptdr\n", max_size=40), st.integers(0, 50), st.integers(0, 50))
def test_quote_is_the_text_itself_whatever_the_page(html: str, start: int, length: int) -> None:
    page = canonicalise(f"<p>x{html}</p>")
    context = Excerpts(page.html, page.text).around(start, start + length)
    assert context.quote == page.text[start : start + length]
