"""The qualification round in a real browser: failed, tried again, passed; and its looks."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns.people import add_member
from annotation.models import Assignment, Campaign, GoldSpan
from portal.accounts.models import User
from tests.annotation.factories import make_campaign, submit, work_of
from tests.e2e.workbench import mark, open_task, submit_task, wait_saved
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

from .qualification_factories import RIGHT, hold_round, known_release, member_of, trial_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def label_page(page: Page, number: int, *marks: tuple[str, str]) -> None:
    """Marks and submits the open page of the round, or the page behind its link."""
    frame = open_task(page, page.url)
    expect(page.get_by_role("heading", level=1)).to_have_text(f"known-{number}")
    for label, quote in marks:
        mark(page, frame, label, quote)
    wait_saved(page)
    submit_task(page)


@pytest.mark.journey
def test_annotator_fails_tries_again_and_gets_real_pages(
    page_of: PageOf, ann: User, lead: User
) -> None:
    campaign = make_campaign([ann], lead=lead, overlap=1, documents=1)
    known_release(2)
    held = page_of(lead)
    held.goto(f"/campaigns/{campaign.slug}/qualification/")
    held.get_by_role("textbox", name="Documents").fill("known-1\nknown-2")
    held.get_by_role("button", name="Add documents").click()
    expect(held.get_by_text("Added to the qualification: known-1, known-2.")).to_be_visible()

    page = page_of(ann)
    page.goto(f"/annotate/{work_of(ann, campaign).pk}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Qualification needed")
    page.get_by_role("link", name="Go to the qualification").click()
    page.get_by_role("link", name="Start").click()
    label_page(page, 1, *RIGHT)
    label_page(page, 2, RIGHT[0], ("Number", RIGHT[2][1]))
    expect(page.get_by_text("Your F1 is 0.727 over 6 facts")).to_be_visible()
    expect(
        page.get_by_text("known-2: 1 of 3 correct, 1 missed, 1 with a wrong label")
    ).to_be_visible()
    page.goto("/annotate/")
    expect(page.get_by_role("link", name="page-001")).to_have_count(0)

    held.reload()
    held.get_by_role("button", name="Allow Ann another attempt").click()
    expect(held.get_by_text("Ann can retry 1 document.")).to_be_visible()

    page.goto(f"/campaigns/{campaign.slug}/qualification/")
    page.get_by_role("link", name="Continue").click()
    page.wait_for_url(re.compile("/annotate/"))
    frame = open_task(page, page.url)
    page.get_by_role("button", name=f"Remove Number {RIGHT[2][1]}").click()
    for label, quote in RIGHT[1:]:
        mark(page, frame, label, quote)
    wait_saved(page)
    submit_task(page)
    expect(page.get_by_text("You qualified on")).to_be_visible()
    page.get_by_role("link", name="Go to my tasks").click()
    page.get_by_role("link", name="page-001", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("page-001")


def test_lead_qualifies_somebody_by_decision(page_of: PageOf, ann: User, lead: User) -> None:
    campaign = make_campaign([ann], lead=lead, overlap=1)
    hold_round(campaign, 1)
    page = page_of(lead)
    page.goto(f"/campaigns/{campaign.slug}/qualification/")
    page.get_by_text("Qualify manually").click()
    page.get_by_label("Reason to qualify Ann").fill("Wrote the guidelines.")
    page.get_by_role("button", name="Qualify", exact=True).click()
    expect(page.get_by_text("Ann is qualified.")).to_be_visible()
    expect(page.get_by_text("Wrote the guidelines.")).to_be_visible()
    assert member_of(ann, campaign).qualified_at is not None


def shown_off(ann: User, ben: User, lead: User) -> Campaign:
    """A failed round, and gold pages with errors."""
    campaign = make_campaign([ann, ben], lead=lead, documents=3)
    for user, quote in ((ann, "1,200"), (ben, "(310)")):
        for number in (1, 2):
            submit(work_of(user, campaign, number), ("Number", quote))
    for row in campaign.documents.order_by("id")[:2]:
        GoldSpan.objects.create(
            campaign_document=row, label="Number", start=16, end=21, quote="1,200", origin="agreed"
        )
    gold = GoldSpan.objects.values("campaign_document")
    campaign.documents.filter(pk__in=gold).update(stage="gold")
    Assignment.objects.filter(annotator=ann).update(active_seconds=100)
    hold_round(campaign, 2)
    add_member(campaign=campaign, user=lead, role="annotator", actor=None)
    for user in (ann, lead):
        submit(trial_of(user, campaign, 1), RIGHT[0], ("Number", RIGHT[2][1]), ("Number", "Page"))
        submit(trial_of(user, campaign, 2), ("Number", "5.0"))
    return campaign


def test_pages_are_accessible_and_fit(page_of: PageOf, ann: User, ben: User, lead: User) -> None:
    campaign = shown_off(ann, ben, lead)
    faults: list[str] = []
    root = f"/campaigns/{campaign.slug}/"
    seen: dict[User, list[str]] = {
        lead: [f"{root}qualification/", f"{root}quality/", f"{root}quality/?every=5", "/annotate/"],
        ann: [f"{root}qualification/", f"/annotate/{work_of(ann, campaign, 3).pk}/"],
    }
    for user, addresses in seen.items():
        page = page_of(user)
        for address in addresses:
            page.goto(address)
            faults += faults_in_both_looks(page, address, part="main")
    assert faults == []
