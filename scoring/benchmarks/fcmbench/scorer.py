"""Scores one answer of FCMBench under the options, summarises it, and returns its
contributions to the figures with intervals.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from scoring.benchmarks.answers import OUTPUT
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
from scoring.metrics.fields import Field, Fields

from .comparing import (
    FACTBOARD,
    PAPER,
    REFERENCE,
    RELATIVE,
    TEXT,
    Answer,
    Comparison,
    by_reference,
    compare,
    read_answer,
    read_gold_answer,
)

PERCEPTION = ("IQE", "DTR", "KIE")
REASONING = ("CC", "VC", "NC", "RR")
TASKS = (*PERCEPTION, *REASONING)

# The published evaluator does not grade it.
_LEFT_OUT = "num_cal_005"

# Our rules for reading and comparing, or those of the published evaluator; with the latter the
# other options are the evaluator's too. Identifiers are compared as text, or as floats. Numbers of
# calculations may differ by a little, ratios in relation to their size, or by less than 2 as in the
# paper, or in two subtasks by at most 2 as in the evaluator.
_MISSING = Option("missing", "zero", choices=("zero", "skip"))
_OPTIONS = {
    rules: (
        Option("rules", rules, choices=(FACTBOARD, REFERENCE)),
        Option("identifiers", identifiers, choices=(TEXT, REFERENCE)),
        Option("tolerance", tolerance, choices=(RELATIVE, PAPER, REFERENCE)),
        _MISSING,
    )
    for rules, identifiers, tolerance in (
        (FACTBOARD, TEXT, RELATIVE),
        (REFERENCE, REFERENCE, REFERENCE),
    )
}


def check_options(raw: Mapping[str, object]) -> Options:
    """Return complete, canonical options. Raises OptionError.

    >>> check_options({})
    {'rules': 'factboard', 'identifiers': 'text', 'tolerance': 'relative', 'missing': 'zero'}
    >>> check_options({"rules": "reference"})["tolerance"]
    'reference'
    """
    is_reference = raw.get("rules") == REFERENCE or (
        # As before there were rules: these two gave the scores of the evaluator.
        "rules" not in raw and raw.get("identifiers") == raw.get("tolerance") == REFERENCE
    )
    return complete_options(_OPTIONS[REFERENCE if is_reference else FACTBOARD], raw)


PUBLISHED = check_options({"rules": REFERENCE})

# Rules on which the published evaluator and the paper differ, or that the paper leaves open.
_RULES = ("num_cal_005:left-out", "relative:same-subtasks-without-IQE")


def signed(options: Options) -> tuple[str, ...]:
    return (*sign_options(options), *_RULES)


# The most wrong fields that a result lists. The counts cover all of them.
MOST_FIELDS = 50

SCORED, MISSING, UNPARSEABLE, LEFT_OUT = "scored", "missing", "unparseable", "left_out"


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """Return the score of one answer, as plain JSON.

    - `outcome`: `scored`, `missing` (no prediction), `unparseable` (no answer in the response;
      `reason` explains), or `left_out` (a subtask that is not graded).
    - `f1`: in [0, 1], or null if the rules of the published evaluator ignore the answer.
    - `strict`: what counts for the rank: the same with fields without an answer counted like wrong
      ones, and with 0 for no answer; null only if left out.
    - `published`: F1 by the rules of the published evaluator, whatever the options; null if it
      ignores the answer.
    - `right`: the number of correct fields; `missed`, `extra`: the others as `[path, value]`, at
      most MOST_FIELDS of each, and their counts `missed_count`, `extra_count`.
    - `output_tokens`: as stated by the submission, else null.

    Raises UnparseableError for gold that is not JSON.
    """
    answer, comparison = _compared(gold, prediction, options)
    outcome = _outcome(gold["subtask"], is_missing=prediction is None, is_read=not answer.problem)
    _, published = _compared(gold, _whole(prediction), PUBLISHED)
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "task": gold["task"],
        "subtask": gold["subtask"],
        "robustness": gold["robustness"],
        "outcome": outcome,
        "reason": answer.problem if outcome == UNPARSEABLE else "",
        "f1": _counted(outcome, comparison.f1, options),
        "strict": _counted(outcome, comparison.strict, options),
        "published": _counted(outcome, published.f1, options),
        **_details(comparison),
        "output_tokens": prediction.get("output_tokens") if prediction else None,
    }


def _whole(prediction: Payload | None) -> Payload | None:
    """Return the prediction with its whole output, which the published evaluator reads."""
    if prediction is None or OUTPUT not in prediction:
        return prediction
    return prediction | {"response": prediction[OUTPUT]}


def _compared(
    gold: Payload, prediction: Payload | None, options: Options
) -> tuple[Answer, Comparison]:
    answer = read_answer("" if prediction is None else prediction["response"], gold, options)
    return answer, compare(read_gold_answer(gold["response"], gold, options), answer, gold, options)


def _counted(outcome: str, score: float | None, options: Options) -> float | None:
    """Return the score unless the question is left out or has no prediction."""
    if outcome == LEFT_OUT:
        return None
    if outcome == MISSING:
        return 0.0 if options["missing"] == "zero" else None
    return score


def _outcome(subtask: str, *, is_missing: bool, is_read: bool) -> str:
    if subtask.endswith(_LEFT_OUT):
        return LEFT_OUT
    if is_missing:
        return MISSING
    return SCORED if is_read else UNPARSEABLE


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


PUBLISHED_OVERALL, OVERALL = "overall", "overall_strict"


def counted(result: Mapping[str, Any], options: Mapping[str, str]) -> float | None:
    """Return the score that the figures of tasks, languages and conditions count: under the rules
    of the published evaluator its F1, which ignores some answers."""
    score: float | None = result["f1" if by_reference(options) else "strict"]
    return score


def published_score(result: Mapping[str, Any]) -> float | None:
    """Return F1 by the published rules, which was the only one in old gradings."""
    score: float | None = result.get("published", result["f1"])
    return score


def contributions(result: Mapping[str, Any], options: Mapping[str, str]) -> Iterator[Contribution]:
    """Return its scores as parts of the means of its subtask; a task is the mean of these, and each
    overall score the mean of the tasks."""
    task, subtask = result["task"], result["subtask"]
    # An answer of one field has this share of F1 at most.
    facts = (result["right"] + result["missed_count"] + 1) / 2
    if (score := counted(result, options)) is not None:
        yield Contribution(task, score, part=(subtask,), facts=facts)
    if (strict := result["strict"]) is not None:
        yield Contribution(OVERALL, strict, part=(task, subtask), facts=facts)
    if (published := published_score(result)) is not None:
        yield Contribution(PUBLISHED_OVERALL, published, part=(task, subtask))


def stratum(result: Mapping[str, Any]) -> str:
    return f"{result['task']} {result['subtask']}"


_ERRORS = {"extra_count": "extra fields", "missed_count": "missed fields"}


def summarise(result: Mapping[str, Any], _: Mapping[str, str]) -> ItemSummary:
    """Return its score, its task and subtask, and whether it has missed or extra fields."""
    errors = named_errors(result, _ERRORS)
    if result["outcome"] == UNPARSEABLE:
        errors.append(UNPARSEABLE)
    return ItemSummary(result["strict"], f"{result['task']} {result['subtask']}", tuple(errors))


def sides(gold: Payload, prediction: Payload | None, options: Mapping[str, str]) -> Sides:
    """Return both answers."""
    rules = dict(options)
    answer = None if prediction is None else read_answer(prediction["response"], gold, rules)
    return Sides(
        {_ANSWER: read_gold_answer(gold["response"], gold, rules).value},
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
    ours = read_gold_answer(gold["response"], gold, options)
    theirs = read_answer(response or "", gold, options)
    missed = compare(ours, theirs, gold, options).missed
    read: defaultdict[str, list[str]] = defaultdict(list)
    for path, value in sorted(theirs.fields - (ours.fields - missed), key=_by_text):
        read[path].append(_text(value))
    fields = []
    for field in sorted(ours.fields, key=_by_text):
        path, value = field[0], _text(field[1])
        is_right = field not in missed
        found = value if is_right and field in theirs.fields else "; ".join(read[path]) or None
        error = verdict(found, is_right=is_right)
        fields.append(GradedField(result["task"], _name(path), value, found, error))
    return graded_record(fields, sides(gold, prediction, options), response)


def _name(path: str) -> str:
    return f"{_ANSWER}.{path}" if path else _ANSWER


def _text(value: str | list[str] | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _by_text(field: Field) -> tuple[str, str]:
    return field[0], _text(field[1])


FIELD_GRADES = FieldGrades(_wrong, _graded)
