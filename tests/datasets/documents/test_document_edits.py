"""Editing one or many documents: changes, errors and the log."""

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.documents import services as service
from portal.datasets.documents.services import Hold, bulk_edit_documents, edit_document
from portal.datasets.models import Dataset, Document
from tests.datasets.factories import make_release
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set")


@pytest.fixture
def three(dataset: Dataset) -> list[Document]:
    return [make_document(dataset, name, f"<p>{name} 1,200</p>") for name in "abc"]


class TestOne:
    def test_source_follows_the_address(self, three: list[Document], organiser: User) -> None:
        first = three[0]
        edited = edit_document(
            document=first,
            changes={"source_url": "https://www.sec.gov/x.htm", "fiscal_year": 2024},
            actor=organiser,
        )
        assert (edited.source, edited.fiscal_year) == ("sec.gov", 2024)
        event = Event.objects.get(verb="edit_document")
        assert event.data["before"] == {"fiscal_year": None, "source": "", "source_url": ""}
        assert edit_document(document=edited, changes={"source_url": ""}, actor=None).source == ""

    def test_a_benchmark_stays_the_source(self, three: list[Document]) -> None:
        first = three[0]
        Document.objects.filter(pk=first.pk).update(source="receiptbench")
        changes = {"source_url": "https://example.org/a"}
        assert edit_document(document=first, changes=changes, actor=None).source == "example.org"

    def test_nothing_changed_writes_nothing(self, three: list[Document]) -> None:
        edit_document(document=three[0], changes={"company": ""}, actor=None)
        assert not Event.objects.filter(verb="edit_document").exists()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("name", "other"),
            ("state", "held"),
            ("html_sha256", "0" * 64),
            ("source_url", "javascript:alert(1)"),
            ("source_url", "ftp://example.org/"),
            ("source_url", "https://"),
            ("doc_type", "poem"),
            ("fiscal_year", 99999),
            ("language", "x" * 13),
            ("metadata", ["a"]),
            ("metadata", {"a": "\x00"}),
            ("metadata", {"a": float("nan")}),
            ("metadata", {"a": "\ud800"}),
            ("metadata", {"a": "x" * 70_000}),
        ],
    )
    def test_refuses(self, field: str, value: Any, three: list[Document]) -> None:
        before = Document.objects.values().get(pk=three[0].pk)
        with pytest.raises(ValidationError) as caught:
            edit_document(document=three[0], changes={"company": "X", field: value}, actor=None)
        assert list(caught.value.error_dict) == [field]
        assert Document.objects.values().get(pk=three[0].pk) == before

    def test_release_keeps_its_lines(self, three: list[Document], dataset: Dataset) -> None:
        release = make_release(dataset)
        before = list(release.items.values())
        edit_document(document=three[0], changes={"company": "New"}, actor=None)
        assert list(release.items.values()) == before

    @pytest.mark.parametrize(
        ("written", "message"),
        [
            ("{", "Line 1"),
            ("[1]", "must be a JSON object"),
            ('{"a": 1,\n "a": 2}', "duplicate key"),
            ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "deep"),
            ('{"a": "' + "x" * 70_000 + '"}', "64 kB"),
            ('{"a": NaN}', "NaN"),
            ('{"a": "\\u0000"}', "NUL"),
        ],
    )
    def test_page_refuses_metadata(
        self,
        written: str,
        message: str,
        three: list[Document],
        organiser: User,
        client_of: ClientOf,
    ) -> None:
        answers = {"doc_type": "other", "metadata": written}
        response = client_of(organiser).post("/datasets/set/documents/a/edit/", answers)
        assert response.status_code == 400
        assert message in response.content.decode()

    def test_page_saves_its_values(
        self, three: list[Document], organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        assert client.get("/datasets/set/documents/a/edit/").status_code == 200
        answers = {
            "doc_type": "tax_form",
            "company": "Acme",
            "fiscal_year": "2024",
            "source_url": "https://www.irs.gov/f",
            "language": "en",
            "licence": "CC0-1.0",
            "metadata": '{"industry": "steel"}',
        }
        response = client.post("/datasets/set/documents/a/edit/", answers)
        assert response["Location"] == "/datasets/set/documents/a/"
        stored = Document.objects.get(pk=three[0].pk)
        assert stored.metadata == {"industry": "steel"}
        assert (stored.doc_type, stored.source, stored.language) == ("tax_form", "irs.gov", "en")
        bad = client.post("/datasets/set/documents/a/edit/", answers | {"source_url": "data:,x"})
        assert bad.status_code == 400
        assert "begins with https://" in bad.content.decode()

    def test_api_changes_it(self, three: list[Document], organiser: User, api_of: Any) -> None:
        path = "/api/v1/datasets/set/documents/a/"
        answer = api_of(organiser).patch(
            path, {"company": "Acme", "metadata": {"a": [1]}, "fiscal_year": None}, format="json"
        )
        assert answer.status_code == 200
        assert (answer.json()["company"], answer.json()["metadata"]) == ("Acme", {"a": [1]})
        bad = api_of(organiser).patch(path, {"source_url": "javascript:x"}, format="json")
        assert bad.status_code == 400
        assert list(bad.json()) == ["source_url"]


class TestMany:
    def test_all_get_the_same_values(
        self, dataset: Dataset, three: list[Document], organiser: User
    ) -> None:
        changed = bulk_edit_documents(
            dataset=dataset,
            documents=dataset.documents.exclude(name="c"),
            changes={"doc_type": "tax_form", "fiscal_year": 2024},
            actor=organiser,
        )
        assert changed == 2
        rows = dict(dataset.documents.values_list("name", "fiscal_year"))
        assert rows == {"a": 2024, "b": 2024, "c": None}
        event = Event.objects.get(verb="edit_documents")
        assert event.actor == organiser
        assert event.data["before"] == {
            "fields": ["doc_type", "fiscal_year"],
            "values": {"a": ["other", None], "b": ["other", None]},
        }

    def test_changes_may_affect_the_filtered_fields(
        self, dataset: Dataset, three: list[Document]
    ) -> None:
        documents = dataset.documents.filter(doc_type="other")
        changes = {"doc_type": "tax_form"}
        assert (
            bulk_edit_documents(dataset=dataset, documents=documents, changes=changes, actor=None)
            == 3
        )

    def test_log_stays_bounded(
        self, dataset: Dataset, three: list[Document], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "BEFORE_KEPT", 2)
        bulk_edit_documents(
            dataset=dataset, documents=dataset.documents.all(), changes={"company": "X"}, actor=None
        )
        event = Event.objects.get(verb="edit_documents")
        assert event.data["before"] == {"counts": {"company": {"": 3}}}

    def test_holding_back_and_taking_up(self, dataset: Dataset, three: list[Document]) -> None:
        both = dataset.documents.filter(name__in=["a", "b"])
        bulk_edit_documents(dataset=dataset, documents=both, hold=Hold("blurred"), actor=None)
        assert set(both.values_list("state", "held_reason")) == {("held", "blurred")}
        bulk_edit_documents(dataset=dataset, documents=both, hold=Hold(), actor=None)
        assert set(both.values_list("state", "held_reason")) == {("active", "")}

    def test_documents_of_another_dataset_stay(self, dataset: Dataset) -> None:
        other = make_document(empty_dataset(), "x", "<p>1</p>")
        every = Document.objects.all()
        assert (
            bulk_edit_documents(
                dataset=dataset, documents=every, changes={"company": "X"}, actor=None
            )
            == 0
        )
        assert Document.objects.get(pk=other.pk).company == ""

    @pytest.mark.parametrize(
        "changes",
        [{}, {"source_url": "https://example.org"}, {"name": "x"}, {"fiscal_year": 1}],
    )
    def test_refuses(
        self, changes: dict[str, Any], dataset: Dataset, three: list[Document]
    ) -> None:
        with pytest.raises(ValidationError):
            bulk_edit_documents(
                dataset=dataset, documents=dataset.documents.all(), changes=changes, actor=None
            )
        assert not Event.objects.filter(verb="edit_documents").exists()

    @pytest.mark.parametrize("documents", [3, 30])
    def test_makes_few_queries(
        self, documents: int, dataset: Dataset, django_assert_max_num_queries: Any
    ) -> None:
        for number in range(documents):
            make_document(dataset, f"n{number}", f"<p>{number}</p>")
        # Savepoint and release, lock, previous values, update, event.
        with django_assert_max_num_queries(6):
            bulk_edit_documents(
                dataset=dataset,
                documents=dataset.documents.all(),
                changes={"company": "X"},
                actor=None,
            )


class TestPage:
    path = "/datasets/set/bulk-edit/"

    def test_says_the_number_before_it_changes(
        self, three: list[Document], organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        first = client.post(self.path, {"document": ["a", "c"], "filter": "q=x"})
        assert first.status_code == 200
        assert "Edit 2 documents" in first.content.decode()
        assert Document.objects.filter(company="Acme").count() == 0
        answers = {
            "document": ["a", "c"],
            "confirm": "1",
            "expected": "2",
            "change": ["company"],
            "company": "Acme",
            "doc_type": "tax_form",
        }
        done = client.post(self.path, answers)
        assert done.status_code == 302
        names = Document.objects.filter(company="Acme").values_list("name", flat=True)
        assert sorted(names) == ["a", "c"]
        # Not selected, so not changed.
        assert not Document.objects.filter(doc_type="tax_form").exists()

    def test_all_that_the_filter_finds(
        self, three: list[Document], organiser: User, client_of: ClientOf
    ) -> None:
        Document.objects.filter(name__in=["a", "b"]).update(fiscal_year=2024)
        client = client_of(organiser)
        first = client.post(self.path, {"all": "1", "filter": "fiscal_year=2024"})
        assert "Edit 2 documents" in first.content.decode()
        answers = {
            "all": "1",
            "filter": "fiscal_year=2024",
            "confirm": "1",
            "expected": "2",
            "action": "hold",
            "reason": "too old",
        }
        client.post(self.path, answers)
        held = Document.objects.filter(state="held", held_reason="too old")
        assert sorted(held.values_list("name", flat=True)) == ["a", "b"]

    def test_changed_number_of_documents_changes_nothing(
        self, three: list[Document], organiser: User, client_of: ClientOf
    ) -> None:
        answers = {
            "all": "1", "filter": "", "confirm": "1", "expected": "2", "change": ["company"],
            "company": "Acme",
        }  # fmt: skip
        response = client_of(organiser).post(self.path, answers)
        assert response.status_code == 400
        assert "the filter now matches" in response.content.decode()
        assert not Document.objects.filter(company="Acme").exists()

    @pytest.mark.parametrize(
        ("answers", "message"),
        [
            ({}, "Select at least one field"),
            ({"action": "hold"}, "Enter a reason"),
            ({"change": ["fiscal_year"], "fiscal_year": "12"}, "greater than or equal"),
            ({"change": ["name"]}, "not one of the available choices"),
        ],
    )
    def test_refuses(
        self,
        answers: dict[str, Any],
        message: str,
        three: list[Document],
        organiser: User,
        client_of: ClientOf,
    ) -> None:
        asked = {"document": ["a"], "confirm": "1", "expected": "1", **answers}
        response = client_of(organiser).post(self.path, asked)
        assert response.status_code == 400
        assert message in response.content.decode()

    def test_nothing_ticked_leads_back(
        self, three: list[Document], organiser: User, client_of: ClientOf
    ) -> None:
        response = client_of(organiser).post(self.path, {"filter": "fiscal_year=2024"}, follow=True)
        assert "No documents were selected" in response.content.decode()

    def test_api(self, three: list[Document], organiser: User, api_of: Any) -> None:
        api, path = api_of(organiser), "/api/v1/datasets/set/bulk-edit/"
        body: dict[str, Any] = {"names": ["a"], "changes": {"company": "Acme"}}
        assert api.post(path, body, format="json").json() == {"documents": 1}
        body = {"filter": {"q": "acme"}, "hold_back": "twice"}
        assert api.post(path, body, format="json").json() == {"documents": 1}
        assert Document.objects.get(name="a").held_reason == "twice"
        for bad in (
            {},
            {"names": ["a"]},
            {"names": ["a"], "filter": {"q": "a"}, "take_up": True},
            {"names": ["a"], "all": True, "take_up": True},
            {"all": False, "take_up": True},
        ):
            assert api.post(path, bad, format="json").status_code == 400, json.dumps(bad)

    @pytest.mark.parametrize(
        ("chosen", "field"),
        [
            ({"filter": {}}, "filter"),
            ({"filter": {"q": "", "fiscal_year": ""}}, "filter"),
            ({"filter": {"bogus": 1}}, "filter"),
            ({"filter": {"doc_type": "10-Q"}}, "filter"),
            ({"names": ["a", "nope"]}, "names"),
            ({"all": True, "chagnes": {}}, "chagnes"),
            ({"all": True, "changes": {"company": "X", "html": "<p>"}}, "changes"),
        ],
    )
    def test_api_changes_nothing_by_mistake(
        self,
        chosen: dict[str, Any],
        field: str,
        three: list[Document],
        organiser: User,
        api_of: Any,
    ) -> None:
        body = {"changes": {"company": "X"}} | chosen
        refused = api_of(organiser).post("/api/v1/datasets/set/bulk-edit/", body, format="json")
        assert (refused.status_code, list(refused.json())) == (400, [field])
        assert not Document.objects.filter(company="X").exists()
        assert not Event.objects.filter(verb="edit_documents").exists()

    @pytest.mark.parametrize(
        ("chosen", "names"),
        [
            ({"all": True}, "abc"),
            ({"filter": {"form_type": "10-Q"}}, "ab"),
            ({"filter": {"company": "Acme"}}, "b"),
            ({"filter": {"company": "acm"}}, ""),
            ({"filter": {"form_type": "10-Q", "fiscal_year": "2024"}}, "a"),
            ({"filter": {"form_type": "unknown"}}, "c"),
        ],
    )
    def test_api_filters_by_the_fields_of_the_answers_and_tries_first(
        self,
        chosen: dict[str, Any],
        names: str,
        three: list[Document],
        organiser: User,
        api_of: Any,
    ) -> None:
        Document.objects.filter(name__in="ab").update(form_type="10-Q")
        Document.objects.filter(name="a").update(fiscal_year=2024)
        Document.objects.filter(name="b").update(company="Acme")
        api, path = api_of(organiser), "/api/v1/datasets/set/bulk-edit/"
        body = {**chosen, "changes": {"licence": "CC0-1.0"}}
        tried = api.post(path, body | {"dry_run": True}, format="json")
        assert tried.json() == {"documents": len(names)}
        assert not Document.objects.filter(licence="CC0-1.0").exists()
        assert not Event.objects.filter(verb="edit_documents").exists()
        assert api.post(path, body, format="json").json() == tried.json()
        changed = Document.objects.filter(licence="CC0-1.0").values_list("name", flat=True)
        assert "".join(sorted(changed)) == names

    @pytest.mark.parametrize("wrong", ["colour=red", "fiscal_year=1066", "doc_type=novel"])
    def test_page_refuses_a_filter_that_it_does_not_have(
        self, wrong: str, three: list[Document], organiser: User, client_of: ClientOf
    ) -> None:
        answers = {
            "all": "1", "filter": wrong, "confirm": "1", "expected": "3", "change": ["company"],
            "company": "X",
        }  # fmt: skip
        refused = client_of(organiser).post(self.path, answers)
        assert refused.status_code == 400
        assert wrong.split("=")[0] in refused.content.decode()
        assert not Document.objects.filter(company="X").exists()
