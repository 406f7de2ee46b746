"""Scores one answer of FCMBench by the rules of its subtask, summarises it, and returns its
contributions to the figures with intervals.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scoring.benchmarks.base import sign_options
from scoring.benchmarks.graded import (
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    graded_record,
    verdict,
)
from scoring.benchmarks.items import (
    Contribution,
    ItemResult,
    ItemSummary,
    Options,
    Payload,
    Sides,
    excerpt,
    named_errors,
)
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics.fields import (
    Field,
    Fields,
    UnparseableError,
    extract_json,
    flatten,
    is_close,
    near_pairs,
    normalise_float,
    normalise_text,
    parse_json,
    set_f1,
    unwrap_answer,
    without_places,
)

PERCEPTION = ("IQE", "DTR", "KIE")
REASONING = ("CC", "VC", "NC", "RR")
TASKS = (*PERCEPTION, *REASONING)
_CALCULATION = "NC"

# Subtasks with rules of their own: the answer is one number, which is right if it is close enough;
# only the document types reported as present count; the published evaluator does not grade it.
_NUMBER = ("num_cal_001", "num_cal_002")
_PRESENT_ONLY = "doc_cla_003"
_LEFT_OUT = "num_cal_005"

# Identifiers are compared as text or, as in the published evaluator, as floats. Numbers may differ
# by a little in all calculations, as in the paper, or in those of the evaluator.
TEXT, PAPER, REFERENCE = "text", "paper", "reference"
_OPTIONS = (
    Option("identifiers", TEXT, choices=(TEXT, REFERENCE)),
    Option("tolerance", PAPER, choices=(PAPER, REFERENCE)),
    Option("missing", "zero", choices=("zero", "skip")),
)


def check_options(raw: Mapping[str, object]) -> Options:
    """Return complete, canonical options. Raises OptionError.

    >>> check_options({})
    {'identifiers': 'text', 'tolerance': 'paper', 'missing': 'zero'}
    """
    return complete_options(_OPTIONS, raw)


# Rules on which the published evaluator and the paper differ, or that the paper leaves open.
_RULES = ("num_cal:<=2", "num_cal_005:left-out", "relative:without-IQE")


def signed(options: Options) -> tuple[str, ...]:
    return (*sign_options(options), *_RULES)


TOLERANCE = 2.0
_PRESENT = "present_categories"


@dataclass(frozen=True)
class Answer:
    """A parsed answer: its value (None if unreadable), its fields, and the reason if it is
    unreadable."""

    value: Any
    fields: Fields
    problem: str = ""


@dataclass(frozen=True)
class Comparison:
    """An answer's F1 in [0, 1], and its correct, missed and extra fields.

    `f1` is None if the published evaluator ignores the answer.
    """

    f1: float | None
    right: int
    missed: Fields
    extra: Fields


def read_gold_answer(text: str, subtask: str, options: Options) -> Answer:
    """Return the gold answer; the whole text is JSON. Raises UnparseableError."""
    return _answer(unwrap_answer(parse_json(text)), subtask, options)


def read_answer(response: str, subtask: str, options: Options) -> Answer:
    """Return the answer in a model's response. Never raises."""
    try:
        return _answer(unwrap_answer(extract_json(response)), subtask, options)
    except UnparseableError as error:
        return Answer(None, frozenset(), str(error))


def compare(gold: Answer, answer: Answer, question: Payload, options: Options) -> Comparison:
    """Compute F1 of the fields. In calculations numbers need only be close.

    An answer that is null or unreadable has no fields. If the subtask asks for one number, it has
    no F1 either.
    """
    if question["subtask"].endswith(_NUMBER):
        return _compare_numbers(gold, answer)
    if options["tolerance"] == PAPER and question["task"] == _CALCULATION:
        return _compare_calculations(gold.fields, answer.fields)
    return Comparison(
        f1=set_f1(gold.fields, answer.fields),
        right=len(gold.fields & answer.fields),
        missed=gold.fields - answer.fields,
        extra=answer.fields - gold.fields,
    )


def _compare_numbers(gold: Answer, answer: Answer) -> Comparison:
    is_right = is_close(gold.value, answer.value, TOLERANCE)
    return Comparison(
        f1=None if answer.value is None else float(is_right),
        right=int(is_right),
        missed=frozenset() if is_right else gold.fields,
        extra=frozenset() if is_right else answer.fields,
    )


def _compare_calculations(gold: Fields, answer: Fields) -> Comparison:
    pairs = near_pairs(gold, answer, TOLERANCE)
    return Comparison(
        f1=2 * len(pairs) / (len(gold) + len(answer)) if gold or answer else 1.0,
        right=len(pairs),
        missed=gold - {ours for ours, _ in pairs},
        extra=answer - {theirs for _, theirs in pairs},
    )


def _answer(value: Any, subtask: str, options: Options) -> Answer:
    value = without_places(value)
    if subtask.endswith(_PRESENT_ONLY):
        value = {_PRESENT: value.get(_PRESENT, [])} if isinstance(value, dict) else {}
    normalise = normalise_text if options["identifiers"] == TEXT else normalise_float
    return Answer(value, flatten(value, normalise))


# The most wrong fields that a result lists. The counts cover all of them.
MOST_FIELDS = 50

SCORED, MISSING, UNPARSEABLE, LEFT_OUT = "scored", "missing", "unparseable", "left_out"


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """Return the score of one answer, as plain JSON.

    - `outcome`: `scored`, `missing` (no prediction), `unparseable` (no readable JSON in the
      response; `reason` explains), or `left_out` (a subtask that is not graded).
    - `f1`: in [0, 1], or null if the published evaluator ignores the answer.
    - `strict`: the same with 0 for unparseable or ignored answers; null if left out.
    - `right`: the number of correct fields; `missed`, `extra`: the others as `[path, value]`, at
      most MOST_FIELDS of each, and their counts `missed_count`, `extra_count`.
    - `output_tokens`: as stated by the submission, else null.

    Raises UnparseableError for gold that is not JSON.
    """
    subtask = gold["subtask"]
    answer = read_answer("" if prediction is None else prediction["response"], subtask, options)
    comparison = compare(
        read_gold_answer(gold["response"], subtask, options), answer, gold, options
    )
    outcome = _outcome(subtask, is_missing=prediction is None, is_read=not answer.problem)
    f1, strict = _scores(outcome, comparison, options)
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "task": gold["task"],
        "subtask": subtask,
        "robustness": gold["robustness"],
        "outcome": outcome,
        "reason": answer.problem if outcome == UNPARSEABLE else "",
        "f1": f1,
        "strict": strict,
        **_details(comparison),
        "output_tokens": prediction.get("output_tokens") if prediction else None,
    }


def _outcome(subtask: str, *, is_missing: bool, is_read: bool) -> str:
    if subtask.endswith(_LEFT_OUT):
        return LEFT_OUT
    if is_missing:
        return MISSING
    return SCORED if is_read else UNPARSEABLE


def _scores(
    outcome: str, comparison: Comparison, options: Options
) -> tuple[float | None, float | None]:
    """Return F1 as in the published evaluator, and strict F1."""
    if outcome == LEFT_OUT:
        return None, None
    if outcome == MISSING:
        return (0.0, 0.0) if options["missing"] == "zero" else (None, None)
    is_readable = outcome == SCORED and comparison.f1 is not None
    return comparison.f1, comparison.f1 if is_readable else 0.0


def _details(comparison: Comparison) -> ItemResult:
    return {
        "right": comparison.right,
        "missed_count": len(comparison.missed),
        "extra_count": len(comparison.extra),
        "missed": _shown(comparison.missed),
        "extra": _shown(comparison.extra),
    }


def _shown(fields: Fields) -> list[list[object]]:
    """Return the first fields in order, each shortened."""
    return [
        [excerpt(path), excerpt(value) if isinstance(value, str) else _excerpts(value)]
        for path, value in sorted(fields, key=_order)[:MOST_FIELDS]
    ]


def _order(field: Field) -> tuple[str, tuple[str, ...]]:
    path, value = field
    return path, (value,) if isinstance(value, str) else value


def _excerpts(texts: tuple[str, ...]) -> list[str]:
    return [excerpt(text) for text in texts[:MOST_FIELDS]]


OVERALL = "overall"


def contributions(result: Mapping[str, Any], _: Mapping[str, str]) -> Iterator[Contribution]:
    """Return its F1 as part of the mean of its subtask; a task is the mean of these, `overall` of
    the tasks."""
    if (f1 := result["f1"]) is None:
        return
    task, subtask = result["task"], result["subtask"]
    yield Contribution(task, f1, part=(subtask,))
    yield Contribution(OVERALL, f1, part=(task, subtask))


def stratum(result: Mapping[str, Any]) -> str:
    return f"{result['task']} {result['subtask']}"


_ERRORS = {"extra_count": "extra fields", "missed_count": "missed fields"}


def summarise(result: Mapping[str, Any], _: Mapping[str, str]) -> ItemSummary:
    """Return its F1, its task and subtask, and whether it has missed or extra fields."""
    errors = named_errors(result, _ERRORS)
    if result["outcome"] == UNPARSEABLE:
        errors.append(UNPARSEABLE)
    return ItemSummary(result["f1"], f"{result['task']} {result['subtask']}", tuple(errors))


def sides(gold: Payload, prediction: Payload | None, _: Mapping[str, str]) -> Sides:
    """Return both answers, which the options do not change."""
    subtask, shown = gold["subtask"], check_options({})
    answer = None if prediction is None else read_answer(prediction["response"], subtask, shown)
    return Sides(
        {_ANSWER: read_gold_answer(gold["response"], subtask, shown).value},
        None if answer is None or answer.problem else {_ANSWER: answer.value},
    )


_ANSWER = "answer"


def _wrong(result: Mapping[str, Any]) -> WrongFields | None:
    if result["outcome"] == LEFT_OUT:
        return None
    missed = result["missed"]
    return WrongFields(
        Counter(
            FieldName(result["task"], _name(path), excerpt(_text(value))) for path, value in missed
        ),
        is_cut=result["missed_count"] > len(missed),
    )


def _graded(
    gold: Payload, prediction: Payload | None, result: ItemResult, options: Options
) -> GradedItem | None:
    if result["outcome"] == LEFT_OUT:
        return None
    response = None if prediction is None else prediction["response"]
    ours = read_gold_answer(gold["response"], gold["subtask"], options)
    theirs = read_answer(response or "", gold["subtask"], options)
    missed = compare(ours, theirs, gold, options).missed
    read: defaultdict[str, list[str]] = defaultdict(list)
    for path, value in sorted(theirs.fields - ours.fields, key=_by_text):
        read[path].append(_text(value))
    fields = []
    for field in sorted(ours.fields, key=_by_text):
        path, value = field[0], _text(field[1])
        found = value if field in theirs.fields else "; ".join(read[path]) or None
        error = verdict(found, is_right=field not in missed)
        fields.append(GradedField(result["task"], _name(path), value, found, error))
    return graded_record(fields, sides(gold, prediction, options), response)


def _name(path: str) -> str:
    return f"{_ANSWER}.{path}" if path else _ANSWER


def _text(value: str | list[str] | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _by_text(field: Field) -> tuple[str, str]:
    return field[0], _text(field[1])


FIELD_GRADES = FieldGrades(_wrong, _graded)
