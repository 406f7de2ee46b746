"""Shared code of the API: parsers, pagination and OpenAPI responses.

Browsers send the newlines of a textarea as CR LF. All input is converted to LF: forms of pages, and
JSON and forms of the API. Files are not changed.

REST framework imports this module while it loads its views, so it must not import them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import IO, Any, TypeVar, cast

from django.conf import settings
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase, QueryDict
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser

Form = TypeVar("Form", bound=QueryDict)

_NEWLINE = re.compile(r"\r\n?")
# A backslash that is escaped itself, or the escape of a CR with that of an LF behind it.
_ESCAPED = re.compile(rb"(\\\\)|\\(?:r|u000[dD])(?:\\(?:n|u000[aA]))?")


def plain_newlines(text: str) -> str:
    """
    >>> plain_newlines("a\\r\\nb\\rc\\n")
    'a\\nb\\nc\\n'
    """
    return _NEWLINE.sub("\n", text)


def plain_json_newlines(body: bytes) -> bytes:
    r"""Convert the newlines in strings of a JSON body, before it is decoded.

    >>> plain_json_newlines(rb'{"a": "1\r\n2\\r"}')
    b'{"a": "1\\n2\\\\r"}'
    """
    return _ESCAPED.sub(lambda escape: escape[1] or b"\\n", body)


def plain_form(form: Form) -> Form:
    """Return the form itself if no value contains a CR."""
    if not any("\r" in str(value) for _, values in form.lists() for value in values):
        return form
    plain = form.copy()
    for name, values in form.lists():
        plain.setlist(name, [plain_newlines(str(value)) for value in values])
    plain._mutable = False
    return cast("Form", plain)


class PlainNewlinesMiddleware:
    """Converts the newlines of forms of pages. The API's parsers convert their own input."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        # The CSRF check has already read the form.
        if request.method == "POST" and not getattr(view, "csrf_exempt", False):
            request.POST = plain_form(request.POST)


class PlainFormParser(FormParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        return plain_form(super().parse(stream, media_type, parser_context))


class PlainMultiPartParser(MultiPartParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        parsed = super().parse(stream, media_type, parser_context)
        parsed.data = plain_form(parsed.data)
        return parsed


MOST_AT_ONCE = 1000

_Row = TypeVar("_Row", bound=Model)


class Pages(LimitOffsetPagination):
    """Returns `?limit=` rows from `?offset=` on, with a maximum."""

    max_limit = MOST_AT_ONCE


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = "The body is too large."


class PlainJSONParser(JSONParser):
    """Parses JSON of limited size and depth, with strings and numbers that can be stored.

    Limits protect memory and the interpreter's stack. Lone surrogates and numbers beyond the range
    of floats are rejected here, not by each field.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Any = None,
    ) -> Any:
        headers = parser_context["request"].META if parser_context else {}
        length = str(headers.get("CONTENT_LENGTH") or "0")
        if not length.isdigit() or int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise BodyTooLarge
        body: bytes = plain_json_newlines(stream.read())
        try:
            data = json.loads(body.decode(), parse_float=_finite, parse_constant=_refused)
        except RecursionError as error:
            raise ParseError("JSON parse error - nested too deeply") from error
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from error
        # Only escapes can produce surrogates: invalid UTF-8 was rejected above.
        if b"\\ud" in body.lower():
            for place, text in _texts(data):
                if _is_broken(text):
                    raise ParseError(
                        f"JSON parse error - {_spelled(place)}unpaired surrogate in a string"
                    )
        return data


class NamedField(serializers.SlugRelatedField[_Row]):
    """An existing object, by slug. Rejects NUL characters, which PostgreSQL cannot query."""

    def to_internal_value(self, data: Any) -> _Row:
        if "\0" in str(data):
            self.fail("invalid")
        return super().to_internal_value(data)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _refused(word: str) -> float:
    raise ValueError(f"{word} is not a valid JSON number")


# A place in JSON: the parent place, and the key or index. A linked list, because the full paths of
# all strings of a small body could fill the memory.
_Place = tuple["_Place", str | int] | None
_LONGEST_PLACE = 200


def _texts(data: Any) -> Iterator[tuple[_Place, str]]:
    """Yield all strings, including keys, with their places. Not recursive, for deep nesting."""
    waiting: list[tuple[_Place, Any]] = [(None, data)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, str):
            yield place, part
        elif isinstance(part, dict):
            waiting += [(place, key) for key in part]
            waiting += [((place, key), value) for key, value in part.items()]
        elif isinstance(part, list):
            waiting += [((place, number), value) for number, value in enumerate(part)]


def _spelled(place: _Place) -> str:
    """A path such as `spans[0].quote: `, shortened to its end; empty for the body itself."""
    steps: list[str] = []
    while place is not None and len(steps) < _LONGEST_PLACE:
        place, step = place
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step[:_LONGEST_PLACE]}")
    spelled = "".join(reversed(steps)).removeprefix(".")
    return f"{spelled[-_LONGEST_PLACE:]}: " if spelled else ""


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


# For files that are JSON: the schema allows any JSON.
JSON = "application/json"
# Primary keys: databases reject larger numbers in queries.
LARGEST_KEY = 2**63 - 1


class ErrorSerializer(serializers.Serializer[Any]):
    """The reason for a refusal."""

    detail = serializers.CharField()


def checked(shape: type[serializers.Serializer[Any]], sent: Any, **context: Any) -> Any:
    """Return the validated body. Raises ValidationError, which results in status 400."""
    body = shape(data=sent, context=context)
    body.is_valid(raise_exception=True)
    return body.validated_data


def file_answers(media_types: Iterable[str]) -> dict[tuple[int, str], OpenApiTypes]:
    """The OpenAPI responses of an endpoint that returns a file of one of these types."""
    return {
        (200, kind): OpenApiTypes.ANY if kind == JSON else OpenApiTypes.BINARY
        for kind in sorted(set(media_types))
    }
