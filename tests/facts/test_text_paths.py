"""Text nodes by their paths, as a browser has them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page

from portal.facts import RefusedHtml, canonicalise
from portal.facts.canonical import html_page
from portal.facts.page_text import TextPaths
from tests.facts.strategies import PAGES
from tests.shared import REALDATA, needs_realdata

PAGE = "<p>This\nis <u><span>e</span><span>x</span></u><br> of \n<b>HTML &amp; \U0001f4b6</b></p>"
NESTED = (
    "<pre>a\n\nb</pre>c<table><tbody><tr><td>1<table><tbody><tr><td>2</td>\n<td>3</td></tr>"
    "</tbody></table>4</td></tr></tbody></table>d<br><br>e<hr>f"
)

# Every text node that XPath finds under its path is read, with the line breaks before it.
READ = """
paths => paths.map(path => {
  const found = document.evaluate('/html/body' + path, document, null, 7, null);
  if (found.snapshotLength !== 1) return null;
  const node = found.snapshotItem(0);
  const before = [...document.querySelectorAll('br')].filter(br =>
    br.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
  return [node.data, before.length];
})
"""


def _nodes(html: str) -> list[tuple[str, str, int]]:
    canonical = canonicalise(html)
    nodes = TextPaths(canonical.html).nodes
    return [(node.path, canonical.text[node.start : node.end], node.breaks) for node in nodes]


def test_nodes_are_counted_within_their_parents() -> None:
    assert _nodes(PAGE) == [
        ("/p[1]/text()[1]", "This\nis ", 0),
        ("/p[1]/u[1]/span[1]/text()[1]", "e", 0),
        ("/p[1]/u[1]/span[2]/text()[1]", "x", 0),
        ("/p[1]/text()[2]", " of \n", 1),
        ("/p[1]/b[1]/text()[1]", "HTML & \U0001f4b6", 1),
    ]


def test_a_span_begins_and_ends_in_the_nodes_of_its_own_characters() -> None:
    paths = TextPaths(canonicalise(PAGE).html)
    first, last = paths.places(8, 10)
    assert first == ("/p[1]/u[1]/span[1]/text()[1]", 0)
    assert last == ("/p[1]/u[1]/span[2]/text()[1]", 1)
    assert paths.global_offsets(8, 14) == (8, 15)


def test_a_line_break_is_one_global_offset() -> None:
    paths = TextPaths(canonicalise(PAGE).html)
    # 10 is the line break; after it text offsets are one behind.
    assert paths.from_global(8, 11) == (8, 10)
    assert paths.from_global(10, 14) == (10, 13)
    assert paths.from_global(10, 11) is None
    assert paths.from_global(5, 5) is None
    assert paths.from_global(-1, 4) is None
    assert paths.from_global(0, 99) is None
    assert TextPaths("").from_global(0, 1) is None


@given(html=PAGES, data=st.data())
def test_offsets_come_back_from_paths_and_from_global_ones(html: str, data: Any) -> None:
    try:
        canonical = canonicalise(html)
    except RefusedHtml:
        return
    paths = TextPaths(canonical.html)
    assert "".join(canonical.text[n.start : n.end] for n in paths.nodes) == canonical.text
    assert len({node.path for node in paths.nodes}) == len(paths.nodes)
    start = data.draw(st.integers(0, len(canonical.text) - 1))
    end = data.draw(st.integers(start + 1, len(canonical.text)))
    first, last = paths.places(start, end)
    begins, ends = paths.node(first.path), paths.node(last.path)
    assert begins
    assert ends
    assert (begins.start + first.offset, ends.start + last.offset) == (start, end)
    assert paths.from_global(*paths.global_offsets(start, end)) == (start, end)


@pytest.mark.browser
@pytest.mark.parametrize("html", [PAGE, NESTED, "a<br>b", "<b>x</b>\n<i>y</i> z"])
def test_a_browser_finds_the_same_nodes(page: Page, html: str) -> None:
    _check_in_browser(page, html)


@pytest.mark.browser
@needs_realdata
def test_a_browser_finds_the_same_nodes_of_real_pages(page: Page) -> None:
    paths: list[Path] = sorted((REALDATA / "pages").iterdir())[::8]
    assert paths
    for path in paths:
        _check_in_browser(page, path.read_text(encoding="utf-8"))


def _check_in_browser(page: Page, html: str) -> None:
    nodes = _nodes(html)
    page.set_content(html_page(canonicalise(html).html))
    found = page.evaluate(READ, [path for path, _, _ in nodes])
    assert found == [[text, breaks] for _, text, breaks in nodes]
