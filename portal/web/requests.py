"""Requests that are refused before a view sees them: NUL in the path, unknown query parameters.

A path with NUL leads nowhere: PostgreSQL cannot even look for one.

A filter that is spelled wrong would else be ignored, and the answer be everything. Which parameters
there are is read from the endpoint's own documentation, so that the OpenAPI document stays true.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.settings import api_settings
from rest_framework.views import APIView


class PlainAddressMiddleware:
    """404 for NUL in a path, before anything is asked of the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            raise Http404("no path has a NUL character")
        return self.get_response(request)


class UnknownParameter(BadRequest):
    """A page was asked with a parameter that it does not have; the message is for people."""


READING = frozenset({"GET", "HEAD"})
# The pages that show the document itself have their own.
_FOREIGN = "drf_spectacular."


class KnownParametersMiddleware:
    """Answers 400, with the parameter's name and the known ones, for one that nothing reads."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        endpoint = getattr(view, "cls", None)
        if not request.GET or request.method not in READING or not _is_ours(endpoint):
            return None
        known = known_parameters(endpoint)
        faults = {
            name: [f"There is no such parameter. {_offer(known)}"]
            for name in sorted(request.GET.keys() - known)
        }
        return JsonResponse(faults, status=status.HTTP_400_BAD_REQUEST) if faults else None


def _is_ours(endpoint: Any) -> bool:
    is_endpoint = isinstance(endpoint, type) and issubclass(endpoint, APIView)
    return is_endpoint and not endpoint.__module__.startswith(_FOREIGN)


def _offer(known: frozenset[str]) -> str:
    offered = sorted(known - {str(api_settings.URL_FORMAT_OVERRIDE)})
    return f"Known are: {', '.join(offered)}." if offered else "There are none here."


def refuse_unknown(request: HttpRequest, known: Iterable[str]) -> None:
    """Raises UnknownParameter for a page whose filter is spelled wrong."""
    names = frozenset(known)
    if unknown := sorted(request.GET.keys() - names):
        message = f"There is no parameter “{unknown[0][:80]}”. {_offer(names)}"
        raise UnknownParameter(message)


@cache
def known_parameters(endpoint: type[APIView]) -> frozenset[str]:
    """The names of the query parameters that reading the endpoint takes."""
    names = {str(api_settings.URL_FORMAT_OVERRIDE), *_documented(endpoint)}
    if issubclass(endpoint, GenericAPIView):
        names |= set(_of_lists(endpoint))
    return frozenset(names)


def _of_lists(endpoint: type[GenericAPIView[Any]]) -> Iterator[str]:
    """What the pages of a list and its filters read."""
    view = endpoint()
    if endpoint.pagination_class is not None:
        pages = endpoint.pagination_class()
        yield from (each["name"] for each in pages.get_schema_operation_parameters(view))
    for backend in endpoint.filter_backends:
        found: Any = backend()
        filters = found.get_filterset_class(view, endpoint.queryset)
        yield from filters.base_filters if filters else ()


def _documented(endpoint: type[APIView]) -> Iterator[str]:
    """By `extend_schema` of the method."""
    described = getattr(getattr(endpoint, "get", None), "kwargs", {}).get("schema")
    if described is None:
        return
    schema = described()
    # The schema asks its view for the version of the API, of which there is one.
    schema.view = endpoint()
    schema.view.request, schema.view.kwargs = Request(HttpRequest()), {}
    schema.method = "GET"
    for parameter in schema.get_override_parameters():
        yield from _names(parameter)


def _names(parameter: Any) -> Iterator[str]:
    if isinstance(parameter, OpenApiParameter):
        if parameter.location == OpenApiParameter.QUERY:
            yield parameter.name
        return
    serializer: Serializer[Any] = parameter() if isinstance(parameter, type) else parameter
    yield from serializer.get_fields()
