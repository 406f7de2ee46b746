"""A field that a body does not have is refused and named, on every level of every body.

The test sends each body of the OpenAPI document with one unknown field: at the top, and in each
object in it. Nothing may be written.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from portal.accounts.models import User
from tests.asking import rolled_back

from .api_world import World, make_world

pytestmark = pytest.mark.django_db

UNKNOWN = "form_tpye"
JSON, FORM = "application/json", "multipart/form-data"
# A token notes when it was last used.
FREE = ("accounts_apitoken",)
# The objects of the world are not in a state in which these read a body.
CLOSED = (
    "/api/v1/assignments/{id}/import/",
    "/api/v1/assignments/{id}/revisions/{number}/restore/",
    "/api/v1/boards/{slug}/regrades/{id}/cancel/",
    "/api/v1/boards/{slug}/rows/{id}/",
    "/api/v1/campaigns/{slug}/qualification/{id}/qualify/",
    "/api/v1/campaigns/{slug}/review/{number}/items/{position}/decide/",
    "/api/v1/datasets/{slug}/releases/{version}/accept-licence/",
)
WRITES = ("INSERT", "UPDATE", "DELETE")


@pytest.fixture
def world(researcher: User, organiser: User, ben: User) -> World:
    return make_world(researcher, organiser, ben)


def document() -> dict[str, Any]:
    generator: Any = SchemaGenerator
    found: dict[str, Any] = generator().get_schema(request=None, public=True)
    return found


def bodies(schema: Any, components: dict[str, Any]) -> Iterator[Any]:
    """Bodies with one unknown field each: in the object, and in the objects in its fields."""
    for part in (schema, *schema.get("allOf", ()), *schema.get("oneOf", ())):
        if "$ref" in part:
            yield from bodies(components[part["$ref"].rpartition("/")[2]], components)
    if properties := schema.get("properties"):
        yield {UNKNOWN: 1}
        for name, inner in properties.items():
            if not inner.get("readOnly"):
                yield from ({name: body} for body in bodies(inner, components))
    if "items" in schema:
        yield from ([body] for body in bodies(schema["items"], components))


def operations(media: str) -> Iterator[tuple[str, str, Any]]:
    whole = document()
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            if media in content:
                for body in bodies(content[media]["schema"], whole["components"]["schemas"]):
                    yield method, path, body


def client_of(world: World, role: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {world.tokens[role]}")
    return client


def filled(path: str, world: World) -> str:
    for name, value in world.parameters(path).items():
        path = path.replace(f"{{{name}}}", str(value))
    return path


def faults_of(world: World, method: str, path: str, sent: dict[str, Any], named: str) -> list[str]:
    """The faults of the answers. One of the roles reaches the object, and gets 400."""
    faults, named_by, statuses = [], 0, set()
    for role in world.tokens:
        with rolled_back(), CaptureQueriesContext(connection) as queries:
            response = getattr(client_of(world, role), method)(filled(path, world), **sent)
        text = response.content.decode()
        statuses.add(response.status_code)
        written = [
            query["sql"]
            for query in queries.captured_queries
            if query["sql"].startswith(WRITES) and not any(table in query["sql"] for table in FREE)
        ]
        faults += [f"{method} {path} {sent} as {role} wrote {sql}" for sql in written]
        if response.status_code < 300:
            faults.append(f"{method} {path} {sent} as {role}: {response.status_code}")
        named_by += response.status_code == 400 and f'"{named}":["Unknown field.' in text
    is_read = named_by or (path in CLOSED and statuses <= {403, 404, 409, 422})
    return faults if is_read else [*faults, f"{method} {path} {sent}: {statuses}, and no 400"]


def test_every_endpoint_without_a_body_refuses_one(world: World) -> None:
    faults, sent = [], 0
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            if method == "get" or "requestBody" in operation:
                continue
            body = {"data": json.dumps({UNKNOWN: 1}), "content_type": JSON}
            faults += faults_of(world, method, path, body, UNKNOWN)
            sent += 1
    assert not faults, "\n".join(faults)
    assert sent > 40


def test_an_empty_body_is_none(world: World) -> None:
    path = "/api/v1/submissions/{id}/withdraw/"
    assert "requestBody" not in document()["paths"][path]["post"]
    client, url = client_of(world, "researcher"), filled(path, world)
    for data, status in (("", 200), ("{}", 200), ("null", 200), ("[1]", 400), ("no", 400)):
        with rolled_back():
            answer = client.post(url, data=data, content_type=JSON)
        assert answer.status_code == status, (data, answer.content)
    for form, status in (({}, 200), ({UNKNOWN: 1}, 400)):
        with rolled_back():
            answer = client.post(url, data=form, format="multipart")
        assert answer.status_code == status, (form, answer.content)


def test_permission_and_method_come_before_the_body(world: World) -> None:
    url = filled("/api/v1/submissions/{id}/withdraw/", world)
    answer = APIClient().post(url, data={UNKNOWN: 1}, format="json")
    assert answer.status_code == 401, answer.content
    answer = client_of(world, "researcher").patch(url, data={UNKNOWN: 1}, format="json")
    assert answer.status_code == 405, answer.content


def test_every_json_body_names_it(world: World) -> None:
    faults, sent = [], 0
    for method, path, body in operations(JSON):
        data = {"data": json.dumps(body), "content_type": JSON}
        faults += faults_of(world, method, path, data, UNKNOWN)
        sent += 1
    assert not faults, "\n".join(faults)
    assert sent > 70


def test_every_form_names_it(world: World) -> None:
    faults, sent = [], 0
    for method, path, body in operations(FORM):
        if UNKNOWN in body:
            file = SimpleUploadedFile("x.txt", b"1")
            for data, named in (({UNKNOWN: "1"}, UNKNOWN), ({"flie": file}, "flie")):
                faults += faults_of(
                    world, method, path, {"data": data, "format": "multipart"}, named
                )
                sent += 1
    assert not faults, "\n".join(faults)
    assert sent > 40


def test_fields_that_only_answers_have_are_refused(world: World) -> None:
    client = client_of(world, "organiser")
    board, dataset = (
        filled("/api/v1/boards/{slug}/", world),
        filled("/api/v1/datasets/{slug}/", world),
    )
    for path in (board, dataset):
        refused = client.patch(path, {"slug": "other", "title": "New"})
        assert refused.status_code == 400
        (fault,) = refused.json()["slug"]
        assert fault.startswith("Unknown field. Known fields: ")
        assert client.get(path).json()["title"] != "New"
