"""The walk finds each kind of error, on a site of three pages."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser

from .walking import Walk, parts_of

pytestmark = pytest.mark.browser

FIRST = """<main><h1>First</h1><p>Text</p>
<a href="/terms/">Terms</a> <a href="/privacy/">Gone</a> <a href="/no/such/page/">Never there</a>
<a href="/boards/" hidden>Not shown</a> <a href="https://elsewhere.example/">Elsewhere</a>
<form action="/datasets/"><input name="q" value="a b"></form></main>"""
TERMS = """<main><h1>Terms</h1></main><div style="width: 500px">Wide</div>
<script>console.error("broken")</script><img src="/contact/">"""
PAGES = {"/": FIRST, "/terms/": TERMS, "/datasets/?q=a+b": "<main><p>Found</p></main>"}


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        html = PAGES.get(self.path, "")
        self.send_response(200 if html else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"<!doctype html><link rel=icon href=data:,>{html}".encode())

    def log_message(self, *_: object) -> None:
        """Keeps standard error empty."""


@pytest.fixture
def base() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_faults_name_their_page(browser: Browser, base: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 900})
    walk = Walk("public", context, base).take("/")
    assert set(walk.faults) == {
        "public: / links to /privacy/, which answers 404",
        "public: / links to /no/such/page/, which does not exist",
        f"public: /terms/: {base}/contact/ answers 404",
        "public: /terms/: broken",
        "public: /terms/: the main region is empty",
        "public: /terms/: overflows by 118 px",
    }
    assert walk.met == {"home:home", "home:terms", "home:privacy", "home:contact", "datasets:list"}


def test_a_page_is_opened_again_only_if_its_elements_differ() -> None:
    row = "<tr><td class='num'>{}</td></tr>"
    page = "<html><main><table>{}</table>{}</main></html>"
    one, two = page.format(row.format(1), ""), page.format(row.format(2) + row.format(3), "")
    more = page.format(row.format(1), "<button type='submit'>Delete</button>")
    assert parts_of(one) == parts_of(two) != parts_of(more)
