"""Every path, parameter and field that the client uses is in the site's OpenAPI document."""

import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Union, get_args, get_origin

import pytest
from drf_spectacular.generators import SchemaGenerator
from pydantic import BaseModel

from factboard.client.api import ENDPOINTS, Endpoint
from factboard.client.models import Leaderboard, ModelCard, Submission
from scoring.models.submissions import CARD_FIELDS

Schema = dict[str, Any]


@cache
def document() -> Schema:
    generator: Any = SchemaGenerator
    found: Schema = generator().get_schema(request=None, public=True)
    return found


def resolved(schema: Schema) -> Schema:
    """The schema without references, and whether it may be null."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return resolved(document()["components"]["schemas"][name])
    if "allOf" in schema:
        whole: Schema = {"nullable": schema.get("nullable", False)}
        for part in schema["allOf"]:
            whole |= {key: each for key, each in resolved(part).items() if key != "nullable"}
        return whole
    return schema


def may_be_null(schema: Schema) -> bool:
    parts = [schema, *schema.get("oneOf", ())]
    return any(part.get("nullable") or part.get("type") == "null" for part in map(resolved, parts))


def types_of(annotation: Any) -> list[Any]:
    is_union = get_origin(annotation) in {Union, types.UnionType}
    return list(get_args(annotation)) if is_union else [annotation]


def faults(model: type[BaseModel], schema: Schema, where: str) -> Iterator[str]:
    properties = resolved(schema).get("properties", {})
    for name, field in model.model_fields.items():
        place = f"{where}.{name}"
        if name not in properties:
            yield f"{place} is not in the document"
            continue
        there = properties[name]
        wanted = types_of(field.annotation)
        if may_be_null(there) and types.NoneType not in wanted:
            yield f"{place} may be null"
        if field.is_required() and name not in resolved(schema).get("required", ()):
            yield f"{place} may be left out"
        for each in wanted:
            yield from nested_faults(each, resolved(there), place)


def nested_faults(annotation: Any, schema: Schema, place: str) -> Iterator[str]:
    if get_origin(annotation) is tuple:
        annotation, schema = get_args(annotation)[0], resolved(schema.get("items", {}))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from faults(annotation, schema, place)


def operation(endpoint: Endpoint) -> Schema:
    path: Schema = document()["paths"][f"/api/v1{endpoint.path}"]
    found: Schema = path[endpoint.method.lower()]
    return found


@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_is_in_the_document(name: str) -> None:
    endpoint = ENDPOINTS[name]
    found = operation(endpoint)
    answers = [answer for code, answer in found["responses"].items() if code in {"200", "201"}]
    for answer in answers:
        if isinstance(endpoint.answer, str):
            assert endpoint.answer in answer["content"]
        elif endpoint.answer is not BaseModel:
            content = answer["content"]["application/json"]["schema"]
            assert list(faults(endpoint.answer, content, name)) == []
    assert answers


@pytest.mark.parametrize("name", ENDPOINTS)
def test_parameters_are_in_the_document(name: str) -> None:
    endpoint = ENDPOINTS[name]
    found = operation(endpoint)
    query = {each["name"] for each in found.get("parameters", ()) if each["in"] == "query"}
    assert endpoint.query <= query
    body = found.get("requestBody", {}).get("content", {})
    fields: set[str] = set()
    for form in body.values():
        fields |= set(resolved(form["schema"])["properties"])
    assert endpoint.form <= fields


def test_the_card_has_all_fields() -> None:
    assert set(ModelCard.model_fields) == set(CARD_FIELDS)


def test_a_field_that_the_site_does_not_have_is_found() -> None:
    class Newer(Submission):
        speed: float

    schema = operation(ENDPOINTS["submission"])["responses"]["200"]["content"]["application/json"]
    assert list(faults(Newer, schema["schema"], "it")) == ["it.speed is not in the document"]
    assert "it.sections is not in the document" in list(faults(Leaderboard, schema["schema"], "it"))


def test_a_field_that_may_be_null_is_found() -> None:
    class Hasty(Submission):
        grading: int  # type: ignore[assignment]

    schema = operation(ENDPOINTS["submission"])["responses"]["200"]["content"]["application/json"]
    assert list(faults(Hasty, schema["schema"], "it")) == ["it.grading may be null"]
