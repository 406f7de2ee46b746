"""The fields, cells or lines of an image with their verdicts and places.

Results list only the fields of key information, so texts and tables are aligned here. A text is
compared word by word and a table cell by cell; their scores are similarities of the whole.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from lxml import etree

from scoring.benchmarks.graded import (
    WHOLE,
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    graded_cells,
    graded_lines,
    record_sheet,
    text_sheet,
    verdict,
)
from scoring.metrics.limits import TooLargeError
from scoring.metrics.reading import fenced
from scoring.metrics.structured import (
    Fields,
    UnparseableError,
    fields_of,
    normalise_record,
    parse_record,
)

from .scorer import sides

_RECORD, _TABLE = "kie", "table"
_TEXTS = frozenset({"ocr", "doc", "formula", "molecular"})
# Sums of floats that should be 1.
_NEARLY_ONE = 1 - 2e-6


def wrong(result: Mapping[str, Any]) -> WrongFields:
    """Other results than records only say whether the whole item is right."""
    kind = result["subset"]
    if result["op"] != _RECORD:
        return WrongFields(Counter([FieldName(kind, WHOLE, "")] * (result["score"] < _NEARLY_ONE)))
    missed = Counter(FieldName(kind, path, value) for path, value in result["missed"])
    return WrongFields(missed, is_cut=result["fn"] > missed.total())


def item(
    gold: Mapping[str, Any],
    prediction: Mapping[str, Any] | None,
    result: Mapping[str, Any],
    options: Mapping[str, str],
) -> GradedItem | None:
    response = "" if prediction is None else str(prediction["response"])
    op, kind = result["op"], result["subset"]
    if op == _RECORD:
        return _record(gold, prediction, kind, options)
    if op in _TEXTS:
        return graded_lines(gold["answer"], response, kind)
    if op == _TABLE:
        return graded_cells(_cells(gold["answer"]), _cells(fenced(response, "html")), kind)
    return None


def _record(
    gold: Mapping[str, Any],
    prediction: Mapping[str, Any] | None,
    kind: str,
    options: Mapping[str, str],
) -> GradedItem:
    shown = sides(dict(gold), None if prediction is None else dict(prediction), options)
    assert shown is not None
    assert isinstance(shown.gold, dict)
    found = shown.prediction if isinstance(shown.prediction, dict) else None
    response = "" if prediction is None else str(prediction["response"])
    ours, theirs = fields_of(normalise_record(gold["answer"])), _read(response)
    extra: defaultdict[str, list[str]] = defaultdict(list)
    for path, value in sorted((theirs - ours).elements()):
        extra[path].append(value)
    fields = []
    # Of equal values the first ones are right.
    left = ours & theirs
    for path, value in sorted(ours.elements()):
        is_right = left[path, value] > 0
        left[path, value] -= 1
        read = value if is_right else "; ".join(extra[path]) or None
        error = verdict(read, is_right=is_right)
        fields.append(GradedField(kind, path, value, read, error))
    sheet = None if found is None else record_sheet(found, [(f.name, f.read or "") for f in fields])
    if sheet is None and prediction is not None:
        sheet = text_sheet(response)
    return GradedItem(
        tuple(fields), record_sheet(shown.gold, [(f.name, f.value) for f in fields]), sheet
    )


def _read(response: str) -> Fields:
    try:
        return fields_of(normalise_record(parse_record(response)))
    except (UnparseableError, TooLargeError):
        return Fields()


_PARSER = etree.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")


def _cells(markup: str) -> list[list[str]]:
    """Return the cells of the first table by row; none without a table."""
    if "<table" not in markup:
        return []
    document = f"<html><body>{markup}</body></html>".encode("utf-8", "replace")
    table = etree.fromstring(document, parser=_PARSER).find(".//table")
    if table is None:
        return []
    rows = ([cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr"))
    return [["".join(map(str, cell.itertext())).strip() for cell in row] for row in rows]


FIELD_GRADES = FieldGrades(wrong, item)
