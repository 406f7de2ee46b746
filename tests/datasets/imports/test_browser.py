"""Imports in a real browser: a filing is imported, and another file is refused."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.datasets.models import ImportRun
from tests.datasets.factories import zip_bytes
from tests.factories import empty_dataset
from tests.fixture_types import PageOf, RunJobs

from .layouts import FILING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.journey
def test_filing_is_imported_and_its_page_opened(
    page_of: PageOf, organiser: User, run_jobs: RunJobs, tmp_path: Path
) -> None:
    empty_dataset(slug="set", title="Set")
    path = tmp_path / "filings.zip"
    path.write_bytes(zip_bytes({"acme.htm": FILING, "bad.htm": "<p> </p>"}))
    page = page_of(organiser)
    page.goto("/datasets/set/import/")
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("radio", name="SEC filings (split into documents on import)").check()
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#report")).to_contain_text("Waiting for a worker")
    run_jobs()
    # The report refreshes without a reload.
    expect(page.locator("#report")).to_contain_text("3 of 3 items")
    expect(page.locator("#report tbody tr")).to_have_count(3)
    assert Axe().run(page).response["violations"] == []
    page.locator("#show-refused").click()
    expect(page.locator("#report tbody tr")).to_have_count(1)
    expect(page.locator("#report tbody")).to_contain_text("bad.htm:page 1")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    run = ImportRun.objects.get()
    assert download.value.suggested_filename == f"import-{run.pk}-refused.csv"
    page.locator("#show-imported").click()
    page.get_by_role("link", name="acme_p002").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("acme_p002")
    expect(page.frame_locator("iframe").locator("body")).to_contain_text("assets 3,400")


def test_file_that_is_no_filing_is_refused_at_its_field(
    page_of: PageOf, organiser: User, tmp_path: Path
) -> None:
    empty_dataset(slug="set", title="Set")
    path = tmp_path / "notes.docx"
    path.write_bytes(b"x")
    page = page_of(organiser, ignore_console=True)
    page.goto("/datasets/set/import/")
    page.get_by_role("radio", name="SEC filings (split into documents on import)").check()
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".field-errors")).to_contain_text("notes.docx: this format accepts .zip")
    expect(
        page.get_by_role("radio", name="SEC filings (split into documents on import)")
    ).to_be_checked()
    assert not ImportRun.objects.exists()
