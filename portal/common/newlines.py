"""One newline for every text that is sent in: a browser sends a textarea's as CR LF.

What is stored, compared, hashed and split into lines has LF alone, whichever door it came through:
a page's form, the API's JSON, or the API's forms. Files are not touched.
"""

import re
from collections.abc import Callable
from typing import IO, Any, TypeVar, cast

from django.http import HttpRequest, HttpResponseBase, QueryDict
from rest_framework.parsers import FormParser, MultiPartParser

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
    r"""The same for the texts of a JSON body, before it is decoded.

    >>> plain_json_newlines(rb'{"a": "1\r\n2\\r"}')
    b'{"a": "1\\n2\\\\r"}'
    """
    return _ESCAPED.sub(lambda escape: escape[1] or b"\\n", body)


def plain_form(form: Form) -> Form:
    """The form itself when no value holds a CR."""
    if not any("\r" in str(value) for _, values in form.lists() for value in values):
        return form
    plain = form.copy()
    for name, values in form.lists():
        plain.setlist(name, [plain_newlines(str(value)) for value in values])
    plain._mutable = False
    return cast("Form", plain)


class PlainNewlinesMiddleware:
    """Gives every page its form with plain newlines. The API's parsers do it themselves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        # The check for the CSRF token has read the form by now.
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
