"""Scores one answer of FCMBench."""

from scoring.benchmarks.base import ItemResult, Options, Payload
from scoring.benchmarks.excerpts import excerpt
from scoring.metrics.fields import Field, Fields

from .answers import Comparison, compare, read_answer, read_gold_answer
from .tasks import is_left_out

# What a result shows of the fields that are wrong: the rest is in the counts.
MOST_FIELDS = 50

SCORED, MISSING, UNPARSEABLE, LEFT_OUT = "scored", "missing", "unparseable", "left_out"


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """The score of one answer, as plain JSON.

    - `outcome`: `scored`, `missing` (no prediction), `unparseable` (no readable JSON in the
      response; `reason` says why), or `left_out` (a subtask that is not graded).
    - `f1`: in [0, 1], or null where the published evaluator takes no account of the answer.
    - `strict`: the same with 0 for what is unparseable or not taken account of; null if left out.
    - `right`: how many fields are right; `missed`, `extra`: the others as `[path, value]`, at most
      MOST_FIELDS of each, and their counts `missed_count`, `extra_count`.
    - `output_tokens`: as the submission states them, else null.

    Raises UnparseableError for gold that is no JSON.
    """
    subtask = gold["subtask"]
    answer = read_answer("" if prediction is None else prediction["response"], subtask)
    comparison = compare(read_gold_answer(gold["response"], subtask), answer, subtask)
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
    if is_left_out(subtask):
        return LEFT_OUT
    if is_missing:
        return MISSING
    return SCORED if is_read else UNPARSEABLE


def _scores(
    outcome: str, comparison: Comparison, options: Options
) -> tuple[float | None, float | None]:
    """F1 as the published evaluator has it, and strictly."""
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
    """The first fields in order, each clipped."""
    return [
        [excerpt(path), excerpt(value) if isinstance(value, str) else _excerpts(value)]
        for path, value in sorted(fields, key=_order)[:MOST_FIELDS]
    ]


def _order(field: Field) -> tuple[str, tuple[str, ...]]:
    path, value = field
    return path, (value,) if isinstance(value, str) else value


def _excerpts(texts: tuple[str, ...]) -> list[str]:
    return [excerpt(text) for text in texts[:MOST_FIELDS]]
