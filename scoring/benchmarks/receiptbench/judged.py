"""Scores one receipt where a judge decides whether two values mean the same.

Asking is not done here: the answers are data, like the prediction, and the score a pure function of
both.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from scoring.benchmarks.base import ItemResult, OptionError, Options, Payload
from scoring.benchmarks.excerpts import excerpt
from scoring.benchmarks.judging import Judging
from scoring.judge.fields import Pair, Verdicts, field_question, pairs_of
from scoring.judge.questions import Question
from scoring.judge.schema import FieldAnswer
from scoring.metrics.limits import TooLargeError

from .helpers import Helpers
from .meaning import judge_model
from .options import check_options as check_any
from .scorer import READ, read_prediction, score_with

# Pairs of values of one receipt that are asked about. A receipt has a few; a reading with thousands
# of places would be paid for by whoever pays the judge.
MOST_PAIRS = 1_000
# Of these so many are kept with the result.
_MOST_SHOWN = 100


def check_options(raw: Mapping[str, object], model: str, *, helpers: Helpers) -> Options:
    """Complete, canonical options with this judge. Raises OptionError.

    >>> check_options({}, "gpt-4o", helpers=Helpers())["semantic"]
    'judge(gpt-4o,fields-1)'
    """
    if "semantic" in raw:
        raise OptionError("option semantic is the judge here; grade has the other")
    return check_any({**raw, "semantic": f"judge({model})"}, helpers=helpers)


def questions(
    gold: Payload, prediction: Payload | None, options: Options
) -> list[Question[FieldAnswer]]:
    """What is to be asked of this receipt; nothing where there are no fields, or too many values
    to be compared."""
    return [field_question(pair) for pair in _pairs(gold, prediction, options) or ()]


def score_judged(
    gold: Payload,
    prediction: Payload | None,
    options: Options,
    answers: Sequence[FieldAnswer],
    *,
    helpers: Helpers,
) -> ItemResult:
    """What `score_item` gives, with the answers to `questions`, in their order; raises ValueError
    for another number of them.

    `judge` has how many pairs were `asked` and how many of them are the `same`, and of the first
    `pairs` the judge's reason. A receipt with more than MOST_PAIRS is unparseable.
    """
    pairs = _pairs(gold, prediction, options)
    judged = list(zip(pairs or (), answers, strict=True))
    same = Verdicts({pair: answer.same for pair, answer in judged})
    judge = _refuse if pairs is None else same
    result = score_with(judge, gold, prediction, options, helpers)
    result["judge"] = {
        "asked": len(judged),
        "same": sum(answer.same for _, answer in judged),
        "pairs": [_shown(*each) for each in judged[:_MOST_SHOWN]],
    }
    return result


def _pairs(gold: Payload, prediction: Payload | None, options: Options) -> list[Pair] | None:
    """The pairs to be asked; None if there are too many."""
    outcome, _, found = read_prediction(prediction, options)
    if outcome != READ:
        return []
    try:
        pairs = pairs_of(gold["fields"], found)
    except TooLargeError:
        return None
    return pairs if len(pairs) <= MOST_PAIRS else None


def _refuse(_field: str, _gold: str, _prediction: str) -> NoReturn:
    raise TooLargeError(f"more than {MOST_PAIRS:,} pairs of values for a judge")


def _shown(pair: Pair, answer: FieldAnswer) -> dict[str, Any]:
    return {
        "field": pair.field,
        "gold": excerpt(pair.gold),
        "prediction": excerpt(pair.prediction),
        "same": answer.same,
        "why": excerpt(answer.why),
    }


def _summary(results: Iterable[ItemResult]) -> dict[str, Any]:
    judged = [result["judge"] for result in results]
    return {
        "pairs_asked": sum(each["asked"] for each in judged),
        "pairs_same": sum(each["same"] for each in judged),
    }


def judging_with(helpers: Helpers) -> Judging:
    return Judging(
        model=judge_model,
        options=partial(check_options, helpers=helpers),
        questions=questions,
        score_item=partial(score_judged, helpers=helpers),
        summary=_summary,
    )
