"""A dispute in a browser: raised by a researcher, accepted by a lead, settled by a release."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.datasets.models import Dispute
from tests.looks import faults_in_this_look

from .factories import lead_of, released

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_dispute_from_the_release_to_the_notes_of_the_next(
    page_of: Callable[..., Page], researcher: User, lead: User, organiser: User
) -> None:
    lead_of(lead, released().dataset)
    page = page_of(researcher)
    page.goto("/datasets/world/releases/1.0.0/")
    page.get_by_role("row", name="a").get_by_role("link", name="2", exact=True).click()
    page.get_by_role("link", name="Dispute fact 0").click()
    page.get_by_label("Correct fact").fill("1,300")
    page.get_by_label("Reason").fill("The page says so.")
    assert faults_in_this_look(page) == []
    page.get_by_role("button", name="Raise dispute").click()
    expect(page.get_by_text("Dispute raised")).to_be_visible()
    number = Dispute.objects.get().pk

    page = page_of(lead)
    page.goto("/datasets/world/disputes/?state=open")
    page.get_by_role("row", name="1,300").get_by_role("link", name=str(number)).click()
    page.get_by_label("Answer").fill("You are right.")
    assert faults_in_this_look(page) == []
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text(f"Dispute {number} is accepted.")).to_be_visible()

    new = released(version="1.1.0", number="77")
    page = page_of(organiser)
    page.goto(f"/datasets/world/releases/{new.version}/")
    expect(page.get_by_text(f"Dispute {number}: a, fact 0: 1,300")).to_be_visible()
    page.goto(f"/datasets/world/disputes/{number}/")
    expect(page.get_by_text("Resolved in")).to_be_visible()
    page.get_by_role("link", name="1.1.0").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1.1.0")
