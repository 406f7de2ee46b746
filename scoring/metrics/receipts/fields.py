"""Receipts: 19 fields of four types, counted as correct, wrong, missed, invented or correctly
empty.

Source: ReceiptBench, section 3.4 (protocol), equation 2 (reward), table 5 (fields) and figure 3
(error types). Values are any JSON values.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from scoring.metrics import Strict

from .amounts import Read, currency_of, read_amount
from .meaning import SIMILAR, meaning_of, same_meaning
from .values import (
    LARGEST_DIFFERENCE,
    ROUNDING,
    WEIGHTS,
    Embedding,
    Item,
    Mask,
    Match,
    Weights,
    assign,
    compare_items,
    is_empty,
    is_empty_amount,
    line_items,
    normal_text,
    same_amount,
    same_text,
    text_items,
    text_similarities,
)

Kind = Literal["exact", "amount", "semantic", "list"]
# How a mismatch counts: as a false positive and a false negative, or as a false positive alone.
Mismatch = Literal["both", "fp"]
# Whether a prediction means the same as the gold: field name, gold, prediction (normalised texts).
Judge = Callable[[str, str, str], bool]

SEMANTIC_THRESHOLD = SIMILAR
RIGHTLY_EMPTY, INVENTED, MISSED = 0.3, -0.5, 0.0

TASKS = ("perception", "normalization", "reasoning", "structure")
ERRORS = ("missing", "hallucination", "perception", "formatting", "reasoning")


# A text that is longer by this factor and number of characters than all of the other side has
# another meaning and is not read.
_LONGER_FORM, _LONGEST_NAME = 4, 100


class Rule(NamedTuple):
    """A field: its name, how it is compared, its sub-task, and the name of a mismatch."""

    name: str
    kind: Kind
    task: str
    error: str


FIELDS = (
    Rule("invoice_number", "exact", "perception", "perception"),
    Rule("tax_number", "exact", "perception", "perception"),
    Rule("seller_name", "semantic", "perception", "perception"),
    Rule("orig_start_time", "semantic", "perception", "perception"),
    Rule("orig_end_time", "semantic", "perception", "perception"),
    Rule("orig_invoice_time", "semantic", "perception", "perception"),
    Rule("orig_total", "amount", "perception", "perception"),
    Rule("orig_curr", "list", "perception", "perception"),
    Rule("std_start_time", "exact", "normalization", "formatting"),
    Rule("std_end_time", "exact", "normalization", "formatting"),
    Rule("std_invoice_time", "exact", "normalization", "formatting"),
    Rule("std_total", "amount", "normalization", "formatting"),
    Rule("type", "exact", "reasoning", "reasoning"),
    Rule("place", "semantic", "reasoning", "reasoning"),
    Rule("departure", "semantic", "reasoning", "reasoning"),
    Rule("arrival", "semantic", "reasoning", "reasoning"),
    Rule("std_curr", "exact", "reasoning", "reasoning"),
    Rule("seller_address", "semantic", "reasoning", "reasoning"),
    # Line items are read from the page, so a wrong one is misread.
    Rule("detail", "list", "structure", "perception"),
)
DETAIL, TOTAL = "detail", "std_total"
PLACES = frozenset({"place", "departure", "arrival", "seller_address"})


class Counts(NamedTuple):
    """True positives, false positives, false negatives, true negatives."""

    tp: float = 0
    fp: float = 0
    fn: float = 0
    tn: float = 0


class Rates(NamedTuple):
    """Rates in [0, 1], higher is better; None if nothing was counted."""

    precision: float | None
    recall: float | None
    f1: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a field: its counts, its reward, its errors by type, the number of predicted
    values of a type that the field cannot have, and the number of gold values."""

    counts: Counts
    reward: float
    errors: Mapping[str, int] = field(default_factory=dict)
    wrong_kind: int = 0
    expected: int = 0


@dataclass(frozen=True)
class Protocol:
    """How fields are compared.

    Without a judge, texts of semantic fields mean the same from a Levenshtein similarity of
    SEMANTIC_THRESHOLD, if their facts and words are equal (`meaning`). Weights with a
    share for the embedding need one. `read` reads amounts.
    """

    weights: Weights = WEIGHTS["C"]
    mismatch: Mismatch = "both"
    judge: Judge | None = None
    embed: Embedding | None = None
    read: Read = read_amount


DEFAULT = Protocol()


def compare_field(
    rule: Rule, gold: Any, prediction: Any, protocol: Protocol = DEFAULT, currency: str = ""
) -> Outcome:
    """Return the outcome of one field of a receipt in a currency, "" if unknown.

    Both empty: TN. Gold empty: FP. Prediction empty: FN. Equal: TP; different: FP and FN, or FP
    alone. Texts of a list count one by one: paired ones are TP, others FP and FN. Empty are null,
    blank text, `[]`, `{}`, and 0 for amounts. Raises TooLargeError for lists beyond
    `values.MOST_PAIRS` and texts beyond `limits.MOST_CHARACTER_PAIRS`.

    >>> total = next(rule for rule in FIELDS if rule.name == "std_total")
    >>> compare_field(total, "1,200.00", 1200).counts
    Counts(tp=1, fp=0, fn=0, tn=0)
    """
    return compare_weighted(rule, gold, prediction, protocol, (protocol.weights,), currency)[0]


def compare_weighted(
    rule: Rule,
    gold: Any,
    prediction: Any,
    protocol: Protocol,
    weights: Sequence[Weights],
    currency: str = "",
) -> list[Outcome]:
    """Return the outcomes of one field under each of the weights. The similarities are computed
    once."""
    if rule.kind in ("exact", "amount"):
        return [_compare_scalars(rule, gold, prediction, protocol, currency)] * len(weights)
    if rule.name == DETAIL:
        first, second = (line_items(each, protocol.read, currency) for each in (gold, prediction))
    else:
        first, second = text_items(gold), text_items(prediction)
    if not first or not second:
        return [_outcome(rule, len(first), second, [], protocol)] * len(weights)
    if rule.kind == "semantic":
        matches = _match_meanings(rule, first, second, protocol.judge)
        return [_outcome(rule, len(first), second, matches, protocol)] * len(weights)
    compared = compare_items(first, second, protocol.embed)
    return [
        _outcome(rule, len(first), second, compared.matches(chosen), protocol) for chosen in weights
    ]


def receipt_reward(outcomes: Iterable[Outcome]) -> float:
    """Mean reward of a receipt's fields, in [-0.5, 1]; higher is better; 0 without fields.

    A field with a value on both sides is worth S: 1 or 0; for several texts the paired share of the
    longer list, in `orig_curr` and `detail` weighted by their similarity. +0.3 if correctly empty,
    -0.5 if invented, 0 if missed. Source: ReceiptBench, equation 2.
    """
    rewards = [outcome.reward for outcome in outcomes]
    return math.fsum(rewards) / len(rewards) if rewards else 0.0


def strict_counts(outcomes: Iterable[Outcome], *, is_answered: bool = True) -> Strict:
    """Return 2·TP and 2·TP + FP + FN of a receipt, where no answer costs as much as a wrong one.

    A gold value without a match is FN and FP. Of a field with n gold values, FP beyond those are
    counted too, up to n + TP; with more, nothing in the field is right, and it counts like n wrong
    values. Values in a field that should be empty are one FP, as is each such field of a receipt
    without an answer. So no answer, no value and no item costs at least as much as any other.

    >>> wrong, missed = Counts(fp=1, fn=1), Counts(fn=1)
    >>> [strict_counts([Outcome(counts, 0, expected=1)]) for counts in (wrong, missed)]
    [Strict(right=0, counted=2), Strict(right=0, counted=2)]
    """
    parts = [_strict(outcome, is_answered=is_answered) for outcome in outcomes]
    return Strict(sum(part.right for part in parts), sum(part.counted for part in parts))


def _strict(outcome: Outcome, *, is_answered: bool) -> Strict:
    expected, right, invented = outcome.expected, outcome.counts.tp, outcome.counts.fp
    if not expected:
        return Strict(0, int(invented > 0 or not is_answered))
    if invented > expected + right:
        return Strict(0, 2 * expected)
    missed = expected - right
    return Strict(2 * right, 2 * right + missed + max(missed, invented))


def rates(counts: Counts) -> Rates:
    """Precision TP / (TP + FP), recall TP / (TP + FN), F1 2·TP / (2·TP + FP + FN) and accuracy (TP
    + TN) / (TP + FP + FN + TN).

    >>> rates(Counts(tp=3, fp=1, fn=1, tn=5))
    Rates(precision=0.75, recall=0.75, f1=0.75, accuracy=0.8)
    """
    tp, fp, fn, tn = counts
    return Rates(
        _share(tp, tp + fp),
        _share(tp, tp + fn),
        _share(2 * tp, 2 * tp + fp + fn),
        _share(tp + tn, tp + fp + fn + tn),
    )


def adds_up(fields: Mapping[str, Any], read: Read = read_amount) -> bool | None:
    """Whether |Σ amounts of `detail` - `std_total`| ≤ 0.05; None if either is empty or the total is
    not an amount. A line item without a number makes it false, one with an empty amount adds 0.

    Amounts that can be read in two ways are all read in the same one.

    >>> adds_up({"detail": [{"content": "Fare", "amount": "45.00"}], "std_total": "45.03"})
    True
    """
    currency = receipt_currency(fields)
    items = line_items(fields.get(DETAIL), read, currency)
    totals = read(fields.get(TOTAL), currency)
    if not items or not totals:
        return None
    if not all(item.text is not None and item.amounts for item in items):
        return False
    return any(
        abs(math.fsum(item.amounts[way] for item in items) - totals[way])
        <= LARGEST_DIFFERENCE + ROUNDING
        for way in (0, -1)
    )


def receipt_currency(fields: Mapping[str, Any]) -> str:
    """Return the currency of a receipt, from its code or else the printed evidence; "" if
    unknown."""
    return currency_of(fields.get("std_curr"), fields.get("orig_curr"))


def _compare_scalars(
    rule: Rule, gold: Any, prediction: Any, protocol: Protocol, currency: str
) -> Outcome:
    read = protocol.read
    says_nothing = partial(is_empty_amount, read=read) if rule.kind == "amount" else is_empty
    expected = int(not says_nothing(gold))
    predicted = [] if says_nothing(prediction) else [Item(normal_text(prediction))]
    is_right = bool(expected and predicted) and (
        same_amount(gold, prediction, read, currency)
        if rule.kind == "amount"
        else same_text(gold, prediction)
    )
    return _outcome(rule, expected, predicted, [Match(0, 0, 1.0)] if is_right else [], protocol)


def _match_meanings(
    rule: Rule, gold: Sequence[Item], prediction: Sequence[Item], judge: Judge | None
) -> list[Match]:
    """Return the pairs of texts that mean the same; each is worth 1, like the judge's verdict.

    Without a judge these are similar texts with the same facts.
    """
    if len(gold) == len(prediction) == 1 and gold[0].text and gold[0].text == prediction[0].text:
        return [Match(0, 0, 1.0)]
    similarity = text_similarities(gold, prediction)
    if judge is None:
        accepted = _mean_the_same(gold, prediction, is_place=rule.name in PLACES)
    else:
        accepted = np.zeros(similarity.shape, dtype=np.bool_)
        for row, column in np.ndindex(*accepted.shape):
            first, second = gold[row].text, prediction[column].text
            if first and second:
                accepted[row, column] = first == second or judge(rule.name, first, second)
    return [match._replace(similarity=1.0) for match in assign(similarity, accepted)]


def _mean_the_same(gold: Sequence[Item], prediction: Sequence[Item], *, is_place: bool) -> Mask:
    """Return which pairs have the same facts and words, as in `meaning`. Only similar ones are
    compared word by word, in any order of the words."""
    sides = [[item.text or "" for item in items] for items in (gold, prediction)]
    longest = _LONGER_FORM * min(max(map(len, texts)) for texts in sides) + _LONGEST_NAME
    read = [
        [meaning_of(text if len(text) <= longest else "", is_place=is_place) for text in texts]
        for texts in sides
    ]
    shown = [[Item(meaning.text) for meaning in meanings] for meanings in read]
    in_order = [
        [Item(" ".join(sorted(meaning.text.split()))) for meaning in meanings] for meanings in read
    ]
    similarity = np.maximum(text_similarities(*shown), text_similarities(*in_order))
    accepted: Mask = similarity >= SEMANTIC_THRESHOLD - ROUNDING
    for row, column in np.argwhere(accepted):
        first, second = sides[0][row], sides[1][column]
        accepted[row, column] = bool(first and second) and (
            first == second or same_meaning(read[0][row], read[1][column], is_place=is_place)
        )
    return accepted


def _outcome(
    rule: Rule,
    expected: int,
    predicted: Sequence[Item],
    matches: Sequence[Match],
    protocol: Protocol,
) -> Outcome:
    """Return the counts of `expected` gold values and the values found, of which some match."""
    if not expected and not predicted:
        return Outcome(Counts(tn=1), RIGHTLY_EMPTY)
    missed, invented = expected - len(matches), len(predicted) - len(matches)
    mismatched = min(missed, invented)
    lost = missed - mismatched if protocol.mismatch == "fp" else missed
    errors = {
        "missing": missed - mismatched,
        "hallucination": invented - mismatched,
        rule.error: mismatched,
    }
    return Outcome(
        Counts(tp=len(matches), fp=invented, fn=lost),
        _reward(expected, len(predicted), matches),
        {name: number for name, number in errors.items() if number},
        sum(item.text is None for item in predicted),
        expected,
    )


def _reward(expected: int, predicted: int, matches: Sequence[Match]) -> float:
    if not expected:
        return INVENTED
    if not predicted:
        return MISSED
    return math.fsum(match.similarity for match in matches) / max(expected, predicted)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
