"""The canonical form: what is kept, that it settles, that it is never silently empty."""

from hashlib import sha256

import lxml.html
import pytest
from hypothesis import assume, example, given, settings

from portal.facts import RefusedHtml, canonical_text, canonicalise, html_page
from tests.facts.strategies import ANY_STRING, PAGES
from tests.many import together

XHTML = '<?xml version="1.0" encoding="ASCII"?><html xmlns="http://www.w3.org/1999/xhtml">'
IXBRL = 'xmlns:q="http://www.xbrl.org/2013/inlineXBRL"'


@together(
    "html canonical",
    [
        # Only the body's content is kept.
        ("<p>1</p>", "<p>1</p>"),
        ("\ufeff\n<!DOCTYPE html>\n<HTML>\n<HEAD><TITLE>t</TITLE>\n</HEAD>\n<BODY>\n<P>1</P>\n"
         "</BODY>\n</HTML>\n", "<p>1</p>"),
        ("<html><body><p>1</p></body></html><p>2</p>", "<p>1</p><p>2</p>"),
        ("<body style='width:9pt'>\n<p>1</p> </body>\n</html>\n",
         '<div style="width:9pt">\n<p>1</p> </div>'),
        ("<p>1<p>2", "<p>1</p><p>2</p>"),
        # Programs, comments, heads.
        ("<p>1<script>2</script><!-- 3 --><style>4</style><iframe>5</iframe></p>", "<p>1</p>"),
        ("<noscript>1<p>2</p></noscript><template>3</template>4", "4"),
        ("<frameset><frame src=x></frameset><noframes>1</noframes>2", "2"),
        # Forms and others leave their text.
        ("<form><select><option>1</option></select><textarea>a<b>&amp;</textarea></form>",
         "1a&lt;b&gt;&amp;"),
        ("<svg><text>1</text><title>2</title></svg><math><mi>3</mi></math>", "13"),
        ("<b>0</b><xmp>1<b>2</xmp><listing>3</listing><plaintext><b>4",
         "<b>0</b><pre>1&lt;b&gt;2</pre><pre>3</pre><pre>&lt;b&gt;4</pre>"),
        ("<TEXT>1<p>2</p></TEXT><g>3</g>", "1<p>2</p>3"),
        # Inline XBRL.
        ("<p><ix:nonFraction name='x'>1</ix:nonFraction>%</p>", "<p>1%</p>"),
        ("<table><tr><ix:nonNumeric><td>1</td></ix:nonNumeric></tr></table>",
         "<table><tbody><tr><td>1</td></tr></tbody></table>"),
        ("<div><ix:header><ix:hidden><div/>9</ix:hidden></ix:header></div>1", "<div></div>1"),
        (f"<html {IXBRL}><q:header>9</q:header><q:nonFraction>1</q:nonFraction>", "1"),
        (f"{XHTML}<head><title/></head><body><div/><p>1<b/>2</p></body></html>",
         "<div></div><p>1<b></b>2</p>"),
        ("<div/>1", "<div>1</div>"),
        # Text out of place is moved as browsers move it.
        ("<table><tr>1<td>2</td></tr></table>",
         "1<table><tbody><tr><td>2</td></tr></tbody></table>"),
        # Characters.
        ("<p>a\r\nb\rc&#13;d\fe</p>", "<p>a\nb\nc\nd\ne</p>"),
        ("<p>a\0b&#0;c\x01\ufffe\ud800&#1;d</p>", "<p>ab\ufffdcd</p>"),
        ("<p>&nbsp;\u00a0&#160;&lt;&amp;&#x1F4B6;&#146;</p>",
         "<p>&nbsp;&nbsp;&nbsp;&lt;&amp;\U0001f4b6\u2019</p>"),
        ("<p>1 < 2</p>", "<p>1 &lt; 2</p>"),
        ("<pre>\n\n\n 1\n</pre>", "<pre> 1\n</pre>"),
        ("<p>1</p><b cut", "<p>1</p>"),
    ],
)  # fmt: skip
def test_canonical_html_of_hand_made_pages(html: str, canonical: str) -> None:
    assert canonicalise(html).html == canonical


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("one line", "one line"),
        ("Item 1   9\nItem 2  10\n", "<pre>Item 1   9\nItem 2  10</pre>"),
        ("\n\n   Title\nAT&amp;T <PAGE> &lt;1%\n", "<pre>   Title\nAT&amp;T  &lt;1%</pre>"),
        ("<TABLE>\n<CAPTION>\n      2000   1999\n<S>  <C>  <C>\nHigh  1   2\n</TABLE>\n",
         "<pre>      2000   1999\n    \nHigh  1   2</pre>"),
        ("<html><body><div>" + "a    1\n" * 40 + "</div></body></html>",
         "<pre><div>" + "a    1\n" * 40 + "</div></pre>"),
        # A page is not plain text for being short or indented.
        ("<div>\n    <p>a\n    b</p>\n</div>", "<div>\n    <p>a\n    b</p>\n</div>"),
        ("<pre>a    1\nb    2</pre>", "<pre>a    1\nb    2</pre>"),
    ],
)  # fmt: skip
def test_plain_text_filings_keep_their_columns(html: str, canonical: str) -> None:
    assert canonicalise(html).html == canonical


@pytest.mark.parametrize(
    ("html", "code", "reason"),
    [
        ("", "empty", "no text"),
        (" \n\u200b&nbsp;<p></p><img src=x>", "empty", "no text"),
        ("<script>x()</script>", "empty", "no text"),
        ("<p>1</p>\n<script>x", "unclosed", "<script> element opened on line 2"),
        ("<title>1<p>2", "unclosed", "<title>"),
        ("<p>1</p><!-- 2 <p>3</p>", "unclosed", "comment opened on line 1"),
        ("<p>1</p><td style='2><p>3</p>", "unclosed", "quoted attribute"),
        ("1<ix:header>2<p>3", "unclosed", "<ix:header>"),
        ('<?xml version="1.0"?><ownershipDocument><value>1</value></ownershipDocument>',
         "not_html", "XML"),
    ],
)  # fmt: skip
def test_canonicalise_refuses_with_a_reason(html: str, code: str, reason: str) -> None:
    with pytest.raises(RefusedHtml, match=reason) as caught:
        canonicalise(html)
    assert caught.value.code == code
    assert str(caught.value) == caught.value.reason


def test_canonicalise_refuses_more_than_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.facts.canonical.MAX_CHARS", 10)
    with pytest.raises(RefusedHtml, match="11 characters") as caught:
        canonicalise("x" * 11)
    assert caught.value.code == "too_large"


def test_canonicalise_refuses_what_parsers_read_differently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("portal.facts.canonical._text", lambda html, found: html)
    with pytest.raises(RefusedHtml, match="two parsers") as caught:
        canonicalise("<p>1</p>")
    assert caught.value.code == "unstable"


def test_canonicalise_refuses_what_does_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.facts.canonical.MAX_ROUNDS", 0)
    with pytest.raises(RefusedHtml, match="could not be cleaned"):
        canonicalise("<p>1</p>")


def test_hashes_are_those_of_the_utf8_bytes() -> None:
    document = canonicalise("<p>caf&eacute; &amp; 1</p>")
    assert document.text == "café & 1"
    assert document.text_sha256 == sha256("café & 1".encode()).hexdigest()
    assert document.html_sha256 == sha256("<p>café &amp; 1</p>".encode()).hexdigest()


def test_very_large_text_nodes_are_whole() -> None:
    # More than the 10 MB that libxml2 accepts by default.
    document = canonicalise("<p>" + "1,200 " * 1_750_000 + "</p>")
    assert len(document.text) == 10_500_000


@given(PAGES)
@example("<pre>\n\n</pre>x<pre>\n\n\ny</pre>")
@example("<table><pre>\n1</table>")
@settings(max_examples=150, deadline=None)
def test_canonical_form_is_stable_and_read_alike_by_lxml(page: str) -> None:
    try:
        document = canonicalise(page)
    except RefusedHtml as refused:
        assume(refused.code not in ("empty", "unclosed"))
        raise
    assert canonicalise(document.html) == document
    assert canonical_text(document.html) == document.text
    # The plain parser, with its limit of depth, reads the same.
    root = lxml.html.document_fromstring(html_page(document.html))
    assert root.xpath("string(body)") == document.text


@given(ANY_STRING)
@settings(max_examples=250, deadline=None)
def test_canonicalise_raises_nothing_but_refusals(text: str) -> None:
    try:
        document = canonicalise(text)
    except RefusedHtml as refused:
        assume(refused.code == "unstable")
        raise
    assert canonicalise(document.html) == document
