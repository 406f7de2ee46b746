"""The path of a release in a real browser: frozen, licensed, downloaded, compared."""

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.datasets.models import Release
from tests.datasets.releases.worlds import page_records
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def freeze(page: Page, version: str) -> None:
    page.goto("/datasets/records/releases/new/")
    page.get_by_label("Gold", exact=True).select_option(label="Imported records: FinCriticalED")
    page.get_by_label("Version").fill(version)
    page.get_by_text("Splits", exact=True).click()
    page.get_by_label("Split (optional)", exact=True).select_option("draw")
    page.get_by_label("Licence").fill("CC-BY-4.0")
    page.get_by_text("Citation", exact=True).click()
    page.get_by_label("Authors").fill("Doe, Jane")


@pytest.mark.journey
def test_a_release_from_records_to_the_reader(
    page_of: PageOf, organiser: User, researcher: User, tmp_path: Path
) -> None:
    dataset = page_records()
    page = page_of(organiser)
    # The first page waits for all of the site's code to be loaded.
    page.set_default_timeout(30_000)
    freeze(page, "1.0.0")
    assert faults_in_this_look(page) == []
    page.get_by_role("button", name="Freeze release").click()
    expect(page.get_by_role("heading", name="Records 1.0.0")).to_be_visible()
    expect(page.get_by_text("Release 1.0.0 is frozen.")).to_be_visible()
    assert faults_in_this_look(page) == []
    # A second version with a document less, whose notes are drafted first.
    held = Release.objects.get().items.filter(split="dev").first()
    assert held is not None
    dataset.documents.filter(name=held.name).update(state="held", held_reason="x")
    freeze(page, "1.1.0")
    page.get_by_role("button", name="Generate release notes").click()
    expect(page.get_by_label("Notes")).to_have_value(
        f"Since 1.0.0: items 0 added, 1 removed, 0 changed, 3 unchanged. Facts 0 added,"
        f" 1 removed, 0 changed.\n\n### Items removed\n\n- `{held.name}` (1 fact)\n"
    )
    page.get_by_role("button", name="Freeze release").click()
    expect(page.get_by_role("heading", name="Records 1.1.0")).to_be_visible()

    reader = page_of(researcher)
    reader.goto("/datasets/records/releases/1.1.0/")
    reader.get_by_role("link", name="Starter kit (ZIP)").click()
    expect(reader.get_by_role("heading", name="Licence")).to_be_visible()
    assert faults_in_this_look(reader) == []
    reader.get_by_label("I accept this licence").check()
    reader.get_by_role("button", name="Accept licence").click()
    expect(reader.get_by_text("Licence of release 1.1.0 accepted.")).to_be_visible()
    with reader.expect_download() as download:
        reader.get_by_role("link", name="Starter kit (ZIP)").click()
    path = tmp_path / "kit.zip"
    download.value.save_as(path)
    with zipfile.ZipFile(path) as kit:
        assert "submission.jsonl" in kit.namelist()
    assert faults_in_this_look(reader) == []

    public = page_of(None)
    public.goto("/datasets/records/releases/")
    assert faults_in_this_look(public) == []
    public.get_by_role("link", name="Since 1.0.0").click()
    expect(public.get_by_role("heading", name=held.name)).to_be_visible()
    expect(public.get_by_text("removed", exact=True)).to_be_visible()
    assert faults_in_this_look(public) == []
