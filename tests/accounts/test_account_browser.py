"""Teams, tokens, export and farewell in a real browser."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from tests.conftest import PASSWORD
from tests.looks import in_both_looks

from .invitations import letter_to
from .teams import team_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Pages = Callable[..., Page]


@pytest.fixture(autouse=True)
def _no_tries_yet() -> None:
    cache.clear()


def test_a_team_from_its_founding_to_a_farewell(page_of: Pages, ann: User, ben: User) -> None:
    mine, his = page_of(ann), page_of(ben)
    mine.goto("/account/")
    mine.get_by_role("link", name="New team").click()
    mine.get_by_label("Name").fill("Fact finders")
    mine.get_by_label("About").fill("We read **filings**.")
    mine.get_by_role("button", name="Make the team").click()
    expect(mine.get_by_role("status")).to_contain_text("“Fact finders” is yours")
    mine.get_by_label("E-mail addresses").fill(f"{ben.email}\nnobody")
    mine.get_by_role("button", name="Invite", exact=True).click()
    expect(mine.get_by_text("Line 2: “nobody” is not an e-mail address.")).to_be_visible()
    mine.get_by_label("E-mail addresses").fill(ben.email)
    mine.get_by_role("button", name="Invite", exact=True).click()
    expect(mine.get_by_role("row", name=ben.email)).to_contain_text("on its way")
    run_due_jobs()

    link = next(word for word in letter_to(ben.email).split() if "/invitations/" in word)
    his.goto("/" + link.split("/", 3)[3])
    his.get_by_role("button", name="Accept").click()
    expect(his.get_by_role("heading", level=1)).to_have_text("Fact finders")
    expect(his.get_by_role("row", name="Ann")).to_be_visible()

    mine.goto("/teams/fact-finders/leave/")
    mine.get_by_role("link", name="Make another member owner").click()
    mine.get_by_role("button", name="Make Ben an owner").click()
    mine.get_by_role("link", name="Leave the team").click()
    mine.get_by_role("button", name="Leave the team").click()
    expect(mine.get_by_role("status")).to_contain_text("You have left “Fact finders”.")
    his.goto("/teams/")
    expect(his.get_by_role("row", name="Fact finders")).to_contain_text("owner")


def test_a_token_an_export_and_the_end(page_of: Pages, ann: User) -> None:
    page = page_of(ann)
    page.goto("/account/")
    page.get_by_label("Used in").fill("notebook")
    page.get_by_label("It may").select_option("read only")
    page.get_by_label("Good for").select_option("30 days")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_text("Copy the token now.")).to_be_visible()
    expect(page.get_by_role("row", name="notebook")).to_contain_text("read only")
    page.get_by_role("link", name="Export your data").click()
    page.get_by_role("button", name="Make a file").click()
    expect(page.get_by_text("being made")).to_be_visible()
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
    page.get_by_label("Your e-mail address").fill(ann.email)
    page.get_by_role("button", name="Delete my account for good").click()
    expect(page.get_by_text("This is not your password.")).to_be_visible()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Delete my account for good").click()
    expect(page.get_by_role("status")).to_contain_text("Your account is deleted.")
    site = page.get_by_role("navigation", name="Site")
    expect(site.get_by_role("link", name="Log in")).to_be_visible()
    run_due_jobs()
    assert not User.objects.filter(pk=ann.pk).exists()


@in_both_looks
def test_pages_are_accessible_and_fit(
    page_of: Pages, ann: User, ben: User, width: int, scheme: str
) -> None:
    team_of(ann, ben, name="A reading group with quite a long name, as groups have them")
    options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    page = page_of(ann, **options)
    page.goto("/account/")
    page.get_by_label("Used in").fill("a program with a long name that needs space")
    page.get_by_role("button", name="Make a token").click()
    team = "/teams/a-reading-group-with-quite-a-long-name-as-groups-have-them/"
    paths = [None, "/account/", "/account/exports/", "/account/delete/", "/teams/", "/teams/new/",
             team, f"{team}people/", f"{team}edit/", f"{team}leave/", f"{team}close/",
             "/terms/", "/privacy/", "/contact/"]  # fmt: skip
    for path in paths:
        if path:
            page.goto(path)
        faults = Axe().run(page).response["violations"]
        assert [fault["id"] for fault in faults] == [], path
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, path
