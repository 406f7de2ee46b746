"""Exports of other tools are named in the error, in tasks and in lines of labels."""

import json
from typing import Any

import pytest

from portal.facts import ReadingError, read_document_line, read_tasks
from portal.facts.other_tools import other_tool

TEXT = "Profit 1,234 in 2024"
MIN = {"html": "<p>1</p>", "id": 5, "labels": [], "annotator": 1, "annotation_id": 3}
DOCCANO: list[dict[str, Any]] = [
    {"id": 1, "text": TEXT, "label": [[7, 12, "Number"]]},
    {"id": 1, "text": TEXT, "labels": []},
    {"id": 1, "text": TEXT, "entities": [{"id": 9, "label": "Number", "start_offset": 7}]},
]
PRODIGY = [
    {"text": TEXT, "spans": [{"start": 7, "end": 12, "label": "Number"}], "answer": "accept"},
    {"text": TEXT, "spans": []},
    {"text": TEXT, "_input_hash": 5},
]


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (MIN, "JSON-MIN export; export as JSON instead"),
        *((item, "doccano") for item in DOCCANO),
        *((item, "Prodigy") for item in PRODIGY),
    ],
)
def test_other_tools_are_named(item: dict[str, Any], named: str) -> None:
    (fault,) = read_tasks([item])
    assert isinstance(fault, ReadingError)
    assert named in str(fault)
    with pytest.raises(ReadingError, match=named):
        read_document_line(json.dumps(item))


@pytest.mark.parametrize(
    "item",
    [
        5,
        {"id": 1, "data": {"html": "<p>1</p>"}, "annotations": [], "annotators": [1]},
        {"name": "a", "text_sha256": "a" * 64, "annotator": "p1", "spans": []},
        {"name": "a", "text": TEXT, "spans": []},
        {"text": TEXT, "label": "sports"},
    ],
)
def test_own_formats_and_unknown_ones_are_not_named(item: object) -> None:
    assert other_tool(item) == ""
