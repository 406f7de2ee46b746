"""The root of the REST API, and its OpenAPI document, which is generated once per release.

The common error responses are added here, unless an endpoint documents its own.
"""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from portal.web.answers import answer
from portal.web.api import JSON, ErrorSerializer
from portal.web.requests import etag_of
from scoring.models import Submission

logger = logging.getLogger(__name__)

# The lists from which every other object is reached.
COLLECTIONS = (
    "account",
    "assignments",
    "boards",
    "campaigns",
    "datasets",
    "submissions",
    "teams",
    "webhooks",
)


@dataclass(frozen=True)
class ApiRoot:
    documentation: str
    schema: str
    collections: dict[str, str]


class Root(APIView):
    """URLs of the documentation, of the OpenAPI document, and of each collection."""

    @extend_schema(
        operation_id="root",
        tags=["root"],
        summary="List the resources",
        responses=answer(ApiRoot),
    )
    def get(self, request: Request) -> Response:
        return Response(
            {
                "documentation": reverse("api:docs", request=request),
                "schema": reverse("api:schema", request=request),
                "collections": {
                    name: reverse(f"api:{name}", request=request) for name in COLLECTIONS
                },
            }
        )


# Generating it takes seconds and much memory, and is not thread-safe.
_one_at_a_time = threading.Lock()
_kept: dict[str, bytes] = {}


class SchemaView(SpectacularAPIView):
    """The same for all users: permissions do not change the document."""

    def _get_schema_response(self, request: Request) -> HttpResponse:
        renderer = request.accepted_renderer
        with _one_at_a_time:
            if renderer.format not in _kept:
                _kept[renderer.format] = self._stored(request)
        name = self._get_filename(request, None)  # type: ignore[no-untyped-call]
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        return HttpResponse(
            _kept[renderer.format],
            content_type=f"{renderer.media_type}{charset}",
            headers={"Content-Disposition": f'inline; filename="{name}"'},
        )

    def _stored(self, request: Request) -> bytes:
        """Return the document that another process stored, or make and store it."""
        path = _path(request.accepted_renderer.format)
        with suppress(OSError):
            return path.read_bytes()
        document = self._make(request)
        try:
            _store(path, document)
        except OSError as error:
            logger.warning("The OpenAPI document could not be stored: %s", error)
        return document

    def _make(self, request: Request) -> bytes:
        made: Any = super()._get_schema_response(request)  # type: ignore[no-untyped-call]
        made.accepted_renderer = request.accepted_renderer
        made.accepted_media_type = request.accepted_media_type
        made.renderer_context = self.get_renderer_context()
        return bytes(made.render().content)


def _path(form: str) -> Path:
    """Return the file of this version's document. Another release or title has another name."""
    libraries = [version(name) for name in ("django", "djangorestframework", "drf-spectacular")]
    release = etag_of(libraries, settings.SPECTACULAR_SETTINGS["TITLE"]).strip('"')
    return Path(settings.VAR_DIR, "openapi", f"{release}.{form}")


def _store(path: Path, document: bytes) -> None:
    """Store the document at once, so that no one reads a part of it, and remove those of earlier
    releases. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outdated = [each for each in path.parent.glob(f"*{path.suffix}") if each != path]
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(document)
    partial.replace(path)
    for each in outdated:
        each.unlink(missing_ok=True)


def store_documents() -> None:
    """Make the documents of this release unless they are stored, so that no reader has to wait."""
    for form in ("json", "yaml"):
        if not _path(form).is_file():
            _request(form)


def document() -> bytes:
    """The OpenAPI document of this release, as JSON."""
    return _kept.get("json") or _request("json").content


def _request(form: str) -> HttpResponse:
    request = HttpRequest()
    request.method, request.GET = "GET", QueryDict(f"format={form}")
    response: HttpResponse = SchemaView.as_view()(request)
    return response


# Component schemas: one sentence, or errors by field.
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
        "description": "Errors by field: messages, or nested errors for a list or an object; "
        "`detail` for errors of the whole request.",
        "additionalProperties": {},
    },
}


def document_errors(result: Any, **_: Any) -> Any:
    """A hook of drf-spectacular that adds the common error responses to each operation."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(COMPONENTS)
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            for status, component, words in _refusals(path, method, operation):
                shape = {"$ref": f"#/components/schemas/{component}"}
                answer = {"content": {JSON: {"schema": shape}}, "description": words}
                operation["responses"].setdefault(status, answer)
    return result


def _refusals(path: str, method: str, operation: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    # Endpoints without a body refuse one.
    can_have_body = method != "get"
    if can_have_body or any(each["in"] == "query" for each in operation.get("parameters", ())):
        yield "400", INVALID, "The request is not valid."
    yield "401", ERROR, "Authentication is required, or the token is invalid."
    yield "403", ERROR, "The account or token does not have permission."
    if "{" in path:
        yield "404", ERROR, "Not found, or not visible to this account."
    if can_have_body:
        yield "413", ERROR, "The body is too large."
        yield "415", ERROR, "The content type is not supported."


def given_verdicts() -> list[tuple[str, str]]:
    """The verdicts on a submission, without the empty one."""
    return [(value, label) for value, label in Submission.Verdict.choices if value]
