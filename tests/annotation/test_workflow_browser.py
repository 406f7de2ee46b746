"""A lead's workflow in a browser: settings, screening by keyboard, calibration, handing over."""

import pytest
from playwright.sync_api import Page, expect

from annotation.assignments.handing_over import hand_over
from annotation.campaigns.services import open_campaign
from annotation.models import Assignment, Campaign, CampaignDocument, Span
from annotation.screening.services import screen_document
from portal.accounts.models import User
from tests.e2e.workbench import open_task, press_label, wait_saved
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

from .factories import document_of, make_campaign, save, submit, work_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Stage = CampaignDocument.Stage
ROOT = "/campaigns/spring-round/"


@pytest.fixture
def draft(ann: User, ben: User, cleo: User, lead: User, reviewer: User) -> Campaign:
    return make_campaign([ann, ben, cleo], lead=lead, reviewer=reviewer, documents=4, opened=False)


def on_page(page: Page, name: str) -> None:
    """Waits for a page in screening until its shortcuts work."""
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator("[data-screening]")).to_have_attribute("data-ready", "true")


def stages(campaign: Campaign) -> list[str]:
    rows = CampaignDocument.objects.filter(campaign=campaign).order_by("document__name")
    return list(rows.values_list("stage", flat=True))


@pytest.mark.journey
def test_lead_prepares_and_steers_a_campaign(
    page_of: PageOf, draft: Campaign, ann: User, cleo: User, lead: User
) -> None:
    page = page_of(lead)
    page.goto(f"{ROOT}settings/")
    page.get_by_label("Screen documents before annotation").check()
    page.get_by_label("Gold documents between reviews").fill("10")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("status")).to_contain_text("Settings saved.")
    page.goto(f"{ROOT}documents/")
    page.get_by_label("page-001").check()
    page.get_by_role("button", name="Add to calibration set").click()
    expect(page.get_by_role("status")).to_contain_text("1 document added to the calibration set.")
    page.goto(ROOT)
    page.get_by_role("button", name="Open campaign").click()
    page.get_by_role("link", name="Screen", exact=True).click()
    page.get_by_role("link", name="Screen next document").click()
    screen_by_key(page)
    assert stages(draft) == [Stage.ANNOTATION, Stage.EXCLUDED, Stage.ANNOTATION, Stage.ANNOTATION]
    assert document_of(draft).assignments.count() == 3
    page.goto(f"{ROOT}assignments/?annotator={ann.pk}")
    page.get_by_role("combobox", name="New annotator of page-003, now with Ann").select_option(
        label="Cleo (2 open)"
    )
    page.get_by_role("button", name="Reassign page-003 of Ann").click()
    expect(page.get_by_role("status")).to_contain_text("page-003 reassigned from Ann to Cleo.")
    assert work_of(cleo, draft, 3)


def screen_by_key(page: Page) -> None:
    """page-001 intact · page-002 intact, undone, faulty · page-003 and page-004 intact."""
    on_page(page, "page-001")
    page.keyboard.press("i")
    on_page(page, "page-002")
    page.keyboard.press("i")
    on_page(page, "page-003")
    page.keyboard.press("u")
    on_page(page, "page-002")
    frame = page.frame(url="**/html/")
    assert frame is not None
    frame.locator("body").click()  # The shortcuts also work inside the page.
    page.keyboard.press("f")
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("if columns run together, u cannot read it")
    page.keyboard.press("Control+Enter")
    on_page(page, "page-003")
    page.keyboard.press("i")
    on_page(page, "page-004")
    page.keyboard.press("i")
    expect(page.get_by_role("status")).to_contain_text("All documents have been screened.")
    verdict = document_of(Campaign.objects.get(), 2).screenings.last()
    assert verdict is not None
    assert (verdict.faults, verdict.reason) == (
        ["ocr", "layout"],
        "if columns run together, u cannot read it",
    )


def test_unsent_labels_of_handed_over_work_stay_in_the_browser(
    page_of: PageOf, draft: Campaign, ann: User, lead: User
) -> None:
    open_campaign(campaign=draft, actor=lead)
    work = work_of(ann, draft)
    save(work, ("Number", "1,200"))
    page = page_of(ann)
    frame = open_task(page, f"/annotate/{work.pk}/")
    hand_over(assignment=work, heir=None, actor=lead)
    press_label("1", frame, "(310)")
    expect(page.locator("[data-hint]")).to_contain_text(
        "This document was reassigned to another annotator. You can no longer change it. "
        "Unsaved labels are stored in this browser."
    )
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Document reassigned")
    # The lead hands the work back: nothing is lost.
    Assignment.objects.filter(pk=work.pk).update(state=Assignment.State.IN_PROGRESS)
    open_task(page, f"/annotate/{work.pk}/")
    wait_saved(page)
    assert sorted(span.quote for span in work.spans.all()) == ["(310)", "1,200"]


def test_pages_are_accessible_and_fit(
    page_of: PageOf, draft: Campaign, ann: User, lead: User, organiser: User
) -> None:
    Campaign.objects.update(screening=True)
    draft.refresh_from_db()
    open_campaign(campaign=draft, actor=lead)
    for number in (1, 2):
        screen_document(campaign_document=document_of(draft, number), verdict="intact", actor=lead)
    reason = "The columns of the table run together. " * 5
    screen_document(
        campaign_document=document_of(draft, 3), verdict="faulty", faults=["ocr"], reason=reason,
        actor=lead,
    )  # fmt: skip
    in_validation(draft)
    lead.is_organiser = True
    lead.save()
    page = page_of(lead)
    faults: list[str] = []
    for address in (
        ROOT,
        f"{ROOT}settings/",
        f"{ROOT}documents/",
        f"{ROOT}assignments/",
        f"{ROOT}assignments/?annotator={ann.pk}",
        f"{ROOT}screening/",
        f"{ROOT}screening/?state=excluded",
        f"{ROOT}screening/page-003/",
        f"{ROOT}screening/page-004/",
        f"{ROOT}validation/",
        f"{ROOT}release/",
        "/campaigns/new/",
    ):
        page.goto(address)
        for summary in page.locator("main summary").all():
            summary.click()
        faults += faults_in_both_looks(page, address, part="main")
    assert faults == []


def in_validation(campaign: Campaign) -> None:
    """Page 1 failed validation: a quote differs from the text."""
    for work in document_of(campaign).assignments.all():
        save(work, ("Number", "1,200"))
        Span.objects.filter(assignment=work).update(quote="9,999")
        submit(work)
    assert document_of(campaign).stage == Stage.VALIDATION
