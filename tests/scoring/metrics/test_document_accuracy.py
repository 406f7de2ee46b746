"""Financial document accuracy: hand-computed statements, invariants, and the published rule."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.document_accuracy import (
    DISCLOSURES,
    SECTIONS,
    Matching,
    extract_all_numbers,
    extract_all_text,
    financial_accuracy_report,
    match_document,
    normalize_number,
    normalize_text,
    written_numbers,
)
from tests.counting import LINEAR, growth
from tests.shared import ORACLE, needs_oracle

STATEMENT = {
    "title": "Balance Sheet as at March 31",
    "rows": [
        {"item": "Share capital", "amount": "1,200.50", "note": 3, "audited": True},
        {"item": "Reserves", "amount": "(350)", "previous": -12.5},
    ],
    "unit": "INR",
    "empty": [None, "", "  "],
}
RULES: tuple[Matching, ...] = get_args(Matching)
# Floats that print without an exponent, whose digits alone would not be a number.
AMOUNTS = st.decimals(-(10**12), 10**12, places=2).map(float)
LEAVES = st.none() | st.booleans() | st.integers() | AMOUNTS | st.text(max_size=12)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


def test_numbers_are_taken_in_document_order_and_booleans_are_none() -> None:
    assert extract_all_numbers(STATEMENT) == ["31", "1,200.50", "3", "350", "-12.5"]


def test_texts_are_trimmed_and_blank_ones_dropped() -> None:
    assert extract_all_text(STATEMENT) == [
        "Balance Sheet as at March 31",
        "Share capital",
        "1,200.50",
        "Reserves",
        "(350)",
        "INR",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020-11-12", ["2020", "-11", "-12"]),
        ("1,234.5, and 7.", ["1,234.5,", "7."]),
        ("a--3", ["-3"]),
        (".5", ["5"]),
        ("none", []),
    ],
)
def test_numbers_in_a_string(text: str, expected: list[str]) -> None:
    assert extract_all_numbers(text) == expected


def test_normalisation() -> None:
    assert normalize_text(" Cash\tFLOW \n") == "cash flow"
    assert normalize_number("Rs. -1,234.50") == ".-1234.50"
    assert normalize_number("abc") == ""


def test_report_of_the_exact_rule_by_hand() -> None:
    text = """BALANCE  SHEET as at March 31
    Share capital 1200.50 (note 3)
    Reserves 1,350. True and fair"""
    # Numbers 31, 1200.50, 3, 350, -12.5: the first three are in the text. Items: title, share
    # capital, "1,200.50" (no), reserves, "(350)" (no). Section 1 of 4. Disclosures 2 of 4.
    report = financial_accuracy_report(STATEMENT, text)
    assert report == {
        "numeric_accuracy": pytest.approx(3 / 5),
        "line_item_accuracy": pytest.approx(3 / 5),
        "section_accuracy": 0.25,
        "disclosure_accuracy": 0.5,
        "final_score": pytest.approx(0.4 * 3 / 5 + 0.2 * 3 / 5 + 0.2 * 0.25 + 0.2 * 0.5),
    }


def test_the_exact_rule_counts_each_number_once_and_never_inside_another() -> None:
    gold = ["200", "200", 200, "1,500"]
    match = match_document(gold, "11,200 and 1500.")
    assert (match.numbers.total, match.numbers.found) == (2, 1)
    assert match.numbers.missed == ("200",)


def test_the_substring_rule_counts_every_number_anywhere() -> None:
    match = match_document(["200", "200", 200, "1,500"], "11,200 and 15", matching="substring")
    assert (match.numbers.total, match.numbers.found) == (4, 3)
    # Digits of neighbours run together: 1 2 is read as 12.
    assert match_document(["12"], "1 2", matching="substring").numbers.accuracy == 1
    assert match_document(["12"], "1 2").numbers.accuracy == 0


@pytest.mark.parametrize(
    ("gold", "text", "exact", "substring", "unique"),
    [
        # Numbers of the gold, and of those the ones found, by each rule.
        (["200", "200", 200, "1,500"], "11,200 and 15", (2, 0), (4, 3), (2, 1)),
        (["1,200", "1200", "12.00"], "1200", (2, 1), (3, 2), (2, 1)),
        (["5", "-5", "5"], "-5", (2, 1), (3, 3), (2, 2)),
        (["10", "10", "99"], "1 0", (2, 0), (3, 2), (2, 1)),
        ({"a": [True, "7.", 7], "b": {"c": "7"}}, "7.5", (1, 0), (3, 3), (2, 2)),
        (["none"], "7", (0, 0), (0, 0), (0, 0)),
    ],
)
def test_numbers_by_each_rule(
    gold: Any,
    text: str,
    exact: tuple[int, int],
    substring: tuple[int, int],
    unique: tuple[int, int],
) -> None:
    expected = {"exact": exact, "substring": substring, "unique-substring": unique}
    found = {rule: match_document(gold, text, matching=rule).numbers for rule in RULES}
    assert {rule: (part.total, part.found) for rule, part in found.items()} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,200.50 and (350)", ["1200.50", "350"]),
        ("12,34,567.5", ["1234567.5"]),
        # Signs.
        ("-12.5", ["-12.5"]),
        ("−1,200 –350", ["-1200", "-350"]),
        ("-$1,200 $-5 −₹ 7", ["-1200", "-5", "-7"]),
        # Ranges, dates and words.
        ("2019-2020", ["2019", "2020"]),
        ("31-03-2024, 2024-03-31", ["31", "03", "2024", "2024", "03", "31"]),
        ("31.03.2024", ["31", "03", "2024"]),
        ("rates 3.5–4.5%, notes 1-3", ["3.5", "4.5", "1", "3"]),
        ("COVID-19 (a)-3 5%-6", ["19", "3", "5", "6"]),
        # Lists.
        ("1,2", ["1", "2"]),
        ("[1200,1300]", ["1200", "1300"]),
        ("[120,130]", ["120", "130"]),
        ("[1,002]", ["1002"]),
        ("1,200,1300", ["1200", "1300"]),
        ("0,123", ["0", "123"]),
        # Points.
        ("1,200... Total....5 .5 Rs.500", ["1200", "5", "0.5", "500"]),
        ("1.2.3", ["1.2.3"]),
        # Other digits, and footnote marks.
        ("１，２００ ٣٫٥ 12²", ["1200", "3.5", "12"]),
        ("none", []),
    ],
)
def test_numbers_as_written(text: str, expected: list[str]) -> None:
    assert [number.digits for number in written_numbers(text)] == expected


@pytest.mark.parametrize(
    ("gold", "text", "found"),
    [
        (0.00001, "$0.00001", 1),
        (1e16, "10,000,000,000,000,000", 1),
        (1e16, "item 116", 0),
        (2.10, "EPS 2.10", 1),
        (2.10, "EPS 2.01", 0),
        (12.0, "12", 1),
        (-350, "(350)", 1),
        (-350, "350", 0),
        (350, "-350", 0),
        # Digits of a text are compared as written.
        ("2.10", "2.1", 0),
        ("2.10", "2.10", 1),
        ("1,200", "−1,200", 0),
        ("−1,200", "-1200", 1),
    ],
)
def test_numbers_of_json_by_value_and_of_texts_as_written(gold: Any, text: str, found: int) -> None:
    numbers = match_document([gold], text).numbers
    assert (numbers.total, numbers.found) == (1, found)


@given(st.integers(-(10**15), 10**15), st.integers(0, 99))
def test_a_number_is_found_in_every_form(whole: int, cents: int) -> None:
    sign, digits = "-" if whole < 0 else "", abs(whole)
    number = float(f"{sign}{digits}.{cents:02}") if digits < 10**12 else whole
    forms = [f"{digits:,}", f"{digits}"]
    if number != whole:
        forms = [f"{form}.{cents:02}" for form in forms]
    for form in forms:
        for minus in ("-", "−", "－") if sign else ("",):
            text = f"Total {minus}{form}."
            assert match_document([number], text).numbers.found == 1
            # A digit more is another number.
            assert match_document([number], text.replace(form, f"9{form}")).numbers.found == 0


def test_typography_changes_nothing_with_the_exact_rule() -> None:
    gold = ["Rao’s Café – Notes"]
    text = "RAO'S\u00a0Cafe\u0301 - Notes"
    assert match_document(gold, text).line_items.found == 1
    assert match_document(gold, text, matching="substring").line_items.found == 0


@pytest.mark.parametrize("part", ["1,11,", "1,", "1,111", "1-", "1.", "($", "-"])
def test_the_work_grows_with_the_text(part: str) -> None:
    assert growth(lambda size: list(written_numbers(part * size)), 1_000) <= LINEAR


def test_nothing_to_look_for_gives_zero() -> None:
    report = financial_accuracy_report({}, "Cash flow", sections=(), disclosures=())
    assert set(report.values()) == {0}


def test_short_strings_are_no_line_items() -> None:
    assert match_document(["abc", " abcd ", "a b"], "x abcd").line_items.total == 1


def test_phrases_are_configurable_and_normalised() -> None:
    match = match_document({}, "notes to ACCOUNTS", sections=["Notes  to accounts", "Auditor"])
    assert (match.sections.found, match.sections.missed) == (1, ("auditor",))


def test_depth_does_not_matter() -> None:
    gold: Any = "1,200"
    for _ in range(100_000):
        gold = [gold]
    assert financial_accuracy_report(gold, "1200")["numeric_accuracy"] == 1


@given(JSON, st.sampled_from(RULES))
def test_a_text_that_says_everything_scores_one(gold: Any, matching: Matching) -> None:
    leaves = extract_all_numbers(gold) + extract_all_text(gold)
    text = "\n".join([*leaves, *SECTIONS, *DISCLOSURES])
    report = financial_accuracy_report(gold, text, matching=matching)
    match = match_document(gold, text, matching=matching)
    assert not (*match.numbers.missed, *match.line_items.missed)
    assert report["section_accuracy"] == report["disclosure_accuracy"] == 1


@given(JSON, st.text(max_size=60), st.text(max_size=30))
def test_rates_stay_rates_and_more_text_never_loses_anything(
    gold: Any, text: str, more: str
) -> None:
    match = match_document(gold, text)
    longer = match_document(gold, f"{text}\n{more}")
    for part, extended in (
        (match.numbers, longer.numbers),
        (match.line_items, longer.line_items),
        (match.sections, longer.sections),
        (match.disclosures, longer.disclosures),
    ):
        assert 0 <= part.accuracy <= extended.accuracy <= 1


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@needs_oracle
def test_the_substring_rule_equals_the_reference() -> None:
    folder = ORACLE / "findoc"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["items"]
    texts = {line["id"]: line["text"] for line in _lines(folder / "predictions.jsonl")}
    gold = _lines(folder / "gold.jsonl")
    assert len(gold) == len(expected) > 0
    for line in gold:
        report = financial_accuracy_report(line["gold"], texts[line["id"]], matching="substring")
        assert report == pytest.approx(expected[line["id"]], abs=1e-6)


def test_a_number_in_brackets_may_be_a_list_or_one_number() -> None:
    assert financial_accuracy_report({"a": [120, 130]}, "[120,130]")["numeric_accuracy"] == 1
    assert financial_accuracy_report({"a": 1200}, "a [1,200]")["numeric_accuracy"] == 1
    assert financial_accuracy_report({"a": "1,200"}, "a [1,200]")["numeric_accuracy"] == 1
