"""Conditional requests: who has an answer already is told so instead of getting it again."""

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers

API = "/api/"
# Whose change changes what pages and endpoints say.
_SOURCES = ("portal", "annotation", "scoring", "templates", "static")
_ENDINGS = frozenset({".py", ".html", ".css", ".js", ".svg", ".txt"})


class ApiConditionalMiddleware(ConditionalGetMiddleware):
    """An ETag of what an endpoint answers, unless it made one itself, and 304 where it is the same.

    The answer is made for whoever asks before it is compared, so that nobody is told of anything
    that they may not read. Caches on the way keep nothing, and a browser asks each time.
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
    """A digest of the site's own files: after an update nothing is the same."""
    digest = hashlib.sha256()
    for folder in _SOURCES:
        for path in sorted(Path(settings.BASE_DIR, folder).rglob("*")):
            if path.suffix in _ENDINGS and path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def etag_of(*values: Any) -> str:
    """An ETag of plain values: the same as long as they, and the site itself, are the same."""
    text = json.dumps([build(), *values], cls=DjangoJSONEncoder, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def conditional(
    request: HttpRequest, etag: str, make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """304 if the reader has what this ETag stands for, else what `make` makes of it."""
    response: Any = get_conditional_response(request, etag=etag) or make()
    response["ETag"] = etag
    if response.status_code == 304:
        # The page that the reader has goes with the policy, and its nonce, that came with it.
        response._csp_exempt = True
    return response  # type: ignore[no-any-return]


def kept_answer(etag: str, make: Callable[[], bytes]) -> bytes:
    """What was made for this ETag before, in this process; made now where it was not."""
    answers = caches["answers"]
    found = answers.get(etag)
    if found is None:
        found = make()
        answers.set(etag, found)
    return bytes(found)
