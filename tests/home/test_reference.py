"""The API reference shows every operation of the OpenAPI document, with little to load."""

import json
import re
import shlex
from html import unescape

import pytest
from django.test import Client

from portal.home import reference
from portal.home.api import document

pytestmark = pytest.mark.django_db
DOCS = "/api/v1/docs/"


def _page(client: Client, name: str = "") -> str:
    response = client.get(f"{DOCS}{name}")
    assert response.status_code == 200, name
    return unescape(response.content.decode())


def test_page_lists_every_operation_and_is_light(client: Client) -> None:
    page = _page(client)
    whole = json.loads(document())
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            link = f'<td>{method.upper()}</td><td><a href="{DOCS}{operation["operationId"]}/">'
            assert f"{link}<code>{path}</code></a>" in page
    assert 'href="/api/v1/schema/?format=json"' in page
    assert len(page) < 120_000
    scripts = re.findall(r'<script[^>]+src="([^"]+)"', page)
    assert [src for src in scripts if "swagger" in src or "redoc" in src] == []


def test_every_operation_has_a_page_with_its_parameters_and_answers(client: Client) -> None:
    for name, operation in reference.operations().items():
        page = _page(client, f"{name}/")
        assert len(page) < 200_000, name
        for each in operation.raw.get("parameters", ()):
            assert f"<code>{each['name']}</code>" in page, (name, each["name"])
        for status in operation.raw["responses"]:
            assert re.search(rf'<h3 id="answer-\d+">{status} ', page), (name, status)
        for media_type in operation.raw.get("requestBody", {}).get("content", ()):
            assert re.search(rf'<h3 id="body-\d+"><code>{media_type}', page), (name, media_type)


def test_page_of_an_operation_with_a_body(client: Client) -> None:
    page = _page(client, "boards_rows_create/")
    names = re.findall(
        r"<td><code>([^<]+)</code>", page.split('id="body"')[1].split('id="answers"')[0]
    )
    assert {"name", "scores"} <= set(names)
    command = re.search(r'<code id="example-command">(.*?)</code>', page, re.DOTALL)
    assert command
    words = shlex.split(command[1])
    assert words[:5] == ["curl", "-X", "POST", "-H", "Authorization: Bearer $TOKEN"]
    assert words[-1] == "http://testserver/api/v1/boards/SLUG/rows/"
    assert set(json.loads(words[words.index("-d") + 1])) >= {"name", "scores"}


def test_fields_of_nested_objects_and_of_lists_are_listed() -> None:
    schema = {
        "type": "object",
        "required": ["rows"],
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"rank": {"type": "integer", "nullable": True, "minimum": 1}},
                },
            },
            "own": {"type": "string", "readOnly": True},
        },
    }
    fields = [*reference._fields(schema, is_answer=False)]
    assert fields == [
        reference.Field("rows", "list of object", is_required=True, text=""),
        reference.Field("rows[].rank", "integer or null", is_required=False, text="At least 1."),
    ]
    assert reference._sample(schema) == {"rows": [{"rank": 1}], "own": "text"}
    assert reference._sample(schema, is_answer=False) == {"rows": [{"rank": 1}]}


def test_unknown_operation_is_not_found(client: Client) -> None:
    assert client.get(f"{DOCS}nothing/").status_code == 404
