"""Teams, tokens, exports and account deletion in a browser."""

import io
import re
import zipfile

import pytest
from allauth.account.models import EmailAddress
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import email_to
from tests.accounts.teams.people import team_of
from tests.conftest import PASSWORD
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NORA, SECRET = "nora@example.org", "battery staple 7"


@pytest.mark.journey
def test_a_visitor_signs_up_confirms_the_address_and_logs_in_again(page_of: PageOf) -> None:
    page = page_of(None)
    site = page.get_by_role("navigation", name="Site")
    page.goto("/")
    site.get_by_role("link", name="Boards").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Boards")
    site.get_by_role("link", name="Sign up").click()
    page.get_by_label("Name").fill("Nora")
    page.get_by_label("Email", exact=True).fill(NORA)
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_label("Confirm password").fill(SECRET)
    page.locator("main").get_by_role("button", name="Sign up").click()
    expect(page.get_by_text(f"We sent a confirmation link to {NORA}.")).to_be_visible()
    nora = EmailAddress.objects.get(email=NORA)
    assert not nora.verified
    link = re.search(r"/accounts/confirm-email/\S+", email_to(NORA))
    assert link
    page.goto(link[0])
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("status")).to_contain_text("confirmed")
    nora.refresh_from_db()
    assert nora.verified

    page.locator("details.menu > summary").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("status")).to_contain_text("You are logged out.")
    site.get_by_role("link", name="Log in").click()
    page.get_by_label("Email").fill(NORA)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_text("incorrect")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.locator("main").get_by_role("button", name="Log in").click()
    page.wait_for_url("**/start/")
    expect(page.locator("details.menu > summary")).to_contain_text("Nora")


def test_a_team_from_its_founding_to_a_farewell(page_of: PageOf, ann: User, ben: User) -> None:
    mine, his = page_of(ann), page_of(ben)
    mine.goto("/account/")
    mine.get_by_role("link", name="New team").click()
    mine.get_by_label("Name").fill("Fact finders")
    mine.get_by_label("About").fill("We read **filings**.")
    mine.get_by_role("button", name="Create team").click()
    expect(mine.get_by_role("status")).to_contain_text("Team “Fact finders” created")
    mine.get_by_label("Email addresses").fill(f"{ben.email}\nnobody")
    mine.get_by_role("button", name="Invite people").click()
    expect(mine.get_by_text("Line 2: “nobody” is not an email address.")).to_be_visible()
    mine.get_by_label("Email addresses").fill(ben.email)
    mine.get_by_role("button", name="Invite people").click()
    expect(mine.get_by_role("row", name=ben.email)).to_contain_text("sending")
    run_due_jobs()

    link = next(word for word in email_to(ben.email).split() if "/invitations/" in word)
    his.goto("/" + link.split("/", 3)[3])
    his.get_by_role("button", name="Accept").click()
    expect(his.get_by_role("heading", level=1)).to_have_text("Fact finders")
    expect(his.get_by_role("row", name="Ann")).to_be_visible()

    mine.goto("/teams/fact-finders/leave/")
    mine.get_by_role("link", name="Make another member an owner").click()
    mine.get_by_role("button", name="Make Ben an owner").click()
    mine.get_by_role("link", name="Leave team").click()
    mine.get_by_role("button", name="Leave team").click()
    expect(mine.get_by_role("status")).to_contain_text("You have left “Fact finders”.")
    his.goto("/teams/")
    expect(his.get_by_role("row", name="Fact finders")).to_contain_text("owner")


def test_a_token_an_export_and_the_end(page_of: PageOf, ann: User) -> None:
    page = page_of(ann)
    page.goto("/account/")
    page.get_by_label("Token name").fill("notebook")
    page.get_by_label("Scope").select_option("Read only")
    page.get_by_label("Expiration").select_option("30 days")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_text("Copy the token now.")).to_be_visible()
    expect(page.get_by_role("row", name="notebook")).to_contain_text("Read only")
    page.get_by_role("link", name="Export your data").click()
    page.get_by_role("button", name="Request export").click()
    expect(page.get_by_text("in progress")).to_be_visible()
    run_due_jobs()
    download_link = page.get_by_role("link", name="Download the export")
    expect(download_link).to_be_visible()
    with page.expect_download() as download:
        download_link.click()
    data = download.value.path().read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert b"notebook" in archive.read("tokens.jsonl")

    page.goto("/account/")
    page.get_by_role("link", name="Delete your account").click()
    page.get_by_label("Your password").fill("wrong")
    page.get_by_label("Your email address").fill(ann.email)
    page.get_by_role("button", name="Delete account permanently").click()
    expect(page.get_by_text("The password is incorrect.")).to_be_visible()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Delete account permanently").click()
    expect(page.get_by_role("status")).to_contain_text("Account deleted.")
    site = page.get_by_role("navigation", name="Site")
    expect(site.get_by_role("link", name="Log in")).to_be_visible()
    run_due_jobs()
    assert not User.objects.filter(pk=ann.pk).exists()


def test_pages_are_accessible_and_fit(page_of: PageOf, ann: User, ben: User) -> None:
    team_of(ann, ben, name="A reading group with quite a long name, as groups have them")
    page = page_of(ann)
    faults: list[str] = []
    page.goto("/account/")
    page.get_by_label("Token name").fill("a program with a long name that needs space")
    page.get_by_role("button", name="Create token").click()
    team = "/teams/a-reading-group-with-quite-a-long-name-as-groups-have-them/"
    paths = [None, "/account/", "/account/exports/", "/account/delete/", "/teams/", "/teams/new/",
             team, f"{team}people/", f"{team}edit/", f"{team}leave/", f"{team}close/",
             "/terms/", "/privacy/", "/contact/"]  # fmt: skip
    for path in paths:
        if path:
            page.goto(path)
        faults += faults_in_both_looks(page, every=True)
    assert faults == []
