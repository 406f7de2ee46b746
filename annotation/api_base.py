"""Shared parts of annotation's pages and endpoints: refusals, base view, span serializers.

A save may contain thousands of spans, so `annotation.spans` reads them instead of serializers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.invitations.selectors import InvitationRefused
from portal.accounts.models import User
from portal.datasets.documents.forms import offer_overlaps
from portal.datasets.models import Document
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.releases.overlaps import OverlapError
from portal.datasets.responses import image_response, sandboxed_html_response
from portal.files.uploads import UploadTooLarge, checked_upload
from portal.web.answers import answer
from portal.web.api import BodyTooLarge, PlainJSONParser, checked
from portal.web.markup import Group, Tab, navigation

from .access import CampaignAccess, GivenAway, QualificationFirst
from .doubts import Doubt
from .errors import (
    MAX_WORKFLOW_REASON,
    Conflict,
    DoubtfulGold,
    InvalidSpans,
    Reassigned,
    Refused,
    Unfinished,
)
from .spans import MAX_VALUE

Act = Callable[..., Any]

# An answer lists at most so many faults, and their total.
SHOWN_FAULTS = 100


def page_view(view: Act) -> Act:
    """A page for logged-in users."""
    return login_required(require_safe(view))


def form_view(view: Act) -> Act:
    """A page for logged-in users, with a form that is sent to it."""
    return login_required(require_http_methods(["GET", "HEAD", "POST"])(view))


def post_view(view: Act) -> Act:
    """An action of a logged-in user, which redirects to a page."""
    return login_required(require_POST(view))


def action(find: Act, to: str | Act) -> Callable[[Act], Act]:
    """Makes a function the POST of a logged-in user. It returns the message of success.

    `find` takes the user and the values of the URL. It returns what is changed (a tuple for several
    objects), which the function gets after the request, or refuses access. The message, or that of
    a refusal, appears on the page `to`: a route of the campaign, or a function of the request and
    the values of the URL.
    """

    def decorated(act: Act) -> Act:
        @post_view
        @wraps(act)
        def view(request: HttpRequest, **url: Any) -> HttpResponse:
            found = find(request.user, **url)
            given = found if isinstance(found, tuple) else (found,)
            with refusals_shown(request):
                messages.success(request, act(request, *given))
            return (
                redirect(to, url["slug"]) if isinstance(to, str) else redirect(to(request, **url))
            )

        return view

    return decorated


def posted(request: HttpRequest) -> QueryDict | None:
    """The data of a form that is bound only if it was sent."""
    return request.POST if request.method == "POST" else None


def choose(form: forms.Form, name: str, choices: Iterable[tuple[Any, str]]) -> None:
    """Sets the choices of a field."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)


def named(names: Iterable[str]) -> list[tuple[str, str]]:
    """Choices that are shown as they are sent."""
    return [(name, name) for name in names]


def page_files(find: Callable[..., Document]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The views of the HTML of a document, and of one of its images (by number).

    `find` takes the user and the other values of the URL, and returns the document or refuses.
    """

    @page_view
    def html(request: HttpRequest, **url: Any) -> HttpResponse:
        return sandboxed_html_response(find(request.user, **url).content.html)

    @page_view
    def image(request: HttpRequest, image: int, **url: Any) -> HttpResponseBase:
        images = find(request.user, **url).images
        return image_response(get_object_or_404(images, number=image))

    return html, image


def campaign_page(
    request: HttpRequest,
    access: CampaignAccess,
    tab: str,
    template: str,
    context: dict[str, Any],
    *,
    name: str = "",
    below: bool = False,
    status: int = 200,
) -> HttpResponse:
    """A page of a campaign, for templates that extend `annotation/campaign_page.html`.

    `name` is the page's heading, by default that of its tab; `below` if it is a subpage of the tab.
    """
    groups = _campaign_tabs(access, tab)
    current = next(entry for group in groups for entry in group.tabs if entry.name == tab)
    frame = {
        "access": access,
        "navigation": navigation(groups, tab, below=below),
        "page_name": name or current.label,
        "above": current if below else None,
    }
    return render(request, f"annotation/{template}", frame | context, status=status)


def _campaign_tabs(access: CampaignAccess, current: str) -> tuple[Group, ...]:
    """The pages that the user may open, and the page shown, whatever the user's role."""

    def tab(name: str, label: str, *, shown: bool, route: str = "") -> Tab:
        url = reverse(f"annotation:{route or name}", args=[access.campaign.slug])
        return Tab(name, label, url, shown or name == current)

    lead, manages = access.is_lead, access.may_manage
    work = (
        tab("waiting", "Open tasks", shown=manages),
        tab("screening", "Screening", shown=access.campaign.screening),
        tab("validation", "Validation", shown=lead),
        tab("adjudication", "Adjudication", shown=lead),
        tab("review", "Review", shown=lead or access.is_reviewer),
    )
    documents = (
        tab("documents", "All documents", shown=manages),
        tab("assignments", "Assignments", shown=manages),
        tab("suggestions", "Suggestions", shown=manages),
    )
    quality = (
        tab("agreement", "Agreement", shown=manages),
        tab("quality", "Annotators", shown=lead, route="annotator-quality"),
        tab("qualification", "Qualification", shown=manages),
    )
    results = (
        tab("release", "Release", shown=manages),
        tab("export", "Import and export", shown=manages),
    )
    settings = (
        tab("settings", "General", shown=manages, route="campaign-settings"),
        tab("people", "People", shown=manages),
    )
    return (
        Group("", (tab("overview", "Overview", shown=True, route="campaign"),)),
        Group("", (tab("guidelines", "Guidelines", shown=True),)),
        Group("Tasks", work),
        Group("Documents", documents),
        Group("Quality", quality),
        Group("Results", results),
        Group("Settings", settings),
    )


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """In a view: shows the message of a refusal on the next page."""
    try:
        yield
    except (Refused, InvitationRefused) as refusal:
        messages.error(request, refusal.message)


@contextmanager
def refusals_in(form: forms.Form) -> Iterator[None]:
    """In a view: adds what a refusal says to the field that its code names, or to the form."""
    try:
        yield
    except Refused as refusal:
        form.add_error(refusal.code if refusal.code in form.fields else None, refusal.message)
    except ReleaseError as error:
        form.add_error(None, error.faults)
        if isinstance(error, OverlapError) and error.count:
            offer_overlaps(form, error.count)


class AnnotationView(APIView):
    """Base view for logged-in users. `annotation.access` decides what they may do."""

    permission_classes = [IsAuthenticated]
    parser_classes = [PlainJSONParser]

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, RequestDataTooBig):
            # Django raises this when a middleware reads the body before the parser does.
            exc = BodyTooLarge()
        if isinstance(exc, UploadTooLarge):
            body = {"code": exc.default_code, "message": exc.message}
            return Response(body, status=exc.status_code)
        if isinstance(exc, ReleaseError):
            faults = [{"code": "release", "message": fault} for fault in exc.faults]
            if isinstance(exc, OverlapError) and exc.count:
                faults[-1]["field"] = "accept_overlaps"
            exc = InvalidSpans(faults)
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
    """422 for invalid spans, 409 for what the current state forbids."""
    message = " ".join(part for part in (refusal.message, refusal.api_hint) if part)
    body: dict[str, Any] = {"code": refusal.code, "message": message}
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


CONFLICTS = {409: AnnotationRefusal}
INVALID = CONFLICTS | {422: AnnotationInvalid}
TOO_LARGE = CONFLICTS | {413: AnnotationRefusal}


def reads(summary: str, *, on: Act, gives: Any, asks: Any = None, **schema: Any) -> Act:
    """Makes a method the GET of an endpoint, and documents it.

    `on` takes the user and the values of the URL. It returns what is read (a tuple for several
    objects), which the method gets, or refuses access. The method also gets the validated query of
    the serializer `asks` as keyword arguments. `gives` serializes what it returns, unless that is a
    response.
    """
    schema = {"responses": gives} | schema
    return _endpoint(summary, on=on, gives=gives, asks=asks, code=200, schema=schema)


def writes(
    summary: str,
    *,
    on: Act,
    takes: Any = None,
    gives: Any = None,
    asks: Any = None,
    code: int = 200,
    refuses: Mapping[int, Any] | None = None,
    **schema: Any,
) -> Act:
    """Like `reads`, for the other methods, which also get the user and the validated body of the
    serializer `takes`. `code` is the status of success. `refuses` documents the refusals, by
    default CONFLICTS.
    """
    refused = CONFLICTS if refuses is None else refuses
    schema = {"request": takes, "responses": {code: gives} | dict(refused)} | schema

    def read(request: Request) -> tuple[User, dict[str, Any]]:
        return user_of(request), dict(checked_upload(takes, request)) if takes else {}

    return _endpoint(summary, on=on, gives=gives, asks=asks, code=code, schema=schema, read=read)


def _endpoint(
    summary: str,
    *,
    on: Act,
    gives: Any,
    asks: Any,
    code: int,
    schema: dict[str, Any],
    read: Callable[[Request], tuple[User, dict[str, Any]]] | None = None,
) -> Act:
    schema = {
        "summary": summary,
        "tags": ["campaigns"],
        "parameters": [asks] if asks else None,
    } | schema

    def documented(act: Act) -> Act:
        @extend_schema(**schema)
        @wraps(act)
        def method(self: AnnotationView, request: Request, **url: Any) -> HttpResponseBase:
            # Access comes first: a body is validated only for those who may send it.
            found = on(request.user, **url)
            given = found if isinstance(found, tuple) else (found,)
            fields = dict(checked(asks, request.query_params)) if asks else {}
            if read is not None:
                user, body = read(request)
                given, fields = (*given, user), fields | body
            result = act(self, *given, **fields)
            return result if isinstance(result, HttpResponseBase) else _shown(result, gives, code)

        return method

    return documented


def _shown(result: Any, gives: Any, code: int) -> Response:
    if isinstance(gives, serializers.ListSerializer):
        rows: Any = type(gives.child)
        return Response(rows(result, many=True).data, code)
    return Response(gives(result).data if gives else None, code)


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


class WorkflowReason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_WORKFLOW_REASON)
