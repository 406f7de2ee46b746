"""Import and export in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, GoldSpan
from portal.accounts.models import User
from tests.fixture_types import PageOf, RunJobs
from tests.looks import faults_in_this_look

from .campaign_files import empty_campaign, exported, finished_campaign, stages

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def finished(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    return finished_campaign(ann, ben, lead, reviewer)


def test_gold_goes_out_of_one_campaign_and_into_another(
    page_of: PageOf,
    finished: Campaign,
    organiser: User,
    run_jobs: RunJobs,
    tmp_path: Path,
) -> None:
    other = empty_campaign(finished)
    page = page_of(organiser)
    page.goto(f"/campaigns/{finished.slug}/export/")
    page.get_by_role("radio", name="JSON Lines with offsets").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "spring-round.gold.jsonl"
    assert path.read_bytes() == exported(finished, "jsonl", "gold")

    page.goto(f"/campaigns/{other.slug}/export/")
    expect(page.locator("#imports")).to_contain_text("No imports yet.")
    page.get_by_label("File").set_input_files(path)
    page.locator("#import").get_by_label("Form").select_option("jsonl")
    page.get_by_role("button", name="Import file").click()
    expect(page.locator("#imports")).to_contain_text("queued")
    run_jobs()
    # The list refreshes without a reload.
    expect(page.locator("#imports")).to_contain_text("done")
    expect(page.locator("#imports tbody tr")).to_have_count(1)
    assert stages(other) == ["gold", "gold"]
    spans = GoldSpan.objects.filter(campaign_document__campaign=finished).count()
    row = page.locator("#imports tbody tr")
    expect(row).to_contain_text(f"{spans}")


def test_what_was_not_placed_is_read_on_the_page(
    page_of: PageOf, finished: Campaign, lead: User, run_jobs: RunJobs, tmp_path: Path
) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"name": "page-009", "spans": []}\n')
    page = page_of(lead)
    page.goto(f"/campaigns/{finished.slug}/export/")
    page.get_by_label("File").set_input_files(path)
    page.locator("#import").get_by_label("Form").select_option("jsonl")
    page.get_by_role("button", name="Import file").click()
    run_jobs()
    told = page.get_by_text("not imported: the dataset has no document named 'page-009'")
    expect(told).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible_and_fits(
    page_of: PageOf, finished: Campaign, organiser: User, run_jobs: RunJobs, width: int
) -> None:
    page = page_of(organiser)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/campaigns/{finished.slug}/export/")
    page.get_by_text("Labelling interface for Label Studio").click()
    assert faults_in_this_look(page) == []
