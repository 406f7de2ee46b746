"""Links between a fact and its place on the rendered page image."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from portal.accounts.models import User
from portal.datasets.models import PageImage, TextBoxes
from tests.annotation.factories import make_campaign, work_of
from tests.e2e.workbench import mark, open_task, selected
from tests.fixture_types import PageOf, RunJobs


@pytest.fixture
def work(ann: User, ben: User) -> Assignment:
    return work_of(ann, make_campaign([ann, ben]))


def click_on(page: Page, image: PageImage, box: list[int]) -> None:
    """Clicks the middle of a box, given in pixels of the image."""
    sheet = page.locator(f"[data-sheet='{image.number}']")
    shown = sheet.bounding_box()
    assert shown is not None
    scale = shown["width"] / image.width
    _, _, left, top, width, height = box
    sheet.click(position={"x": (left + width / 2) * scale, "y": (top + height / 2) * scale})


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_rendered_image_and_text_point_at_each_other(
    work: Assignment, organiser: User, ann: User, page_of: PageOf, run_jobs: RunJobs
) -> None:
    document = work.campaign_document.document
    page = page_of(organiser)
    page.goto(f"/datasets/{document.dataset.slug}/images/")
    page.get_by_role("button", name="Render 1 document").click()
    expect(page.locator("#report")).to_contain_text("Waiting for a worker")
    run_jobs()
    # The page polls until the task has ended.
    expect(page.locator("#report")).to_contain_text("Documents rendered")
    page.get_by_role("link", name="View images").click()
    expect(page.get_by_text("All rendered images show the text.")).to_be_visible()

    image = document.images.get()
    boxes = TextBoxes.objects.get(image=image).boxes
    text = document.content.text
    page = page_of(ann)
    frame = open_task(page, work.get_absolute_url())
    expect(page.locator("[data-image-frame]")).to_have_attribute("data-linked", "")
    expect(page.locator(".image-place")).to_have_count(0)

    word = next(box for box in boxes if text[box[0] : box[1]].isalpha())
    click_on(page, image, word)
    assert selected(frame) == (word[0], word[1])
    expect(page.locator(".image-place")).to_have_count(1)

    number = next(box for box in boxes if any(map(str.isdigit, text[box[0] : box[1]])))
    quote = text[number[0] : number[1]]
    mark(page, frame, "Number", quote)
    outline = page.locator(".image-place")
    expect(outline).to_have_count(1)
    shown = page.locator("[data-sheet='1']").bounding_box()
    place = outline.bounding_box()
    assert shown is not None
    assert place is not None
    scale = shown["width"] / image.width
    assert place["x"] - shown["x"] == pytest.approx(number[2] * scale, abs=4)
    assert place["y"] - shown["y"] == pytest.approx(number[3] * scale, abs=4)

    # Moving away and clicking on the image activates the same fact again.
    page.keyboard.press("Escape")
    expect(outline).to_have_count(0)
    click_on(page, image, number)
    expect(outline).to_have_count(1)
    expect(page.locator("[data-place]")).to_contain_text(quote)
