"""Scores the fields read from one receipt, with or without a judge of meaning, summarises it, and
returns its contributions to the figures with intervals.

This module sends no requests to a judge: the answers are data, like the prediction, and the score a
pure function of both.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn, cast

from scoring.benchmarks.base import Judging
from scoring.benchmarks.graded import (
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    graded_record,
)
from scoring.benchmarks.items import (
    MOST_CHARACTERS,
    Contribution,
    ItemResult,
    ItemSummary,
    Options,
    Payload,
    Sides,
    excerpt,
    own_score,
)
from scoring.benchmarks.options import OptionError
from scoring.judge.items import Pair, Verdicts, field_question, pairs_of
from scoring.judge.questions import FIELD_PROMPTS, FieldAnswer, Question
from scoring.metrics import TooLargeError
from scoring.metrics.receipts import (
    FIELDS,
    Counts,
    Judge,
    Mismatch,
    Outcome,
    Protocol,
    adds_up,
    compare_field,
    compare_weighted,
    receipt_currency,
    receipt_reward,
    strict_counts,
)
from scoring.metrics.receipts.values import WEIGHTS, Weights

from .embedding import Helpers, embedding_for
from .options import SEMANTIC, check_options, judge_model, judge_version, reader_of
from .readers import UnparseableError, read_fields

# The published score, and the one that ranks.
OVERALL, STRICT = "overall", "overall_strict"
READ, MISSING, LEFT_OUT, UNPARSEABLE = "read", "missing", "left_out", "unparseable"

_NAMES = frozenset(rule.name for rule in FIELDS)
_WEIGHTED = tuple(rule.name for rule in FIELDS if rule.kind == "list")


@dataclass(frozen=True)
class _Compared:
    """Outcomes by field, and of the lists under each of the weights."""

    outcomes: dict[str, Outcome]
    weighted: dict[str, dict[str, Outcome]] = field(default_factory=dict)


def score_item(
    gold: Payload, prediction: Payload | None, options: Options, *, helpers: Helpers
) -> ItemResult:
    """Return the outcome of each field, as plain JSON.

    `outcome` is read, missing, left_out (no prediction, with `missing: skip`) or unparseable with
    its `problem`. `fields` has for every field its counts [TP, FP, FN, TN], `reward` and `errors`
    by type, and, if it has errors, the beginnings of both values; it is empty if left out. Without
    readable fields there are no true negatives and the reward is 0. `weights` has the counts of the
    lists under other weights, and `strict` those of the ranked score, whether left out or not.
    Raises OptionError if a judge decides, whose answers are not available here, and for an
    embedding that is not set up.
    """
    if judge_model(options):
        raise OptionError("a judge must be asked first: manage.py judge does")
    return score_with(None, gold, prediction, options, helpers)


def score_with(
    judge: Judge | None,
    gold: Payload,
    prediction: Payload | None,
    options: Options,
    helpers: Helpers,
) -> ItemResult:
    """Score a receipt with a judge of meaning, which may raise TooLargeError."""
    protocol = Protocol(
        weights=WEIGHTS[options["weights"]],
        mismatch=cast("Mismatch", options["mismatch"]),
        judge=judge,
        embed=embedding_for(options, helpers),
        read=reader_of(options),
    )
    outcome, problem, predicted = read_prediction(prediction, options)
    compared = None
    if outcome == READ:
        try:
            compared = _compare(gold["fields"], predicted, protocol)
        except TooLargeError as error:
            outcome, problem, predicted = UNPARSEABLE, str(error), {}
    if compared is None:
        compared = _without_answer(gold["fields"], protocol)
    outcomes = {} if outcome == LEFT_OUT else compared.outcomes
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "outcome": outcome,
        "problem": problem,
        **_groups_of(gold),
        "strict": list(strict_counts(compared.outcomes.values(), is_answered=outcome == READ)),
        "reward": None if outcome == LEFT_OUT else receipt_reward(outcomes.values()),
        "arithmetic": adds_up(predicted, protocol.read),
        "arithmetic_gold": adds_up(gold["fields"], protocol.read),
        "unknown_fields": sum(name not in _NAMES for name in predicted),
        "fields": {
            name: _field_result(result, gold["fields"].get(name), predicted.get(name))
            for name, result in outcomes.items()
        },
        "weights": {} if outcome == LEFT_OUT else _weighted_counts(compared.weighted),
    }


def read_prediction(
    prediction: Payload | None, options: Options
) -> tuple[str, str, dict[str, Any]]:
    """Return the outcome of reading, the problem if there is one, and the fields."""
    if prediction is None:
        return (LEFT_OUT if options["missing"] == "skip" else MISSING), "", {}
    if "fields" in prediction:
        return READ, "", prediction["fields"]
    try:
        return READ, "", read_fields(prediction["response"])
    except UnparseableError as error:
        return UNPARSEABLE, str(error), {}


def _compare(
    gold: Mapping[str, Any], predicted: Mapping[str, Any], protocol: Protocol
) -> _Compared:
    others = compared_weights(has_embedding=protocol.embed is not None)
    compared = _Compared({}, {label: {} for label in others})
    currency = receipt_currency(gold)
    for rule in FIELDS:
        values = gold.get(rule.name), predicted.get(rule.name)
        if rule.name not in _WEIGHTED:
            compared.outcomes[rule.name] = compare_field(rule, *values, protocol, currency)
            continue
        chosen, *rest = compare_weighted(
            rule, *values, protocol, (protocol.weights, *others.values()), currency
        )
        compared.outcomes[rule.name] = chosen
        for label, outcome in zip(others, rest, strict=True):
            compared.weighted[label][rule.name] = outcome
    return compared


def compared_weights(*, has_embedding: bool) -> dict[str, Weights]:
    """Return the weights that are compared; without an embedding, their lexical shares."""
    if has_embedding:
        return dict(WEIGHTS)
    return {
        f"{name}, lexical" if weights.embedding else name: weights.without_embedding()
        for name, weights in WEIGHTS.items()
    }


def _without_answer(gold: Mapping[str, Any], protocol: Protocol) -> _Compared:
    """Count every gold value as missed, and no field as correctly empty."""
    compared = _compare(gold, {}, protocol)
    return _Compared(
        _unrewarded(compared.outcomes),
        {label: _unrewarded(outcomes) for label, outcomes in compared.weighted.items()},
    )


def _unrewarded(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    return {
        name: replace(outcome, counts=outcome.counts._replace(tn=0), reward=0.0)
        for name, outcome in outcomes.items()
    }


def _groups_of(gold: Payload) -> ItemResult:
    """Return the groups that the receipt belongs to. The category defaults to the gold type."""
    kind = gold["fields"].get("type")
    category = gold.get("category") or (kind if isinstance(kind, str) else "")
    return {
        "language": gold.get("language", ""),
        "category": category.strip().lower()[:MOST_CHARACTERS],
        "balanced": gold.get("balanced", False),
    }


def _field_result(outcome: Outcome, gold: Any, prediction: Any) -> ItemResult:
    shown: ItemResult = {"counts": list(outcome.counts), "reward": outcome.reward}
    if outcome.wrong_kind:
        shown["wrong_kind"] = outcome.wrong_kind
    if outcome.errors:
        shown |= {
            "errors": dict(outcome.errors),
            "gold": _excerpt(gold),
            "prediction": _excerpt(prediction),
        }
    return shown


def _excerpt(value: Any) -> str:
    return excerpt(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _weighted_counts(weighted: Mapping[str, Mapping[str, Outcome]]) -> ItemResult:
    return {
        label: {name: list(outcome.counts) for name, outcome in fields.items()}
        for label, fields in weighted.items()
    }


def contributions(result: Mapping[str, Any], _: Mapping[str, str]) -> Iterator[Contribution]:
    """F1 = 2 TP / (2 TP + FP + FN), over all fields of a sub-task and over all fields; for the rank
    with every value that is not answered counted like a wrong one."""
    # Old gradings do not have it.
    if any(strict := result.get("strict", ())):
        # A gold value counts twice in the denominator.
        right, counted = strict
        yield Contribution(STRICT, right, counted, facts=counted / 2)
    if result["outcome"] == LEFT_OUT:
        return
    for rule in FIELDS:
        counts = Counts(*result["fields"][rule.name]["counts"])
        right, compared = 2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn
        if compared:
            yield Contribution(rule.task, right, compared)
            yield Contribution(OVERALL, right, compared)


def summarise(result: Mapping[str, Any], options: Mapping[str, str]) -> ItemSummary:
    """Return its ranked F1, its category, and the error types of its fields."""
    kinds = {error for field in result["fields"].values() for error in field.get("errors", ())}
    if result["outcome"] == UNPARSEABLE:
        kinds.add(UNPARSEABLE)
    score = own_score(contributions(result, options), STRICT)
    return ItemSummary(score, result["category"], tuple(sorted(kinds)))


def sides(gold: Payload, prediction: Payload | None, _: Mapping[str, str]) -> Sides:
    return Sides(gold["fields"], None if prediction is None else _predicted_fields(prediction))


def _predicted_fields(prediction: Payload) -> dict[str, Any] | None:
    if "fields" in prediction:
        fields: dict[str, Any] = prediction["fields"]
        return fields
    try:
        return read_fields(prediction["response"])
    except UnparseableError:
        return None


# The most pairs of values asked about one receipt. Receipts need a few; this bounds the judge's
# cost for readings with thousands of values.
MOST_PAIRS = 1_000
# The number of pairs that are stored with the result.
_MOST_SHOWN = 100


def judge_options(raw: Mapping[str, object], model: str, *, helpers: Helpers) -> Options:
    """Return complete, canonical options with this judge; `prompt` in `raw` is the version of its
    prompt. Raises OptionError.

    >>> judge_options({}, "gpt-4o", helpers=Helpers())["semantic"]
    'judge(gpt-4o,fields-1)'
    """
    return check_options(SEMANTIC.with_judge(raw, model), helpers=helpers)


def questions(
    gold: Payload, prediction: Payload | None, options: Options
) -> list[Question[FieldAnswer]]:
    """Return the questions about this receipt; none without fields, or with too many values to
    compare."""
    pairs = _pairs(gold, prediction, options)
    if not pairs:
        return []
    prompt = FIELD_PROMPTS.get(judge_version(options))
    return [field_question(pair, prompt) for pair in pairs]


def score_judged(
    gold: Payload,
    prediction: Payload | None,
    options: Options,
    answers: Sequence[FieldAnswer],
    *,
    helpers: Helpers,
) -> ItemResult:
    """Return the same as `score_item`, from the answers to `questions`, in their order. Raises
    ValueError if the number of answers differs.

    `judge` has the number of pairs `asked`, how many of them are the `same`, and for the first
    `pairs` the judge's reason. A receipt with more than MOST_PAIRS is unparseable.
    """
    pairs = _pairs(gold, prediction, options)
    judged = list(zip(pairs or (), answers, strict=True))
    same = Verdicts({pair: answer.same for pair, answer in judged})
    judge = _too_many_pairs if pairs is None else same
    result = score_with(judge, gold, prediction, options, helpers)
    result["judge"] = {
        "asked": len(judged),
        "same": sum(answer.same for _, answer in judged),
        "pairs": [_pair_result(pair, answer) for pair, answer in judged[:_MOST_SHOWN]],
    }
    return result


def _pairs(gold: Payload, prediction: Payload | None, options: Options) -> list[Pair] | None:
    """Return the pairs to ask about; None if there are too many."""
    outcome, _, predicted = read_prediction(prediction, options)
    if outcome != READ:
        return []
    try:
        pairs = pairs_of(gold["fields"], predicted)
    except TooLargeError:
        return None
    return pairs if len(pairs) <= MOST_PAIRS else None


def _too_many_pairs(_field: str, _gold: str, _prediction: str) -> NoReturn:
    raise TooLargeError(f"more than {MOST_PAIRS:,} pairs of values for a judge")


def _pair_result(pair: Pair, answer: FieldAnswer) -> dict[str, Any]:
    return {
        "field": pair.field,
        "gold": excerpt(pair.gold),
        "prediction": excerpt(pair.prediction),
        "same": answer.same,
        "why": excerpt(answer.why),
    }


def _judge_summary(results: Iterable[ItemResult]) -> dict[str, Any]:
    judged = [result["judge"] for result in results]
    return {
        "pairs_asked": sum(judge["asked"] for judge in judged),
        "pairs_same": sum(judge["same"] for judge in judged),
    }


def judging_with(helpers: Helpers) -> Judging:
    return Judging(
        model=judge_model,
        options=partial(judge_options, helpers=helpers),
        questions=questions,
        score_item=partial(score_judged, helpers=helpers),
        summary=_judge_summary,
    )


def _wrong_fields(result: Mapping[str, Any]) -> WrongFields | None:
    if result["outcome"] == LEFT_OUT:
        return None
    failed = (name for name, field in result["fields"].items() if field.get("errors"))
    return WrongFields(Counter(FieldName(name, name, "") for name in failed))


def _graded_item(
    gold: Payload, prediction: Payload | None, result: ItemResult, options: Options
) -> GradedItem | None:
    if result["outcome"] == LEFT_OUT:
        return None
    shown = sides(gold, prediction, options)
    assert isinstance(shown.gold, dict)
    predicted = shown.prediction if isinstance(shown.prediction, dict) else {}
    fields = [
        _graded_field(rule.name, shown.gold, predicted, result["fields"].get(rule.name, {}))
        for rule in FIELDS
    ]
    response = None if prediction is None else str(prediction.get("response", ""))
    # A value may be a list, which no row contains as a whole.
    return graded_record(fields, shown, response, is_whole=True)


def _graded_field(
    name: str, gold: Mapping[str, Any], predicted: Mapping[str, Any], outcome: Mapping[str, Any]
) -> GradedField:
    error = ", ".join(sorted(outcome.get("errors", ())))
    # Without a value, a field is rightly empty or was not found.
    read = _value_text(predicted.get(name)) or (None if error else "")
    return GradedField(name, name, _value_text(gold.get(name)), read, error)


def _value_text(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return "; ".join(map(_line_item, value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line_item(item: Mapping[str, Any]) -> str:
    """Return the texts of a line item, and the names of its flags that are true."""
    texts = [str(value) for value in item.values() if not isinstance(value, bool)]
    flags = [key for key, value in item.items() if value is True]
    return " ".join(texts) + (f" ({', '.join(flags)})" if flags else "")


FIELD_GRADES = FieldGrades(_wrong_fields, _graded_item)
