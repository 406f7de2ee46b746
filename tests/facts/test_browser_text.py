"""Chromium reads from a served document the very text that the server counts offsets in."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

from portal.facts import Canonical, RefusedHtml, canonicalise, codepoint_to_utf16, decode_html
from portal.facts.canonical import MAX_DEPTH, html_page
from tests.shared import FILINGS, REALDATA, needs_filings, needs_realdata

pytestmark = pytest.mark.browser

CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:"
HOST = "http://documents.test"

# The frame is hidden because what it lays out does not matter here, and laying out takes long.
READ = """
async url => {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.hidden = true;
  const loaded = new Promise(resolve => frame.addEventListener('load', resolve));
  frame.src = url;
  document.body.replaceChildren(frame);
  await loaded;
  const body = frame.contentDocument.body;
  const walker = frame.contentDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  let text = '';
  while (walker.nextNode()) text += walker.currentNode.data;
  return text;
}
"""

Reader = Callable[[str], str]

NASTY = {
    "nul and controls": "<p>a\0b\x01c\x0bd\x7fe\x80f\x85g&#0;&#1;&#128;&#x10ffff;\ufffe</p>",
    "line ends": "<p>a\r\nb\rc\n\nd&#13;&#10;e\ff</p>",
    "surrogates": "<p>\ud83d \U0001f4b6 &#xD83D;&#xDCB6; \udc00</p>",
    "spaces": "<p>&nbsp;\u00a0 \u2003\u202f\u200b\ufeff\u2028\u2029\u00ad\t x</p>",
    "leading space": "   \n text <b> x </b>  \n ",
    "leading mark": "\ufeff\ufefftext",
    "textarea": "<textarea>\n\na<b></textarea><title>t</title>b",
    "drawings": "<svg><title>a</title><text>b</text><style>c</style></svg><math><mi>d</mi></math>",
    "templates": "<template>a</template><noscript>b</noscript>c<noembed>d</noembed>",
    "old raw": "<p>a<xmp><b>b</xmp><listing>\n\nc</listing><plaintext><i>d</plaintext>",
    "select": "<select>a<option>b<p>c<optgroup>d</select>e",
    "frameset": "<frameset><frame></frameset><noframes>a</noframes>b",
    "frameset page": "<html><frameset><frame src=x>a<noframes>b</noframes></frameset></html>c",
    "fostered": "<table>a<tr>b<td>c</td>d</tr>e<b>f</table>g",
    "fostered deep": "<table><tr><table><td>a<p>b<table>c<tr><td>d</table>e</table>f",
    "table spaces": "<table> \n <colgroup> <col> </colgroup> <tr> <td> a </td> </tr> </table> b",
    "caption": "<table><caption>a<tr><td>b<caption>c</table>",
    "pre newlines": "<pre>\n\n\na</pre><pre><b>\n\nb</b></pre><pre>\r\nc</pre><pre>&#10;d</pre>",
    "misnested": "<b><p>a</b>b</p>c<i><table><tr><td></i>d</table>e<a>f<a>g",
    "headings": "<h1>a<h2>b</h3>c<p>d<h4>e",
    "lists": "<li>a<ul>b<li>c<dl>d<dd>e<dt>f</ul>g",
    "entities": "&amp;lt; &notit; &copy &ltb &#x3c;p&#x3e; &unknown; &",
    "attributes": "<p style='a\"b&amp;>' title='<b>x'>y</p>",
    "wrapper": "<DOCUMENT>\n<TYPE>X\n<TEXT>\n<p>a</p></TEXT></DOCUMENT>",
    "plain text": "\n\n    Total     1\n  -----\n<PAGE>\n    x     2\n",
    "deep": "<div>" * MAX_DEPTH + "a",
    "deep inline": "<p>" + "<span>a" * (MAX_DEPTH - 1),
    "cdata": "<p>a<![CDATA[b]]>c</p><?x y?>d</>e</ f>g",
    "large node": "<p>" + "1,200 \U0001f4b6" * 200_000,
}


@pytest.fixture
def read_in_browser(page: Page) -> Reader:
    """Serves HTML as the site serves a document and gives back what the frame's text nodes hold."""
    served: dict[str, str] = {}

    def answer(route: Route) -> None:
        html = served.get(route.request.url, "<!DOCTYPE html><body></body>")
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": CSP}
        if route.request.url not in served:
            del headers["Content-Security-Policy"]
        route.fulfill(body=html.encode(), headers=headers)

    page.route(f"{HOST}/**", answer)
    page.goto(f"{HOST}/")

    def read(html: str) -> str:
        url = f"{HOST}/document/{len(served)}"
        served[url] = html
        return str(page.evaluate(READ, url))

    return read


def _first_difference(ours: str, theirs: str) -> str:
    place = next(
        (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    around = slice(max(0, place - 20), place + 20)
    return f"at {place}: {ours[around]!r} here, {theirs[around]!r} in the browser"


def _assert_read_alike(name: str, document: Canonical, read: Reader) -> None:
    text = read(html_page(document.html))
    assert text == document.text, f"{name} {_first_difference(document.text, text)}"


def test_nasty_pages_are_read_alike(read_in_browser: Reader) -> None:
    for name, html in NASTY.items():
        document = canonicalise(html)
        _assert_read_alike(name, document, read_in_browser)
        # Without a doctype browsers parse some things as in the nineties.
        assert read_in_browser(f"<body>{document.html}</body>") == document.text, name


def test_offsets_of_the_browser_are_utf16(page: Page) -> None:
    document = canonicalise("<p>\U0001f4b6 5 e\u0301 \U0001d11e</p>")
    units = page.evaluate("text => text.length", document.text)
    assert codepoint_to_utf16(document.text, [len(document.text)]) == [units]


SCRIPTS = [
    "<p>a<script>window.ran = 1</script></p>",
    "<p>a<img src='data:,x' onerror='window.ran = 1'></p>",
    "<svg onload='window.ran = 1'><text>a</text></svg>",
    "<p>a<iframe srcdoc='<script>top.ran = 1</script>'></iframe></p>",
    "<details open ontoggle='window.ran = 1'>a</details>",
]


@pytest.mark.parametrize("html", SCRIPTS)
def test_scripts_of_a_page_never_run(page: Page, html: str) -> None:
    """Without a sandbox or a policy the page as given does run them; made canonical it does not."""
    ran = "() => new Promise(done => setTimeout(() => done(window.ran === 1), 100))"
    page.set_content(html)
    assert page.evaluate(ran)
    page.goto("about:blank")
    page.set_content(html_page(canonicalise(html).html))
    assert page.locator("body").inner_text() == "a"
    assert not page.evaluate(ran)


@needs_realdata
def test_every_real_page_is_read_alike(read_in_browser: Reader) -> None:
    for path in sorted((REALDATA / "pages").iterdir()):
        _assert_read_alike(path.name, canonicalise(decode_html(path.read_bytes())), read_in_browser)


def _filings() -> list[Path]:
    return sorted(FILINGS.iterdir()) if FILINGS.is_dir() else []


@needs_filings
@pytest.mark.parametrize("path", _filings(), ids=lambda path: str(path.name))
def test_every_whole_filing_is_read_alike(path: Path, read_in_browser: Reader) -> None:
    try:
        document = canonicalise(decode_html(path.read_bytes()))
    except RefusedHtml as refused:
        pytest.fail(f"{path.name} was refused: {refused.reason}")
    _assert_read_alike(path.name, document, read_in_browser)
