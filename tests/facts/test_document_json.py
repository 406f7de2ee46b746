"""One document as JSON: out and in again, and every fault by its field."""

import json
from hashlib import sha256
from typing import Any

import pytest

from portal.facts import (
    FactSpan,
    ReadingError,
    read_document_json,
    read_value,
    write_document_json,
)

TEXT = "\U0001f4b6 Net loss e\u0301 (1,200) on March 24, 2025"
LOSS = FactSpan("k1", "Number", 14, 21, "(1,200)", "-1200", "parentheses")
DAY = FactSpan("k2", "Date", 25, 39, "March 24, 2025", "2025-03-24", "")


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _written(*spans: FactSpan) -> dict[str, Any]:
    meta = {"name": "page-1", "fiscal_year": 2025}
    data: dict[str, Any] = json.loads(json.dumps(write_document_json(meta, _hash(TEXT), spans)))
    return data


def test_a_document_is_written_with_its_source_and_spans_in_order() -> None:
    assert _written(DAY, LOSS) == {
        "format": "factboard-document",
        "version": 1,
        "document": {"name": "page-1", "fiscal_year": 2025, "text_sha256": _hash(TEXT)},
        "spans": [
            {
                "key": "k1",
                "label": "Number",
                "start": 14,
                "end": 21,
                "quote": "(1,200)",
                "value": "-1200",
                "sign": "parentheses",
            },
            {
                "key": "k2",
                "label": "Date",
                "start": 25,
                "end": 39,
                "quote": "March 24, 2025",
                "value": "2025-03-24",
                "sign": "",
            },
        ],
    }


def test_a_document_comes_back_as_it_was() -> None:
    corrected = FactSpan("k3", "Number", 31, 33, "24", "", "")
    alone = FactSpan("k4", "FinancialConcept", 2, 10, "Net loss", "", "")
    for spans in ([], [LOSS, DAY], [alone, LOSS, corrected]):
        assert read_document_json(_written(*spans), TEXT) == spans


@pytest.mark.parametrize("absent", [{}, {"value": None, "sign": None}, {"value": None}])
def test_values_that_are_not_given_are_read_from_the_quote(absent: dict[str, None]) -> None:
    data = _written(LOSS)
    span = data["spans"][0]
    data["spans"] = [{name: span[name] for name in span if name not in ("value", "sign")} | absent]
    assert read_document_json(data, TEXT) == [LOSS]
    assert read_value(LOSS.quote, LOSS.label) == (LOSS.value, LOSS.sign)


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"format": "other"}, "format", "this is not 'factboard-document'"),
        ({"format": None}, "format", "must be a string, not null"),
        ({"version": 2}, "version", "unsupported version 2"),
        ({"version": True}, "version", "must be a whole number, not true or false"),
        ({"document": []}, "document", "must be an object, not a list"),
        ({"document": {}}, "document.text_sha256", "missing"),
        ({"document": {"text_sha256": "ab"}}, "document.text_sha256", "ab is another text"),
        ({"spans": {}}, "spans", "must be a list, not an object"),
        ({"spans": [3]}, "spans[0]", "must be an object, not a whole number"),
    ],
)
def test_a_wrong_head_is_refused_by_its_field(
    change: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(ReadingError) as caught:
        read_document_json(_written(LOSS) | change, TEXT)
    assert caught.value.field == field
    assert reason in caught.value.reason
    assert str(caught.value) == f"{field}: {caught.value.reason}"


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"key": ""}, "key", "needs a key"),
        ({"key": "k1"}, "key", "is already the key of spans[0]"),
        ({"key": 5}, "key", "must be a string"),
        ({"label": "Table"}, "label", "name of an HTML element"),
        ({"start": "25"}, "start", "must be a whole number, not a string"),
        ({"start": 25.0}, "start", "not a decimal"),
        ({"end": True}, "end", "not true or false"),
        ({"end": 99}, "start", "not a valid range in a text of 39 characters"),
        ({"start": -1}, "start", "not a valid range"),
        ({"quote": "March 24, 2026"}, "quote", "is 'March 24, 2025', not 'March 24, 2026'"),
        ({"quote": "x" * 900}, "quote", "x…'"),
        ({"start": 26, "quote": "March 24, 2025"}, "quote", "is 'arch 24, 2025'"),
        ({"value": "24.3.2025"}, "value", "must be a date"),
        ({"sign": "minus"}, "value", "no sign"),
        ({"value": None, "sign": "minus"}, "value", "must be a string, not null"),
        ({"lable": "Date"}, "lable", "unknown field"),
    ],
)
def test_a_wrong_span_is_refused_by_its_field(
    change: dict[str, Any], field: str, reason: str
) -> None:
    data = _written(LOSS, DAY)
    data["spans"][1] |= change
    with pytest.raises(ReadingError) as caught:
        read_document_json(data, TEXT)
    assert caught.value.field == f"spans[1].{field}"
    assert reason in caught.value.reason


def test_a_missing_field_and_overlapping_spans_are_refused() -> None:
    data = _written(LOSS)
    del data["spans"][0]["quote"]
    with pytest.raises(ReadingError, match=r"spans\[0\]\.quote: this field is missing"):
        read_document_json(data, TEXT)
    inner = FactSpan("k3", "Number", 15, 20, "1,200", "1200", "plain")
    with pytest.raises(ReadingError, match=r"spans\[1\]: span 1 overlaps span 0 at 15"):
        read_document_json(_written(LOSS, inner), TEXT)


@pytest.mark.parametrize("data", [None, [], "x", 5])
def test_what_is_no_object_is_refused(data: object) -> None:
    with pytest.raises(ReadingError, match="the file: must be an object"):
        read_document_json(data, TEXT)
