"""Citing a board, and its table on another site."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from scoring.models import Board, Submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.factories import make_entry

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rows(board: Board, researcher: User) -> Board:
    for name, ffa in (("Reader", 0.9), ("Second", 0.8)):
        make_entry(board, researcher, name=name, ffa=ffa)
    Submission.objects.update(publication=Submission.Publication.PUBLIC)
    return board


def test_a_reader_copies_a_table_and_a_badge(page_of: PageOf, rows: Board) -> None:
    page = page_of(None, viewport={"width": 390, "height": 900})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/boards/board/cite/")
    page.get_by_role("checkbox", name="Fact-level: FFA").check()
    page.get_by_role("spinbutton", name="Rows to include").fill("1")
    page.get_by_role("button", name="Update table").press("Enter")
    page.wait_for_url("**/cite/?*columns=ffa*")
    markdown = page.locator(".snippet", has=page.get_by_role("heading", name="Markdown"))
    markdown.get_by_role("button", name="Copy").press("Enter")
    expect(markdown.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "| Reader | – | **90.00** |" in copied
    assert "Second" not in copied
    page.get_by_label("Model").select_option("Second")
    page.get_by_role("button", name="Show badge and citation").click()
    picture = page.get_by_role("img", name="Second: rank 2 of 2 on Board board")
    expect(picture).to_be_visible()
    assert picture.evaluate("each => each.naturalWidth") > 100
    assert faults_in_this_look(page) == []


@pytest.fixture
def other_site(live_server: Any) -> Iterator[str]:
    """The URL of a site of another origin that frames the board and its table."""
    frames = "".join(
        f'<iframe name="{name}" src="{live_server.url}/boards/board/{path}"></iframe>'
        for name, path in (("table", "embed/"), ("board", ""))
    )

    class Frames(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(frames.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Frames) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_another_site_shows_the_table_but_no_other_page(
    page_of: PageOf, rows: Board, other_site: str
) -> None:
    page = page_of(None, ignore_console=True)
    page.goto(other_site)
    table = page.frame_locator("[name=table]")
    expect(table.get_by_role("rowheader", name="Reader")).to_be_visible()
    expect(page.frame_locator("[name=board]").get_by_role("rowheader")).to_have_count(0)
