"""Helpers shared by the pages and endpoints of scoring."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.contrib import messages
from django.core.cache import cache
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.models import User

from .models import Manifest, Submission

T = TypeVar("T")


def upload_response(submission: Submission, *, name: str = "") -> FileResponse:
    """The uploaded file as a download, which browsers never open as a page of the site.

    `name` is the filename of the download; by default the owner's.
    """
    response = FileResponse(
        submission.upload.open("rb"),
        as_attachment=True,
        filename=name or submission.filename,
        content_type="application/octet-stream",
    )
    response["Cache-Control"] = "private"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def manifest_response(submission: Submission) -> HttpResponse:
    """The run manifest as a download. Raises Http404 without one."""
    manifest = get_object_or_404(Manifest, submission=submission)
    response = HttpResponse(manifest.as_json(), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="manifest-{submission.pk}.json"'
    response["Cache-Control"] = "private"
    response["X-Content-Type-Options"] = "nosniff"
    return response


class DetailSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()


class OrganisersChange(IsOrganiser):
    """Anyone can read visible objects; only organisers can change them."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class CsvRenderer(BaseRenderer):
    """Renders a CSV string as it is."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: str, media_type: str | None = None, context: Any = None) -> bytes:
        return data.encode()


class InFormats(APIView):
    """Base view for an endpoint with several formats. Errors are JSON, whatever was requested."""

    def handle_exception(self, exc: Exception) -> Response:
        self.request.accepted_renderer = JSONRenderer()
        self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)


class ConflictError(APIException):
    """The request conflicts with the current state."""

    status_code = 409
    default_code = "conflict"


@contextmanager
def conflicts(*refusals: type[Exception]) -> Iterator[None]:
    """In an endpoint: turns a service's refusal into a 409 with its message."""
    try:
        yield
    except refusals as refusal:
        raise ConflictError(str(refusal)) from refusal


@contextmanager
def warnings_of(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """In a view: shows a service's refusal as a warning on the next page."""
    try:
        yield
    except refusals as refusal:
        messages.warning(request, str(refusal))


def actor_of(request: Request) -> User:
    """The user, behind a permission that requires an account."""
    assert isinstance(request.user, User)
    return request.user


def cached(key: str, make: Callable[[], T], seconds: int | None) -> T:
    """Return the cached value, or make and cache it. No value may be None."""
    found: T | None = cache.get_or_set(key, make, seconds)
    assert found is not None
    return found
