"""The fields of an answer with their verdicts and places."""

from collections import Counter, defaultdict
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
    verdict,
)
from scoring.benchmarks.items import excerpt
from scoring.metrics.fields import Field

from .scorer import LEFT_OUT, compare, read_answer, read_gold_answer, sides

_ANSWER = "answer"


def wrong(result: Mapping[str, Any]) -> WrongFields | None:
    if result["outcome"] == LEFT_OUT:
        return None
    missed = result["missed"]
    return WrongFields(
        Counter(
            FieldName(result["task"], _name(path), excerpt(_text(value))) for path, value in missed
        ),
        is_cut=result["missed_count"] > len(missed),
    )


def item(
    gold: Mapping[str, Any],
    prediction: Mapping[str, Any] | None,
    result: Mapping[str, Any],
    options: Mapping[str, str],
) -> GradedItem | None:
    if result["outcome"] == LEFT_OUT:
        return None
    chosen, question = dict(options), dict(gold)
    response = "" if prediction is None else prediction["response"]
    ours = read_gold_answer(gold["response"], gold["subtask"], chosen)
    theirs = read_answer(response, gold["subtask"], chosen)
    missed = compare(ours, theirs, question, chosen).missed
    read: defaultdict[str, list[str]] = defaultdict(list)
    for path, value in sorted(theirs.fields - ours.fields, key=_order):
        read[path].append(_text(value))
    fields = tuple(
        _field(
            result["task"],
            field,
            _text(field[1]) if field in theirs.fields else "; ".join(read[field[0]]) or None,
            is_right=field not in missed,
        )
        for field in sorted(ours.fields, key=_order)
    )
    shown = sides(question, None if prediction is None else dict(prediction), options)
    assert isinstance(shown.gold, dict)
    found = shown.prediction if isinstance(shown.prediction, dict) else None
    sheet = None if found is None else record_sheet(found, [(f.name, f.read or "") for f in fields])
    if sheet is None and prediction is not None:
        sheet = text_sheet(response)
    return GradedItem(fields, record_sheet(shown.gold, [(f.name, f.value) for f in fields]), sheet)


def _field(task: str, field: Field, read: str | None, *, is_right: bool) -> GradedField:
    path, value = field
    return GradedField(task, _name(path), _text(value), read, verdict(read, is_right=is_right))


def _name(path: str) -> str:
    return f"{_ANSWER}.{path}" if path else _ANSWER


def _text(value: str | list[str] | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _order(field: Field) -> tuple[str, str]:
    return field[0], _text(field[1])


FIELD_GRADES = FieldGrades(wrong, item)
