"""Scores the fields read from one receipt."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from scoring.benchmarks.base import ItemResult, OptionError, Options, Payload
from scoring.benchmarks.excerpts import MOST_CHARACTERS, excerpt
from scoring.metrics.limits import TooLargeError
from scoring.metrics.receipt_lists import WEIGHTS, Weights
from scoring.metrics.receipts import (
    FIELDS,
    Judge,
    Mismatch,
    Outcome,
    Protocol,
    adds_up,
    compare_field,
    compare_weighted,
    receipt_reward,
)

from .helpers import Helpers, embedding_for
from .meaning import judge_model
from .responses import UnparseableError, read_fields

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
    """What became of each field, as plain JSON.

    `outcome` is read, missing, left_out (no prediction, with `missing: skip`) or unparseable with
    its `problem`. `fields` has for every field its counts [TP, FP, FN, TN], `reward` and `errors`
    by type, and with any of those the beginnings of both values; it is empty if left out. Without
    readable fields nothing is a true negative and the reward is 0. `weights` has the counts of the
    lists under other weights. Raises OptionError where a judge decides, whose answers are not
    here, and for an embedding that is not set up.
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
    """The same with a judge of meaning, who may raise TooLargeError."""
    protocol = Protocol(
        weights=WEIGHTS[options["weights"]],
        mismatch=cast("Mismatch", options["mismatch"]),
        judge=judge,
        embed=embedding_for(options, helpers),
    )
    outcome, problem, found = read_prediction(prediction, options)
    compared = None
    if outcome == READ:
        try:
            compared = _compare(gold["fields"], found, protocol)
        except TooLargeError as error:
            outcome, problem, found = UNPARSEABLE, str(error), {}
    if compared is None:
        compared = _without_answer(gold["fields"], protocol)
    outcomes = {} if outcome == LEFT_OUT else compared.outcomes
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "outcome": outcome,
        "problem": problem,
        **_about(gold),
        "reward": None if outcome == LEFT_OUT else receipt_reward(outcomes.values()),
        "arithmetic": adds_up(found),
        "arithmetic_gold": adds_up(gold["fields"]),
        "unknown_fields": sum(name not in _NAMES for name in found),
        "fields": {
            name: _shown(result, gold["fields"].get(name), found.get(name))
            for name, result in outcomes.items()
        },
        "weights": {} if outcome == LEFT_OUT else _counts(compared.weighted),
    }


def read_prediction(
    prediction: Payload | None, options: Options
) -> tuple[str, str, dict[str, Any]]:
    """The outcome of reading, the problem if there is one, and the fields."""
    if prediction is None:
        return (LEFT_OUT if options["missing"] == "skip" else MISSING), "", {}
    if "fields" in prediction:
        return READ, "", prediction["fields"]
    try:
        return READ, "", read_fields(prediction["response"])
    except UnparseableError as error:
        return UNPARSEABLE, str(error), {}


def _compare(gold: Mapping[str, Any], found: Mapping[str, Any], protocol: Protocol) -> _Compared:
    others = _weights(has_embedding=protocol.embed is not None)
    compared = _Compared({}, {label: {} for label in others})
    for rule in FIELDS:
        values = gold.get(rule.name), found.get(rule.name)
        if rule.name not in _WEIGHTED:
            compared.outcomes[rule.name] = compare_field(rule, *values, protocol)
            continue
        chosen, *rest = compare_weighted(
            rule, *values, protocol, (protocol.weights, *others.values())
        )
        compared.outcomes[rule.name] = chosen
        for label, outcome in zip(others, rest, strict=True):
            compared.weighted[label][rule.name] = outcome
    return compared


def _weights(*, has_embedding: bool) -> dict[str, Weights]:
    """The weights that are compared; without an embedding the lexical shares of each."""
    if has_embedding:
        return dict(WEIGHTS)
    return {
        f"{name}, lexical" if weights.embedding else name: weights.without_embedding()
        for name, weights in WEIGHTS.items()
    }


def _without_answer(gold: Mapping[str, Any], protocol: Protocol) -> _Compared:
    """Every gold value missed, and nothing rightly left empty."""
    compared = _compare(gold, {}, protocol)
    silent = partial(map, _unrewarded)
    return _Compared(
        dict(zip(compared.outcomes, silent(compared.outcomes.values()), strict=True)),
        {
            label: dict(zip(fields, silent(fields.values()), strict=True))
            for label, fields in compared.weighted.items()
        },
    )


def _unrewarded(outcome: Outcome) -> Outcome:
    return replace(outcome, counts=outcome.counts._replace(tn=0), reward=0.0)


def _about(gold: Payload) -> ItemResult:
    """Which parts the receipt belongs to. A category that is not stated is the gold type."""
    kind = gold["fields"].get("type")
    category = gold.get("category") or (kind if isinstance(kind, str) else "")
    return {
        "language": gold.get("language", ""),
        "category": category.strip().lower()[:MOST_CHARACTERS],
        "balanced": gold.get("balanced", False),
    }


def _shown(outcome: Outcome, gold: Any, prediction: Any) -> ItemResult:
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


def _counts(weighted: Mapping[str, Mapping[str, Outcome]]) -> ItemResult:
    return {
        label: {name: list(outcome.counts) for name, outcome in fields.items()}
        for label, fields in weighted.items()
    }
