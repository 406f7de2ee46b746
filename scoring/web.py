"""What the pages and endpoints of scoring share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpRequest
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from portal.accounts.access import IsOrganiser
from portal.accounts.models import User

from .models import Submission


def upload_response(submission: Submission, *, name: str = "") -> FileResponse:
    """The file as it was uploaded, always as a download: never opened as a page of ours.

    `name` is what it is called then; by default what its owner called it.
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


class DetailSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()


class OrganisersChange(IsOrganiser):
    """Reading is open, as far as the objects are; changing is for organisers."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class CsvRenderer(BaseRenderer):
    """A table that was written already. Of a refusal the sentence alone."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        text = data if isinstance(data, str) else str(data.get("detail", data))
        return text.encode()


class ConflictError(APIException):
    """What was asked for cannot be done in the state things are in."""

    status_code = 409
    default_code = "conflict"


@contextmanager
def conflicts(*refusals: type[Exception]) -> Iterator[None]:
    """In an endpoint: answers 409 with the reason of a service that refuses."""
    try:
        yield
    except refusals as refusal:
        raise ConflictError(str(refusal)) from refusal


@contextmanager
def warnings_of(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """In a view: shows the reason of a service that refuses as a warning on the next page."""
    try:
        yield
    except refusals as refusal:
        messages.warning(request, str(refusal))


def actor_of(request: Request) -> User:
    """Who does it, behind a permission that only people with an account pass."""
    assert isinstance(request.user, User)
    return request.user
