"""A variant in a browser: created by a worker, with a contact sheet."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.datasets.models import Dataset
from tests.datasets.factories import make_release
from tests.looks import faults_in_this_look

from .factories import base_dataset

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_variant_from_the_form_to_the_contact_sheet(
    page_of: Callable[..., Page], organiser: User, run_jobs: Callable[[], int]
) -> None:
    make_release(base_dataset())
    page = page_of(organiser)
    page.goto("/datasets/base/")
    page.get_by_role("link", name="Variants").click()
    page.get_by_role("link", name="New variant").first.click()
    page.get_by_label("Simulated capture").select_option("off_axis")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Create variant").click()
    expect(page.get_by_text("Creating the variant.")).to_be_visible()
    run_jobs()
    page.goto("/datasets/base/variants/")
    expect(page.get_by_text("simulated: off-axis viewpoint 0.5")).to_be_visible()
    sheet = page.get_by_role("img", name="Contact sheet")
    sheet.scroll_into_view_if_needed()
    expect(sheet).to_have_js_property("complete", value=True)
    assert sheet.evaluate("image => image.naturalWidth") == 4 * 272 + 12
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="1.0.0").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("simulated: off-axis")
    assert Dataset.objects.get(derived_from__isnull=False).visibility == "private"
