"""The OpenAPI document is the same for everyone and is generated once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.views import SpectacularAPIView

SCHEMA = "/api/v1/schema/"
pytestmark = pytest.mark.django_db


def test_simultaneous_requests_generate_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generating two documents at the same time used to break both."""
    made: list[str] = []
    make: Any = SpectacularAPIView._get_schema_response

    def counted(self: Any, request: Any) -> Any:
        made.append(request.accepted_renderer.media_type)
        return make(self, request)

    monkeypatch.setattr(SpectacularAPIView, "_get_schema_response", counted)
    monkeypatch.setattr("portal.home.openapi._kept", {})
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
