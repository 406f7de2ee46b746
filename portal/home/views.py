"""Home, each role's start page, and health."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.accounts.access import UserRequest

from . import selectors
from .health import check_health
from .legal import legal_text


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
