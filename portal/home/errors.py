"""Error pages in the site's own look."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def _page(request: HttpRequest | None, status: int, title: str, text: str) -> HttpResponse:
    return render(request, "error.html", {"title": title, "text": text}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(request, 400, "That request cannot be understood", "Go back and try again.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    reason = str(exception) or "Your account does not have the role this page asks for."
    return _page(request, 403, "Not for your account", reason)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(
        request, 404, "Nothing here", "The page does not exist, or it is not yours to see."
    )


def server_error(_request: HttpRequest) -> HttpResponse:
    # Without the request: who is logged in stands in the database, which may be what broke.
    return _page(
        None, 500, "Something broke on our side", "The fault was logged. Please try again."
    )
