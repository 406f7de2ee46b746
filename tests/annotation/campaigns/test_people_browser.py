"""People in a browser: invitation, account, role, reminder, leaving."""

import re
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from playwright.sync_api import expect

from annotation.campaigns.people import add_member
from annotation.models import Assignment, Campaign, Membership, Reminder
from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import email_to
from tests.annotation.factories import make_campaign
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NORA = "nora.with-quite-a-long-address@example.org"
PASSWORD = "battery staple 7"


@pytest.fixture(autouse=True)
def _no_tries_yet() -> None:
    cache.clear()


@pytest.fixture
def trio(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    return make_campaign([ann, ben, cleo], lead=lead, documents=3)


def link_in(text: str) -> str:
    found = re.search(r"http://localhost:\d+(/invitations/\S+)", text)
    assert found is not None
    return found[1]


@pytest.mark.journey
def test_invited_person_signs_up_works_is_reminded_and_leaves(
    page_of: PageOf, trio: Campaign, ann: User, lead: User, settings: Any
) -> None:
    settings.SIGN_UP = "invited"
    desk, guest = page_of(lead), page_of(None, ignore_console=True)
    desk.goto("/campaigns/spring-round/people/")
    desk.get_by_label("Email addresses").fill(f"{NORA}\nnobody")
    desk.get_by_role("button", name="Invite people").click()
    expect(desk.get_by_text("Line 2: “nobody” is not an email address.")).to_be_visible()
    desk.get_by_label("Email addresses").fill(NORA)
    desk.get_by_role("button", name="Invite people").click()
    expect(desk.get_by_role("status")).to_contain_text(f"Invited by email as annotator: {NORA}.")
    expect(desk.get_by_role("row", name=NORA)).to_contain_text("sending")
    run_due_jobs()

    guest.goto("/accounts/signup/")
    expect(guest.get_by_role("heading", level=1)).to_have_text("Sign-up is by invitation")
    guest.goto(link_in(email_to(NORA)))
    expect(guest.get_by_role("heading", level=1)).to_have_text("You are invited")
    guest.locator("main").get_by_role("link", name="Sign up").click()
    expect(guest.get_by_label("Email", exact=True)).to_be_disabled()
    expect(guest.get_by_label("Email", exact=True)).to_have_value(NORA)
    guest.get_by_label("Name").fill("Nora")
    guest.get_by_label("Password", exact=True).fill(PASSWORD)
    guest.get_by_label("Confirm password").fill(PASSWORD)
    guest.get_by_role("button", name="Sign up").click()
    guest.get_by_role("button", name="Accept").click()
    expect(guest.get_by_role("heading", level=1)).to_contain_text("Spring round")
    expect(guest.get_by_role("status")).to_contain_text("You are now an annotator of the campaign")
    nora = User.objects.get(email=NORA)
    assert Membership.objects.get(user=nora).role == "annotator"

    desk.goto("/campaigns/spring-round/waiting/")
    desk.get_by_role("button", name="Remind Ann").click()
    expect(desk.get_by_role("status")).to_contain_text("Reminder sent to Ann.")
    expect(desk.get_by_role("button", name="Remind Ann")).to_be_disabled()
    expect(desk.get_by_role("row", name="Nora")).to_contain_text("none")
    run_due_jobs()
    assert "2 documents to label" in email_to(ann.email)
    assert Reminder.objects.get().user == ann

    guest.get_by_role("link", name="Leave campaign…").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Leave this campaign?")
    guest.get_by_role("button", name="Leave campaign").click()
    expect(guest.get_by_role("status")).to_contain_text("You left “Spring round”.")
    assert not Membership.objects.filter(user=nora).exists()
    assert len(mail.outbox) == 2, "the address was confirmed by the invitation"


def test_other_account_logs_out_and_goes_on_with_the_invited_one(
    page_of: PageOf, trio: Campaign, ann: User, lead: User, stranger: User
) -> None:
    desk, page = page_of(lead), page_of(ann)
    desk.goto("/campaigns/spring-round/people/")
    desk.get_by_label("Email addresses").fill(NORA)
    desk.get_by_label("Role").select_option("reviewer")
    desk.get_by_role("button", name="Invite people").click()
    expect(desk.get_by_role("status")).to_contain_text("as reviewer")
    run_due_jobs()
    page.goto(link_in(email_to(NORA)))
    expect(page.get_by_text("but you are logged in as")).to_be_visible()
    page.get_by_role("button", name="Log out and continue as the invited user").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are invited")
    expect(page.locator("main").get_by_role("link", name="Log in")).to_be_visible()


def test_annotator_with_untouched_pages_leaves_them_to_others(
    page_of: PageOf, trio: Campaign, ann: User
) -> None:
    page = page_of(ann)
    page.goto("/campaigns/spring-round/")
    page.get_by_role("link", name="Leave campaign…").click()
    expect(
        page.get_by_text("The 2 documents you have not started will be reassigned.")
    ).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Spring round")
    page.goto("/campaigns/spring-round/leave/")
    page.get_by_role("button", name="Leave campaign").click()
    expect(page.get_by_role("status")).to_contain_text("You left")
    assert not Assignment.objects.filter(annotator=ann).exists()


def test_pages_are_accessible_and_fit(
    page_of: PageOf, disputed: Campaign, lead: User, organiser: User, ann: User
) -> None:
    add_member(campaign=disputed, user=organiser, role="lead", actor=None)
    desk, visitor, other = (page_of(user) for user in (organiser, None, ann))
    for address in ("/campaigns/spring-round/people/", "/invitations/"):
        desk.goto(address)
        desk.get_by_label("Email addresses").fill(NORA if "camp" in address else f"b.{NORA}")
        desk.get_by_role("button", name="Invite people").click()
        expect(desk.get_by_role("status")).to_contain_text("Invited")
        assert faults_in_both_looks(desk, every=True) == []
    run_due_jobs()
    for address in ("waiting", "leave", "people"):
        desk.goto(f"/campaigns/spring-round/{address}/")
        assert faults_in_both_looks(desk, every=True) == []
    link = link_in(email_to(NORA))
    for page in (visitor, other):
        page.goto(link)
        assert faults_in_both_looks(page, every=True) == []
    visitor.locator("main").get_by_role("link", name="Sign up").click()
    expect(visitor.get_by_label("Password", exact=True)).to_be_visible()
    assert faults_in_both_looks(visitor, every=True) == []
    other.goto("/campaigns/spring-round/leave/")
    assert faults_in_both_looks(other, every=True) == []
