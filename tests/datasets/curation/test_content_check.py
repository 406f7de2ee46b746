"""The check for required content: its report and the pages it holds back."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.curation.services import check_content, check_content_options, lacks
from portal.datasets.dataset_tasks import OptionsError, Steps, TaskStopped, run_here
from portal.datasets.documents.content_rules import CONTENTS
from portal.datasets.models import Dataset, DatasetTask, Document
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db

TABLE = (
    "<table><tr><td>Sales *</td><td>1,200</td><td>1,100</td></tr>"
    "<tr><td>Costs</td><td>900</td><td>800</td></tr></table>"
)
FULL = f"<p>At March 31, 2025</p>{TABLE}<p>* Unaudited</p>"


@pytest.fixture
def dataset() -> Dataset:
    found = empty_dataset(slug="set")
    make_document(found, "full", FULL)
    make_document(found, "table", f"{TABLE}<p>Nothing else</p>")
    make_document(found, "words", "<p>Words alone</p>")
    return found


def check(dataset: Dataset, **options: Any) -> DatasetTask:
    return run_here(
        dataset=dataset,
        kind=DatasetTask.Kind.CONTENT,
        run=check_content,
        options=check_content_options(options),
    )


def test_reports_missing_content(dataset: Dataset) -> None:
    report = check(dataset).report
    assert report["counts"] == {
        "documents checked": 3,
        "with all required content": 1,
        "without a footnote": 2,
        "without a date in the text": 2,
        "without a numeric table": 1,
    }
    assert [(fault["name"], fault["reason"]) for fault in report["faults"]] == [
        ("table", "lacks a footnote and a date in the text"),
        ("words", "lacks a numeric table, a footnote and a date in the text"),
    ]
    assert not Document.objects.filter(state="held").exists()


def test_holds_back_when_asked(dataset: Dataset) -> None:
    check(dataset, required=["numeric_table"], hold=True)
    held = Document.objects.filter(state="held").values_list("name", "held_reason")
    assert list(held) == [("words", "lacks a numeric table")]
    # A second run skips it.
    assert check(dataset, required=["numeric_table"]).report["counts"]["documents checked"] == 2


def test_checks_the_filtered_pages(dataset: Dataset) -> None:
    Document.objects.filter(name="words").update(fiscal_year=2024)
    report = check(dataset, filter={"year": "2024"}).report
    assert report["counts"]["documents checked"] == 1


def test_stops_when_asked(dataset: Dataset) -> None:
    task = DatasetTask.objects.create(
        dataset=dataset, kind="content", options=check_content_options({"hold": True})
    )
    with pytest.raises(TaskStopped):
        check_content(task, Steps(lambda *_: None, lambda: True))
    assert not Document.objects.filter(state="held").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"required": []},
        {"required": ["poem"]},
        {"required": "footnote"},
        {"hold": "yes"},
        {"filter": []},
        {"filter": {"colour": "red"}},
        {"filter": {"year": "x"}},
        {"filter": {"min_facts": "1"}},
        {"other": 1},
    ],
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(OptionsError):
        check_content_options(options)


def test_words() -> None:
    assert lacks(["footnote"]) == "lacks a footnote"
    assert lacks(CONTENTS) == "lacks a numeric table, a footnote and a date in the text"


def test_page_shows_the_number_and_starts_a_task(
    dataset: Dataset, organiser: User, client_of: Any
) -> None:
    Document.objects.filter(name="words").update(fiscal_year=2024)
    client = client_of(organiser)
    assert (
        "3 documents with text, not including"
        in client.get("/datasets/set/content/").content.decode()
    )
    page = client.get("/datasets/set/content/?fiscal_year=2024").content.decode()
    assert "1 filtered document with text, not including" in page
    answers = {"filter": "fiscal_year=2024", "required": ["footnote"], "action": "hold"}
    response = client.post("/datasets/set/content/", answers)
    task = DatasetTask.objects.get()
    assert response["Location"] == task.get_absolute_url()
    assert task.options == {"required": ["footnote"], "hold": True, "filter": {"year": "2024"}}
    assert client.post("/datasets/set/content/", {"action": "hold"}).status_code == 400


def test_document_page_shows_organisers_its_content(
    dataset: Dataset, organiser: User, client_of: Any
) -> None:
    shown = client_of(organiser).get("/datasets/set/documents/full/").content.decode()
    assert "numeric table, footnote, date in the text" in shown
    Dataset.objects.update(visibility="public")
    assert (
        "numeric table" not in client_of(None).get("/datasets/set/documents/full/").content.decode()
    )
