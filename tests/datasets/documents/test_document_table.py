"""The document table: results of filters by user, and query counts."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import connection
from django.test import Client

from portal.accounts.models import User
from portal.datasets.documents.table import (
    SORTS,
    DocumentFilter,
    document_facets,
    filter_documents,
    filtered_table,
)
from portal.datasets.models import Dataset, Document
from tests.datasets.factories import SECRET_COMPANY, add_image, make_release, make_world
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


def described(dataset: Dataset, name: str, **fields: Any) -> Document:
    document = make_document(dataset, name, f"<p>{name} 7</p>")
    Document.objects.filter(pk=document.pk).update(**fields)
    document.refresh_from_db()
    return document


def found(user: Any, dataset: Dataset, sort: str = "name", **wanted: Any) -> list[str]:
    documents = filter_documents(user, dataset, DocumentFilter(**wanted), sort=sort)
    return [document.name for document in documents]


@pytest.fixture
def three() -> Dataset:
    dataset = empty_dataset(slug="set", visibility="public")
    described(
        dataset, "a", doc_type="tax_form", fiscal_year=2024, source="sec.gov", language="en",
        company="Acme", fact_count=3,
    )  # fmt: skip
    described(dataset, "b", fiscal_year=2023, source="irs.gov", language="zh", fact_count=0)
    described(dataset, "c_acme", state="held", held_reason="blank")
    return dataset


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({}, ["a", "b", "c_acme"]),
        ({"query": "ACME"}, ["a", "c_acme"]),
        ({"doc_type": "tax_form"}, ["a"]),
        ({"year": "2023"}, ["b"]),
        ({"year": "unknown"}, ["c_acme"]),
        ({"source": "sec.gov"}, ["a"]),
        ({"source": "unknown"}, ["c_acme"]),
        ({"language": "zh"}, ["b"]),
        ({"kind": "picture"}, []),
        ({"kind": "page"}, ["a", "b", "c_acme"]),
        ({"facts": "with"}, ["a"]),
        ({"facts": "without"}, ["b"]),
        ({"facts": "unknown"}, ["c_acme"]),
        ({"min_facts": 0}, ["a", "b"]),
        ({"min_facts": 3}, ["a"]),
        ({"min_facts": 4}, []),
        ({"state": "held"}, ["c_acme"]),
        ({"query": "acme", "year": "2024"}, ["a"]),
    ],
)
def test_filters(wanted: dict[str, Any], names: list[str], three: Dataset, organiser: User) -> None:
    assert found(organiser, three, **wanted) == names


def test_order_is_turned_round_whole(three: Dataset, organiser: User) -> None:
    known = {"min_facts": 0}
    assert found(organiser, three, "year", **known) == ["b", "a"]
    assert found(organiser, three, "-year", **known) == ["a", "b"]
    assert found(organiser, three, "-name") == ["c_acme", "b", "a"]
    assert found(organiser, three, "size") == ["a", "b", "c_acme"]
    assert found(organiser, three, "nonsense") == ["a", "b", "c_acme"]


def test_order_by_facts_can_be_reversed_where_no_document_has_any(
    three: Dataset, organiser: User, client_of: ClientOf
) -> None:
    without = "/datasets/set/documents/?facts=without"
    assert "sort=facts" not in client_of(organiser).get(without).content.decode()
    page = client_of(organiser).get(f"{without}&sort=facts").content.decode()
    assert "sort=-facts" in page


def test_state_is_for_organisers(three: Dataset, client_of: ClientOf) -> None:
    assert found(AnonymousUser(), three, state="held") == ["a", "b", "c_acme"]
    page = client_of(None).get("/datasets/set/documents/").content.decode()
    assert "blank" not in page
    assert 'name="state"' not in page
    assert "held" not in page


class TestHidden:
    """`secret` is in a release with hidden gold; `open` is not released."""

    @pytest.fixture
    def world(self) -> Dataset:
        cache.clear()
        secret = make_world("public", "gold_hidden")
        Document.objects.filter(pk=secret.pk).update(
            fiscal_year=1999, source="veiled.example", language="xx", fact_count=5,
            form_type="VEILED-7",
        )  # fmt: skip
        described(secret.dataset, "open", fiscal_year=2020, source="open.example", language="en")
        return secret.dataset

    @pytest.mark.parametrize(
        "wanted",
        [
            {"query": SECRET_COMPANY.lower()[:4]},
            {"year": "1999"},
            {"source": "veiled.example"},
            {"language": "xx"},
            {"facts": "with"},
            {"min_facts": 1},
        ],
    )
    def test_is_not_found_by_hidden_data(
        self, wanted: dict[str, Any], world: Dataset, organiser: User, stranger: User
    ) -> None:
        assert found(organiser, world, **wanted) == ["secret"]
        for user in (stranger, AnonymousUser()):
            assert found(user, world, **wanted) == []

    @pytest.mark.parametrize(
        "wanted", [{"facts": "unknown"}, {"year": "unknown"}, {"kind": "page"}]
    )
    def test_is_not_revealed_by_its_absence(
        self, wanted: dict[str, Any], world: Dataset, stranger: User
    ) -> None:
        """Neither a filter nor its opposite finds it, so that they reveal nothing."""
        assert "secret" not in found(stranger, world, **wanted)

    @pytest.mark.parametrize("sort", ["year", "-year", "size", "-size", "facts", "-facts"])
    def test_is_not_sorted_by_hidden_data(
        self, sort: str, world: Dataset, organiser: User, stranger: User
    ) -> None:
        assert found(stranger, world, sort) == ["open"]
        assert len(found(organiser, world, sort)) == 2

    @pytest.mark.parametrize("sort", ["name", "type"])
    def test_is_listed_by_public_data(self, sort: str, world: Dataset, stranger: User) -> None:
        assert sorted(found(stranger, world, sort)) == ["open", "secret"]
        assert found(stranger, world, sort, doc_type="other") == found(stranger, world, sort)
        assert found(stranger, world, query="secr") == ["secret"]

    def test_offers_no_choice(self, world: Dataset, organiser: User, stranger: User) -> None:
        facets = document_facets(stranger, world)
        assert (facets.years, facets.texts["source"], facets.texts["language"]) == (
            [2020],
            ["open.example"],
            ["en"],
        )
        everything = document_facets(organiser, world)
        assert everything.years == [1999, 2020]
        assert everything.texts["source"] == ["open.example", "veiled.example"]

    def test_shows_nothing_of_it(
        self, world: Dataset, organiser: User, stranger: User, client_of: ClientOf
    ) -> None:
        secrets = ["1999", "veiled.example", "VEILED-7", SECRET_COMPANY]
        own = client_of(organiser).get("/datasets/world/documents/").content.decode()
        assert [text for text in secrets if text not in own] == []
        for query in (
            "",
            "?fiscal_year=1999",
            "?sort=year",
            "?source=veiled.example",
            "?facts=with",
        ):
            page = client_of(stranger).get(f"/datasets/world/documents/{query}").content.decode()
            assert [text for text in secrets if text in page.replace(query[1:], "")] == [], query

    def test_facts_of_a_newer_hidden_release_stay_hidden(
        self, world: Dataset, stranger: User
    ) -> None:
        """An open document has the fact count of its newest release, which may be hidden."""
        document = world.documents.get(name="open")
        make_release(world, version="2.0.0", visibility="public", documents=[document])
        make_release(world, version="3.0.0", visibility="gold_hidden", documents=[document])
        Document.objects.filter(pk=document.pk).update(fact_count=4)
        assert found(stranger, world, min_facts=4) == []
        [row] = filtered_table(stranger, world, DocumentFilter(query="open")).rows
        assert row.readable
        assert row.facts is None


class TestApi:
    def test_has_the_filters_of_the_table(self, three: Dataset, api_of: Any) -> None:
        path = "/api/v1/datasets/set/documents/"
        answer = api_of(None).get(f"{path}?fiscal_year=2024&source=sec.gov&sort=-name").json()
        assert [row["name"] for row in answer["results"]] == ["a"]
        assert answer["results"][0]["source"] == "sec.gov"
        assert api_of(None).get(f"{path}?fiscal_year=soon").status_code == 400
        assert api_of(None).get(f"{path}?sort=colour").status_code == 400


def bulk(dataset: Dataset, count: int) -> None:
    Document.objects.bulk_create(
        Document(
            dataset=dataset,
            name=f"page-{number:06}",
            company=f"Company {number % 97}",
            fiscal_year=2000 + number % 20,
            source=f"source-{number % 5}.example",
            language=("en", "zh")[number % 2],
            fact_count=number % 30,
            text_chars=100 + number,
            source_sha256="0" * 64,
            html_sha256=f"{number:064}",
            text_sha256="0" * 64,
        )
        for number in range(count)
    )


@pytest.mark.parametrize("role", ["organiser", "anonymous"])
def test_queries_do_not_grow(
    role: str, organiser: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    small, large = (
        empty_dataset(slug="small", visibility="public"),
        empty_dataset(slug="large", visibility="public"),
    )
    bulk(small, 60)
    bulk(large, 700)
    for document in large.documents.all()[:60]:
        add_image(document)
    client = client_of(organiser if role == "organiser" else None)
    for query in ("", "?q=company", "?fiscal_year=2003&sort=-size", "?page=3&facts=with"):
        cache.clear()
        client.get("/datasets/small/documents/")
        budget = _count(client, f"/datasets/small/documents/{query}")
        with django_assert_num_queries(budget, info=query):
            client.get(f"/datasets/large/documents/{query}")


def _count(client: Client, path: str) -> int:
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    assert len(captured) <= 16
    return len(captured)


def test_every_order_is_an_index(organiser: User) -> None:
    """A page is read from an index without sorting."""
    dataset = empty_dataset()
    bulk(dataset, 2_000)
    for sort in (*SORTS, *(f"-{name}" for name in SORTS)):
        names = filter_documents(organiser, dataset, DocumentFilter(), sort=sort)
        plan = explained(names.values_list("name", flat=True)[1_500:1_550])
        assert "index" in plan.lower(), sort
        assert "TEMP B-TREE" not in plan, sort
        assert "Sort" not in plan, sort


def test_every_filter_is_counted_by_an_index(organiser: User) -> None:
    dataset = empty_dataset()
    bulk(dataset, 2_000)
    filters: list[dict[str, Any]] = [
        {"doc_type": "tax_form"},
        {"year": "2003"},
        {"source": "source-1.example"},
        {"language": "en"},
        {"kind": "picture"},
        {"state": "held"},
        {"min_facts": 28},
        {"facts": "unknown"},
    ]
    for wanted in filters:
        documents = filter_documents(organiser, dataset, DocumentFilter(**wanted))
        plan = explained(documents.order_by())
        assert "index" in plan.lower(), wanted
        assert "Seq Scan" not in plan, wanted


def test_search_reads_an_index_alone_and_once(
    organiser: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    dataset = empty_dataset()
    bulk(dataset, 120)
    monkeypatch.setattr("portal.datasets.documents.table.MOST_FOUND", 100)
    table = filtered_table(organiser, dataset, DocumentFilter(query="company"), page="2")
    assert (table.count, table.is_cut, len(table.rows)) == (100, True, 50)
    # Names, rows, image counts, first images.
    with django_assert_num_queries(4):
        filtered_table(organiser, dataset, DocumentFilter(query="company 1"))
    if connection.vendor == "sqlite":
        names = filter_documents(organiser, dataset, DocumentFilter(query="zz")).values("name")
        assert "COVERING INDEX document_search" in explained(names)


def test_facets_walk_an_index(organiser: User, django_assert_num_queries: Any) -> None:
    dataset = empty_dataset()
    bulk(dataset, 300)
    # One for the years, and one for each of five texts.
    with django_assert_num_queries(6):
        facets = document_facets(organiser, dataset)
    assert facets.years == list(range(2000, 2020))
    assert facets.texts["source"] == [f"source-{number}.example" for number in range(5)]
    assert facets.texts["language"] == ["en", "zh"]


def explained(documents: Any) -> str:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE datasets_document")
            # The database would otherwise read a small table completely.
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
    return str(documents.explain())


def test_page_that_is_empty_says_why(three: Dataset, organiser: User, client_of: ClientOf) -> None:
    client = client_of(organiser)
    assert "No documents found" in client.get("/datasets/set/documents/?q=zzz").content.decode()
    empty_dataset(slug="empty", visibility="public")
    page = client.get("/datasets/empty/documents/").content.decode()
    assert "/datasets/empty/import/" in page
    for odd in (
        "?page=999",
        "?fiscal_year=0",
        "?min_facts=-1",
        "?q=%00",
        "?sort=x",
        "?source=a%00",
    ):
        assert client.get(f"/datasets/set/documents/{odd}").status_code == 200, odd


def test_overview_leads_to_the_table(three: Dataset, client_of: ClientOf) -> None:
    assert (
        'href="/datasets/set/documents/"' in client_of(None).get("/datasets/set/").content.decode()
    )
