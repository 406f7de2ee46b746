"""Addresses with a NUL character lead nowhere: PostgreSQL cannot even look for one."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponseBase


class PlainAddressMiddleware:
    """404 for NUL in a path, before anything is asked of the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            raise Http404("no path has a NUL character")
        return self.get_response(request)
