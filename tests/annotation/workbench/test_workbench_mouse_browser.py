"""The workbench by mouse: double click, imprecise selections, dragged borders, panes, files."""

import hashlib
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from playwright.sync_api import Frame, Page, expect

from annotation.models import Assignment
from portal.accounts.models import User
from tests.annotation.factories import save
from tests.datasets.factories import png
from tests.e2e.workbench import Opened, marked, open_task, select, wait_saved
from tests.fixture_types import PageOf

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def box_of(frame: Frame, quote: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a quote in the window."""
    select(frame, quote)
    inner = frame.evaluate(
        "(() => { const box = document.getSelection().getRangeAt(0).getBoundingClientRect();"
        " document.getSelection().removeAllRanges();"
        " return [box.left, box.top, box.right, box.bottom] })()"
    )
    outer = frame.frame_element().bounding_box()
    assert outer is not None
    left, top, right, bottom = inner
    return left + outer["x"], top + outer["y"], right + outer["x"], bottom + outer["y"]


def drag(
    page: Page, start: tuple[float, float], end: tuple[float, float], *, with_alt: bool = False
) -> None:
    """Presses, moves and releases the mouse by the browser's own protocol.

    While a button is down, Playwright runs a script in the frame below; in a sandbox without
    scripts it would wait for it for ever.
    """
    session = page.context.new_cdp_session(page)

    def send(kind: str, place: tuple[float, float], buttons: int) -> None:
        event = {"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        modifiers = 1 if with_alt else 0
        session.send(
            "Input.dispatchMouseEvent", event | {"buttons": buttons, "modifiers": modifiers}
        )

    send("mouseMoved", start, 0)
    send("mousePressed", start, 1)
    for step in (0.3, 0.6, 1):
        x = start[0] + (end[0] - start[0]) * step
        send("mouseMoved", (x, end[1]), 1)
    send("mouseReleased", end, 0)
    session.detach()


@pytest.mark.journey
def test_a_double_click_labels_the_whole_fact(opened: Opened, work: Assignment) -> None:
    page, frame = opened
    for quote in ("310", "March"):
        left, top, right, bottom = box_of(frame, quote)
        page.mouse.dblclick((left + right) / 2, (top + bottom) / 2)
    wait_saved(page)
    assert marked(work) == [("Number", "(310)"), ("Date", "March 31, 2025")]


def test_a_double_click_beside_facts_only_selects(opened: Opened) -> None:
    page, frame = opened
    left, top, right, bottom = box_of(frame, "revenue")
    page.mouse.dblclick((left + right) / 2, (top + bottom) / 2)
    expect(page.locator("[data-place]")).to_contain_text("revenue: no label yet, press 1 to 2")
    assert frame.evaluate("document.getSelection().toString()") == "revenue"


@pytest.mark.parametrize(
    ("with_alt", "wanted"), [(False, "(310)"), (True, "10) a")], ids=["snapped", "exact"]
)
def test_a_sloppy_selection_means_the_fact_unless_alt_is_held(
    opened: Opened, work: Assignment, with_alt: bool, wanted: str
) -> None:
    page, frame = opened
    chosen = "10) a" if with_alt else "310) "
    left, top, right, bottom = box_of(frame, chosen)
    middle = (top + bottom) / 2
    drag(page, (left + 1, middle), (right - 1, middle), with_alt=with_alt)
    page.keyboard.press("1")
    wait_saved(page)
    assert marked(work) == [("Number", wanted)]


def test_borders_are_dragged_and_stop_at_another_span(
    page_of: PageOf, work: Assignment, ann: User
) -> None:
    save(work, ("Number", "1,200"), ("Number", "(310)"))
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    page.keyboard.press("n")
    _, top, right, bottom = box_of(frame, "1,200")
    middle = (top + bottom) / 2
    end = box_of(frame, "and")
    drag(page, (right - 1, middle), (end[2] - 2, middle))
    wait_saved(page)
    assert marked(work) == [("Number", "1,200 and"), ("Number", "(310)")]
    beyond = box_of(frame, "(310)")
    drag(page, (end[2] - 1, middle), (beyond[2] - 8, middle))
    expect(page.locator("[data-hint]")).to_contain_text("“(310)” already has a label")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200 and"), ("Number", "(310)")]


def test_panes_are_resized_and_remembered(page_of: PageOf, work: Assignment, ann: User) -> None:
    document = work.campaign_document.document
    picture = png(40, 60)
    image = ContentFile(picture, name="page.png")
    digest = hashlib.sha256(picture).hexdigest()
    document.images.create(number=1, file=image, width=40, height=60, sha256=digest)
    page = page_of(ann)
    open_task(page, work.get_absolute_url())
    bar = page.get_by_role("separator", name="Width of the page image")
    before = int(bar.get_attribute("aria-valuenow") or 0)
    bar.focus()
    page.keyboard.press("ArrowRight")
    expect(bar).to_have_attribute("aria-valuenow", str(before - 24))
    page.keyboard.press("+")
    expect(page.locator("[data-zoom]")).to_have_text("125%")
    page.keyboard.press("0")
    expect(page.locator("[data-zoom]")).to_have_text("100%")
    open_task(page, work.get_absolute_url())
    expect(bar).to_have_attribute("aria-valuenow", str(before - 24))
    page.keyboard.press("i")
    expect(page.locator("[data-image-pane]")).to_be_hidden()
    open_task(page, work.get_absolute_url())
    expect(page.locator("[data-image-pane]")).to_be_hidden()


def test_a_file_of_the_page_is_taken_out_and_in(
    page_of: PageOf, work: Assignment, ann: User, tmp_path: Path
) -> None:
    save(work, ("Number", "1,200"), ("Date", "March 31, 2025"))
    page = page_of(ann)
    open_task(page, work.get_absolute_url())
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as JSON").click()
    file = tmp_path / "page.json"
    download.value.save_as(file)
    page.keyboard.press("Escape")
    page.locator("[data-spans] li").first.get_by_role("button", name="Remove").click()
    wait_saved(page)
    assert marked(work) == [("Date", "March 31, 2025")]

    def take(path: Path) -> None:
        page.get_by_text("More", exact=True).click()
        page.get_by_role("button", name="Import labels from a file…").click()
        page.get_by_label("File", exact=True).set_input_files(path)
        page.get_by_role("button", name="Import labels", exact=True).click()

    broken = tmp_path / "broken.json"
    broken.write_text('{"spans": 7}', encoding="utf-8")
    take(broken)
    dialog = page.get_by_role("dialog", name="Import labels from a file")
    expect(dialog.locator("[data-import-fault]")).not_to_be_empty()
    dialog.get_by_role("button", name="Cancel").click()
    take(file)
    expect(page.locator("[data-spans] li")).to_have_count(2)
    assert marked(work) == [("Number", "1,200"), ("Date", "March 31, 2025")]
