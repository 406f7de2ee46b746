"""Error pages in the site's own look; programs get their text as JSON."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from portal.common.known_parameters import UnknownParameter

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
