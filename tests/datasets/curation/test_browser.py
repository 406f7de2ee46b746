"""Curation in a browser: filter and edit, scan and mask, compare duplicates, draw."""

import pytest
from playwright.sync_api import Page, expect

from portal.accounts.models import User
from portal.datasets.models import Dataset, Document, NearDuplicate, PiiFinding, Selection
from tests.datasets.curation.test_duplicates import prose
from tests.datasets.factories import add_image
from tests.factories import empty_dataset, make_document
from tests.fixture_types import PageOf, RunJobs
from tests.looks import faults_in_this_look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def dataset() -> Dataset:
    found = empty_dataset(slug="set", title="Letters", visibility="public")
    words = " ".join(prose(1))
    for name, text in (
        ("letter", "Ask a@example.org or call 212-555-0100 soon"),
        ("page-one", f"{words} 17"),
        ("page-two", f"{words} 18"),
    ):
        add_image(make_document(found, name, f"<p>{text}</p>"))
    Document.objects.filter(name="letter").update(fiscal_year=2024, source="sec.gov")
    return found


def test_filter_then_edit_together(page_of: PageOf, dataset: Dataset, organiser: User) -> None:
    page = page_of(organiser)
    page.goto("/datasets/set/documents/")
    expect(page.get_by_role("row")).to_have_count(4)
    assert faults_in_this_look(page) == []
    page.get_by_text("More filters").click()
    page.get_by_label("Source").select_option("unknown")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_label("Select page-one").check()
    page.get_by_role("button", name="Edit selected").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit 1 document")
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("button", name="Edit all filtered").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit 2 documents")
    page.get_by_label("Change Company").check()
    page.get_by_label("Company (optional)").fill("Acme Corp")
    page.get_by_role("button", name="Change 2 documents").click()
    expect(page.get_by_text("2 documents changed.")).to_be_visible()
    assert Document.objects.filter(company="Acme Corp").count() == 2


def test_one_document_is_edited(page_of: PageOf, dataset: Dataset, organiser: User) -> None:
    page = page_of(organiser)
    page.goto("/datasets/set/documents/letter/")
    page.get_by_role("link", name="Edit document").click()
    expect(page.get_by_label("Other metadata")).to_be_visible()
    assert faults_in_this_look(page) == []
    page.get_by_label("Other metadata").fill("{")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Line 1: not JSON")).to_be_visible()
    page.get_by_label("Other metadata").fill('{"industry": "steel"}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Document saved.")).to_be_visible()
    assert Document.objects.get(name="letter").metadata == {"industry": "steel"}


def searched(page: Page, url: str, button: str, run_jobs: RunJobs) -> None:
    """Starts the search on a page, which lists what a worker has found."""
    page.goto(url)
    assert faults_in_this_look(page) == []
    page.get_by_role("button", name=button).click()
    run_jobs()
    page.goto(url)


def test_scan_then_mask(
    page_of: PageOf, dataset: Dataset, organiser: User, run_jobs: RunJobs
) -> None:
    page = page_of(organiser)
    searched(page, "/datasets/set/personal-data/", "Scan documents", run_jobs)
    expect(page.locator("mark")).to_have_text(["a@example.org", "212-555-0100"])
    assert faults_in_this_look(page) == []
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_label("Reason").fill("a private letter")
    page.get_by_role("button", name="Mask selected").click()
    expect(page.get_by_text("2 findings masked.")).to_be_visible()
    expect(page.get_by_text("The masked documents have no page images.")).to_be_visible()
    expect(page.get_by_text("masked as letter-masked").first).to_be_visible()
    assert set(PiiFinding.objects.values_list("decision", flat=True)) == {"masked"}
    page.goto("/datasets/set/documents/letter-masked/")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Ask █████████████ or call")).to_be_visible()


def test_duplicates_are_compared(
    page_of: PageOf, dataset: Dataset, organiser: User, run_jobs: RunJobs
) -> None:
    page = page_of(organiser)
    searched(page, "/datasets/set/duplicates/", "Find duplicates", run_jobs)
    page.get_by_role("link", name="Compare page-one and page-two").click()
    expect(page.frame_locator("iframe").nth(1).get_by_text("18")).to_be_visible()
    assert faults_in_this_look(page) == []
    page.get_by_role("button", name="Hold back second").click()
    expect(page.get_by_text("second document held back").first).to_be_visible()
    assert NearDuplicate.objects.get().decision == "held"
    assert Document.objects.get(name="page-two").held_reason == "near-duplicate of page-one"


def test_selection_is_drawn_and_drawn_again(
    page_of: PageOf, dataset: Dataset, organiser: User
) -> None:
    page = page_of(organiser)
    page.goto("/datasets/set/selections/")
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="New selection").click()
    page.get_by_label("fiscal year").check()
    page.get_by_label("The same number from each stratum").check()
    page.get_by_label("Number", exact=True).fill("1")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Preview strata").click()
    expect(page.get_by_role("heading", name="2 of 3 documents")).to_be_visible()
    assert faults_in_this_look(page) == []
    page.get_by_label("Title").fill("One a year")
    page.get_by_role("button", name="Save selection").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("One a year")
    assert faults_in_this_look(page) == []
    page.get_by_role("link", name="Draw again and compare").click()
    expect(page.get_by_text("The new draw contains the same documents.")).to_be_visible()
    assert Selection.objects.get().documents.count() == 2
    page.get_by_role("link", name="Create a campaign").click()
    documents = page.get_by_role("combobox", name="Documents")
    expect(documents).to_have_value(str(Selection.objects.get().pk))


def test_content_page_is_accessible(page_of: PageOf, dataset: Dataset, organiser: User) -> None:
    page = page_of(organiser)
    page.goto("/datasets/set/content/")
    assert faults_in_this_look(page) == []
    expect(page.get_by_text("3 documents with text, not including")).to_be_visible()
