"""What the OpenAPI document says of refusals, which every operation can answer alike.

Written once here rather than at each endpoint: what an endpoint documents itself stays as it is.
"""

from collections.abc import Iterator
from typing import Any

from portal.common.openapi import JSON, ErrorSerializer

# Component schemas: one sentence, or what is wrong with each field.
ERROR, INVALID = "Error", "Invalid"
COMPONENTS = {
    ERROR: {
        "type": "object",
        "description": ErrorSerializer.__doc__,
        "properties": {"detail": {"type": "string"}},
        "required": ["detail"],
    },
    INVALID: {
        "type": "object",
        "description": "What is wrong, by field: messages, or for a list or an object what is "
        "wrong inside; `detail` where it is none of the fields.",
        "additionalProperties": {},
    },
}


def document_errors(result: Any, **_: Any) -> Any:
    """Hook of drf-spectacular: adds to each operation the statuses that its kind can answer."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(COMPONENTS)
    for path, operations in result["paths"].items():
        for operation in operations.values():
            for status, component, words in _refusals(path, operation):
                shape = {"$ref": f"#/components/schemas/{component}"}
                answer = {"content": {JSON: {"schema": shape}}, "description": words}
                operation["responses"].setdefault(status, answer)
    return result


def _refusals(path: str, operation: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    has_body = "requestBody" in operation
    if has_body or any(each["in"] == "query" for each in operation.get("parameters", ())):
        yield "400", INVALID, "What was sent is not valid."
    yield "401", ERROR, "Needs an account, or the token is not known."
    yield "403", ERROR, "Not allowed to this account or with this token."
    if "{" in path:
        yield "404", ERROR, "There is no such thing, or none that this account may see."
    if has_body:
        yield "413", ERROR, "The body is too large."
        yield "415", ERROR, "The body is of another content type."
