"""Hidden text is left out and counted; what stays is the same for the server and browsers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.facts import RefusedHtml, canonicalise
from portal.facts.cleaning import is_hidden_tag
from tests.facts.strategies import PAGES

NOTE = "removed {} hidden {} with {} of text"


@pytest.mark.parametrize(
    ("html", "text", "elements", "characters"),
    [
        ('<p><span style="display:none">12</span>14</p>', "14", "1 element", "2 characters"),
        ("<p><span hidden>12</span>14</p>", "14", "1 element", "2 characters"),
        ("<p><span HIDDEN='until-found' style='color:red'>1</span>4</p>", "4", "1 element",
         "1 character"),
        ('<p><b style="VISIBILITY : hidden !important">12</b>14</p>', "14", "1 element",
         "2 characters"),
        ('<div style="font-size:0.0pt">1<i>2</i></div>14', "14", "1 element", "2 characters"),
        # The next paragraph ends the hidden one.
        ('<p style="display:none">12<p>14', "14", "1 element", "2 characters"),
        # Only the outer one is counted.
        ('<div style="display:none">1<p style="display:none">2</p></div>3', "3", "1 element",
         "2 characters"),
        ('<i style="display:none">1</i>2<i style="display:none">3</i>', "2", "2 elements",
         "2 characters"),
        ("<table><tr><td style='display:none'>1</td><td>2</td></tr></table>", "2", "1 element",
         "1 character"),
    ],
)  # fmt: skip
def test_hidden_text_is_left_out_and_counted(
    html: str, text: str, elements: str, characters: str
) -> None:
    page = canonicalise(html)
    assert page.text == text
    assert page.notes == (NOTE.format(*elements.split(), characters),)
    again = canonicalise(page.html)
    assert (again, again.notes) == (page, ())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        # Something inside is shown again.
        ('<p style="visibility:hidden">1<b style="visibility:visible">2</b></p>', "12"),
        ('<p style="font-size:0">1<b style="font:9pt serif">2</b></p>', "12"),
        ('<p style="font-size:0">1<font size=2>2</font></p>', "12"),
        # The last declaration counts.
        ('<p style="display:none;display:block">1</p>', "1"),
        ('<p style="font-size:0.5pt">1</p>', "1"),
        ('<p title="a hidden b">1</p>', "1"),
        # Hidden elements without text are kept; filings have many of them.
        ('<p>1<span style="font-size:0pt">\u200b&nbsp;</span>2</p>', "1\u200b\u00a02"),
        ('<p style="display:none"> </p>1', " 1"),
    ],
)
def test_text_that_is_shown_or_blank_stays(html: str, text: str) -> None:
    page = canonicalise(html)
    assert (page.text, page.notes) == (text, ())


def test_page_of_hidden_text_alone_is_refused() -> None:
    with pytest.raises(RefusedHtml, match="no text"):
        canonicalise('<div style="display:none">12</div>')


def test_hidden_text_without_end_takes_no_long_time() -> None:
    page = canonicalise('<i style="display:none">1</i>2' * 20_000)
    assert page.text == "2" * 20_000


@pytest.mark.parametrize(
    ("tag", "hidden"),
    [
        ("<p hidden>", True),
        ('<p a="1"hidden/>', True),
        ("<p hidden=''>", True),
        ("<p data-hidden>", False),
        ("<p a='x hidden y'>", False),
        ("<hidden>", False),
    ],
)
def test_hidden_attribute_is_told_from_its_look_alikes(tag: str, hidden: bool) -> None:
    assert is_hidden_tag(tag) is hidden


STYLES = st.sampled_from(
    ["display:none", "visibility:hidden", "font-size:0", "visibility:visible", "font-size:9pt"]
)


@given(PAGES, st.lists(STYLES, min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_cleaning_pages_with_hidden_elements_settles(page: str, styles: list[str]) -> None:
    for style in styles:
        page = page.replace('style="color:red"', f'style="{style}"', 1)
    try:
        first = canonicalise(page)
    except RefusedHtml:
        return
    again = canonicalise(first.html)
    assert (again, again.notes) == (first, ())
