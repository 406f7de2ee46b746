"""Documents as JSON Lines: written, and read back with nothing lost."""

import json

import pytest

from portal.facts import (
    FactSpan,
    ReadingError,
    read_document_line,
    read_line_spans,
    write_document_line,
)
from tests.many import short_id

TEXT = "Net \U0001f4b6 1,200"
SPAN = FactSpan("k", "Number", 6, 11, "1,200", "1200", "plain")


@pytest.mark.parametrize("annotator", ["", "p_1"])
def test_a_line_comes_back(annotator: str) -> None:
    line = write_document_line("p1", "a" * 64, [SPAN], annotator)
    assert "\n" not in line
    read = read_document_line(line)
    assert (read.name, read.text_sha256, read.annotator) == ("p1", "a" * 64, annotator)
    assert read_line_spans(read, TEXT, [SPAN.label]) == ([SPAN], [])
    assert ("annotator" in json.loads(line)) is bool(annotator)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "the line: is not JSON"),
        ("[" * 100_000, "the line: is not JSON"),
        ("[]", "the line: must be a JSON object"),
        ('{"name": 5, "spans": []}', "name: must be a string"),
        ('{"spans": []}', "name: this field is missing, and text_sha256 as well"),
        ('{"name": "p"}', "spans: must be a list"),
    ],
    ids=short_id,
)
def test_a_line_of_another_form_is_refused(line: str, message: str) -> None:
    with pytest.raises(ReadingError) as error:
        read_document_line(line)
    assert str(error.value).startswith(message)


def test_a_quote_that_is_elsewhere_is_refused() -> None:
    line = read_document_line(write_document_line("p1", "", [SPAN]))
    spans, (fault,) = read_line_spans(line, TEXT[1:] + "0", [SPAN.label])
    assert spans == []
    assert str(fault).startswith("spans[0].quote")
