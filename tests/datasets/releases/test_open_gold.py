"""Warnings about hidden gold that is public elsewhere, and about documents without images."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Dataset, Document, DocumentRecord, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import (
    documents_without_image,
    freeze_lines,
    freeze_release,
    freeze_warnings,
    open_gold_of_dataset,
    open_gold_of_release,
)
from tests.datasets.factories import LABELS, add_image, make_release
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db

PAGES = {name: f"<p>Sales of {name} 1,200</p>" for name in "abcd"}


def dataset_of(slug: str, names: str, *, visibility: str = "public") -> Dataset:
    dataset = empty_dataset(slug=slug, title=slug.capitalize(), visibility=visibility)
    for name in names:
        make_document(dataset, f"{slug}_{name}", PAGES[name])
    return dataset


@pytest.fixture
def coming() -> Dataset:
    return dataset_of("coming", "abc", visibility="private")


def test_the_same_text_in_an_open_release_is_found(coming: Dataset) -> None:
    make_release(dataset_of("first", "ab"))
    make_release(dataset_of("second", "bd"), version="2.0.0")
    found = open_gold_of_dataset(coming)
    assert (found.documents, list(found.releases)) == (2, ["First 1.0.0", "Second 2.0.0"])
    assert "2 documents already have public gold in First 1.0.0, Second 2.0.0" in found.words()
    hidden = make_release(coming, visibility="gold_hidden", accept_overlaps=2)
    assert open_gold_of_release(hidden) == found
    assert open_gold_of_release(make_release(coming, version="1.0.1")).words() == ""


@pytest.mark.parametrize(
    ("dataset", "release", "expected"),
    [
        ("public", "public", 2),
        ("public", "gold_hidden", 0),
        ("public", "private", 0),
        ("private", "public", 0),
    ],
)
def test_only_gold_that_everybody_may_read_counts(
    coming: Dataset, dataset: str, release: str, expected: int
) -> None:
    make_release(dataset_of("other", "ab", visibility=dataset), visibility=release)
    assert open_gold_of_dataset(coming).documents == expected


def test_the_development_part_of_another_release_is_open_and_the_own_is_not_hidden(
    coming: Dataset,
) -> None:
    other = dataset_of("other", "ab")
    freeze_release(
        dataset=other, version="1.0.0", items=items_of(other), labels=LABELS,
        splits={"other_a": "dev", "other_b": "test"},
    )  # fmt: skip
    assert open_gold_of_dataset(coming).documents == 1
    release = freeze_release(
        dataset=coming, version="1.0.0", items=items_of(coming), labels=LABELS,
        splits={"coming_a": "dev", "coming_b": "test", "coming_c": "test"},
    )  # fmt: skip
    assert open_gold_of_release(release).documents == 0


def items_of(dataset: Dataset) -> list[GoldItem]:
    return [GoldItem(document, []) for document in dataset.documents.all()]


def test_pictures_without_text_are_no_copies_of_each_other() -> None:
    first, second = empty_dataset(slug="one", visibility="public"), empty_dataset(slug="two")
    for dataset, digest in ((first, "a" * 64), (second, "b" * 64)):
        picture = Document.objects.create(
            dataset=dataset, name="q1", kind="picture", html_sha256=digest, text_chars=0
        )
        DocumentRecord.objects.create(document=picture, benchmark="findoc", gold={"id": "q1"})
    freeze_lines(
        dataset=first, version="1.0.0", benchmark="findoc", visibility="public",
        lines={"q1": {"id": "q1", "gold": {"total": 1}}},
    )  # fmt: skip
    assert open_gold_of_dataset(second).documents == 0
    second.documents.update(html_sha256="a" * 64)
    # A dataset may be asked while it is the one that is public, too.
    assert open_gold_of_dataset(second).documents == open_gold_of_dataset(first).documents == 1


def test_the_form_and_the_answer_warn(
    coming: Dataset, organiser: User, client_of: Callable[[User], Client]
) -> None:
    make_release(dataset_of("first", "ab"))
    for document in coming.documents.all():
        add_image(document)
        html = document.content.html.replace("1,200", "<Number>1,200</Number>")
        DocumentRecord.objects.create(
            document=document,
            benchmark="fincriticaled",
            gold={"id": document.name, "html": html},
        )
    client = client_of(organiser)
    warning = "2 documents already have public gold in First 1.0.0"
    path = "/datasets/coming/releases/new/"
    assert warning in client.get(path).content.decode()
    asked = {
        "source": "records:fincriticaled", "labels": "Number", "version": "1.0.0",
        "visibility": "gold_hidden", "split": "draw", "test_share": "50", "seed": "1",
    }  # fmt: skip
    refused = client.post(path, asked).content.decode()
    confirmed = re.search(r'name="accept_overlaps" value="(\d)"', refused)
    assert confirmed
    asked["accept_overlaps"] = confirmed[1]
    shown = client.post(path, asked, follow=True).content.decode()
    assert "Release 1.0.0 is frozen." in shown
    assert "Drawn by filing with seed 1" in shown


def test_the_api_and_the_command_warn(
    coming: Dataset, organiser: User, api_of: Callable[[User], APIClient], tmp_path: Path
) -> None:
    make_release(dataset_of("first", "ab"))
    gold = tmp_path / "gold"
    gold.mkdir()
    for document in coming.documents.all():
        add_image(document)
        html = document.content.html.replace("1,200", "<Number>1,200</Number>")
        (gold / f"{document.name}.html").write_text(html)
        DocumentRecord.objects.create(
            document=document, benchmark="fincriticaled", gold={"id": document.name, "html": html}
        )
    asked = {
        "benchmark": "fincriticaled", "labels": ["Number"], "version": "1.0.0",
        "split_by": "draw", "test_share": 0.5, "seed": 3, "group_by": "none",
    }  # fmt: skip
    api = api_of(organiser)
    refused = api.post("/api/v1/datasets/coming/releases/", asked, format="json").json()["gold"]
    asked["accept_overlaps"] = len(refused) - 1
    answer = api.post("/api/v1/datasets/coming/releases/", asked, format="json")
    body = answer.json()
    assert (answer.status_code, body["draw"]["group_by"]) == (201, "none")
    assert body["remarks"][0].startswith("Drawn with seed 3: the test split has 2 of 3 items")
    test = Release.objects.get(dataset=coming).items.filter(split="test")
    hidden = test.filter(name__in=["coming_a", "coming_b"]).count()
    assert [f"{hidden} document" in line for line in body["warnings"]] == [True]
    out, err = io.StringIO(), io.StringIO()
    call_command(
        "freeze_release", "coming", "1.1.0", "--gold", str(gold), "--labels", "Number",
        "--accept-overlaps", "2",
        stdout=out, stderr=err,
    )  # fmt: skip
    assert "2 documents already have public gold in First 1.0.0" in err.getvalue()


def test_looking_takes_as_many_queries_for_many(coming: Dataset) -> None:
    make_release(dataset_of("first", "a"))
    with CaptureQueriesContext(connection) as few:
        open_gold_of_dataset(coming)
    make_release(dataset_of("second", "abc"))
    with CaptureQueriesContext(connection) as many:
        open_gold_of_dataset(coming)
    assert len(many) == len(few) <= 2


def test_documents_without_an_image_are_named_before_and_after_the_freeze(
    organiser: User, client_of: Callable[[User], Client]
) -> None:
    dataset = dataset_of("coming", "abc", visibility="private")
    held = {"state": Document.State.HELD, "held_reason": "blurred"}
    dataset.documents.filter(name="coming_c").update(**held)
    add_image(dataset.documents.get(name="coming_a"))
    warning = documents_without_image(dataset)
    assert warning.startswith("1 document has no page image: coming_b.")
    shown = client_of(organiser).get("/datasets/coming/releases/new/").content.decode()
    assert warning in shown
    assert 'href="/datasets/coming/images/"' in shown
    dataset.documents.filter(name="coming_c").update(state=Document.State.ACTIVE, held_reason="")
    [warned] = freeze_warnings(make_release(dataset, visibility="gold_hidden"))
    assert warned.startswith("2 documents have no page image: coming_b, coming_c.")
    [of_gold] = freeze_warnings(make_release(dataset, version="1.0.1"))
    assert of_gold.startswith("This release publishes the gold of 3 documents that 1.0.0 hides")


def test_only_the_first_documents_without_an_image_are_named() -> None:
    dataset = empty_dataset(slug="many")
    for number in range(8):
        make_document(dataset, f"page-{number}", f"<p>Sales 1,20{number}</p>")
    assert "page-4 and 3 more. " in documents_without_image(dataset)
