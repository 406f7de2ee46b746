"""The OpenAPI document, made once in each web process."""

import threading
from typing import Any, NamedTuple

from django.http import HttpResponse
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request


class _Document(NamedTuple):
    content: bytes
    content_type: str
    disposition: str


# To make it takes seconds and much memory, and two that are made at once break each other.
_one_at_a_time = threading.Lock()
_kept: dict[str, _Document] = {}


class SchemaView(SpectacularAPIView):
    """The same for every reader: what an account may do is not asked."""

    def _get_schema_response(self, request: Request) -> HttpResponse:
        kind = request.accepted_renderer.media_type
        with _one_at_a_time:
            if kind not in _kept:
                _kept[kind] = self._make(request)
            document = _kept[kind]
        return HttpResponse(
            document.content,
            content_type=document.content_type,
            headers={"Content-Disposition": document.disposition},
        )

    def _make(self, request: Request) -> _Document:
        made: Any = super()._get_schema_response(request)  # type: ignore[no-untyped-call]
        made.accepted_renderer = request.accepted_renderer
        made.accepted_media_type = request.accepted_media_type
        made.renderer_context = self.get_renderer_context()
        made.render()
        return _Document(made.content, made["Content-Type"], made["Content-Disposition"])
