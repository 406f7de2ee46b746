"""The pages of the API reference, made from the OpenAPI document: a list of all operations, and a
page for each, with its parameters, body, answers and an example.
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from typing import Any

from portal.web.api import JSON

from .api import document

# Nested objects below this depth are named, not listed.
DEEPEST = 5
_REF = "#/components/schemas/"
_FIRST_SENTENCE = re.compile(r"\A(.+?[.:])(?:\s|\Z)", re.DOTALL)
# Words for the limits of a value.
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "default": "default {}",
}
_NO_LIMIT: tuple[object, ...] = (None, "", [], {}, 2**63 - 1, -(2**63))
# How drf-spectacular describes the choices of a field.
_CHOICE = re.compile(r"^\* `([^`]*)` - (.*)$\n?", re.MULTILINE)
# A value for each type and format, where the schema has no example.
_SAMPLES = {
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "string": "text",
    "decimal": "0.5",
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "name@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}

Schema = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a body or an answer, such as `rows[].rank`."""

    name: str
    kind: str
    is_required: bool
    text: str


@dataclass(frozen=True)
class Content:
    """A body or an answer of one content type."""

    media_type: str
    kind: str
    fields: tuple[Field, ...]
    example: str


@dataclass(frozen=True)
class Answer:
    status: str
    text: str
    contents: tuple[Content, ...]


@dataclass(frozen=True)
class Operation:
    name: str
    tag: str
    method: str
    path: str
    title: str
    text: str
    raw: Schema

    @property
    def needs_account(self) -> bool:
        return {} not in self.raw["security"]


@lru_cache(maxsize=1)
def _read(stored: bytes) -> tuple[dict[str, Operation], dict[str, Schema]]:
    whole = json.loads(stored)
    operations = (
        _operation(path, method, raw)
        for path, methods in whole["paths"].items()
        for method, raw in methods.items()
    )
    return {each.name: each for each in operations}, whole["components"]["schemas"]


def _operation(path: str, method: str, raw: Schema) -> Operation:
    text = raw.get("description", "")
    first = _FIRST_SENTENCE.match(text)
    named = raw["operationId"].replace("_", " ").capitalize()
    title = raw.get("summary") or (first[1].rstrip(".:") if first else text or named)
    return Operation(
        name=raw["operationId"],
        tag=raw["tags"][0],
        method=method.upper(),
        path=path,
        title=" ".join(title.split()),
        text=text,
        raw=raw,
    )


def operations() -> dict[str, Operation]:
    """All operations by name, in the order of their paths."""
    return _read(document())[0]


def by_tag() -> list[tuple[str, list[Operation]]]:
    ordered = sorted(operations().values(), key=attrgetter("tag"))
    return [(tag, list(those)) for tag, those in groupby(ordered, key=attrgetter("tag"))]


def parameters(operation: Operation) -> list[Field]:
    return [
        Field(
            name=each["name"],
            kind=_kind(each["schema"]),
            is_required=each.get("required", False),
            text=_text({"description": each.get("description", "")} | each["schema"]),
        )
        for each in operation.raw.get("parameters", ())
    ]


def bodies(operation: Operation) -> list[Content]:
    return _contents(operation.raw.get("requestBody", {}), is_answer=False)


def answers(operation: Operation) -> list[Answer]:
    return [
        Answer(
            status=f"{status} {HTTPStatus(int(status)).phrase}",
            text=raw.get("description", ""),
            contents=tuple(_contents(raw, is_answer=True)),
        )
        for status, raw in sorted(operation.raw["responses"].items())
    ]


def command(operation: Operation, site: str) -> str:
    """A `curl` command: with the required parameters, and a body if there is one."""
    words = ["curl"]
    if operation.method != "GET":
        words.append(f"-X {operation.method}")
    if operation.needs_account:
        words.append('-H "Authorization: Bearer $TOKEN"')
    url, query = operation.path, []
    for each in operation.raw.get("parameters", ()):
        if each["in"] == "path":
            url = url.replace(f"{{{each['name']}}}", each["name"].upper())
        elif each.get("required"):
            query.append(f"{each['name']}={_sample(each['schema'])}")
    return " ".join(
        [*words, *_sent(operation), f"'{site}{url}{'?' if query else ''}{'&'.join(query)}'"]
    )


def _sent(operation: Operation) -> Iterator[str]:
    contents = operation.raw.get("requestBody", {}).get("content", {})
    if JSON in contents:
        body = json.dumps(_sample(contents[JSON]["schema"], is_answer=False), ensure_ascii=False)
        yield f"-H 'Content-Type: {JSON}' -d {shlex.quote(body)}"
    elif contents:
        schema = _resolved(next(iter(contents.values()))["schema"])
        for name, each in schema.get("properties", {}).items():
            if name in schema.get("required", ()):
                is_file = each.get("format") == "binary"
                yield f"-F {name}={'@FILE' if is_file else _sample(each, is_answer=False)}"


def _contents(raw: Schema, *, is_answer: bool) -> list[Content]:
    return [
        Content(
            media_type=media_type,
            kind=_kind(content["schema"]),
            fields=tuple(_fields(content["schema"], is_answer=is_answer)),
            example=_example(content["schema"], is_answer=is_answer) if media_type == JSON else "",
        )
        for media_type, content in raw.get("content", {}).items()
    ]


def _example(schema: Schema, *, is_answer: bool) -> str:
    return json.dumps(_sample(schema, is_answer=is_answer), ensure_ascii=False, indent=2)


def _components() -> dict[str, Schema]:
    return _read(document())[1]


def _resolved(schema: Schema) -> Schema:
    """The schema with its references and parts resolved. Its own values override theirs."""
    if "$ref" in schema:
        return _resolved(_components()[schema["$ref"].removeprefix(_REF)]) | {
            name: value for name, value in schema.items() if name != "$ref"
        }
    if "allOf" in schema:
        merged: Schema = {}
        for part in schema["allOf"]:
            merged |= _resolved(part)
        return merged | {name: value for name, value in schema.items() if name != "allOf"}
    return schema


def _choices(schema: Schema) -> list[Any]:
    """The values of an enumeration. Those that may also be empty or null are in parts."""
    if "enum" in schema:
        return list(schema["enum"])
    parts = [_resolved(part) for part in schema.get("oneOf", ())]
    if parts and all("enum" in part for part in parts):
        return [value for part in parts for value in part["enum"]]
    return []


def _kind(schema: Schema, depth: int = 0) -> str:
    schema = _resolved(schema)
    or_null = " or null" if schema.get("nullable") else ""
    if "oneOf" in schema and not _choices(schema):
        kinds = dict.fromkeys(_kind(part, depth) for part in schema["oneOf"])
        return " or ".join(kinds) + or_null
    name = schema.get("type") or ("text" if _choices(schema) else "any value")
    if name == "array":
        return f"list of {_kind(schema.get('items', {}), depth)}{or_null}"
    named = {"date-time": "date and time", "uri": "URL", "binary": "file"}
    form = schema.get("format", "")
    word = named.get(form, form) if name == "string" and form else name.replace("string", "text")
    return f"{word}{or_null}"


def _text(schema: Schema) -> str:
    """The description of a value, its choices and its limits."""
    schema = _resolved(schema)
    described = schema.get("description", "")
    parts = [_CHOICE.sub("", described).strip()]
    if choices := _choices(schema) or _choices(_resolved(schema.get("items", {}))):
        labels = dict(_CHOICE.findall(described))
        words = (f"{_word(value)}{_label(value, labels)}" for value in choices)
        parts.append(f"One of: {', '.join(words)}.")
    limits = [
        words.format(_word(schema[name]))
        for name, words in _LIMITS.items()
        if schema.get(name) not in _NO_LIMIT
    ]
    if limits:
        parts.append(f"{', '.join(limits).capitalize()}.")
    return " ".join(part for part in parts if part)


def _label(value: object, labels: dict[str, str]) -> str:
    label = labels.get(str(value), value)
    return f" ({label})" if label != value else ""


def _word(value: object) -> str:
    if value == "":
        return "empty"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fields(
    schema: Schema, *, is_answer: bool, prefix: str = "", depth: int = 0
) -> Iterator[Field]:
    """The fields of an object, or of the objects in a list, with those inside them."""
    schema = _resolved(schema)
    if schema.get("type") == "array":
        yield from _fields(
            schema.get("items", {}), is_answer=is_answer, prefix=f"{prefix}[]", depth=depth
        )
        return
    for part in schema.get("oneOf", ()):
        yield from _fields(part, is_answer=is_answer, prefix=prefix, depth=depth)
    values = schema.get("additionalProperties")
    inside = dict(schema.get("properties", {}))
    if isinstance(values, dict) and values:
        inside["NAME"] = values
    for name, each in inside.items():
        if each.get("writeOnly" if is_answer else "readOnly"):
            continue
        path = f"{prefix}.{name}" if prefix else name
        yield Field(path, _kind(each), name in schema.get("required", ()), _text(each))
        if depth < DEEPEST:
            yield from _fields(each, is_answer=is_answer, prefix=path, depth=depth + 1)


def _sample(schema: Schema, *, is_answer: bool = True, depth: int = 0) -> Any:
    """An example of a value: from the schema, or made from its type."""
    schema = _resolved(schema)
    if "example" in schema:
        return schema["example"]
    if schema.get("default") not in (None, "", [], {}):
        return schema["default"]
    if choices := _choices(schema):
        return choices[0]
    if "oneOf" in schema:
        return _sample(schema["oneOf"][0], is_answer=is_answer, depth=depth)
    if schema.get("type") == "array":
        return [_sample(schema.get("items", {}), is_answer=is_answer, depth=depth)]
    if schema.get("type") == "object" or "properties" in schema:
        return _sample_object(schema, is_answer=is_answer, depth=depth)
    return _SAMPLES.get(schema.get("format", "")) or _SAMPLES.get(schema.get("type", ""))


def _sample_object(schema: Schema, *, is_answer: bool, depth: int) -> dict[str, Any]:
    values = schema.get("additionalProperties")
    if depth >= DEEPEST:
        return {}
    made = {
        name: _sample(each, is_answer=is_answer, depth=depth + 1)
        for name, each in schema.get("properties", {}).items()
        if not each.get("writeOnly" if is_answer else "readOnly")
    }
    if isinstance(values, dict) and values:
        made["NAME"] = _sample(values, is_answer=is_answer, depth=depth + 1)
    return made
