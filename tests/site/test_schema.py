"""The OpenAPI document is the same for everyone and is generated once per release."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.views import SpectacularAPIView
from rest_framework.response import Response

from portal.home import api as openapi

SCHEMA = "/api/v1/schema/"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where documents are stored, by a process that has not read any."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(openapi, "_kept", {})
    return tmp_path / "openapi"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats for which a document was generated: a short one, since that takes a second."""
    formats: list[str] = []

    def short(_: Any, request: Any) -> Response:
        formats.append(request.accepted_renderer.format)
        return Response({"openapi": "3.0.3", "number": len(formats)})

    monkeypatch.setattr(SpectacularAPIView, "_get_schema_response", short)
    return formats


def start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi, "_kept", {})


def test_it_is_generated_once_for_all_processes(
    made: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openapi.store_documents()
    assert made == ["json", "yaml"]
    openapi.store_documents()
    for query in ("", "?format=json"):
        start_again(monkeypatch)
        assert Client().get(SCHEMA + query).status_code == 200
    assert made == ["json", "yaml"]
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".yaml"]


def test_another_release_generates_its_own(
    made: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    openapi.store_documents()
    changes: list[Callable[[], object]] = [
        lambda: monkeypatch.setattr("portal.web.requests.build", lambda: "other code"),
        lambda: monkeypatch.setattr(openapi, "version", lambda name: "99"),
        lambda: setattr(
            settings, "SPECTACULAR_SETTINGS", settings.SPECTACULAR_SETTINGS | {"TITLE": "Other"}
        ),
    ]
    for count, change in enumerate(changes, start=2):
        change()
        start_again(monkeypatch)
        assert Client().get(f"{SCHEMA}?format=json").json()["number"] == count + 1
        [stored] = folder.glob("*.json")
        assert f'"number": {count + 1}' in stored.read_text()


def test_a_folder_that_cannot_be_written_only_costs_time(made: list[str], folder: Path) -> None:
    folder.write_text("not a folder")
    for _ in range(2):
        assert Client().get(SCHEMA).status_code == 200
    assert made == ["yaml"]


def test_simultaneous_requests_generate_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generating two documents at the same time used to break both."""
    made: list[str] = []
    make: Any = SpectacularAPIView._get_schema_response

    def counted(self: Any, request: Any) -> Any:
        made.append(request.accepted_renderer.media_type)
        return make(self, request)

    monkeypatch.setattr(SpectacularAPIView, "_get_schema_response", counted)
    with ThreadPoolExecutor(4) as readers:
        answers = list(readers.map(lambda _: Client().get(f"{SCHEMA}?format=json"), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.content for answer in answers}) == 1
    assert len(made) == 1
    assert answers[0].json()["info"]["title"] == "Factboard API"
    assert answers[0]["Content-Type"] == "application/vnd.oai.openapi+json"
    yaml = Client().get(SCHEMA)
    assert yaml["Content-Type"].startswith("application/vnd.oai.openapi")
    assert yaml.content.startswith(b"openapi: 3.")
    assert len(made) == 2
