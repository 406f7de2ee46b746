"""The statistics of a dataset, computed by hand, and hidden figures."""

import csv
import io
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.http import Http404

from portal.accounts.models import User
from portal.datasets.documents.statistics import Bin, TypeCount, YearCount
from portal.datasets.documents.statistics_page import StatisticsPage, statistics_page
from portal.datasets.models import Dataset, Document, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from tests.datasets.factories import LABELS, add_image, spans_of
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


SVG = "{http://www.w3.org/2000/svg}"
FORMS = ("facts", "types", "years")


def described(dataset: Dataset, name: str, html: str, doc_type: str, year: int | None) -> Document:
    document = make_document(dataset, name, html)
    document.doc_type, document.fiscal_year = doc_type, year
    document.save()
    return document


def three_documents(*years: int | None) -> tuple[Dataset, Document, Document]:
    """a has two numbers and a date, b one number, c is not released."""
    cache.clear()
    found = empty_dataset(slug="world", title="World", visibility="public")
    a = described(found, "a", "<p>1,200 and 7 at March 31, 2025</p>", "tax_form", years[0])
    b = described(found, "b", "<p>Only 1,300</p>", "tax_form", years[1])
    described(found, "c", "<p>Nothing</p>", "other", years[2])
    return found, a, b


@pytest.fixture
def dataset(db: None) -> Dataset:
    found, a, b = three_documents(2025, 1987, None)
    add_image(a)
    freeze(found, "1.0.0", "public", a, b)
    return found


def freeze(dataset: Dataset, version: str, visibility: str, *documents: Document) -> Release:
    gold = {"a": {"Number": ["1,200", "7"], "Date": ["March 31, 2025"]}, "b": {"Number": ["1,300"]}}
    items = [GoldItem(one, spans_of(one, **gold.get(one.name, {}))) for one in documents]
    return freeze_release(
        dataset=dataset, version=version, items=items, labels=LABELS, visibility=visibility
    )


def seen_by(user: User, dataset: Dataset, version: str = "") -> StatisticsPage:
    return statistics_page(user, dataset, version)


def test_figures_by_hand(dataset: Dataset, stranger: User) -> None:
    found = seen_by(stranger, dataset).statistics
    assert (found.documents, found.pairs, found.labelled) == (3, 1, 2)
    assert [(row.label, row.total, row.average, row.ratio) for row in found.rows] == [
        ("", 4, 2.0, 1.0),
        ("Number", 3, 1.5, 0.75),
        ("Date", 1, 0.5, 0.25),
    ]
    assert found.facts_per_document == (
        Bin(0, 0, 0),
        Bin(1, 1, 1),
        Bin(2, 2, 0),
        Bin(3, 3, 1),
    )
    assert found.types == (TypeCount("tax_form", 2, 2, 4), TypeCount("other", 1, 0, 0))
    assert found.years == (YearCount(1987, 1), YearCount(2025, 1), YearCount(None, 1))


def test_facts_are_those_of_the_chosen_release(dataset: Dataset, stranger: User) -> None:
    freeze(dataset, "2.0.0", "public", dataset.documents.get(name="b"))
    assert seen_by(stranger, dataset).statistics.rows[0].total == 1
    assert seen_by(stranger, dataset, "1.0.0").statistics.rows[0].total == 4
    # Again, from the cache.
    assert seen_by(stranger, dataset, "1.0.0").statistics.rows[0].total == 4
    with pytest.raises(Http404):
        seen_by(stranger, dataset, "3.0.0")


def test_type_that_was_corrected_counts_at_once(dataset: Dataset, stranger: User) -> None:
    seen_by(stranger, dataset)
    dataset.documents.filter(name="b").update(doc_type="other")
    types = seen_by(stranger, dataset).statistics.types
    assert types == (TypeCount("other", 2, 1, 1), TypeCount("tax_form", 1, 1, 3))


@pytest.fixture
def hidden(db: None) -> Dataset:
    """The documents a and b with hidden gold, and c, which is public."""
    found, a, b = three_documents(1951, 1987, 2024)
    freeze(found, "1.0.0", "gold_hidden", a, b)
    return found


def test_hidden_gold_shows_no_number_of_facts(
    hidden: Dataset, stranger: User, organiser: User, api_of: ApiOf
) -> None:
    page = seen_by(stranger, hidden)
    found = page.statistics
    assert found.rows == ()
    assert found.facts_per_document == ()
    assert found.types == (TypeCount("tax_form", 2, None, None), TypeCount("other", 1, None, None))
    assert (found.years, page.without_year) == ((YearCount(2024, 1),), 2)
    all_ = seen_by(organiser, hidden)
    assert [row.total for row in all_.statistics.rows] == [4, 3, 1]
    assert [row.year for row in all_.statistics.years] == [1951, 1987, 2024]
    assert all_.without_year == 0
    answer = api_of(stranger).get("/api/v1/datasets/world/statistics/").json()
    assert (answer["without_year"], answer["untold_years"]) == (2, 2)
    assert answer["rows"] == []
    whole = api_of(organiser).get("/api/v1/datasets/world/statistics/").json()
    assert whole["rows"][0]["total"] == 4


@pytest.mark.parametrize("role", ["organiser", "stranger"])
def test_hidden_figures_leave_by_no_door(
    role: str, hidden: Dataset, organiser: User, stranger: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    user = {"organiser": organiser, "stranger": stranger}[role]
    # The result for an organiser must not be cached for others.
    client_of(organiser).get("/datasets/world/statistics/")
    paths = ["/datasets/world/statistics/", "/api/v1/datasets/world/statistics/"]
    for form in ("csv", "latex", *FORMS):
        paths += [f"{path}export/?form={form}" for path in paths[:2]]
    for path in paths:
        client: Any = (api_of if path.startswith("/api") else client_of)(user)
        response = client.get(path)
        shown = response.content.decode()
        for_organisers = role == "organiser"
        if "form=facts" in path:
            assert response.status_code == (200 if for_organisers else 404), path
        else:
            assert response.status_code == 200, path
        if "latex" not in path and "types" not in path and "facts" not in path:
            assert ("1987" in shown) is for_organisers, path
        if "form" not in path or "latex" in path or "csv" in path:
            assert any(word in shown for word in ("Numeric", "Number")) is for_organisers, path


def test_part_that_is_open_is_counted_alone(organiser: User, stranger: User) -> None:
    cache.clear()
    dataset = empty_dataset(slug="parts", visibility="public")
    a = described(dataset, "a", "<p>1,200 and 7 at March 31, 2025</p>", "tax_form", 2025)
    b = described(dataset, "b", "<p>Only 1,300</p>", "tax_form", 1987)
    release = freeze(dataset, "1.0.0", "gold_hidden", a, b)
    # As if the release were frozen with two splits.
    from django.db.models import QuerySet

    QuerySet(type(release.items.get(name="a"))).filter(release=release, name="a").update(
        split="dev"
    )
    QuerySet(type(release.items.get(name="b"))).filter(release=release, name="b").update(
        split="test"
    )
    page = seen_by(stranger, dataset)
    assert (page.partial, page.statistics.labelled) == (True, 1)
    assert [row.total for row in page.statistics.rows] == [3, 2, 1]
    assert page.statistics.years == (YearCount(2025, 1),)
    assert seen_by(organiser, dataset).statistics.rows[0].total == 4


def test_dataset_without_a_release_shows_its_documents(stranger: User, client_of: ClientOf) -> None:
    dataset = empty_dataset(slug="world", visibility="public")
    make_document(dataset, "a", "<p>Text</p>")
    assert seen_by(stranger, dataset).statistics.rows == ()
    shown = client_of(None).get("/datasets/world/statistics/").content.decode()
    assert "This dataset has no release yet" in shown
    assert client_of(None).get("/datasets/world/statistics/export/?form=facts").status_code == 404
    Document.objects.all().delete()
    assert (
        "No statistics yet" in client_of(None).get("/datasets/world/statistics/").content.decode()
    )


def test_private_release_is_not_known_to_others(
    dataset: Dataset, organiser: User, client_of: ClientOf
) -> None:
    freeze(dataset, "2.0.0", "private", dataset.documents.get(name="b"))
    path = "/datasets/world/statistics/?release=2.0.0"
    assert client_of(None).get(path).status_code == 404
    assert client_of(organiser).get(path).status_code == 200
    assert "2.0.0" not in client_of(None).get("/datasets/world/statistics/").content.decode()


@pytest.mark.parametrize("form", FORMS)
def test_chart_is_a_complete_file(dataset: Dataset, client_of: ClientOf, form: str) -> None:
    Dataset.objects.update(title="<b>World</b> & more")
    response = client_of(None).get(f"/datasets/world/statistics/export/?form={form}")
    assert response["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert f"statistics-world-1.0.0-{form}.svg" in response["Content-Disposition"]
    root = ElementTree.fromstring(response.content)
    names = {child.tag: child.text or "" for child in root}
    assert "<b>World</b> & more" in names[f"{SVG}title"]
    assert "tax form: 2" in names[f"{SVG}desc"] or form != "types"
    assert "pages" not in response.content.decode()
    assert len(list(root.iter(f"{SVG}rect"))) > 1


def test_files_hold_the_figures(dataset: Dataset, client_of: ClientOf, api_of: ApiOf) -> None:
    response = client_of(None).get("/datasets/world/statistics/export/?form=csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    facts = {row["name"]: row["facts"] for row in rows if row["section"] == "facts"}
    assert facts == {"all": "4", "Number": "3", "Date": "1"}
    latex = client_of(None).get("/datasets/world/statistics/export/?form=latex").content.decode()
    assert r"Numeric facts ($F_n$) & 3 & 1.50 & 75.0 \\" in latex
    answer = api_of(None).get("/api/v1/datasets/world/statistics/").json()
    assert answer["rows"][1] == {"label": "Number", "total": 3, "average": 1.5, "ratio": 0.75}
    assert client_of(None).get("/datasets/world/statistics/export/?form=png").status_code == 404
    assert api_of(None).get("/api/v1/datasets/world/statistics/export/?form=png").status_code == 400


def test_figures_ask_as_often_for_many_documents_as_for_few(
    dataset: Dataset, stranger: User, django_assert_num_queries: Any
) -> None:
    def ask() -> None:
        cache.clear()
        with django_assert_num_queries(11):
            seen_by(stranger, dataset)

    ask()
    for number in range(9):
        described(dataset, f"d{number}", f"<p>1,300 {number}</p>", "other", 2000 + number)
    freeze(dataset, "2.0.0", "public", *dataset.documents.all())
    ask()
