"""Splitting filings into pages, without losing or doubling text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.imports.filing_pages import LONGEST, split_pages
from portal.facts import RefusedHtml, canonicalise, decode_html
from portal.facts.file_reading import open_envelope
from tests.counting import LINEAR, growth
from tests.shared import FILINGS, needs_filings


def texts(html: str) -> list[str]:
    """The visible words of each page."""
    html = html.replace("</p>", "</p>\n")
    return [" ".join(canonicalise(page.html).text.split()) for page in split_pages(html)]


@pytest.mark.parametrize(
    "between",
    [
        '<hr style="page-break-after:always">',
        '<p style="PAGE-BREAK-AFTER: always">&nbsp;</p>',
        '<p style="break-before: page"></p>',
        "<!-- PAGEBREAK -->",
        "<!-- page break -->",
        '<div style="page-break-before:always"></div>',
        '<hr style="page-break-after:always"><p style="page-break-before:always">&#160;</p>',
    ],
)
def test_page_ends_at_a_break(between: str) -> None:
    assert texts(f"<p>one</p>{between}<p>two</p>") == ["one", "two"]


@pytest.mark.parametrize("mark", ["<PAGE>", "\f", "\n<PAGE>\n\f\n"])
def test_text_filing_ends_its_pages_at_marks(mark: str) -> None:
    assert texts(f"first\n  page\n{mark}second\n  page\n") == ["first page", "second page"]


def test_element_that_breaks_after_it_keeps_its_content_together() -> None:
    html = '<div style="page-break-after:always"><p>one</p><p>two</p></div><p>three</p>'
    assert texts(html) == ["one two", "three"]


def test_paragraph_without_end_tag_breaks_where_the_next_begins() -> None:
    html = '<p style="page-break-after:always">one<p>two'
    assert texts(html) == ["one", "two"]


def test_break_may_be_avoided_without_breaking() -> None:
    html = '<p style="page-break-after:avoid">one</p><p style="page-break-inside:auto">two</p>'
    assert texts(html) == ["one two"]


@pytest.mark.parametrize("number", ["12", "- 3 -", "F-54", "iv", "Page 7", "2 of 30"])
def test_rule_under_a_page_number_is_a_break(number: str) -> None:
    assert texts(f"<p>one</p><p>{number}</p><hr><p>two</p>") == [f"one {number}", "two"]


@pytest.mark.parametrize("words", ["Net sales", "2024", "see page 12", "1,200"])
def test_rule_under_anything_else_is_a_rule(words: str) -> None:
    assert len(texts(f"<p>{words}</p><hr><p>two</p>")) == 1


def test_rule_in_a_table_is_no_break() -> None:
    html = "<table><tr><td>12<hr></td></tr><tr><td>13</td></tr></table>"
    assert len(texts(html)) == 1


def test_blank_page_joins_the_next_one() -> None:
    rule = '<hr style="page-break-after:always">'
    assert texts(f"{rule}<p>one</p>{rule}<p>&nbsp;</p>{rule}{rule}<p>two</p>{rule}") == [
        "one",
        "two",
    ]


def test_the_last_of_several_breaks_without_words_begins_the_page() -> None:
    rule = '<hr style="page-break-after:always">'
    html = f"<p>one</p>{rule}<p>&nbsp;</p>{rule}<p>two</p>"
    assert [page.html for page in split_pages(html)][1] == "<p>two</p>"


def test_the_first_page_is_the_source_as_it_is() -> None:
    html = '<?xml version="1.0"?><html><body style="width:9px"><p>one</p></body></html>'
    assert [page.html for page in split_pages(html)] == [html]


def test_filing_without_breaks_is_one_page() -> None:
    pages = list(split_pages("<p>one</p><p>two</p>"))
    assert [(page.number, page.html, page.is_cut) for page in pages] == [
        (1, "<p>one</p><p>two</p>", False)
    ]


def test_what_is_open_at_a_break_is_open_on_the_next_page() -> None:
    html = '<div style="color:red"><table><tr><td>1<p style="page-break-after:always">a</p>2'
    second = list(split_pages(html))[1].html
    assert second == '<div style="color:red"><table><tr><td>2'


def test_every_page_knows_the_prefixes_and_style_of_the_whole() -> None:
    root = '<html xmlns:q="http://www.xbrl.org/2013/inlineXBRL"><body style="width:9px">'
    html = f'{root}<p>one</p><hr style="page-break-after:always"/><p>two</p></body></html>'
    assert list(split_pages(html))[1].html.startswith(root)


def test_xhtml_stays_xhtml_on_every_page() -> None:
    rule = '<hr style="page-break-after:always"/>'
    html = f'<?xml version="1.0"?><html><body><p>one</p>{rule}<p/>two</body></html>'
    assert list(split_pages(html))[1].html.startswith('<?xml version="1.0"?><html>')


def test_hidden_header_counts_for_nothing() -> None:
    header = '<ix:header><p style="page-break-before:always">hidden</p></ix:header>'
    assert texts(f"{header}<p>one</p>") == ["one"]


def test_long_filing_without_breaks_is_cut_between_blocks() -> None:
    paragraph = f"<p>{'word ' * 400}</p>"
    pages = list(split_pages(paragraph * 30))
    assert len(pages) > 3
    assert all(page.html.count("<p>") == page.html.count("</p>") for page in pages)
    assert [page.is_cut for page in pages] == [True] * (len(pages) - 1) + [False]


def test_long_table_is_cut_between_rows_and_opened_again() -> None:
    row = f"<tr><td>{'figure ' * 100}</td></tr>"
    pages = list(split_pages(f'<table style="width:9px">{row * 60}</table>'))
    assert len(pages) > 2
    assert all(page.html.startswith('<table style="width:9px"><tr>') for page in pages)


def test_long_text_is_cut_at_blank_lines() -> None:
    block = "word word\n  word word\n" * 100 + "\n"
    pages = list(split_pages(block * 20))
    assert len(pages) > 2
    assert all(page.html.endswith("\n\n") for page in pages)


def test_long_line_is_cut_at_spaces() -> None:
    pages = list(split_pages("word " * 20_000))
    assert all(len("".join(page.html.split())) <= 2 * LONGEST for page in pages)
    assert "".join(page.html for page in pages) == "word " * 20_000


def test_text_without_any_space_stays_whole() -> None:
    assert len(list(split_pages("x" * 100_000))) == 1


_PIECES = st.lists(
    st.sampled_from(
        [
            *("<div>", "</div>", "<p>", "</p>", "<b>", "</b>", "<table>", "<tr>", "<td>"),
            *("</td>", "</tr>", "</table>", "<font>", "</font>", "<hr>", "text", "12", "\f"),
            *("<page>", '<p style="page-break-before:always">', "<!-- pagebreak -->"),
            '<div style="page-break-after:always">',
            '<hr style="break-after:page"/>',
        ]
    ),
    max_size=40,
)


@given(_PIECES)
def test_no_word_is_lost_or_doubled(pieces: list[str]) -> None:
    html = "".join(pieces)
    seen = "".join(re.sub(r"<[^>]*>", "", page.html) for page in split_pages(html))
    assert seen == re.sub(r"<[^>]*>", "", html)


@given(_PIECES)
def test_pages_are_numbered_and_only_the_whole_may_be_blank(pieces: list[str]) -> None:
    pages = list(split_pages("".join(pieces)))
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    words = [re.sub(r"<[^>]*>", "", page.html).strip() for page in pages]
    assert all(words) or len(pages) == 1


@pytest.mark.parametrize(
    "part",
    [
        '<div><p>Net sales 12</p><hr></div><p style="page-break-before:always">3</p>',
        "<font><b><p>never closed ",
        "</div></p></b>",
        "<table><tr><td>1<td>2",
        f"<p>{'word ' * 50}</p>",
        "a line\n\n",
    ],
)
def test_splitting_grows_with_the_filing(part: str) -> None:
    def split(size: int) -> None:
        for page in split_pages("<div>" + part * size):
            assert page.html

    assert growth(split, 300) <= LINEAR


@needs_filings
@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("10-K_0000950153-99-001234.html", 31),
        ("8-K_0000887919-21-000012.html", 2),
        pytest.param("aapl-10-k-2024-11-01.html", 59, marks=pytest.mark.slow),
        pytest.param("nflx-10-q-2025-07-18.html", 39, marks=pytest.mark.slow),
    ],
)
def test_real_filing_keeps_all_its_text(name: str, pages: int) -> None:
    content = decode_html((FILINGS / name).read_bytes())
    split = list(split_pages(content))
    assert len(split) == pages
    whole = "".join(canonicalise(content).text.split())
    assert "".join("".join(canonicalise(page.html).text.split()) for page in split) == whole


@needs_filings
def test_real_text_filing_without_breaks_is_cut_to_size() -> None:
    content = decode_html((FILINGS / "20-F_0000928385-01-500187.html").read_bytes())
    pages = list(split_pages(content))
    words = ["".join(canonicalise(page.html).text.split()) for page in pages]
    assert all(len(text) <= LONGEST * 1.1 for text in words)
    assert "".join(words) == "".join(canonicalise(content).text.split())


@needs_filings
def test_the_largest_filing_is_split_at_its_breaks() -> None:
    html = decode_html((FILINGS / "camp4_424b4.htm").read_bytes())
    pages = list(split_pages(open_envelope(html).content))
    assert len(pages) == 266
    assert not any(page.is_cut for page in pages)


def test_page_of_nothing_is_refused_by_name_later() -> None:
    (page,) = split_pages("<p>&nbsp;</p>")
    with pytest.raises(RefusedHtml) as caught:
        canonicalise(page.html)
    assert caught.value.code == "empty"
