"""Values that no form of the site sends: NUL, surrogates, numbers too large for a database.

The test sends each value in each parameter and field of every operation. The response must have a
status that the OpenAPI document names, and must not be a server error.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from portal.accounts.models import User
from tests.asking import rolled_back

from .api_world import World, make_world

pytestmark = pytest.mark.django_db

TEXTS = ["a\x00b", "x" * 10_000, "%", "1e999"]
NUMBERS = [-1, 2**63, 10**400]
# Possible in JSON but not in a URL.
IN_JSON = ['"\\ud800"', '["a\\u0000b"]', '{"a\\u0000": "\\udfff"}', "[[[[]]]]", "1e400", "null"]
# Coprime with the numbers of values of a parameter (7) and of a field (9).
STEP = 5
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def world(researcher: User, organiser: User, ben: User) -> World:
    return make_world(researcher, organiser, ben)


def document() -> dict[str, Any]:
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method in METHODS:
            if method in methods:
                yield path, method, methods[method]


def urls(path: str, operation: dict[str, Any], world: World) -> Iterator[str]:
    """Yields URLs with one odd value in the path or in the query."""
    known = world.parameters(path)
    for each in operation.get("parameters", ()):
        for value in [*TEXTS, *NUMBERS]:
            if each["in"] == "query":
                yield f"{filled(path, known)}?{urlencode({each['name']: value})}"
            elif str(value).strip():
                yield filled(path, known | {each["name"]: str(value)})


def filled(path: str, values: dict[str, Any]) -> str:
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    return path


def bodies(operation: dict[str, Any], components: dict[str, Any]) -> Iterator[str]:
    """Yields JSON bodies: odd values as the whole body, and in each field."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return
    yield from IN_JSON
    yield "\x00"
    yield "[" * 100_000
    shape = content["application/json"]["schema"]
    if "$ref" in shape:
        shape = components[shape["$ref"].rpartition("/")[2]]
    for name in shape.get("properties", {}):
        for value in [*IN_JSON, '"a\\u0000b"', json.dumps("x" * 10_000), str(2**63)]:
            yield f"{{{json.dumps(name)}: {value}}}"


@pytest.mark.parametrize(
    "step", [STEP, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_odd_values_are_answered(world: World, step: int) -> None:
    """Sends every `step`-th request. So each field gets a value, and each value a field."""
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {world.tokens['organiser']}")
    components = document()["components"]["schemas"]
    faults, made = [], 0
    for number, (path, method, operation) in enumerate(operations()):
        plain = filled(path, world.parameters(path))
        asked = [(url, "") for url in urls(path, operation, world)]
        asked += [(plain, body) for body in bodies(operation, components)]
        for url, body in asked[number % step :: step]:
            with rolled_back():
                sent = {"data": body, "content_type": "application/json"} if body else {}
                response = getattr(client, method)(url, **sent)
            made += 1
            if str(response.status_code) not in operation["responses"]:
                faults.append(f"{response.status_code} {method} {url[:300]} {body[:200]}")
    assert not faults, "\n".join(faults)
    assert made > 5000 / step
