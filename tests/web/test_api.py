"""JSON parsing, pagination and errors of the API."""

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client, RequestFactory
from hypothesis import strategies as st
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from portal.home.views import server_error
from portal.web.api import MOST_AT_ONCE, BodyTooLarge, Pages, PlainJSONParser
from tests.many import drawn


def parsed(body: bytes, length: object = "") -> Any:
    context = {"request": SimpleNamespace(META={"CONTENT_LENGTH": str(length)})}
    return PlainJSONParser().parse(io.BytesIO(body), parser_context=context)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (rb'"\ud800"', "unpaired surrogate"),
        (rb'{"a": ["\uDFFF"]}', r"a\[0\]: unpaired surrogate"),
        (rb'{"a": [1, {"b": "\uDFFF"}]}', r"a\[1\].b: unpaired surrogate"),
        (rb'{"\udc00": 1}', "unpaired surrogate"),
        (b'"\xed\xa0\x80"', "JSON parse error"),
        (b'"\x00"', "JSON parse error"),
        (b"1e400", "too large"),
        (b"[-1e400]", "too large"),
        (b"NaN", "NaN is not a valid JSON number"),
        (b"Infinity", "Infinity is not a valid JSON number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{", "JSON parse error"),
        (b"9" * 5000, "JSON parse error"),
    ],
)
def test_what_nobody_could_answer_or_store_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parsed(body)


def test_whole_pairs_are_characters() -> None:
    assert parsed(rb'"\ud83d\ude00"') == "😀"
    assert parsed(rb'"\\\\ud800"') == "\\\\ud800"


# Of newlines only the plain one comes through: see test_newlines.py.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"))
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inside: st.lists(inside) | st.dictionaries(TEXT, inside),
)


@drawn(JSON, st.booleans())
def test_all_other_json_is_read_as_it_is(value: Any, ascii_only: bool) -> None:
    assert parsed(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize("length", [10 * 1024 * 1024 + 1, "many"])
def test_a_body_that_is_too_long_is_not_even_read(length: object) -> None:
    with pytest.raises(BodyTooLarge):
        parsed(b"1", length)


@pytest.mark.django_db
@pytest.mark.parametrize("limit", ["1000", "1001", str(2**63), "9" * 400])
def test_nobody_gets_all_rows_at_once(limit: str) -> None:
    Group.objects.bulk_create(Group(name=f"group {n}") for n in range(MOST_AT_ONCE + 5))
    request = Request(APIRequestFactory().get("/", {"limit": limit}))
    pages = Pages()
    rows = pages.paginate_queryset(Group.objects.order_by("id"), request)
    assert rows is not None
    assert len(rows) == MOST_AT_ONCE
    assert f"limit={MOST_AT_ONCE}&offset={MOST_AT_ONCE}" in str(pages.get_next_link())


def test_errors_below_api_are_json(client: Client, db: None) -> None:
    missing = client.get("/api/v1/no-such-thing/")
    assert missing.status_code == 404
    assert missing.json()["detail"].startswith("This page does not exist")
    response = server_error(RequestFactory().get("/api/v1/boards/"))
    assert (response.status_code, json.loads(response.content)["detail"]) == (
        500,
        "The error was logged. Please try again.",
    )


@pytest.mark.parametrize("path", ["/boards/a%00b/", "/api/v1/boards/a%00b/"])
def test_addresses_with_nul_lead_nowhere(client: Client, db: None, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    is_program = path.startswith("/api/")
    assert response["Content-Type"].startswith("application/json" if is_program else "text/html")
