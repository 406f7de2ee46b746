"""Receipts: every rule of the protocol by hand, and invariants."""

import copy
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics import TooLargeError
from scoring.metrics.receipts import (
    ERRORS,
    FIELDS,
    TASKS,
    Counts,
    Outcome,
    Protocol,
    Rates,
    adds_up,
    compare_field,
    rates,
    receipt_reward,
    strict_counts,
)
from scoring.metrics.receipts.amounts import read_amount, read_amount_as_published
from scoring.metrics.receipts.values import (
    MOST_PAIRS,
    WEIGHTS,
    Weights,
    compare_items,
    is_empty,
    line_items,
    text_items,
)
from tests.many import drawn

from .plain import compare_receipt

RULES = {rule.name: rule for rule in FIELDS}
TP, FP, FN, TN = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
BOTH = (0, 1, 1, 0)
FP_ONLY = Protocol(mismatch="fp")


def outcome(name: str, gold: Any, prediction: Any, **options: Any) -> Outcome:
    return compare_field(RULES[name], gold, prediction, Protocol(**options))


def counts(name: str, gold: Any, prediction: Any, **options: Any) -> tuple[float, ...]:
    return tuple(outcome(name, gold, prediction, **options).counts)


def line(content: Any, amount: Any, is_tax: Any = False) -> dict[str, Any]:
    return {"content": content, "amount": amount, "ifTax": is_tax}


def receipt() -> dict[str, Any]:
    return {
        "type": "hotel",
        "place": "USA-Ridgecrest",
        "orig_curr": ["$", "Ridgecrest"],
        "std_curr": "USD",
        "orig_total": "79.33",
        "std_total": "79.33",
        "detail": [
            line("Room Charge", "70.20"),
            line("Occupancy Tax", "7.02", True),
            line("Tourism Levy", "2.11", True),
        ],
        "seller_name": ["EconoLodge", "Choice Hotels"],
        "invoice_number": "744376528",
    }


# --- fields -------------------------------------------------------------------------------


def test_the_19_fields_and_their_sub_tasks() -> None:
    sizes = [sum(rule.task == task for rule in FIELDS) for task in TASKS]
    assert (len(RULES), sizes) == (19, [8, 4, 6, 1])
    kinds = [sum(rule.kind == kind for rule in FIELDS) for kind in ("exact", "amount", "list")]
    assert kinds == [7, 2, 2]
    assert {rule.error for rule in FIELDS} <= set(ERRORS)


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("USD", " usd ", TP),
        ("USD", "CAD", BOTH),
        ("USD", "", FN),
        ("", "USD", FP),
        (None, [], TN),
        ({}, "  ", TN),
        ("", [""], TN),
        ("12", 12, TP),
        ("0", "", FN),
        ("USD", ["USD"], BOTH),
        ("a  b", "a b", BOTH),
    ],
)
def test_exact_fields(gold: Any, prediction: Any, expected: tuple[int, ...]) -> None:
    assert counts("invoice_number", gold, prediction) == expected


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("1,200.00", "$ 1200", TP),
        ("1,200.00", 1200, TP),
        (10, 10.0000009, TP),
        (10, 10.000002, BOTH),
        ("50.00", "50.01", BOTH),
        (0, "", TN),
        ("0.00", None, TN),
        ("", "$0", TN),
        (0, 5, FP),
        (5, 0, FN),
        ("€5", "€5 ", TP),
        ("€5", "5", TP),
        ("1.000,00", "1.00", BOTH),
        ("12,50", "1250", BOTH),
        ("12,50", "12.5", TP),
        ("0,00", "", TN),
        ("€0.00", 5, FP),
        ("(79.33)", "-79.33", TP),
        ("79.33-", "(79.33)", TP),
        ("(79.33)", "79.33", BOTH),
        ("free", " FREE ", TP),
        ("5", "nan", BOTH),
        ("5", "1e999", BOTH),
        ("5", True, BOTH),
        ("5", {"amount": 5}, BOTH),
    ],
)
def test_amounts(gold: Any, prediction: Any, expected: tuple[int, ...]) -> None:
    assert counts("std_total", gold, prediction) == expected


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("1,200.00", "$ 1200", TP),
        ("€45.00", "45.00", BOTH),
        ("€45.00", "€45.00", TP),
        ("1.000,00", "1.00", TP),
        ("12,50", "1250", TP),
        ("(79.33)", "-79.33", BOTH),
        ("0,00", "", TN),
        ("€0.00", "", FN),
    ],
)
def test_amounts_by_the_published_cleaning(
    gold: Any, prediction: Any, expected: tuple[int, ...]
) -> None:
    found = counts("orig_total", gold, prediction, read=read_amount_as_published)
    assert found == expected


@pytest.mark.parametrize(
    ("gold", "prediction", "currency", "is_right"),
    [
        # The mark groups or is decimal: the other side decides …
        ("1.234", "1234", "", True),
        ("1.234", "1.234,00", "", True),
        ("1,234", "1234.00", "", True),
        ("1.234", 1.234, "", True),
        ("1.234", "1.23", "", False),
        # … and before it the currency, of the receipt or of either amount.
        ("1.234", "1234", "EUR", True),
        ("1.234", 1.234, "EUR", False),
        ("1.234", "1234", "USD", False),
        ("1,234", "1234", "USD", True),
        ("50.000", "50,000", "IDR", True),
        ("1.234", "1,234", "KWD", False),
        ("€ 1.234", "1234", "", True),
        ("€ 1.234", 1.234, "", False),
        ("1.234", "1234 EUR", "USD", False),
    ],
)
def test_an_amount_of_two_readings(
    gold: Any, prediction: Any, currency: str, is_right: bool
) -> None:
    found = compare_field(RULES["orig_total"], gold, prediction, currency=currency)
    assert tuple(found.counts) == (TP if is_right else BOTH)


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("USA-Carlsbad", "usa-carlsbad", TP),
        ("abcdefgh", "abcdefgx", TP),
        ("abcdefgh", "abcdexxx", BOTH),  # similarity 5/8
        ("UK-London", "", FN),
        ("", "UK-London", FP),
        (["Hilton", "Grand Hotel"], ["Grand Hotel", "Hilton"], (2, 0, 0, 0)),
        (["Hilton", "Grand Hotel"], "Hilton", (1, 0, 1, 0)),
        (["Hilton"], ["Hilton", "Hilton"], (1, 1, 0, 0)),
        ("Hilton", {"name": "Hilton"}, BOTH),
    ],
)
def test_semantic_fields(gold: Any, prediction: Any, expected: tuple[int, ...]) -> None:
    assert counts("seller_name", gold, prediction) == expected


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("15-July-24", "16-July-24", BOTH),
        ("2024-07-06", "2024-07-05", BOTH),
        ("10:15", "10:45", BOTH),
        ("06 Jul 2024", "6 July 2024", TP),
        ("15-July-2024 10:15 AM", "15-July-2024 10:15 PM", BOTH),
        ("15 Juni 2024", "15 Juli 2024", BOTH),
        ("Grand Hotel 164", "Grand Hotel 165", BOTH),
        ("Grand Hotel 164", "Grand Hotl 164", TP),
        (["Terminal 1", "Terminal 2"], ["Terminal 2", "Terminal 1"], (2, 0, 0, 0)),
        (["Terminal 1", "Terminal 2"], ["Terminal 3"], (0, 1, 2, 0)),
    ],
)
def test_similar_texts_with_other_facts_do_not_mean_the_same(
    gold: Any, prediction: Any, expected: tuple[int, ...]
) -> None:
    assert counts("orig_start_time", gold, prediction) == expected


@pytest.mark.parametrize("name", ["type", "invoice_number", "seller_name", "orig_curr"])
def test_one_text_in_any_encoding(name: str) -> None:
    for text in ("Cafe\u0301 &amp; Bar", "Café &#38; Bar", "Ｃａｆé ＆ Ｂａｒ", "CAFÉ\u00a0& BAR"):
        assert counts(name, "Café & Bar", text) == counts(name, text, "Café & Bar") == TP


def test_a_line_item_in_another_currency() -> None:
    gold = [{"content": "Fare", "amount": "5"}]
    for amount, expected in (("$5.00", TP), ("€5", BOTH), ("US $5", TP)):
        found = compare_field(
            RULES["detail"], gold, [{"content": "Fare", "amount": amount}], currency="USD"
        )
        assert tuple(found.counts) == expected


def test_a_judge_decides_about_facts_too() -> None:
    def judge(*_texts: str) -> bool:
        return True

    assert counts("orig_start_time", "15-July-24", "16-July-24", judge=judge) == TP


def test_the_judge_is_asked_only_where_texts_differ() -> None:
    asked = []

    def judge(name: str, gold: str, prediction: str) -> bool:
        asked.append((name, gold, prediction))
        return prediction == "nyc"

    assert counts("place", "New York", "NYC", judge=judge) == TP
    assert counts("place", "New York", "New York ", judge=judge) == TP
    assert counts("place", "New York", "New Yorks", judge=judge) == BOTH
    assert asked == [("place", "new york", "nyc"), ("place", "new york", "new yorks")]


def test_as_many_texts_as_possible_are_paired() -> None:
    # "abcdefgh" is nearest to "abcdefgh", but then the others would remain unmatched.
    found = counts("seller_name", ["abcdefgh", "abcdefxx"], ["abcdyfgh", "abcdefgh"])
    assert found == (2, 0, 0, 0)


# --- lists --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        (["$", "Toronto"], ["toronto", "$"], (2, 0, 0, 0)),
        (["$"], "$", TP),
        (["$"], [], FN),
        ([], ["$"], FP),
        ([], [""], TN),
        (["$", "Toronto"], ["€"], (0, 1, 2, 0)),
        (["$"], [{"symbol": "$"}], BOTH),
    ],
)
def test_lists_of_texts(gold: Any, prediction: Any, expected: tuple[int, ...]) -> None:
    assert counts("orig_curr", gold, prediction) == expected


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        (line("Tax fee", "5.58", True), TP),
        (line("Tax fee", 5.63, True), TP),  # 0.05 apart
        (line("Tax fee", 5.64, True), BOTH),
        (line("Tax fee", "5.58", False), BOTH),
        (line("Tax fee", "5.58", "True"), TP),
        (line("Tax fee", "$5.58", True), TP),
        (line("Tax fee", "", True), BOTH),
        (line("Trip fare", "5.58", True), BOTH),
        ("Tax fee 5.58", BOTH),
        ({"content": "", "amount": ""}, FN),
    ],
)
def test_line_items(prediction: Any, expected: tuple[int, ...]) -> None:
    assert counts("detail", [line("Tax fee", "5.58", True)], [prediction]) == expected


def test_amounts_without_a_number_must_be_the_same_text() -> None:
    gold = [line("Fare", "free")]
    assert counts("detail", gold, [line("Fare", "Free")]) == TP
    assert counts("detail", gold, [line("Fare", "none")]) == BOTH
    assert counts("detail", gold, [line("Fare", "5")]) == BOTH


@pytest.mark.parametrize(
    ("gold", "prediction", "currency", "expected"),
    [
        ("(79.33)", "-79.33", "", TP),
        ("(79.33)", "79.33", "", BOTH),
        ("1.234,50", "1234.50", "", TP),
        ("1.234,50", "1.23", "", BOTH),
        ("1.234", "1,234.04", "EUR", TP),
        ("1.234", "1.234", "", TP),
        ("1.234", 1.2, "", TP),  # 0.034 apart, if the point is decimal
        ("1.234", 1.2, "EUR", BOTH),
        ("0,00", "", "", TP),
    ],
)
def test_amounts_of_line_items(
    gold: Any, prediction: Any, currency: str, expected: tuple[int, ...]
) -> None:
    ours, theirs = ([line("Visa payment", amount)] for amount in (gold, prediction))
    found = compare_field(RULES["detail"], ours, theirs, currency=currency)
    assert tuple(found.counts) == expected


def test_a_flag_does_not_keep_an_item_from_its_partner() -> None:
    gold = [line("Fee", 5), line("Fee", 5, True)]
    assert counts("detail", gold, gold[::-1]) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # "net fee" and "fee net": distance 4 of 7; the same words; a common subsequence of 3.
        ("A", 0.3 * (3 / 7) + 0.2 + 0.1 * (3 / 7) + 0.4 * 0.6),
        ("B", 0.25 * (3 / 7 + 1 + 3 / 7 + 0.6)),
        ("C", 0.4 * (3 / 7) + 0.3 + 0.3 * (3 / 7)),
        ("D", 0.3 + 0.3 * (3 / 7) + 0.4 * 0.6),
    ],
)
def test_the_similarity_of_two_items(name: str, expected: float) -> None:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        assert list(texts) == ["net fee", "fee net"]
        return [[2.0, 0.0], [3.0, 4.0]]  # cosine 0.6

    compared = compare_items(text_items("net fee"), text_items("fee net"), embed)
    parts = [float(part[0, 0]) for part in compared.parts]
    assert sum(w * p for w, p in zip(WEIGHTS[name], parts, strict=True)) == pytest.approx(expected)


def test_the_cost_of_an_accepted_pair_is_at_most_a_quarter() -> None:
    # Distance 1 of 4, indel similarity 6/8, common subsequence 3 of 4: 0.75 in each.
    assert counts("orig_curr", ["abcd"], ["abcx"]) == TP
    assert counts("orig_curr", ["abc"], ["abx"]) == BOTH


def test_weights_with_an_embedding_need_one() -> None:
    with pytest.raises(ValueError, match="embedding"):
        outcome("orig_curr", ["a"], ["a"], weights=WEIGHTS["A"])
    assert WEIGHTS["A"].without_embedding() == pytest.approx(Weights(0.5, 1 / 3, 1 / 6, 0))


def test_lists_beyond_the_limit_are_refused() -> None:
    items = ["x"] * (MOST_PAIRS // 10 + 1)
    with pytest.raises(TooLargeError, match="items"):
        outcome("orig_curr", ["x"] * 10, items)


# --- mismatches, errors, rates, reward, arithmetic ----------------------------------------------


def test_a_mismatch_may_count_as_a_false_positive_alone() -> None:
    assert tuple(compare_field(RULES["type"], "taxi", "bus", FP_ONLY).counts) == FP
    assert tuple(compare_field(RULES["type"], "taxi", "", FP_ONLY).counts) == FN
    lists = compare_field(RULES["orig_curr"], ["$", "x"], ["€"], FP_ONLY)
    assert tuple(lists.counts) == (0, 1, 1, 0)


@pytest.mark.parametrize(
    ("name", "gold", "prediction", "errors"),
    [
        ("type", "taxi", "", {"missing": 1}),
        ("type", "", "taxi", {"hallucination": 1}),
        ("type", "taxi", "bus", {"reasoning": 1}),
        ("std_total", "5", "6", {"formatting": 1}),
        ("tax_number", "17", "71", {"perception": 1}),
        ("type", "taxi", "taxi", {}),
        ("orig_curr", ["$", "USD"], ["€"], {"missing": 1, "perception": 1}),
        ("detail", [], [line("Tax", 1)], {"hallucination": 1}),
    ],
)
def test_errors_by_type(name: str, gold: Any, prediction: Any, errors: dict[str, int]) -> None:
    assert outcome(name, gold, prediction).errors == errors


def test_rates() -> None:
    assert rates(Counts()) == Rates(None, None, None, None)
    assert rates(Counts(tn=3)) == Rates(None, None, None, 1)
    assert rates(Counts(fn=1, tn=1)) == Rates(None, 0, 0, 0.5)
    assert rates(Counts(tp=2, fp=2, fn=1, tn=5)) == pytest.approx((0.5, 2 / 3, 4 / 7, 0.7))


def test_the_reward_by_hand() -> None:
    gold = {"type": "taxi", "std_curr": "USD", "place": "UK-London", "orig_curr": ["$", "USD"]}
    prediction = {"type": "taxi", "std_curr": "EUR", "tax_number": "7", "orig_curr": ["$"]}
    # 1, a mismatch 0, missed 0, 1 of 2 items, an invention, and 14 fields correctly empty.
    expected = (1 + 0 + 0 + 0.5 - 0.5 + 14 * 0.3) / 19
    assert receipt_reward(compare_receipt(gold, prediction).values()) == pytest.approx(expected)
    assert receipt_reward([]) == 0


def test_the_reward_of_a_list_is_weighed_with_its_similarity() -> None:
    assert outcome("orig_curr", ["abcd"], ["abcx"]).reward == pytest.approx(0.75)
    assert outcome("place", "abcdefghij", "abcdefghji").reward == 1


@pytest.mark.parametrize(
    ("detail", "total", "expected"),
    [
        ([line("a", "45.00"), line("b", "5.58", True)], "50.58", True),
        ([line("a", 10)], "10.05", True),
        ([line("a", 10)], "10.06", False),
        ([line("a", "ten")], "10", False),
        ([line("a", ""), line("b", 10)], "10", True),
        (["10"], "10", False),
        ([], "10", None),
        ([line("a", 10)], "", None),
        ([line("a", 10)], "ten", None),
        ([line("a", "(70.20)")], "-70.20", True),
        ([line("a", "(70.20)")], "70.20", False),
        # The folio of figure 4: charges and the payment.
        (
            [line("a", "$70.20"), line("b", "$7.02"), line("c", "$2.11"), line("d", "($79.33)")],
            "$0.00",
            True,
        ),
        ([line("a", "1.000,00"), line("b", "234,50")], "1.234,50", True),
        # All points group, or all are decimal.
        ([line("a", "1.200"), line("b", "34")], "1,234.00", True),
        ([line("a", "1.200"), line("b", "2.300")], "3.5", True),
        ([line("a", "1.200"), line("b", "2.300")], "2301.2", False),
    ],
)
def test_arithmetic(detail: Any, total: Any, expected: bool | None) -> None:
    assert adds_up({"detail": detail, "std_total": total}) is expected


# --- invariants ---------------------------------------------------------------------------

TEXTS = st.text("ab $-1€", max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["content", "amount", "ifTax", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)
LINES = st.fixed_dictionaries(
    {"content": TEXTS, "amount": st.integers(0, 3), "ifTax": st.booleans()}
)
VALUES = {
    "exact": TEXTS,
    "amount": TEXTS | st.integers(0, 99),
    "semantic": TEXTS | st.lists(TEXTS, max_size=4),
    "list": st.lists(TEXTS, max_size=5),
}
RECEIPTS = st.fixed_dictionaries(
    {
        rule.name: st.lists(LINES, max_size=5) if rule.name == "detail" else VALUES[rule.kind]
        for rule in FIELDS
    }
)


def total(gold: dict[str, Any], prediction: dict[str, Any]) -> Counts:
    counts = [part.counts for part in compare_receipt(gold, prediction).values()]
    return Counts(*map(sum, zip(*counts, strict=True)))


def shuffled(fields: dict[str, Any], seed: int) -> dict[str, Any]:
    """The fields with keys and the items of all lists in another order."""
    chance = random.Random(seed)
    fields = copy.deepcopy(fields)
    names = list(fields)
    chance.shuffle(names)
    for value in fields.values():
        if isinstance(value, list):
            chance.shuffle(value)
    return {name: fields[name] for name in names}


@given(RECEIPTS)
def test_a_perfect_prediction_scores_one(gold: dict[str, Any]) -> None:
    found = total(gold, copy.deepcopy(gold))
    assert (found.fp, found.fn) == (0, 0)
    assert rates(found).accuracy == 1
    assert rates(found).f1 in (1, None)


@given(RECEIPTS, RECEIPTS, st.integers())
def test_order_changes_nothing(gold: dict[str, Any], found: dict[str, Any], seed: int) -> None:
    first = compare_receipt(gold, found)
    second = compare_receipt(shuffled(gold, seed), shuffled(found, seed + 1))
    assert {name: part.counts for name, part in first.items()} == {
        name: part.counts for name, part in second.items()
    }
    assert receipt_reward(first.values()) == pytest.approx(receipt_reward(second.values()))


@given(RECEIPTS, RECEIPTS, st.integers(1, 3))
def test_garbage_never_raises_recall(gold: dict[str, Any], found: dict[str, Any], n: int) -> None:
    worse = copy.deepcopy(found)
    garbage = [f"zzzz{'q' * 9}{number}" for number in range(n)]
    worse["orig_curr"] += garbage
    worse["detail"] += [line(text, 77) for text in garbage]
    worse["seller_name"] = [*text_list(worse["seller_name"]), *garbage]
    assert (rates(total(gold, worse)).recall or 0) <= (rates(total(gold, found)).recall or 0)


def text_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@drawn(
    st.dictionaries(st.sampled_from(list(RULES)), ANYTHING),
    st.dictionaries(st.sampled_from(list(RULES)), ANYTHING),
    examples=200,
)
def test_no_value_raises(gold: dict[str, Any], prediction: dict[str, Any]) -> None:
    found = compare_receipt(gold, prediction)
    assert len(found) == 19
    assert -0.5 <= receipt_reward(found.values()) <= 1 + 1e-9
    assert adds_up(prediction) in (True, False, None)
    for part in found.values():
        assert min(part.counts) >= 0


def test_the_arithmetic_of_a_receipt_in_its_currency() -> None:
    fields = {"detail": [line("a", "1.200")], "std_total": "1200"}
    assert adds_up({**fields, "std_curr": "EUR"}) is True
    assert adds_up({**fields, "orig_curr": ["Lyon", "€"]}) is True
    assert adds_up({**fields, "std_curr": "USD"}) is False


def test_the_arithmetic_by_the_published_cleaning() -> None:
    fields = {"detail": [line("a", "(70.20)")], "std_total": "-70.20"}
    assert adds_up(fields, read_amount_as_published) is False


def test_numbers_beyond_all_bounds() -> None:
    huge = 10**6000
    assert read_amount(huge) == ()
    assert not is_empty(huge)
    assert counts("std_total", 5, huge) == BOTH
    assert [item.amounts for item in line_items([line("x", 1e300)])] == [()]


@given(RECEIPTS, RECEIPTS, st.integers(0, 50), st.integers(0, 50))
def test_removing_a_field_or_a_receipt_never_raises_strict_f1(
    gold: dict[str, Any], prediction: dict[str, Any], right: int, wrong: int
) -> None:
    """Together with any other receipts, which have `right` of `right + wrong` counts."""

    def f1(fields: dict[str, Any], *, is_answered: bool = True) -> float:
        outcomes = compare_receipt(gold, fields).values()
        found = strict_counts(outcomes, is_answered=is_answered)
        return (right + found.right) / max(1, right + wrong + found.counted)

    before = f1(prediction) + 1e-12
    assert f1({}, is_answered=False) <= before
    for name, outcome in compare_receipt(gold, prediction).items():
        if outcome.expected:
            assert f1({**prediction, name: None}) <= before
    assert f1(gold) >= before - 2e-12
