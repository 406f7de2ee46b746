"""Home, each role's start page, terms and privacy, health, and error pages in the site's own look.

Terms, privacy and contact are the operator's own texts where there are any, else ours. Ours are
true for this software and name the operator as far as the settings do. The operator's are Markdown
and taken as they are.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.accounts.access import UserRequest
from portal.web.requests import UnknownParameter

from . import selectors
from .health import check_health

TITLES = {"terms": "Terms of use", "privacy": "Privacy", "contact": "Contact"}
_HEADING = re.compile(r"\A\s*# +(.+?)\s*\n")


@dataclass(frozen=True)
class LegalText:
    title: str
    body: str
    """Markdown."""
    changed_on: date | None
    """Of the operator's file; None for our text, which has no date of its own."""


def legal_text(name: str) -> LegalText:
    """`name` is one of TITLES. A heading on top of the operator's text becomes the page's title."""
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
    boards, newest = selectors.boards_at_a_glance(), selectors.newest_entries()
    return render(request, "home/home.html", {"boards": boards, "newest": newest})


@login_required
@require_safe
def start(request: UserRequest) -> HttpResponse:
    return render(request, "home/start.html", {"waiting": selectors.what_waits(request.user)})


@require_safe
def legal(request: HttpRequest, name: str) -> HttpResponse:
    """Terms, privacy or contact: the operator's text, or ours."""
    return render(request, "home/legal.html", {"text": legal_text(name)})


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """The description of the API, which a script draws from the OpenAPI document."""
    return render(request, "home/api.html")


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    health = check_health()
    waited = health.oldest_due_job
    report = {
        "status": health.status,
        "database": health.database,
        "cache": health.cache,
        "oldest_due_job_seconds": int(waited.total_seconds()) if waited else 0,
    }
    return JsonResponse(report, status=200 if health.can_serve else 503)


API = "/api/"


def _page(
    request: HttpRequest | None, status: int, title: str, text: str, **action: str
) -> HttpResponse:
    if request is not None and request.path.startswith(API):
        return JsonResponse({"detail": text}, status=status)
    context = {"title": title, "text": text, **action}
    return render(request, "error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A refusal of our own says why; what Django says is not for people."""
    reason = str(exception) if isinstance(exception, UnknownParameter) else "Go back and try again."
    return _page(request, 400, "That request cannot be understood", reason)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A refusal may bring a title of its own, and where to go instead."""
    reason = str(exception) or "Your account does not have the role this page asks for."
    title = getattr(exception, "title", "Not for your account")
    action = {name: getattr(exception, name, "") for name in ("action_url", "action_label")}
    return _page(request, 403, title, reason, **action)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(
        request, 404, "Nothing here", "The page does not exist, or it is not yours to see."
    )


def server_error(request: HttpRequest) -> HttpResponse:
    # A page is made without the request: who is logged in stands in the database, which may be
    # what broke.
    is_program = request.path.startswith(API)
    text = "The fault was logged. Please try again."
    return _page(request if is_program else None, 500, "Something broke on our side", text)
