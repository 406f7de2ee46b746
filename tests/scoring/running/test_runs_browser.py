"""An organiser runs a model in a browser, from the endpoint to a verified row; a worker runs."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.site import Site
from tests.looks import faults_in_both_looks
from tests.scoring.answering.chat_server import Call, ChatServer, Reply, serve

from .models import KEY, MODEL, Reader

pytestmark = [pytest.mark.browser, pytest.mark.processes]

PAGES = [f"p{number:02}" for number in range(12)]
BROKEN = PAGES[-1]
MAKE = f"""
from portal.accounts.models import User
from tests.scoring.running.models import board_with_images

board_with_images({{
    name: f"<p>Page <Number>{{name[1:]}}</Number> of it</p>" for name in {PAGES!r}
}})
User.objects.update(is_organiser=True)
print(1)
"""
PATIENCE = 30_000


@dataclass
class Model:
    """Reads the pages. After `freely` answers it waits for `gate`, and one page always fails."""

    freely: int = 5
    gate: threading.Event = field(default_factory=threading.Event)
    misread: str = ""
    is_broken: bool = True
    reader: Reader = field(
        default_factory=lambda: Reader({name: f"<p>Page {name[1:]} of it</p>" for name in PAGES})
    )

    def __call__(self, call: Call) -> Reply:
        if "Which amount" in str(call.body["messages"]):
            return Reply("1,250.00")
        name = self.reader.name_of(call)  # type: ignore[arg-type]
        number = len(self.reader.asked)
        self.reader.asked.append(name)
        if name == BROKEN and self.is_broken:
            return Reply("the picture cannot be read", 400)
        text = "<p>Page 99 of it</p>" if name == self.misread else self.reader.pages[name]
        return Reply(text, until=None if number < self.freely else self.gate)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[ChatServer]:
    with serve(model) as running:
        yield running
        # A call that still waits would keep the server from ending.
        model.gate.set()


@pytest.fixture
def site(tmp_path: Path, server: ChatServer) -> Iterator[Site]:
    with Site(tmp_path, JUDGE_ATTEMPTS="1") as running:
        running.prepare()
        running.add_users("Olga", "Otto")
        running.shell(MAKE)
        running.start()
        yield running


def press(button: Locator) -> None:
    """With the keyboard."""
    button.focus()
    button.press("Enter")


def looked_at(page: Page) -> None:
    assert faults_in_both_looks(page, every=True) == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_from_an_endpoint_to_a_verified_row(
    browser: Browser, site: Site, server: ChatServer, model: Model
) -> None:
    page = site.log_in(browser, "olga@example.org").new_page()
    _set_endpoint(page, server)
    _run(page, model)
    _submitted(page)
    _publish(page)
    _repeat(page, model)
    # No one verifies their own submission.
    organiser = site.log_in(browser, "otto@example.org").new_page()
    organiser.goto(page.url)
    _verify(organiser)
    assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}
    for log in site.folder.glob("*.log"):
        assert KEY not in log.read_text(encoding="utf-8", errors="replace")


def _set_endpoint(page: Page, server: ChatServer) -> None:
    page.goto("/boards/board/manage/")
    press(page.get_by_role("link", name="Run a model"))
    page.get_by_role("link", name="Add endpoint").click()
    page.get_by_label("URL").fill(server.url)
    page.get_by_label("Model").fill(MODEL)
    page.get_by_label("Key").fill(KEY)
    page.get_by_label("input tokens").fill("1000")
    page.get_by_label("output tokens").fill("2000")
    page.get_by_label("Monthly budget").fill("50")
    looked_at(page)
    press(page.get_by_role("button", name="Save endpoint"))
    expect(page.get_by_text("Saved.")).to_be_visible()
    press(page.get_by_role("button", name="Send test question"))
    expect(page.get_by_text(f"{MODEL} answered “1,250.00”")).to_be_visible()
    looked_at(page)


def _run(page: Page, model: Model) -> None:
    page.get_by_role("navigation", name="Breadcrumb").get_by_role(
        "link", name="Run a model"
    ).click()
    expect(page.get_by_label("Model", exact=True)).to_have_value(MODEL)
    page.get_by_label("Name on the leaderboard").fill("Reader of pages")
    page.get_by_label("Concurrent calls").fill("2")
    page.get_by_label("Prompt", exact=True).select_option("Custom prompt")
    page.get_by_label("Custom prompt").fill("Copy the page as HTML.")
    looked_at(page)
    press(page.get_by_role("button", name="Start run"))
    # Without reloading: five answers came, and the next two calls wait.
    expect(page.get_by_text("5 of 12 items")).to_be_visible(timeout=PATIENCE)
    looked_at(page)
    press(page.get_by_role("button", name="Cancel run"))
    expect(page.get_by_text("stops after the current calls")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel run")).to_have_count(0)
    looked_at(page)
    model.gate.set()
    expect(page.get_by_role("button", name="Continue run")).to_be_visible(timeout=PATIENCE)
    looked_at(page)
    press(page.get_by_role("button", name="Continue run"))
    expect(page.get_by_text("1 item has no answer")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("11 of 12 items")).to_be_visible()
    page.get_by_text("Notes on items").click()
    expect(page.get_by_role("listitem").filter(has_text=BROKEN)).to_be_visible()
    looked_at(page)
    assert set(model.reader.asked) == set(PAGES)


def _submitted(page: Page) -> None:
    press(page.get_by_role("button", name="Submit saved answers"))
    page.get_by_role("link", name="View submission").click(timeout=PATIENCE)
    expect(page.get_by_role("heading", name="Reader of pages")).to_be_visible()
    made = page.get_by_role("region", name="How it was made")
    expect(made).to_contain_text("11 of 12 answered")
    expect(made).to_contain_text("factboard run board")
    expect(page.get_by_role("button", name="Publish")).to_be_visible(timeout=PATIENCE)
    looked_at(page)


def _publish(page: Page) -> None:
    where = page.url
    press(page.get_by_role("button", name="Publish"))
    page.goto("/boards/board/")
    row = page.get_by_role("row").filter(has_text="Reader of pages")
    expect(row).to_contain_text("Run with factboard")
    looked_at(page)
    page.goto(where)


def _repeat(page: Page, model: Model) -> None:
    model.is_broken, model.misread = False, PAGES[3]
    page.get_by_role("link", name="Re-runs").click()
    looked_at(page)
    page.get_by_role("link", name="run the model with Factboard").click()
    expect(page.get_by_text("This is a re-run of")).to_be_visible()
    expect(page.get_by_label("Custom prompt")).to_have_value("Copy the page as HTML.")
    looked_at(page)
    press(page.get_by_role("button", name="Start run"))
    page.get_by_role("link", name="View submission").click(timeout=PATIENCE)
    expect(page.get_by_text("Re-run of")).to_be_visible()
    page.get_by_role("link", name="Compare results").click()


def _verify(page: Page) -> None:
    # One page was read otherwise, and one was answered only now.
    expect(page.get_by_text("10 of 12 items")).to_be_visible()
    expect(page.get_by_text("83.3%").first).to_be_visible()
    looked_at(page)
    press(page.get_by_role("button", name="Mark as verified"))
    expect(page.get_by_text("the submission is verified by organisers")).to_be_visible()
    page.goto("/boards/board/")
    row = page.get_by_role("row").filter(has_text="Reader of pages")
    expect(row).to_contain_text("verified")
    looked_at(page)
