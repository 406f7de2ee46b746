"""A query parameter that an endpoint or a list does not have is refused and named."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator

from portal.accounts.models import User
from portal.datasets.models import Document
from portal.web.requests import known_parameters
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf


def endpoints(patterns: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        address = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from endpoints(pattern.url_patterns, address)
        elif address.startswith("api/") and hasattr(pattern.callback, "cls"):
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", address)
            yield f"/{path}", pattern.callback.cls


def test_the_parameters_are_those_of_the_openapi_document() -> None:
    generator: Any = SchemaGenerator
    paths = generator().get_schema(request=None, public=True)["paths"]
    checked = 0
    for path, endpoint in endpoints(get_resolver().url_patterns):
        for method, operation in paths.get(path, {}).items():
            listed = {
                each["name"] for each in operation.get("parameters", []) if each["in"] == "query"
            }
            known = known_parameters(endpoint, method.upper())
            assert known - {"format"} == listed - {"format"}, f"{method} {path}"
            checked += 1
    assert checked > 150


@pytest.mark.django_db
class TestRefusing:
    @pytest.fixture(autouse=True)
    def dataset(self) -> None:
        make_document(empty_dataset(slug="set", visibility="public"), "a", "<p>x 1</p>")

    def test_a_list_names_the_parameter_and_the_known_ones(self, api_of: ApiOf) -> None:
        api = api_of(None)
        answer = api.get("/api/v1/datasets/set/documents/?colour=Acme&q=a")
        assert answer.status_code == 400
        (fault,) = answer.json()["colour"]
        assert fault.startswith(
            "Unknown parameter. Known parameters: category, company, condition, doc_type, "
        )
        assert "kind, language, limit, min_facts, offset, q, " in fault
        found = api.get("/api/v1/datasets/set/documents/?q=a&limit=1&offset=0&format=json")
        assert found.json()["count"] == 1

    @pytest.mark.parametrize("path", ["datasets/", "datasets/set/", "datasets/set/releases/"])
    def test_lists_without_filters_and_single_rows_refuse_too(
        self, api_of: ApiOf, path: str
    ) -> None:
        assert api_of(None).get(f"/api/v1/{path}").status_code == 200
        assert api_of(None).get(f"/api/v1/{path}?colour=Acme").status_code == 400

    def test_a_change_refuses_it_before_it_writes(self, api_of: ApiOf, organiser: User) -> None:
        body = {"all": True, "changes": {"company": "X"}}
        url = "/api/v1/datasets/set/bulk-edit/?dry_run=true"
        refused = api_of(organiser).post(url, body, format="json")
        assert (refused.status_code, list(refused.json())) == (400, ["dry_run"])
        assert not Document.objects.filter(company="X").exists()

    @pytest.mark.parametrize("path", ["documents/", "disputes/", "statistics/export/"])
    def test_a_page_says_which_there_are(self, client_of: ClientOf, path: str) -> None:
        answer = client_of(None).get(f"/datasets/set/{path}?colour=Acme")
        assert answer.status_code == 400
        assert "Unknown parameter “colour”. Known parameters: " in answer.content.decode()


FILES = {
    "/datasets/set/releases/1.0.0/download/": "Known parameters: images.",
    "/datasets/set/releases/1.0.0/starter-kit/": "There are no parameters.",
    "/datasets/set/releases/1.0.0/files/gold.jsonl": "There are no parameters.",
    "/datasets/set/selections/1/download/": "There are no parameters.",
    "/datasets/set/batches/1/report/": "Known parameters: form.",
    "/boards/board/example/": "There are no parameters.",
    "/boards/board/rows/template.csv": "There are no parameters.",
    "/boards/board/rows/1/cite.bib": "There are no parameters.",
    "/boards/board/human-run/items.jsonl": "Known parameters: phase, seed, size.",
    "/submissions/1/scores.csv": "Known parameters: grading, size.",
    "/submissions/1/citation.bib": "There are no parameters.",
    "/submissions/1/manifest.json": "There are no parameters.",
    "/submissions/1/file/": "There are no parameters.",
}


@pytest.mark.django_db
@pytest.mark.parametrize("path", FILES)
def test_a_file_says_which_there_are(client_of: ClientOf, organiser: User, path: str) -> None:
    answer = client_of(organiser).get(f"{path}?colour=Acme")
    assert answer.status_code == 400
    assert f"Unknown parameter “colour”. {FILES[path]}" in answer.content.decode()
