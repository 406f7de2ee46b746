"""The tokenizer: what is a tag, and that nothing is lost between tokens."""

import pytest
from hypothesis import given, settings

from portal.facts.markup import Kind, tokens
from tests.facts.strategies import ANY_STRING

T, S, E, C, R, U = Kind.TEXT, Kind.START, Kind.END, Kind.COMMENT, Kind.RAW, Kind.UNCLOSED


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a<b>c</B >", [(T, "a"), (S, "<b>"), (T, "c"), (E, "</B >")]),
        ("<p a='>'b=\">\" c=x>y", [(S, "<p a='>'b=\">\" c=x>"), (T, "y")]),
        ("<p '>x", [(S, "<p '>"), (T, "x")]),
        ("<p a=>x", [(S, "<p a=>"), (T, "x")]),
        ("<p a=b'c>x'>", [(S, "<p a=b'c>"), (T, "x'>")]),
        ("<p a='x>", [(U, "<p a='x>")]),
        ("1<2<p", [(T, "1<2"), (U, "<p")]),
        ("<!-- > --x--><!--><!-->", [(C, "<!-- > --x-->"), (C, "<!-->"), (C, "<!-->")]),
        ("<!-- x", [(U, "<!-- x")]),
        ("<!x><?y></><//>", [(C, "<!x>"), (C, "<?y>"), (C, "</>"), (C, "<//>")]),
        (
            "<script>'</p>'</SCRIPT >x",
            [(S, "<script>"), (R, "'</p>'"), (E, "</SCRIPT >"), (T, "x")],
        ),
        ("<title></title>", [(S, "<title>"), (E, "</title>")]),
        ("<style>x", [(S, "<style>"), (U, "x")]),
        ("<plaintext><b>", [(S, "<plaintext>"), (R, "<b>")]),
        ("<ix:a/>x", [(S, "<ix:a/>"), (T, "x")]),
    ],
)
def test_tokens_of_hand_made_markup(html: str, expected: list[tuple[Kind, str]]) -> None:
    assert [(t.kind, html[t.start : t.end]) for t in tokens(html)] == expected


def test_tokens_of_xml_let_a_self_closed_title_hold_nothing() -> None:
    assert [t.kind for t in tokens("<title/><p>", xml=True)] == [S, S]
    assert [t.kind for t in tokens("<title/><p>")] == [S, U]


def test_tokens_give_tag_names_in_lower_case() -> None:
    assert [t.name for t in tokens("<IX:Header x><TD/>")] == ["ix:header", "td"]


@given(ANY_STRING)
@settings(max_examples=200, deadline=None)
def test_tokens_cover_any_string_without_gap(text: str) -> None:
    assert "".join(text[t.start : t.end] for t in tokens(text)) == text
