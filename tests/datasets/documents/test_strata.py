"""Strata of receipts, FCMBench and CC-OCR: imported, filtered, counted, drawn and split."""

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.curation.draws import SplitDraw
from portal.datasets.curation.services import DrawSpec, create_selection, draw
from portal.datasets.documents.table import DocumentFilter, document_facets, filter_documents
from portal.datasets.models import Dataset, Document
from portal.datasets.models.documents import strata_of
from portal.datasets.releases.freezing import gold_of_records
from portal.datasets.releases.services import freeze_gold
from tests.datasets.factories import png
from tests.datasets.imports.layouts import import_files
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


QUESTIONS = [
    ("a1", "KIE", "inf_ext_001", "Normal Captures"),
    ("a2", "KIE", "inf_ext_001", "Out-of-focus"),
    ("a3", "NC", "en.num_cal_001", "Out-of-focus"),
]


@pytest.fixture
def questions(tmp_path: Path) -> Dataset:
    """Three questions about two pictures."""
    dataset = empty_dataset(slug="credit", visibility=Dataset.Visibility.PUBLIC)
    lines = [
        {
            "id": name,
            "task": task,
            "subtask": subtask,
            "robustness": condition,
            "response": '{"answer": {"a": "1"}}',
            "question": "What?",
            "images": [f"{min(number, 1)}.png"],
        }
        for number, (name, task, subtask, condition) in enumerate(QUESTIONS)
    ]
    files = {
        "q.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode(),
        "0.png": png(shade=10),
        "1.png": png(shade=20),
    }
    import_files(dataset, tmp_path, "fcmbench", files)
    return dataset


@pytest.fixture
def receipts(tmp_path: Path) -> Dataset:
    """Nine receipts of two categories; the first has three pages."""
    dataset = empty_dataset(slug="receipts")
    files: dict[str, bytes] = {}
    for number in range(9):
        kind = "hotel" if number < 2 else "taxi"
        value = {"category": f"{kind} bill", "language": "en", "fields": {"type": kind}}
        files[f"r{number}.json"] = json.dumps(value).encode()
        files[f"r{number}.png"] = png(shade=number)
    files |= {"r0-2.png": png(shade=100), "r0-3.png": png(shade=101)}
    import_files(dataset, tmp_path, "receipts", files)
    return dataset


def test_strata_are_read_from_the_gold_line() -> None:
    assert strata_of({"category": "Hotel", "fields": {"type": "hotel"}}) == {
        "category": "Hotel",
        "subset": "hotel",
        "condition": "",
    }
    assert strata_of({"track": "kie", "subset": "CORD", "orientation": 90}) == {
        "category": "kie",
        "subset": "CORD",
        "condition": "90",
    }
    odd: dict[str, Any] = {"task": ["KIE"], "subtask": None, "fields": 3, "robustness": "x" * 99}
    assert strata_of(odd) == {"category": "", "subset": "", "condition": "x" * 80}


def test_questions_are_filtered_by_task_and_condition(questions: Dataset, organiser: User) -> None:
    def found(**wanted: Any) -> list[str]:
        names = filter_documents(organiser, questions, DocumentFilter(**wanted))
        return list(names.values_list("name", flat=True))

    assert found(category="KIE") == ["a1", "a2"]
    assert found(condition="Out-of-focus") == ["a2", "a3"]
    assert found(category="KIE", condition="Out-of-focus") == ["a2"]
    assert found(subset="en.num_cal_001") == ["a3"]
    assert found(condition="unknown") == []
    texts = document_facets(organiser, questions).texts
    assert texts["category"] == ["KIE", "NC"]
    assert texts["condition"] == ["Normal Captures", "Out-of-focus"]


def test_page_and_api_filter_by_strata(
    questions: Dataset, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    page = client_of(organiser).get("/datasets/credit/documents/", {"condition": "Out-of-focus"})
    shown = page.content.decode()
    assert "Capture condition" in shown
    assert ">a2</a>" in shown
    assert ">a1</a>" not in shown
    answer = api_of(organiser).get("/api/v1/datasets/credit/documents/", {"category": "NC"}).json()
    [row] = answer["results"]
    assert (row["name"], row["category"], row["condition"]) == ("a3", "NC", "Out-of-focus")


def test_conditions_of_hidden_questions_are_not_shown(
    questions: Dataset, stranger: User, api_of: ApiOf
) -> None:
    """The condition is the answer to a question about the quality of an image."""
    gold = gold_of_records(dataset=questions, benchmark="fcmbench", labels=())
    freeze_gold(dataset=questions, gold=gold, version="1.0.0", visibility="gold_hidden")
    api = api_of(stranger)
    row = api.get("/api/v1/datasets/credit/documents/").json()["results"][0]
    assert (row["readable"], row["category"], row["condition"]) == (False, None, None)
    filtered = api.get("/api/v1/datasets/credit/documents/", {"condition": "Out-of-focus"}).json()
    assert filtered["results"] == []
    assert document_facets(stranger, questions).texts["condition"] == []
    assert api.get("/api/v1/datasets/credit/statistics/").json()["strata"] == []


def test_statistics_count_documents_and_images(
    questions: Dataset, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    """By hand: a2 and a3 are about one picture."""
    found = api_of(organiser).get("/api/v1/datasets/credit/statistics/").json()["strata"]
    rows = [(r["field"], r["value"], r["documents"], r["images"]) for r in found]
    assert rows == [
        ("category", "KIE", 2, 2),
        ("category", "NC", 1, 1),
        ("subset", "inf_ext_001", 2, 2),
        ("subset", "en.num_cal_001", 1, 1),
        ("condition", "Out-of-focus", 2, 1),
        ("condition", "Normal Captures", 1, 1),
        ("language", "zh", 2, 2),
        ("language", "en", 1, 1),
    ]
    assert found[0]["share"] == pytest.approx(2 / 3)
    client = client_of(organiser)
    assert "Capture conditions" in client.get("/datasets/credit/statistics/").content.decode()
    text = client.get("/datasets/credit/statistics/export/", {"form": "csv"}).content.decode()
    lines = [row for row in csv.DictReader(io.StringIO(text)) if row["section"] == "condition"]
    assert [(row["name"], row["documents"], row["images"]) for row in lines] == [
        ("Out-of-focus", "2", "1"),
        ("Normal Captures", "1", "1"),
    ]


def test_a_balanced_set_is_drawn_by_a_seed(receipts: Dataset, organiser: User) -> None:
    """Two of nine receipts are hotel bills: of six, both, and four of the others."""
    spec = DrawSpec(strata=("category",), size=6, evenly=True)
    sample = draw(dataset=receipts, spec=spec, seed=3)
    assert [(each.stratum[0], len(each.drawn)) for each in sample.strata] == [
        ("hotel bill", 2),
        ("taxi bill", 4),
    ]
    selection = create_selection(
        dataset=receipts, title="Balanced", spec=spec, seed=3, actor=organiser
    )
    assert DrawSpec.from_json(selection.spec) == spec
    assert sorted(selection.documents.values_list("name", flat=True)) == sample.keys


def test_the_papers_balanced_set_follows_from_its_counts() -> None:
    """Table 2 of the paper; 1,387 receipts give every category its smallest ones."""
    from portal.datasets.curation.draws import allocate_evenly

    table: dict[tuple[str, ...], int] = {
        ("purchase",): 4636,
        ("plane",): 2175,
        ("hotel",): 1198,
        ("taxi",): 1132,
        ("train",): 416,
        ("bus",): 249,
        ("ship",): 150,
        ("fuel",): 132,
        ("metro",): 130,
        ("others",): 438,
    }
    given = allocate_evenly(table, 1387)
    assert sum(given.values()) == 1387
    assert (given["metro",], given["fuel",]) == (130, 132)
    assert Counter(given.values()) == {141: 5, 140: 3, 130: 1, 132: 1}


def test_page_and_api_draw_evenly(
    receipts: Dataset, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    form = {"strata": ["category"], "how": "evenly", "number": 6, "seed": 3, "title": "Page"}
    client_of(organiser).post("/datasets/receipts/selections/new/", {**form, "keep": "1"})
    sent = {"title": "API", "strata": ["category"], "size": 6, "evenly": True, "seed": 3}
    made = api_of(organiser).post("/api/v1/datasets/receipts/selections/", sent, format="json")
    assert made.status_code == 201
    page, api = receipts.selections.order_by("id")
    assert set(page.documents.all()) == set(api.documents.all())
    shown = client_of(organiser).get(f"/datasets/receipts/selections/{page.pk}/")
    assert "6, divided evenly" in shown.content.decode()
    refused = {**sent, "title": "No", "size": None}
    del refused["size"]
    answer = api_of(organiser).post(
        "/api/v1/datasets/receipts/selections/", {**refused, "per_stratum": 1}, format="json"
    )
    assert answer.status_code == 400
    assert "evenly" in answer.json()


def test_splits_have_the_same_share_of_every_condition(questions: Dataset, tmp_path: Path) -> None:
    """Two of three questions of each condition are for the test, whatever their task."""
    lines, files = [], {}
    for number in range(12):
        lines.append(
            {
                "id": f"b{number:02}",
                "task": "KIE",
                "subtask": "inf_ext_001",
                "robustness": "Small ROIs" if number < 6 else "Normal Captures",
                "response": '{"answer": {"a": "1"}}',
                "images": [f"b{number}.png"],
            }
        )
        files[f"b{number}.png"] = png(shade=number)
    files["q.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    dataset = empty_dataset(slug="split")
    import_files(dataset, tmp_path / "more", "fcmbench", files)
    gold = gold_of_records(dataset=dataset, benchmark="fcmbench", labels=())
    release = freeze_gold(
        dataset=dataset,
        gold=gold,
        version="1.0.0",
        visibility="gold_hidden",
        splits=SplitDraw(0.5, 4, "none"),
    )
    test = release.items.filter(split="test").values_list("gold__robustness", flat=True)
    assert Counter(test) == {"Small ROIs": 3, "Normal Captures": 3}


def test_a_receipt_has_all_of_its_pages(receipts: Dataset) -> None:
    first = receipts.documents.get(name="r0")
    assert [image.number for image in first.images.all()] == [1, 2, 3]
    assert receipts.documents.get(name="r1").images.count() == 1


def test_strata_have_charts_with_their_documents(client_of: ClientOf) -> None:
    """Two receipts of a category, one of another and one of none, as bars and as a file."""
    dataset = empty_dataset(slug="world", title="World", visibility="public")
    for number, category in enumerate(["hotel", "hotel", "taxi", ""]):
        document = make_document(dataset, f"d{number}", f"<p>Fare {number}</p>")
        Document.objects.filter(pk=document.pk).update(category=category)
    page = client_of(None).get("/datasets/world/statistics/").content.decode()
    assert "Chart: categories (tasks or tracks)" in page
    path = "/datasets/world/statistics/export/?form="
    drawn = client_of(None).get(f"{path}category").content.decode()
    assert "hotel: 2" in drawn
    assert "unknown: 1" in drawn
    assert client_of(None).get(f"{path}language").status_code == 404
