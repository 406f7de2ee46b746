"""A release made from a release keeps its splits, licence, citation and draw."""

import io
from typing import Any

import pytest
from django.core.management import call_command

from portal.accounts.models import User
from portal.datasets.curation.draws import SplitDraw
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from tests.datasets.factories import LABELS
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

CITATION = {"authors": ["Doe, Jane"], "year": 2025}
API = "/api/v1/datasets/set/releases/"


def freeze(dataset: Dataset, version: str, seed: int, **terms: Any) -> Release:
    items = [GoldItem(document, []) for document in dataset.documents.order_by("name")]
    draw = SplitDraw(0.5, seed, "none")
    return freeze_release(
        dataset=dataset, version=version, items=items, labels=LABELS, splits=draw, **terms
    )


def splits_of(release: Release) -> dict[str, str]:
    return dict(release.items.values_list("name", "split"))


@pytest.fixture
def base() -> Release:
    dataset = empty_dataset(slug="set", visibility="public")
    for n in range(8):
        make_document(dataset, f"p{n}", f"<p>Page {n} 1,200</p>")
    return freeze(dataset, "1.0.0", 7, licence="CC-BY-4.0", citation=CITATION)


def by_page(organiser: User, client_of: ClientOf, api_of: ApiOf) -> None:
    form = {
        "source": "release:1.0.0", "version": "1.0.1", "visibility": "gold_hidden",
        "split": "none", "labels": "Number",
    }  # fmt: skip
    client_of(organiser).post("/datasets/set/releases/new/", form)


def by_api(organiser: User, client_of: ClientOf, api_of: ApiOf) -> None:
    body = {"from_release": "1.0.0", "version": "1.0.1"}
    assert api_of(organiser).post(API, body, format="json").status_code == 201


def by_command(organiser: User, client_of: ClientOf, api_of: ApiOf) -> None:
    call_command(
        "freeze_release", "set", "1.0.1", "--from-release", "1.0.0", stdout=io.StringIO(),
        stderr=io.StringIO(),
    )  # fmt: skip


@pytest.mark.parametrize("way", [by_page, by_api, by_command])
def test_every_way_keeps_them(
    way: Any, base: Release, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    way(organiser, client_of, api_of)
    made = Release.objects.get(version="1.0.1")
    assert splits_of(made) == splits_of(base)
    assert (made.licence, made.citation) == ("CC-BY-4.0", CITATION)
    assert made.draw == base.draw
    # The licence still has to be accepted, and the test split is still hidden.
    assert api_of(None).get(f"{API}1.0.1/download/").status_code in {401, 403}
    assert set(made.hidden_splits) == {"", "test"}


def test_other_terms_replace_them(base: Release, organiser: User, api_of: ApiOf) -> None:
    body = {"from_release": "1.0.0", "licence": "CC0-1.0", "citation": {"authors": ["Roe, Ann"]}}
    assert api_of(organiser).post(API, body, format="json").status_code == 201
    made = Release.objects.get(version="1.0.1")
    assert (made.licence, made.citation) == ("CC0-1.0", {"authors": ["Roe, Ann"]})


def test_a_draw_that_decides_nothing_keeps_the_earlier_seed(base: Release) -> None:
    made = freeze(base.dataset, "1.0.1", 99)
    assert splits_of(made) == splits_of(base)
    assert (made.draw["seed"], made.draw["kept"]) == (7, 8)


def test_a_draw_can_be_repeated_with_its_seed(base: Release) -> None:
    again = empty_dataset(slug="again")
    for document in base.dataset.documents.all():
        make_document(again, document.name, document.content.html)
    assert splits_of(freeze(again, "1.0.0", base.draw["seed"])) == splits_of(base)


def test_new_items_are_drawn_with_the_new_seed(base: Release) -> None:
    for n in range(8, 12):
        make_document(base.dataset, f"p{n}", f"<p>Page {n} 1,200</p>")
    made = freeze(base.dataset, "1.1.0", 99)
    assert (made.draw["seed"], made.draw["kept"], made.draw["items"]) == (99, 8, 12)
