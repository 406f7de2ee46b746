"""The review in a real browser: by keyboard, with the fact on the page and its image."""

import hashlib
import io

import pytest
from django.core.files.base import ContentFile
from PIL import Image
from playwright.sync_api import Frame, Page, expect

from annotation.models import Campaign
from annotation.review.services import decide_item
from portal.accounts.models import User
from portal.datasets.models import PageImage
from tests.annotation.factories import document_of, work_of
from tests.e2e.workbench import document_frame, select
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

from .review_factories import gold_of, item_of, make_gold, reviewed_campaign, round_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


PAINTED = """(name) => Array.from(CSS.highlights.get(name) ?? [], (range) => range.toString())"""


@pytest.fixture
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """One gold page with an image, of which all four facts are drawn."""
    found = reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=1, review_share=1)
    picture = io.BytesIO()
    Image.new("L", (600, 800), 240).save(picture, "PNG")
    document = document_of(found).document
    digest = hashlib.sha256(picture.getvalue()).hexdigest()
    image = PageImage(document=document, number=1, width=600, height=800, sha256=digest)
    image.file.save("page.png", ContentFile(picture.getvalue()))
    make_gold(found, 1)
    return found


def frame_of(page: Page) -> Frame:
    expect(page.locator("[data-review]")).to_have_attribute("data-ready", "true")
    return document_frame(page)


def on_fact(page: Page, position: int) -> Frame:
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Fact {position}:")
    return frame_of(page)


def test_fact_is_shown_on_the_page_beside_its_image(
    page_of: PageOf, campaign: Campaign, reviewer: User
) -> None:
    page = page_of(reviewer)
    page.goto("/campaigns/spring-round/review/1/2/")
    frame = frame_of(page)
    assert frame.evaluate(PAINTED, "fact") == ["(310)"]
    assert frame.evaluate(PAINTED, "label-2") == ["March 31, 2025"]
    text, image = (page.locator(place).bounding_box() for place in ("iframe", ".image-frame"))
    assert text is not None
    assert image is not None
    assert text["x"] + text["width"] <= image["x"]
    assert abs(text["y"] - image["y"]) < 2


@pytest.mark.journey
def test_reviewer_works_by_keyboard_alone(
    page_of: PageOf, campaign: Campaign, reviewer: User
) -> None:
    page = page_of(reviewer)
    page.goto("/campaigns/spring-round/review/1/")
    page.get_by_role("link", name="Start with fact 1").press("Enter")
    on_fact(page, 1)
    page.keyboard.press("n")
    on_fact(page, 2)
    page.keyboard.press("c")
    page.get_by_label("Value").press("Tab")
    page.get_by_label("Value").fill("-310000")
    page.get_by_label("Reason").first.fill("It is in thousands. a s n")
    page.get_by_role("button", name="Save as gold").press("Enter")
    on_fact(page, 3)
    page.keyboard.press("a")
    on_fact(page, 4)
    page.keyboard.press("s")
    page.keyboard.type("Not again: a total.")
    page.get_by_role("button", name="Send document back").press("Enter")
    on_fact(page, 1)
    page.keyboard.press("a")
    expect(page.get_by_role("status")).to_contain_text("Review 1 is complete")
    expect(page.get_by_text("It is in thousands. a s n")).to_be_visible()
    assert [item_of(campaign, at).verdict for at in (1, 2, 3, 4)] == [
        "accepted",
        "corrected",
        "accepted",
        "sent_back",
    ]
    assert item_of(campaign, 4).reason == "Not again: a total."
    assert (round_of(campaign).state, document_of(campaign).stage) == ("done", "adjudication")


def test_selection_fills_the_correction(
    page_of: PageOf, campaign: Campaign, reviewer: User
) -> None:
    page = page_of(reviewer)
    page.goto("/campaigns/spring-round/review/1/2/")
    frame = frame_of(page)
    page.keyboard.press("c")
    expect(page.get_by_label("Value")).to_have_value("-310")
    select(frame, "310)")
    expect(page.locator("[data-quote]")).to_have_text("“310)”")
    expect(page.get_by_label("Value")).to_have_value("")
    page.get_by_label("Reason").first.fill("Odd, but so.")
    page.get_by_role("button", name="Save as gold").click()
    on_fact(page, 3)
    assert gold_of(item_of(campaign))[1] == ("Number", "310)", "reviewed")


def test_keys_work_inside_the_page_and_not_while_held(
    page_of: PageOf, campaign: Campaign, reviewer: User
) -> None:
    page = page_of(reviewer)
    page.goto("/campaigns/spring-round/review/1/1/")
    frame_of(page).locator("body").click()
    page.keyboard.down("a")
    on_fact(page, 2)
    page.keyboard.down("a")  # a repeat, because the key was not released
    page.keyboard.up("a")
    page.keyboard.press("Escape")
    on_fact(page, 2)
    assert item_of(campaign, 2).verdict == "pending"


def test_own_marks_are_shown_against_gold(page_of: PageOf, campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)
    work.spans.filter(quote="(310)").delete()
    page = page_of(ann)
    page.goto("/annotate/")
    page.get_by_role("link", name="page-001: compare with gold").click()
    expect(page.locator("[data-own-gold]")).to_have_attribute("data-ready", "true")
    frame = page.frame(url="**/html/")
    assert frame is not None
    assert frame.evaluate(PAINTED, "missed") == ["(310)"]
    assert len(frame.evaluate(PAINTED, "right")) == 3
    page.get_by_role("button", name="missed").click()
    assert frame.evaluate(PAINTED, "active") == ["(310)"]
    page.get_by_label("Show only differences").check()
    expect(page.locator("[data-facts] > li:visible")).to_have_count(1)


def test_pages_are_accessible_and_fit(
    page_of: PageOf, campaign: Campaign, reviewer: User, ann: User
) -> None:
    decide_item(item=item_of(campaign), verdict="corrected", reason="No.", actor=reviewer)
    desk, own_page = page_of(reviewer), page_of(ann)
    faults: list[str] = []
    root = "/campaigns/spring-round/review/"
    own = f"/annotate/{work_of(ann, campaign).pk}/gold/"
    for page, address in (
        (desk, root),
        (desk, f"{root}1/"),
        (desk, f"{root}1/1/"),
        (desk, f"{root}1/2/"),
        (own_page, own),
    ):
        page.goto(address)
        for panel in page.locator("details.edit").all():
            panel.evaluate("(panel) => { panel.open = true; }")
        faults += faults_in_both_looks(page, address, part="main")
    assert faults == []
