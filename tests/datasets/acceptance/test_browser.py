"""Acceptance and statistics in a browser: a batch from opening to report."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.datasets.models import Batch, Dataset, Inspection
from tests.datasets.acceptance.factories import make_batch, receipts
from tests.datasets.factories import make_world
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


BATCHES = "/datasets/receipts/batches/"


@pytest.fixture
def dataset(db: None) -> Dataset:
    return receipts(2, image=True)


def on(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator("[data-inspection]")).to_have_attribute("data-ready", "true")


def test_batch_from_opening_to_report(
    page_of: PageOf, dataset: Dataset, organiser: User, tmp_path: Path
) -> None:
    page = page_of(organiser)
    page.goto(BATCHES)
    page.get_by_role("link", name="New batch").first.click()
    page.get_by_label("Fields to inspect").select_option("records")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Create batch").click()
    page.get_by_role("link", name="Inspect next document").click()
    on(page, "r001")
    # By keyboard: right, wrong with a correct value, right.
    page.keyboard.press("y")
    expect(page.locator("#said-1")).to_contain_text("correct")
    page.keyboard.press("n")
    page.keyboard.type("8.00")
    page.keyboard.press("Escape")
    expect(page.locator("#said-2")).to_contain_text("wrong")
    page.keyboard.press("j")
    page.keyboard.press("y")
    expect(page.locator("#inspected-progress")).to_contain_text("3 of 3 fields")
    page.keyboard.press("u")
    on(page, "r002")
    stored = {row.field: (row.is_right, row.correct_value) for row in Inspection.objects.all()}
    assert stored == {"seller": (True, None), "total": (False, "8.00"), "items": (True, None)}
    for _ in range(3):
        page.keyboard.press("y")
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Batch 1")
    expect(page.locator("main")).to_contain_text(
        "total can no longer reach the required accuracy of 97.0%"
    )
    page.get_by_role("button", name="Reject batch").click()
    expect(page.locator("main")).to_contain_text("Rejected: total is below")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="JSON").click()
    path = tmp_path / "report.json"
    waiting.value.save_as(path)
    report = json.loads(path.read_text(encoding="utf-8"))
    assert (report["state"], report["failing"]) == ("rejected", ["total"])
    assert report["errors"][0]["correct_value"] == "8.00"


def test_verdict_of_another_inspector_is_shown(
    page_of: PageOf, dataset: Dataset, organiser: User, lead: User
) -> None:
    lead.is_organiser = True
    lead.save()
    make_batch(dataset, sample=2)
    first, second = page_of(organiser), page_of(lead)
    for page in (first, second):
        page.goto(f"{BATCHES}1/inspect/r001/")
        on(page, "r001")
    first.keyboard.press("y")
    expect(first.locator("#said-1")).to_contain_text("correct")
    second.keyboard.press("n")
    expect(second.locator("#said-1")).to_contain_text("Olga marked this field as correct")
    second.keyboard.press("Escape")
    second.keyboard.press("n")
    expect(second.locator("#said-1")).to_contain_text("wrong")
    assert Inspection.objects.get().inspector == lead


def test_unsaved_verdict_is_shown(page_of: PageOf, dataset: Dataset, organiser: User) -> None:
    make_batch(dataset, sample=2)
    page = page_of(organiser, ignore_console=True)
    page.goto(f"{BATCHES}1/inspect/r001/")
    on(page, "r001")
    page.context.set_offline(True)
    page.keyboard.press("y")
    expect(page.locator("#said-1")).to_contain_text("Not saved")
    page.context.set_offline(False)
    page.locator("#field-1").focus()
    page.keyboard.press("y")
    expect(page.locator("#said-1")).to_contain_text("correct")
    expect(page.locator("#said-1")).not_to_contain_text("Not saved")


def test_pages_are_accessible_and_fit(page_of: PageOf, dataset: Dataset, organiser: User) -> None:
    make_world("public", "public")
    make_batch(dataset, sample=1, size=1)
    assert Batch.objects.count() == 1
    page = page_of(organiser)
    faults: list[str] = []
    for path in (
        "/datasets/world/statistics/",
        BATCHES,
        f"{BATCHES}new/",
        f"{BATCHES}1/",
        f"{BATCHES}1/inspect/r001/",
    ):
        page.goto(path)
        faults += faults_in_both_looks(page, path, every=True)
    assert faults == []
