"""A fact chosen in list, page image, gold or prediction is highlighted in all of them."""

from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from PIL import Image
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.datasets.models import Document, PageImage, TextBoxes
from portal.jobs.worker import run_due_jobs
from scoring.models import Submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks
from tests.scoring.factories import make_board, make_release, make_submission, plain
from tests.scoring.results.test_linked_fields import OTHER, receipts, submit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# A long page: facts 10, 20, … 60 of seventy are wrong.
COUNT = 70
GOLD = "".join(f"<p>Line {n}:</p><p><Number>{n},123</Number></p>" for n in range(COUNT))
READ = plain(GOLD)
for _wrong in range(10, COUNT, 10):
    READ = READ.replace(f">{_wrong},123<", f">{_wrong},128<")


@pytest.fixture
def long(researcher: User) -> Submission:
    """A submission of three items of which the first and last have errors."""
    gold = {name: f"<h1>{name}</h1>{GOLD}" for name in ("page-1", "page-2", "page-3")}
    read = {name: f"<h1>{name}</h1>{READ}" for name in gold}
    read["page-2"] = plain(gold["page-2"])
    board = make_board(make_release(gold))
    add_image("page-1")
    submission = make_submission(board, researcher, read)
    run_due_jobs()
    return submission


def add_image(name: str) -> None:
    """A tall image, with a text box for each fact."""
    stream = BytesIO()
    Image.new("L", (600, 40 * COUNT), 255).save(stream, "PNG")
    document = Document.objects.get(name=name)
    image = PageImage(document=document, width=600, height=40 * COUNT, sha256="ab" * 32)
    image.file.save("page.png", ContentFile(stream.getvalue()), save=False)
    image.save()
    text = document.content.text
    places = [(n, text.index(f"{n},123")) for n in range(COUNT)]
    boxes = [[at, at + len(f"{n},123"), 50, 40 * n, 80, 20] for n, at in places]
    TextBoxes.objects.create(image=image, boxes=sorted(boxes))


def url_of(submission: Submission, name: str = "page-1") -> str:
    return f"/submissions/{submission.pk}/items/{name}/"


def is_shown_everywhere(page: Page, n: int, *, by_script: bool = True) -> None:
    """The fact is highlighted, alone, and in view in each of the four.

    Without a script the browser scrolls the page and each frame by itself, in any order. Then a
    mark must be in view inside its frame, wherever the page was left.
    """
    row = page.locator("tr[aria-current]")
    expect(row).to_have_count(1)
    expect(row).to_have_attribute("data-fact", str(n))
    place = page.locator("rect.current")
    expect(place).to_have_count(1)
    expect(place).to_have_id(f"place-{n}")
    if by_script:
        expect(row).to_be_in_viewport()
        expect(place).to_be_in_viewport()
    for title in ("Gold of page-1", "Prediction for page-1"):
        frame = f"iframe[title='{title}']"
        mark = page.frame_locator(frame).locator("mark.current")
        expect(mark).to_have_count(1)
        expect(mark).to_have_attribute("data-fact", str(n))
        if not by_script:
            page.locator(frame).scroll_into_view_if_needed()
        expect(mark).to_be_in_viewport()


@pytest.mark.journey
def test_a_click_in_any_of_them_highlights_all(
    page_of: PageOf, long: Submission, researcher: User
) -> None:
    page = page_of(researcher, viewport={"width": 1440, "height": 900})
    page.goto(url_of(long))
    gold = page.frame_locator("iframe[title='Gold of page-1']")
    read = page.frame_locator("iframe[title='Prediction for page-1']")
    expect(read.locator("mark")).to_have_count(COUNT)
    rows = page.get_by_role("table", name="Facts").locator("tr[data-fact]")
    assert rows.first.get_attribute("data-fact") == "10", "wrong facts are first"
    rows.nth(4).get_by_role("link").click()
    is_shown_everywhere(page, 50)
    gold.locator("mark[data-fact='3']").click()
    is_shown_everywhere(page, 3)
    read.locator("mark[data-fact='30']").click()
    is_shown_everywhere(page, 30)
    page.locator("#place-32").click()
    is_shown_everywhere(page, 32)
    assert page.url.endswith("?fact=32")
    page.reload()
    is_shown_everywhere(page, 32)


def test_keys_go_to_wrong_facts_and_items_with_errors(
    page_of: PageOf, long: Submission, researcher: User
) -> None:
    page = page_of(researcher, viewport={"width": 1440, "height": 900})
    page.goto(url_of(long))
    expect(page.frame_locator("iframe[title='Gold of page-1']").locator("mark")).to_have_count(
        COUNT
    )
    for n in (10, 20, 30):
        page.keyboard.press("n")
        is_shown_everywhere(page, n)
    page.keyboard.press("p")
    is_shown_everywhere(page, 20)
    # The focus is on the fact: Tab goes to the next one, Enter chooses it.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    is_shown_everywhere(page, 30)
    page.keyboard.press("Shift+N")
    expect(page.get_by_role("heading", name="page-3", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Next item with errors")).to_have_count(0)
    page.keyboard.press("Shift+P")
    expect(page.get_by_role("heading", name="page-1", exact=True)).to_be_visible()


def test_a_fact_on_another_page_of_the_list_is_opened_there(
    page_of: PageOf, long: Submission, researcher: User
) -> None:
    page = page_of(researcher, viewport={"width": 1440, "height": 900})
    page.goto(url_of(long))
    read = page.frame_locator("iframe[title='Prediction for page-1']")
    expect(page.locator("tr[data-fact='69']")).to_have_count(0)
    read.locator("mark[data-fact='69']").click()
    is_shown_everywhere(page, 69)


def test_without_javascript_a_link_does_the_same(
    page_of: PageOf, long: Submission, researcher: User
) -> None:
    page = page_of(researcher, viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    page.goto(url_of(long))
    rows = page.get_by_role("table", name="Facts").locator("tr[data-fact]")
    rows.nth(4).get_by_role("link").click()
    page.wait_for_url("**?fact=50#place-50", wait_until="load")
    is_shown_everywhere(page, 50, by_script=False)
    page.get_by_role("link", name="Previous error").click()
    expect(page.locator("tr[aria-current]")).to_have_attribute("data-fact", "40")


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_clipped(
    page_of: PageOf, long: Submission, researcher: User, width: int
) -> None:
    """The frames are inside their columns, and wide pages wrap in them."""
    page = page_of(researcher, viewport={"width": width, "height": 900})
    page.goto(f"{url_of(long)}?fact=20")
    assert faults_in_both_looks(page, f"item at {width}") == []
    for frame in page.locator(".sheets iframe").all():
        box, column = frame.bounding_box(), frame.locator("xpath=..").bounding_box()
        assert box is not None
        assert column is not None
        assert box["x"] + box["width"] <= column["x"] + column["width"] + 0.5
        assert box["y"] + box["height"] <= column["y"] + column["height"] + 0.5
        side = frame.element_handle().content_frame()
        assert side is not None
        root = "document.documentElement"
        assert side.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0


def test_a_chosen_field_is_highlighted_on_both_sides(page_of: PageOf, researcher: User) -> None:
    board = receipts()
    submission = submit(board, researcher, OTHER, "R")
    page = page_of(researcher)
    page.goto(f"/submissions/{submission.pk}/items/slip/")
    assert faults_in_both_looks(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("link", name="Next error").click()
    current = page.locator(".pane mark.current")
    expect(current).to_have_text(["Tallow", "<b>Abc</b>"])
    row = page.locator("tr[aria-current]")
    expect(row).to_contain_text("seller_name")
    page.locator(".pane mark", has_text="12.00").first.click()
    expect(row).to_contain_text("std_total")
    expect(current).to_have_text(["12.00", "12.00"])
