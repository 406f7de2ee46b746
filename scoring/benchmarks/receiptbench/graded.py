"""The fields of a receipt with their verdicts and places."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scoring.benchmarks.graded import (
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    record_sheet,
    text_sheet,
)
from scoring.metrics.receipts import FIELDS

from .scorer import LEFT_OUT, sides


def wrong(result: Mapping[str, Any]) -> WrongFields | None:
    if result["outcome"] == LEFT_OUT:
        return None
    failed = (name for name, field in result["fields"].items() if field.get("errors"))
    return WrongFields(Counter(FieldName(name, name, "") for name in failed))


def item(
    gold: Mapping[str, Any],
    prediction: Mapping[str, Any] | None,
    result: Mapping[str, Any],
    options: Mapping[str, str],
) -> GradedItem | None:
    if result["outcome"] == LEFT_OUT:
        return None
    shown = sides(dict(gold), None if prediction is None else dict(prediction), options)
    assert isinstance(shown.gold, dict)
    found = shown.prediction if isinstance(shown.prediction, dict) else None
    fields = tuple(
        _field(rule.name, shown.gold, found or {}, result["fields"].get(rule.name, {}))
        for rule in FIELDS
    )
    # A value may be a list, which no row contains as a whole.
    names = [(field.name, "") for field in fields]
    sheet = None if found is None else record_sheet(found, names)
    if sheet is None and prediction is not None:
        sheet = text_sheet(str(prediction.get("response", "")))
    return GradedItem(fields, record_sheet(shown.gold, names), sheet)


def _field(
    name: str, gold: Mapping[str, Any], found: Mapping[str, Any], outcome: Mapping[str, Any]
) -> GradedField:
    error = ", ".join(sorted(outcome.get("errors", ())))
    # Without a value, a field is rightly empty or was not found.
    read = _text(found.get(name)) or (None if error else "")
    return GradedField(name, name, _text(gold.get(name)), read, error)


def _text(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return "; ".join(map(_line_item, value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line_item(item: Mapping[str, Any]) -> str:
    """Return the texts of a line item, and the names of its flags that are true."""
    texts = [str(value) for value in item.values() if not isinstance(value, bool)]
    flags = [key for key, value in item.items() if value is True]
    return " ".join(texts) + (f" ({', '.join(flags)})" if flags else "")


FIELD_GRADES = FieldGrades(wrong, item)
