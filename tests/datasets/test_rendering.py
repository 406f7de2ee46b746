"""Responses with untrusted HTML and images: headers, and behaviour in a browser."""

from collections.abc import Callable
from typing import Any

import pytest
from csp.middleware import CSPMiddleware
from django.test import Client, RequestFactory
from playwright.sync_api import Page

from portal.accounts.models import User
from portal.datasets.responses import sandboxed_html_response
from tests.datasets.factories import add_image, jpeg, png
from tests.factories import empty_dataset, make_document

HTML = "<p>Net <b>1,200</b></p>"


def test_document_page_holds_the_canonical_html_and_nothing_more() -> None:
    page = sandboxed_html_response(HTML).content.decode()
    assert f"<body>{HTML}</body></html>" in page
    assert page.endswith("</body></html>")
    assert '<meta charset="utf-8">' in page


def test_document_page_has_its_own_policy() -> None:
    response = sandboxed_html_response(HTML)
    assert response["Content-Security-Policy"].split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src 'self' data:",
        "frame-ancestors 'self'",
    ]
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private"


def test_policy_of_the_site_does_not_replace_it() -> None:
    request = RequestFactory().get("/")
    middleware = CSPMiddleware(lambda _: sandboxed_html_response(HTML))
    response = middleware.process_response(request, sandboxed_html_response(HTML))
    assert response["Content-Security-Policy"].startswith("default-src 'none';")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("data", "media_type"),
    [(png(), "image/png"), (jpeg(), "image/jpeg")],
    ids=["png", "jpeg"],
)
def test_image_is_served_with_its_type(
    data: bytes, media_type: str, client_of: Callable[[User | None], Client]
) -> None:
    dataset = empty_dataset(slug="set", visibility="public")
    add_image(make_document(dataset, "a", HTML), data)
    response: Any = client_of(None).get("/datasets/set/documents/a/images/1/")
    assert response["Content-Type"] == media_type
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("default-src 'none'")
    assert response["Cache-Control"] == "private"
    assert response.getvalue() == data


@pytest.mark.django_db
def test_headers_survive_the_middleware(client_of: Callable[[User | None], Client]) -> None:
    dataset = empty_dataset(slug="set", visibility="public")
    make_document(dataset, "a", HTML)
    response = client_of(None).get("/datasets/set/documents/a/html/")
    assert response["Content-Security-Policy"].startswith("default-src 'none'; style-src")
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    page = client_of(None).get("/datasets/set/documents/a/")
    assert page["X-Frame-Options"] == "DENY"


# Attacks of a page, and text that parsers may treat differently.
HOSTILE = """
<body onload="document.title='ran'">
<p onclick="document.title='ran'" style="color:red">Net\t 1,200
<script>document.title='ran'</script></p>
<img src="x" onerror="document.title='ran'"><a href="javascript:document.title='ran'">link</a>
<svg onload="document.title='ran'"><text>drawn</text></svg>
<iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>
<pre>

  two  columns   𝟙𝟚
</pre><table> stray <tr><td>1</td> </tr></table>&lt;script&gt;&nbsp;é
</body>
"""


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_browser_reads_the_canonical_text_and_runs_nothing(page_of: Callable[..., Page]) -> None:
    document = make_document(empty_dataset(slug="set", visibility="public"), "a", HOSTILE)
    page = page_of(None)
    page.goto("/datasets/set/documents/a/html/")
    assert page.evaluate("document.body.textContent") == document.content.text
    assert page.title() == "Document"

    page.goto("/datasets/set/documents/a/")
    frame = page.frames[1]
    frame.wait_for_load_state()
    assert page.locator("iframe").get_attribute("sandbox") == ""
    assert "1,200" in frame.inner_text("body")
    assert page.title() == "a · Factboard"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_browser_keeps_scripts_from_running_whatever_the_cleaner_missed(
    page_of: Callable[..., Page],
) -> None:
    """The policy of the response alone protects: this content was not cleaned."""
    dataset = empty_dataset(slug="set", visibility="public")
    make_document(dataset, "a", HTML, uncleaned=HOSTILE)
    page = page_of(None, ignore_console=True)
    page.goto("/datasets/set/documents/a/html/")
    page.get_by_text("Net", exact=False).last.click()
    # Requests of a click come before later requests.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert page.title() == "Document"
