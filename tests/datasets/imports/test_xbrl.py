"""Importing inline XBRL: its facts are stored apart from the canonical HTML."""

from collections.abc import Callable

import pytest

from portal.accounts.models import User
from portal.datasets.imports.services import start_import
from portal.datasets.models import ImmutableRowError, ImportItem, ImportRun, XbrlFacts
from tests.datasets.factories import page, zip_upload
from tests.factories import empty_dataset

pytestmark = pytest.mark.django_db

FACT = '<ix:nonFraction name="us-gaap:Revenues">1,200</ix:nonFraction>'


@pytest.fixture
def imported(organiser: User, run_jobs: Callable[[], int]) -> Callable[[bytes], ImportRun]:
    dataset = empty_dataset()

    def run(content: bytes) -> ImportRun:
        upload = zip_upload({"pages/a.html": content})
        run = start_import(dataset=dataset, upload=upload, source_name="a.zip", actor=organiser)
        run_jobs()
        return run

    return run


def test_tagged_facts_are_kept_with_their_places(imported: Callable[[bytes], ImportRun]) -> None:
    imported(page(f"Net sales {FACT} at March 31"))
    kept = XbrlFacts.objects.get()
    assert kept.facts == [[10, 15, "number", "us-gaap:Revenues"]]
    assert kept.document.content.text[10:15] == "1,200"


def test_page_without_tags_has_no_row(imported: Callable[[bytes], ImportRun]) -> None:
    imported(page())
    assert not XbrlFacts.objects.exists()


def test_fact_that_the_page_hides_is_left_out_and_counted(
    imported: Callable[[bytes], ImportRun],
) -> None:
    hidden = f'<span style="display:none">{FACT}</span>'
    run = imported(page(f"Net sales {hidden}{FACT}"))
    assert [fact[:2] for fact in XbrlFacts.objects.get().facts] == [[10, 15]]
    item = ImportItem.objects.get(run=run)
    assert "inline XBRL of 1 fact not imported: the page hides the text" in item.reason


def test_page_whose_tags_cannot_be_placed_is_imported_with_the_reason(
    imported: Callable[[bytes], ImportRun],
) -> None:
    # A browser moves the texts 9 and 1,200 above the table, so the facts overlap.
    crossing = FACT.replace("1,200", "9<tr><td>4</td></tr>")
    run = imported(page(f"<table>{crossing}{FACT}</table>"))
    item = ImportItem.objects.get(run=run)
    assert item.outcome == "imported"
    assert "inline XBRL not imported: line " in item.reason
    assert "the facts conflict" in item.reason
    assert not XbrlFacts.objects.exists()


def test_kept_facts_never_change(imported: Callable[[bytes], ImportRun]) -> None:
    imported(page(f"Net sales {FACT}"))
    with pytest.raises(ImmutableRowError):
        XbrlFacts.objects.get().save()
