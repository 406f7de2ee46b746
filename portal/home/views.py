"""Home and start pages, terms and privacy, and error pages.

Terms, privacy and contact use the operator's Markdown files if they exist, or default texts that
name the operator from the settings.
"""

import re
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from portal.accounts.access import UserRequest
from portal.web.requests import UnknownParameter

from . import reference, selectors

TITLES = {"terms": "Terms of use", "privacy": "Privacy", "contact": "Contact"}
_HEADING = re.compile(r"\A\s*# +(.+?)\s*\n")


@dataclass(frozen=True)
class LegalText:
    title: str
    body: str
    """Markdown."""
    changed_on: date | None
    """Date of the operator's file; None for the default text."""


def legal_text(name: str) -> LegalText:
    """`name` is one of TITLES. A heading at the top of the operator's text is the page's title."""
    folder = settings.LEGAL_DIR
    path = folder / f"{name}.md" if folder else None
    if path is None or not path.is_file():
        return LegalText(TITLES[name], _our_text(name), None)
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    changed = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC).date()
    heading = _HEADING.match(text)
    if heading is None:
        return LegalText(TITLES[name], text, changed)
    return LegalText(heading[1], text[heading.end() :], changed)


def _our_text(name: str) -> str:
    context = {
        "site": settings.SITE_NAME,
        "operator": " ".join(settings.OPERATOR_NAME.split()),
        "email": settings.CONTACT_EMAIL.strip(),
        "session_days": settings.SESSION_COOKIE_AGE // 86_400,
    }
    return render_to_string(f"home/legal/{name}.md", context)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    boards, newest = selectors.kept_boards_at_a_glance(), selectors.newest_entries()
    return render(request, "home/home.html", {"boards": boards, "newest": newest})


@login_required
@require_safe
def start(request: UserRequest) -> HttpResponse:
    return render(request, "home/start.html", {"waiting": selectors.what_waits(request.user)})


@require_safe
def legal(request: HttpRequest, name: str) -> HttpResponse:
    """Terms, privacy or contact: the operator's text, or the default."""
    return render(request, "home/legal.html", {"text": legal_text(name)})


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """The API documentation: examples, and all operations."""
    context = {
        "site": _site(request),
        "board": selectors.first_board(),
        "groups": reference.by_tag(),
    }
    return render(request, "home/api.html", context)


@require_safe
def api_operation(request: HttpRequest, name: str) -> HttpResponse:
    operation = reference.operations().get(name)
    if operation is None:
        raise Http404("there is no such operation")
    context = {
        "operation": operation,
        "command": reference.command(operation, _site(request)),
        "parameters": reference.parameters(operation),
        "bodies": reference.bodies(operation),
        "answers": reference.answers(operation),
    }
    return render(request, "home/operation.html", context)


def _site(request: HttpRequest) -> str:
    """The URL of this site, without a slash."""
    return request.build_absolute_uri("/").rstrip("/")


API = "/api/"


def _page(
    request: HttpRequest | None, status: int, title: str, text: str, **action: str
) -> HttpResponse:
    if request is not None and request.path.startswith(API):
        return JsonResponse({"detail": text}, status=status)
    context = {"title": title, "text": text, **action}
    return render(request, "error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Shows the reason of UnknownParameter; Django's own messages are not meant for users."""
    reason = str(exception) if isinstance(exception, UnknownParameter) else "Go back and try again."
    return _page(request, 400, "Bad request", reason)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The exception may have a title, and an action to offer."""
    reason = str(exception) or "Your account does not have the role that this page requires."
    title = getattr(exception, "title", "Access denied")
    action = {name: getattr(exception, name, "") for name in ("action_url", "action_label")}
    return _page(request, 403, title, reason, **action)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    text = "This page does not exist, or you do not have access to it."
    action = {}
    if not getattr(request, "user", AnonymousUser()).is_authenticated:
        query = urlencode({"next": request.path})
        action = {"action_url": f"{reverse('account_login')}?{query}", "action_label": "Log in"}
    return _page(request, 404, "Page not found", text, **action)


def server_error(request: HttpRequest) -> HttpResponse:
    # Pages are rendered without the request: looking up the user may fail if the database is down.
    # Imports the libraries of storage and cache, which few processes need.
    from .outages import RETRY_AFTER, outage

    asked = request if request.path.startswith(API) else None
    if (found := outage(sys.exc_info()[1])) is None:
        return _page(asked, 500, "Server error", "The error was logged. Please try again.")
    response = _page(asked, found.status, "Not available at the moment", found.message)
    response["Retry-After"] = str(RETRY_AFTER)
    return response
