"""Pages that would blow up in a parser are refused before one sees them, and by reason."""

from unittest.mock import Mock

import pytest

from portal.facts import RefusedHtml, canonical, canonicalise
from portal.facts.canonical import MAX_DEPTH, MAX_OPEN, check_nesting
from portal.facts.markup import tokens
from tests.many import short_id

DEPTH = MAX_DEPTH
FONTS = "".join(f"<font size={n}>" for n in range(200))


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<div>" * (DEPTH + 1) + "x", "too_deep"),
        ("<div>" * 10_000 + "x" + "</div>" * 10_000, "too_deep"),
        ("<div>" * 200_000 + "x", "too_deep"),
        ("<table><tr><td>" * 100 + "x", "too_deep"),
        ("<span>" * 5_000 + "x", "too_deep"),
        ("<ul><li>" * 5_000 + "x", "too_deep"),
        ("<div><table><td></div></table>x" * 5_000, "too_deep"),
        ("<p>" + FONTS + "x" + "<p>y" * 100_000, "too_many"),
        ("".join(f"<p><font size={n}>x" for n in range(5_000)), "too_many"),
    ],
    ids=short_id,
)
def test_canonicalise_refuses_what_would_blow_up(
    html: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = Mock(wraps=canonical._clean_once)
    monkeypatch.setattr(canonical, "_clean_once", parse)
    with pytest.raises(RefusedHtml) as caught:
        canonicalise(html)
    assert caught.value.code == code
    # Only what is hardly deeper than a document may be comes before a parser.
    assert sum(len(call.args[0]) for call in parse.call_args_list) < 10_000


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * DEPTH + "x" + "</div>" * DEPTH,
        "<p><b>x" * 3_000,
        FONTS + "x" + "<p>y" * 3_000,
        "<li>x" * 3_000,
        "<p>" + FONTS + "x<br>" * 3_000,
        "<table>" + "<tr><td><font size=2>x" * 3_000 + "</table>",
        "<dl>" + "<dt>a<dd>x" * 3_000 + "</dl>",
        "<a name=y>x" * 3_000,
        "<b><i>x</b></i>" * 3_000,
        "<p><table><tr><td>x</td></tr></table>" * 500,
        "</div></p></b>" * 3_000 + "x",
    ],
    ids=short_id,
)
def test_canonicalise_takes_what_careless_filings_do(html: str) -> None:
    assert "x" in canonicalise(html).text


def test_check_nesting_counts_reopened_formatting_elements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("portal.facts.canonical.MAX_REOPENED", 20)
    html = "<p><b><i>x</p>" + "<p>y</p>" * 10
    check_nesting(html, tokens(html))
    more = html + "<p>y</p>"
    with pytest.raises(RefusedHtml, match="more than 20 elements"):
        check_nesting(more, tokens(more))


def test_check_nesting_names_the_line() -> None:
    html = "\n\n" + "<div>" * (MAX_OPEN + 1)
    with pytest.raises(RefusedHtml, match="line 3"):
        check_nesting(html, tokens(html))
