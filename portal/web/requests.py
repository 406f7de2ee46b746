"""Middleware that rejects paths with NUL and unknown query parameters, ETags, and cached answers.

PostgreSQL cannot query strings with NUL. Misspelled filters would otherwise be ignored, and return
everything. The known parameters come from the OpenAPI documentation of the endpoint.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.exceptions import BadRequest
from django.core.serializers.json import DjangoJSONEncoder
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    QueryDict,
)
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.settings import api_settings
from rest_framework.views import APIView


class PlainPathMiddleware:
    """Returns 404 for NUL in a path, before any query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            raise Http404("the path contains a NUL character")
        return self.get_response(request)


class UnknownParameter(BadRequest):
    """The page has no such query parameter. The message is shown to the user."""


READING = frozenset({"GET", "HEAD"})
# These pages of the OpenAPI document have undocumented parameters.
_FOREIGN = "drf_spectacular."


class KnownParametersMiddleware:
    """Returns 400 for unknown parameters, with the names of the known ones."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        endpoint = getattr(view, "cls", None)
        if not request.GET or not _is_ours(endpoint):
            return None
        method = "GET" if request.method in READING else str(request.method)
        known = known_parameters(endpoint, method)
        faults = {
            name: [f"Unknown parameter. {_offer(known)}"]
            for name in sorted(request.GET.keys() - known)
        }
        return JsonResponse(faults, status=status.HTTP_400_BAD_REQUEST) if faults else None


def _is_ours(endpoint: Any) -> bool:
    is_endpoint = isinstance(endpoint, type) and issubclass(endpoint, APIView)
    return is_endpoint and not endpoint.__module__.startswith(_FOREIGN)


def _offer(known: frozenset[str]) -> str:
    offered = sorted(known - {str(api_settings.URL_FORMAT_OVERRIDE)})
    return f"Known parameters: {', '.join(offered)}." if offered else "There are no parameters."


def refuse_unknown(request: HttpRequest, known: Iterable[str]) -> None:
    """Raises UnknownParameter for unknown query parameters of a page."""
    refuse_unknown_names(request.GET, known)


def refuse_unknown_names(query: QueryDict, known: Iterable[str]) -> None:
    """Raises UnknownParameter for unknown parameters of a query string."""
    names = frozenset(known)
    if unknown := sorted(query.keys() - names):
        message = f"Unknown parameter “{unknown[0][:80]}”. {_offer(names)}"
        raise UnknownParameter(message)


@cache
def known_parameters(endpoint: type[APIView], method: str = "GET") -> frozenset[str]:
    """The query parameters of a method of the endpoint."""
    names = {str(api_settings.URL_FORMAT_OVERRIDE), *_documented(endpoint, method)}
    if method == "GET" and issubclass(endpoint, GenericAPIView):
        names |= set(_of_lists(endpoint))
    return frozenset(names)


def _of_lists(endpoint: type[GenericAPIView[Any]]) -> Iterator[str]:
    """Parameters of pagination and filters."""
    view = endpoint()
    if endpoint.pagination_class is not None:
        pages = endpoint.pagination_class()
        yield from (parameter["name"] for parameter in pages.get_schema_operation_parameters(view))
    for backend in endpoint.filter_backends:
        filter_backend: Any = backend()
        filters = filter_backend.get_filterset_class(view, endpoint.queryset)
        yield from filters.base_filters if filters else ()


def _documented(endpoint: type[APIView], method: str) -> Iterator[str]:
    """Parameters given to `extend_schema` of the method."""
    described = getattr(getattr(endpoint, method.lower(), None), "kwargs", {}).get("schema")
    if described is None:
        return
    schema = described()
    # The schema requires a version; the API has only one.
    schema.view = endpoint()
    schema.view.request, schema.view.kwargs = Request(HttpRequest()), {}
    schema.method = method
    for parameter in schema.get_override_parameters():
        yield from _names(parameter)


def _names(parameter: Any) -> Iterator[str]:
    if isinstance(parameter, OpenApiParameter):
        if parameter.location == OpenApiParameter.QUERY:
            yield parameter.name
        return
    serializer: Serializer[Any] = parameter() if isinstance(parameter, type) else parameter
    yield from serializer.get_fields()


# --- conditional requests -------------------------------------------------------------------
API = "/api/"
# Changes of these files change the responses.
_SOURCES = ("portal", "annotation", "scoring", "templates", "static")
_ENDINGS = frozenset({".py", ".html", ".css", ".js", ".svg", ".txt"})


class ApiConditionalMiddleware(ConditionalGetMiddleware):
    """Adds an ETag to API responses that have none, and returns 304 if it matches.

    The response is computed before it is compared, so that permissions apply. Shared caches store
    nothing, and browsers revalidate every time.
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        if not request.path.startswith(API) or response.streaming:
            return response
        patch_vary_headers(response, ["Authorization", "Cookie"])
        if "Cache-Control" not in response:
            patch_cache_control(response, private=True, no_cache=True)
        return super().process_response(request, response)


@cache
def build() -> str:
    """A digest of the site's code, which invalidates all ETags after an update."""
    digest = hashlib.sha256()
    for folder in _SOURCES:
        for path in sorted(Path(settings.BASE_DIR, folder).rglob("*")):
            if path.suffix in _ENDINGS and path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def etag_of(*values: Any) -> str:
    """An ETag of plain values and the version of the site."""
    text = json.dumps([build(), *values], cls=DjangoJSONEncoder, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def conditional(
    request: HttpRequest, etag: str, make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """Return 304 if the request has this ETag, or else the response of `make`."""
    response: Any = get_conditional_response(request, etag=etag) or make()
    if response.status_code < 400:
        response["ETag"] = etag
    if response.status_code == 304:
        # The cached page keeps the policy and nonce that it was sent with.
        response._csp_exempt = True
    return response  # type: ignore[no-any-return]


def kept_answer(etag: str, make: Callable[[], bytes]) -> bytes:
    """Return the response cached in this process for the ETag, or create it."""
    answers = caches["answers"]
    answer = answers.get(etag)
    if answer is None:
        with one_at_a_time(f"answer:{etag}"):
            answer = answers.get(etag)
            if answer is None:
                answer = make()
                answers.set(etag, answer)
    return bytes(answer)


_one_at_a_time: WeakValueDictionary[str, Any] = WeakValueDictionary()
_finding = Lock()


@contextmanager
def one_at_a_time(key: str) -> Iterator[None]:
    """Make other threads of this process with the same key wait until the block has ended. Inside
    their block, they find its result in a cache, instead of computing it again."""
    with _finding:
        lock = _one_at_a_time.get(key)
        if lock is None:
            lock = _one_at_a_time[key] = Lock()
    with lock:
        yield


class ObjectCache(BaseCache):
    """Keeps the last objects in the memory of each process, without copying them. They must not be
    changed, and their keys must depend on all inputs: they are kept until others replace them."""

    _kept: ClassVar[dict[str, OrderedDict[str, Any]]] = {}
    _lock = Lock()

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._mine = self._kept.setdefault(name, OrderedDict())

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        with self._lock:
            value = self._mine.pop(self.make_key(key, version), None)
            if value is None:
                return default
            self._mine[self.make_key(key, version)] = value
            return value

    def set(
        self,
        key: Any,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        with self._lock:
            self._mine[self.make_key(key, version)] = value
            while len(self._mine) > self._max_entries:
                self._mine.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._mine.clear()
