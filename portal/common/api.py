"""What the whole API shares: how JSON is read, and how long lists are cut into pages."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import IO, Any, TypeVar

from django.conf import settings
from django.db.models import Model
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import JSONParser

from portal.common.newlines import plain_json_newlines

MOST_AT_ONCE = 1000

_Row = TypeVar("_Row", bound=Model)


class Pages(LimitOffsetPagination):
    """`?limit=` rows from `?offset=` on; nobody gets all rows of a long list in one answer."""

    max_limit = MOST_AT_ONCE


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = "The body is too large."


class PlainJSONParser(JSONParser):
    """JSON of bounded size and depth, with texts and numbers that can be answered and stored.

    A body must not exhaust memory or the interpreter's stack. JSON can say half of a character (a
    lone surrogate) and numbers beyond every float: refused here rather than by each field.
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
        # Only an escape can say one: as plain UTF-8 it was refused above.
        if b"\\ud" in body.lower():
            for place, text in _texts(data):
                if _is_broken(text):
                    raise ParseError(
                        f"JSON parse error - {_spelled(place)}half of a surrogate pair in a text"
                    )
        return data


class NamedField(serializers.SlugRelatedField[_Row]):
    """Something that is there, by its name. No name has a NUL character, for which PostgreSQL
    cannot even look."""

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
    raise ValueError(f"{word} is no number of JSON")


# A place in JSON: the one around it, and the key or number there. Linked, for written out at every
# text the places of a small body could fill the memory.
_Place = tuple["_Place", str | int] | None
_LONGEST_PLACE = 200


def _texts(data: Any) -> Iterator[tuple[_Place, str]]:
    """All texts inside, keys too, each after its place; without recursion, since nesting costs the
    sender nothing."""
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
    """Such as `spans[0].quote: `, of a deep or long one the end; empty for the body itself."""
    steps: list[str] = []
    while place is not None and len(steps) < _LONGEST_PLACE:
        place, step = place
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step[:_LONGEST_PLACE]}")
    spelled = "".join(reversed(steps)).removeprefix(".")
    return f"{spelled[-_LONGEST_PLACE:]}: " if spelled else ""


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
