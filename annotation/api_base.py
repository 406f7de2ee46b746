"""Shared parts of annotation's pages and endpoints: URLs, refusals, base view, span serializers.

A save may contain thousands of spans, so `annotation.spans` reads them instead of serializers.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path
from django.views import View
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.invitations.selectors import InvitationRefused
from portal.accounts.models import User
from portal.datasets.releases.gold import ReleaseError
from portal.web.answers import answer
from portal.web.api import BodyTooLarge, PlainJSONParser

from .access import GivenAway, QualificationFirst
from .errors import (
    MAX_WORKFLOW_REASON,
    Conflict,
    DoubtfulGold,
    InvalidSpans,
    Reassigned,
    Refused,
    Unfinished,
)
from .page_facts import Doubt
from .spans import MAX_VALUE

# An answer lists at most so many faults, and their total.
SHOWN_FAULTS = 100


campaigns_schema = partial(extend_schema, tags=["campaigns"])


def campaign_path(
    route: str, view: Callable[..., HttpResponseBase] | type[View], name: str
) -> URLPattern:
    """A URL below that of a campaign. `view` is a function, or a class of the API."""
    function: Any = cast("type[View]", view).as_view() if isinstance(view, type) else view
    pattern: URLPattern = path(f"campaigns/<slug:slug>/{route}", function, name=name)
    return pattern


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """In a view: shows the message of a refusal on the next page."""
    try:
        yield
    except (Refused, InvitationRefused) as refusal:
        messages.error(request, refusal.message)


@contextmanager
def refusals_in(form: forms.Form) -> Iterator[None]:
    """In a view: adds the message of a refusal to the field that its code names, or to the form."""
    try:
        yield
    except Refused as refusal:
        form.add_error(refusal.code if refusal.code in form.fields else None, refusal.message)
    except ReleaseError as error:
        form.add_error(None, error.faults)


class UploadTooLarge(Refused):
    code = "too_large"


class AnnotationView(APIView):
    """Base view for logged-in users. `annotation.access` decides what they may do."""

    permission_classes = [IsAuthenticated]
    parser_classes = [PlainJSONParser]

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, RequestDataTooBig):
            # Django raises this when a middleware reads the body before the parser does.
            exc = BodyTooLarge()
        if isinstance(exc, ReleaseError):
            exc = InvalidSpans([{"code": "release", "message": fault} for fault in exc.faults])
        if isinstance(exc, GivenAway):
            # Same answer as for a save, so that the workbench keeps unsent changes.
            exc = Reassigned()
        if isinstance(exc, InvitationRefused):
            exc = Refused(exc.message, code=exc.code)
        if isinstance(exc, Refused):
            return refusal_response(exc)
        if isinstance(exc, QualificationFirst):
            body = {"code": exc.code, "message": str(exc), "qualification": exc.action_url}
            return Response(body, status=status.HTTP_403_FORBIDDEN)
        return super().handle_exception(exc)


def refusal_response(refusal: Refused) -> Response:
    """422 for invalid spans, 413 for large uploads, 409 for what the current state forbids."""
    body: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    code: int = status.HTTP_409_CONFLICT
    if isinstance(refusal, InvalidSpans):
        code = status.HTTP_422_UNPROCESSABLE_ENTITY
        body |= {"errors": refusal.errors[:SHOWN_FAULTS], "total": len(refusal.errors)}
    elif isinstance(refusal, Conflict):
        body |= {"revision": refusal.revision, "spans": refusal.spans}
        body["saved_at"] = refusal.saved_at
    elif isinstance(refusal, Unfinished):
        body["documents"] = refusal.names
    elif isinstance(refusal, DoubtfulGold):
        body["facts"] = [asdict(fact) for fact in refusal.facts[:SHOWN_FAULTS]]
        body["total"] = len(refusal.facts)
    elif isinstance(refusal, UploadTooLarge):
        code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    return Response(body, status=code)


def field(request: Request, name: str, kind: type, default: Any = ...) -> Any:
    """A field of the JSON body, of exactly this type; raises InvalidSpans otherwise."""
    body = request.data
    if not isinstance(body, dict):
        raise InvalidSpans([_field_fault("body", "must be a JSON object")])
    value = body.get(name, default)
    if value is ...:
        raise InvalidSpans([_field_fault(name, "is missing")])
    # bool is an int in Python; in JSON it is not a number.
    if type(value) is not kind or (isinstance(value, int) and value < 0):
        words = {
            int: "a whole number of at least 0",
            str: "a string",
            list: "a list",
            bool: "true or false",
        }
        raise InvalidSpans([_field_fault(name, f"must be {words[kind]}")])
    return value


def _field_fault(name: str, problem: str) -> dict[str, str]:
    return {"field": name, "code": "type", "message": f"{name} {problem}"}


def user_of(request: Request) -> User:
    """The caller. IsAuthenticated guarantees that there is one."""
    assert isinstance(request.user, User)
    return request.user


SPAN_KEY = r"^[A-Za-z0-9_-]{1,36}$"


class SpanDraft(serializers.Serializer[Any]):
    """A span in a request."""

    key = serializers.RegexField(SPAN_KEY)
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)
    value = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_VALUE,
        help_text="Decimal, ISO date or ISO 8601 duration; derived if null or omitted.",
    )  # fmt: skip
    sign = serializers.CharField(
        required=False, allow_null=True, allow_blank=True,
        help_text="plain, minus, parentheses, trailing_minus, trailing_cr or empty; derived if "
        "null or omitted.",
    )  # fmt: skip
    edited = serializers.BooleanField(
        required=False, help_text="If false, value and sign are ignored and derived."
    )


class SpanWarningShape(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="A fitting label of the campaign, for `wrong_type`; otherwise empty."
    )


DoubtShape = answer(Doubt, "DoubtShape")


class SpanRemark(serializers.Serializer[Any]):
    """The value, sign and warnings of a saved span."""

    key = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    sign = serializers.CharField(allow_blank=True)
    edited = serializers.BooleanField()
    warnings = SpanWarningShape(many=True)


class AnnotationRefusal(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class AnnotationFault(serializers.Serializer[Any]):
    index = serializers.IntegerField(required=False)
    key = serializers.CharField(required=False)
    field = serializers.CharField(required=False)
    code = serializers.CharField()
    message = serializers.CharField()


class AnnotationInvalid(AnnotationRefusal):
    errors = AnnotationFault(many=True)  # type: ignore[assignment]
    total = serializers.IntegerField()


class WorkflowReason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_WORKFLOW_REASON)
