"""Queries that are compiled once: they find and change what Django's own would."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.db.models import Count, DateTimeField, F, IntegerField
from django.db.models.sql.compiler import SQLCompiler
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.accounts.models import ApiToken, User
from portal.datasets.models import Dataset, Document
from portal.web.queries import Parameter, Prepared, PreparedDelete, PreparedUpdate, insert_rows

pytestmark = pytest.mark.django_db

BY_NAME: Prepared[Document] = Prepared(
    lambda: (
        Document.objects.filter(dataset=Parameter("dataset"), name=Parameter("name"))
        .select_related("dataset")
        .order_by("id")
    )
)


@pytest.fixture
def dataset() -> Dataset:
    return Dataset.objects.create(slug="filings", title="Filings")


def add(dataset: Dataset, *names: str) -> list[Document]:
    return [
        Document.objects.create(
            dataset=dataset, name=name, html_sha256=name, text_chars=10, metadata={"of": name}
        )
        for name in names
    ]


def test_rows_are_those_of_the_queryset_with_all_that_belongs_to_them(dataset: Dataset) -> None:
    first, second = add(dataset, "a", "b")
    for document in (first, second, first):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            (found,) = BY_NAME.rows(dataset=dataset.pk, name=document.name)
            assert found.dataset.title == "Filings"
        assert len(queries) == 1
        plain = Document.objects.get(pk=document.pk)
        for field in Document._meta.concrete_fields:
            assert getattr(found, field.attname) == getattr(plain, field.attname)


def test_rows_change_as_the_database_does(dataset: Dataset) -> None:
    assert BY_NAME.rows(dataset=dataset.pk, name="late") == []
    (late,) = add(dataset, "late")
    assert BY_NAME.first(dataset=dataset.pk, name="late") == late
    late.delete()
    assert BY_NAME.first(dataset=dataset.pk, name="late") is None


def test_sql_is_written_once(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    add(dataset, "a")
    written: list[object] = []
    original = SQLCompiler.as_sql

    def counted(self: SQLCompiler, *args: Any, **kwargs: Any) -> Any:
        written.append(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(SQLCompiler, "as_sql", counted)
    query = Prepared(lambda: Document.objects.filter(name=Parameter("name")).values_list("pk"))
    for name in ("a", "b", "a"):
        query.rows(name=name)
    assert len(written) == 1


def test_values_and_aggregates_are_read(dataset: Dataset) -> None:
    add(dataset, "a", "b", "c")
    names = Prepared(
        lambda: (
            Document.objects.filter(name__gt=Parameter("name"))
            .order_by("name")
            .values_list("name", flat=True)
        )
    )
    counts = Prepared(
        lambda: (
            Document.objects.filter(dataset=Parameter("dataset"))
            .order_by()
            .values("dataset")
            .annotate(documents=Count("pk"))
        )
    )
    assert names.rows(name="a") == ["b", "c"]
    assert counts.rows(dataset=dataset.pk) == [{"dataset": dataset.pk, "documents": 3}]


def test_times_are_made_fit_for_the_database(dataset: Dataset) -> None:
    add(dataset, "a")
    since = Prepared(
        lambda: Document.objects.filter(created_at__gt=Parameter("time", DateTimeField()))
    )
    now = timezone.now()
    assert len(since.rows(time=now - timedelta(hours=1))) == 1
    assert since.rows(time=now + timedelta(hours=1)) == []


def test_text_is_data_and_never_sql(dataset: Dataset) -> None:
    (odd,) = add(dataset, "x' OR 1=1 -- %s")
    add(dataset, "y")
    assert BY_NAME.rows(dataset=dataset.pk, name=odd.name) == [odd]


def test_missing_and_empty_values_are_refused(dataset: Dataset) -> None:
    with pytest.raises(KeyError, match="name"):
        BY_NAME.rows(dataset=dataset.pk)
    with pytest.raises(ValueError, match="name is None"):
        BY_NAME.rows(dataset=dataset.pk, name=None)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_number_that_no_column_holds_finds_nothing(number: int) -> None:
    assert BY_NAME.rows(dataset=number, name="a") == []


@pytest.mark.django_db(transaction=True)
def test_every_thread_asks_on_its_own_connection(dataset: Dataset) -> None:
    add(dataset, "a")
    BY_NAME.rows(dataset=dataset.pk, name="a")
    used: list[tuple[object, int]] = []

    def ask() -> None:
        mine = connections["default"]
        with CaptureQueriesContext(mine) as queries:
            BY_NAME.rows(dataset=dataset.pk, name="a")
        used.append((mine, len(queries)))
        mine.close()

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [count for _, count in used] == [1, 1, 1]
    assert len({id(mine) for mine, _ in used} | {id(connection)}) >= 2


def test_update_changes_what_it_finds_and_counts_it(dataset: Dataset) -> None:
    add(dataset, "a", "b")
    grow = PreparedUpdate(
        lambda: Document.objects.filter(name=Parameter("name")).exclude(company="closed"),
        text_chars=F("text_chars") + Parameter("more", IntegerField()),
        company="grown",
    )
    assert [grow.run(name="a", more=5), grow.run(name="a", more=1), grow.run(name="z", more=1)] == [
        1, 1, 0,
    ]  # fmt: skip
    rows = Document.objects.order_by("name").values_list("text_chars", "company")
    assert list(rows) == [(16, "grown"), (10, "")]


def test_delete_takes_each_that_is_named(dataset: Dataset) -> None:
    add(dataset, "a", "b", "c")
    delete = PreparedDelete(
        lambda: Document.objects.filter(dataset=Parameter("dataset"), name=Parameter("name"))
    )
    delete.run_each({"dataset": dataset.pk, "name": name} for name in ("a", "c", "z"))
    assert [document.name for document in Document.objects.all()] == ["b"]


def test_inserted_rows_have_what_was_given_and_defaults_otherwise(
    dataset: Dataset, django_user_model: type[User]
) -> None:
    owner = django_user_model.objects.create_user(email="o@example.org")
    now = timezone.now()
    columns = ("user_id", "name", "digest", "created_at")
    insert_rows(ApiToken, columns, [(owner.pk, "x", "1", now), (owner.pk, "y", "2", now)])
    rows = ApiToken.objects.order_by("digest").values_list("name", "prefix", "last_used_at")
    assert list(rows) == [("x", "", None), ("y", "", None)]


def test_insert_that_breaks_a_rule_adds_nothing(django_user_model: type[User]) -> None:
    owner = django_user_model.objects.create_user(email="o@example.org")
    now = timezone.now()
    columns = ("user_id", "name", "digest", "created_at")
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(ApiToken, columns, [(owner.pk, "x", "1", now), (owner.pk, "y", "1", now)])
    assert not ApiToken.objects.exists()
