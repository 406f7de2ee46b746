"""Adjudication in a real browser: marks on the page, decisions by key, edits by selection."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page, expect

from annotation.models import Assignment, Campaign, Case, SuggestionUpload
from annotation.services.campaigns import edit_guidelines
from portal.accounts.models import User
from tests.e2e.workbench import select

from .factories import document_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Pages = Callable[..., Page]

PAINTED = """(name) => Array.from(CSS.highlights.get(name) ?? [], (range) => range.toString())"""


def open_case(page: Page, campaign: Campaign, kind: str) -> Frame:
    case = document_of(campaign).cases.get(kind=kind)
    page.goto(f"/campaigns/{campaign.slug}/adjudication/{case.pk}/")
    return frame_of(page)


def frame_of(page: Page) -> Frame:
    expect(page.locator("[data-case]")).to_have_attribute("data-ready", "true")
    frame = page.frame(url="**/html/")
    assert frame is not None
    return frame


def gold(campaign: Campaign, kind: str) -> list[str]:
    case = Case.objects.get(campaign_document__campaign=campaign, kind=kind)
    return [span.quote for span in case.gold_spans.all()]


def test_proposals_are_painted_on_the_page(page_of: Pages, disputed: Campaign, lead: User) -> None:
    page = page_of(lead)
    frame = open_case(page, disputed, "boundary")
    assert frame.evaluate(PAINTED, "case") == ["(310)"]
    assert frame.evaluate(PAINTED, "label-1") == ["(310)", "310"]
    assert frame.evaluate(PAINTED, "gold") == ["1,200"]
    page.locator("[data-proposal='2']").hover()
    assert frame.evaluate(PAINTED, "label-1") == ["310"]


def test_whole_document_is_decided_by_key(page_of: Pages, disputed: Campaign, lead: User) -> None:
    page = page_of(lead)
    open_case(page, disputed, "boundary")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("label differs")
    frame_of(page).locator("body").click()  # the keys work inside the page as well
    page.keyboard.press("2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("marked by some only")
    frame_of(page)
    page.keyboard.press("n")
    expect(page.get_by_role("status")).to_contain_text("No case is open any more")
    assert gold(disputed, "boundary") == ["(310)"]
    assert gold(disputed, "label") == ["March 31, 2025"]
    assert gold(disputed, "missing") == []


def test_typing_a_reason_decides_nothing(page_of: Pages, disputed: Campaign, lead: User) -> None:
    page = page_of(lead)
    open_case(page, disputed, "boundary")
    page.get_by_label("Reason").press_sequentially("1 or 2? none")
    page.get_by_label("Reason").press("Enter")
    expect(page.get_by_role("button", name="Take B")).to_be_visible()
    assert Case.objects.get(kind="boundary").state == Case.State.OPEN
    page.get_by_role("button", name="Take B").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("label differs")
    case = Case.objects.get(kind="boundary")
    assert (case.reason, gold(disputed, "boundary")) == ("1 or 2? none", ["310"])


def test_selection_fills_the_edit(page_of: Pages, disputed: Campaign, lead: User) -> None:
    page = page_of(lead)
    frame = open_case(page, disputed, "boundary")
    page.keyboard.press("e")
    select(frame, "310)")
    expect(page.locator("[data-quote]").first).to_have_text("“310)”")
    page.get_by_role("button", name="Make this gold").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("label differs")
    assert gold(disputed, "boundary") == ["310)"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_pages_are_accessible_and_fit(
    page_of: Pages, disputed: Campaign, lead: User, scheme: str, width: int
) -> None:
    page = page_of(lead, color_scheme=scheme, viewport={"width": width, "height": 900})
    case = Case.objects.filter(kind="boundary").get()
    edit_guidelines(campaign=disputed, text="Mark **no** fact.", note="Less.", actor=lead)
    flag = {"flag": "flagged", "flag_reason": "The table is cut off."}
    Assignment.objects.filter(campaign_document__campaign=disputed).update(**flag)
    SuggestionUpload.objects.create(
        campaign=disputed, source_name="m.jsonl", faults=["m.jsonl:1: no"], fault_count=1
    )
    root = f"/campaigns/{disputed.slug}/"
    for address in (
        "/campaigns/",
        "/annotate/",
        root,
        f"{root}people/",
        f"{root}guidelines/",
        f"{root}guidelines/?version=1",
        f"{root}guidelines/?edit",
        f"{root}suggestions/",
        f"{root}agreement/",
        f"{root}adjudication/",
        f"{root}adjudication/{case.pk}/",
        f"{root}release/",
    ):
        page.goto(address)
        found = Axe().run(page, context="main").response["violations"]
        grave = [item["id"] for item in found if item["impact"] in {"serious", "critical"}]
        assert grave == [], f"{address} ({scheme}, {width})"
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, address
