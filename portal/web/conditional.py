"""Conditional requests: ETags and status 304."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers

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
    response["ETag"] = etag
    if response.status_code == 304:
        # The cached page keeps the policy and nonce that it was sent with.
        response._csp_exempt = True
    return response  # type: ignore[no-any-return]


def kept_answer(etag: str, make: Callable[[], bytes]) -> bytes:
    """Return the response cached in this process for the ETag, or create it."""
    answers = caches["answers"]
    found = answers.get(etag)
    if found is None:
        found = make()
        answers.set(etag, found)
    return bytes(found)


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
            found = self._mine.pop(self.make_key(key, version), None)
            if found is None:
                return default
            self._mine[self.make_key(key, version)] = found
            return found

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
