"""Shared code of the API: parsers, pagination and OpenAPI responses.

Browsers send the newlines of a textarea as CR LF. All input is converted to LF: forms of pages, and
JSON and forms of the API. Files are not changed.

The parsers refuse fields that the endpoint's documented body does not have: a misspelled filter
would otherwise be ignored, and a change would apply to everything. A throttle parses the bodies of
endpoints that have none.

REST framework imports this module while it loads its views, so it must not import them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from math import isfinite
from typing import IO, Any, TypeVar, cast

from django.conf import settings
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase, QueryDict
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

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


# --- unknown fields --------------------------------------------------------------------------
_Faults = dict[str, Any] | list[Any]
# The field of an object or a list in a form, such as `filter` in `filter.type`.
_FORM_NAME = re.compile(r"[^.\[]*")
_LONGEST_NAME = 80
_WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def refuse_unknown_fields(parser_context: Any, sent: Any) -> None:
    """Raises ValidationError, by field, if the body has fields that the endpoint does not have."""
    view = parser_context and parser_context.get("view")
    if view is None:
        return
    endpoint: Any = type(view)
    body = documented_body(endpoint, parser_context["request"].method)
    if body is None:
        _refuse_body(sent)
    elif isinstance(body, serializers.Field) and (faults := _unknown_fields(body, sent)):
        raise ValidationError(faults)


class NoUnreadBody(BaseThrottle):
    """Refuses a body for an endpoint without one, which would not parse it.

    This is a throttle, because REST framework calls it after the permissions are checked and before
    the endpoint changes anything.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        endpoint: Any = type(view)
        method = request.method or ""
        is_known = method in _WRITING and hasattr(endpoint, method.lower())
        if is_known and documented_body(endpoint, method) is None:
            # The parser refuses it.
            _ = request.data
        return True


def _refuse_body(sent: Any) -> None:
    if isinstance(sent, Mapping):
        if faults := _of_object(serializers.Serializer(), sent):
            raise ValidationError(faults)
    elif sent is not None:
        raise ValidationError({"non_field_errors": ["This request has no body."]})


@cache
def documented_body(endpoint: type[object], method: str) -> Any:
    """The body of a method in the OpenAPI document: as a rule a serializer, None without one."""
    described = getattr(getattr(endpoint, method.lower(), None), "kwargs", {}).get("schema")
    view: Any = endpoint()
    view.request, view.kwargs, view.format_kwarg = Request(HttpRequest()), {}, None
    schema = described() if described else view.schema
    schema.view, schema.method = view, method
    body = schema.get_request_serializer()
    return body() if isinstance(body, type) else body


def _unknown_fields(shape: Any, sent: Any) -> _Faults:
    """The unknown fields on each level, in the form of REST framework's errors."""
    if isinstance(shape, serializers.Serializer) and isinstance(sent, Mapping):
        return _of_object(shape, sent)
    child = getattr(shape, "child", None)
    if isinstance(sent, list):
        faults = [_unknown_fields(child, each) for each in sent] if _has_names(child) else []
        return faults if any(faults) else []
    if isinstance(shape, serializers.DictField) and isinstance(sent, Mapping):
        return _only_faulty((name, _unknown_fields(child, each)) for name, each in sent.items())
    return {}


def _has_names(shape: Any) -> bool:
    """Whether values of the field can have fields of their own."""
    return isinstance(shape, serializers.Serializer) or hasattr(shape, "child")


def _of_object(shape: serializers.Serializer[Any], sent: Mapping[str, Any]) -> _Faults:
    known = {name: field for name, field in shape.fields.items() if not field.read_only}
    if isinstance(sent, QueryDict):
        names = {name: _FORM_NAME.match(name)[0] for name in sent}  # type: ignore[index]
        unknown = [name for name, field in names.items() if field not in known]
        nested: dict[str, Any] = {}
    else:
        unknown = [name for name in sent if name not in known]
        nested = _only_faulty(
            (name, _unknown_fields(known[name], value))
            for name, value in sent.items()
            if name in known and _has_names(known[name])
        )
    offered = f"Known fields: {', '.join(sorted(known))}." if known else "There are no fields."
    return {name[:_LONGEST_NAME]: [f"Unknown field. {offered}"] for name in unknown} | nested


def _only_faulty(faults: Iterable[tuple[str, _Faults]]) -> dict[str, Any]:
    return {name: fault for name, fault in faults if fault}


# --- parsers ---------------------------------------------------------------------------------
class PlainFormParser(FormParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        form = plain_form(super().parse(stream, media_type, parser_context))
        refuse_unknown_fields(parser_context, form)
        return form


class PlainMultiPartParser(MultiPartParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        parsed = super().parse(stream, media_type, parser_context)
        parsed.data = plain_form(parsed.data)
        refuse_unknown_fields(parser_context, parsed.data)
        refuse_unknown_fields(parser_context, parsed.files)
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
        refuse_unknown_fields(parser_context, data)
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
