"""Edits of the sample's receipts: one that cannot help never raises the ranked score, and one that
cannot hurt never lowers it."""

import json
import random
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from scoring.benchmarks.receiptbench import RECEIPTBENCH
from scoring.benchmarks.receiptbench.scorer import OVERALL, STRICT

FOLDER = Path(__file__).parents[3] / "sample" / "benchmarks" / "receiptbench"
OPTIONS = RECEIPTBENCH.check_options({})
SYSTEMS = ("gold", "tesseract", "tesseract_72dpi", "simulated_careful", "simulated_hasty")
ROUNDING = 1e-12

Fields = dict[str, Any]
Edit = Callable[[Fields, str], Fields | None]


def read(path: str) -> dict[str, Fields]:
    lines = (FOLDER / path).read_text(encoding="utf-8").splitlines()
    return {line["id"]: line.get("fields", {}) for line in map(json.loads, lines)}


GOLD = read("gold/dev.jsonl")


@cache
def answers(system: str) -> dict[str, Fields]:
    return GOLD if system == "gold" else read(f"submissions/dev/{system}.jsonl")


def graded(item: str, fields: Fields | None, text: str = "") -> dict[str, Any]:
    given: dict[str, Any] = {"response": text} if text else {"fields": fields}
    prediction = None if fields is None and not text else {"id": item, **given}
    return RECEIPTBENCH.score_item({"id": item, "fields": GOLD[item]}, prediction, OPTIONS)


@cache
def results(system: str) -> dict[str, dict[str, Any]]:
    return {item: graded(item, fields) for item, fields in answers(system).items()}


def score(system: str, changed: dict[str, dict[str, Any]] | None = None) -> float:
    found = {**results(system), **(changed or {})}
    value = RECEIPTBENCH.aggregate(found.values(), OPTIONS).scores[STRICT]
    assert value is not None
    return value


def places(system: str, number: int = 30) -> list[tuple[str, str]]:
    """Some of the values of a submission that the gold has, too."""
    found = [
        (item, name)
        for item, fields in answers(system).items()
        for name in fields
        if GOLD[item].get(name) and fields[name]
    ]
    return random.Random(5).sample(found, number)


# --- edits that cannot help ---------------------------------------------------------------


def without(fields: Fields, name: str) -> Fields:
    return {key: value for key, value in fields.items() if key != name}


REMOVALS: dict[str, Edit] = {
    "null": lambda fields, name: {**fields, name: None},
    "empty": lambda fields, name: {**fields, name: ""},
    "empty list": lambda fields, name: {**fields, name: []},
    "zero": lambda fields, name: {**fields, name: 0},
    "cannot tell": lambda fields, name: {**fields, name: "cannot tell"},
    "left out": without,
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("removal", REMOVALS)
def test_a_value_that_is_removed_never_raises_the_score(system: str, removal: str) -> None:
    before, fields = score(system), answers(system)
    for item, name in places(system):
        edited = REMOVALS[removal](fields[item], name)
        assert score(system, {item: graded(item, edited)}) <= before + ROUNDING, (item, name)


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_answer_never_raises_the_score(system: str) -> None:
    before = score(system)
    for item in answers(system):
        for none in (graded(item, None), graded(item, None, "I cannot tell."), graded(item, {})):
            assert score(system, {item: none}) <= before + ROUNDING
    left_out = {item: graded(item, {}) for item in GOLD}
    assert score(system, left_out) == 0


def test_leaving_out_wrong_values_raises_only_the_published_score() -> None:
    item, fields = "receipt-01", deepcopy(GOLD["receipt-01"])
    wrong = {**fields, "seller_name": "Another", "invoice_number": "1", "type": "ship"}
    blank = {**fields, "seller_name": None, "invoice_number": None, "type": None}
    before, after = (
        RECEIPTBENCH.aggregate([graded(item, each)], OPTIONS).scores for each in (wrong, blank)
    )
    assert after[STRICT] == before[STRICT]
    published = (before[OVERALL], after[OVERALL])
    assert None not in published
    assert published == tuple(sorted(published, key=lambda value: value or 0))
    assert before[OVERALL] != after[OVERALL]


def other_amount(value: Any) -> str:
    return f"{value}1" if "." in str(value) else f"{value}0"


def other_currency(value: Any) -> str:
    return f"₩ {value}"


def other_day(value: Any) -> str:
    last = str(value)[-1]
    return f"{str(value)[:-1]}{(int(last) + 1) % 10}" if last.isdigit() else f"{value} 7"


def hedged(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [*values, *(f"no {n}" for n in range(2 * len(values) + 1))]


AMOUNTS = ("orig_total", "std_total")
TEXTS = ("seller_name", "place", "departure", "arrival", "seller_address")
DATES = ("orig_invoice_time", "orig_start_time", "orig_end_time", "std_invoice_time")
HARMFUL: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "amount": (AMOUNTS, other_amount),
    "currency": (AMOUNTS, other_currency),
    "day": (DATES, other_day),
    "other place": (TEXTS, lambda value: f"North {value}"),
    "hedged": ((*TEXTS, *DATES, "orig_curr", "detail"), hedged),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_a_wrong_value_lowers_the_score_of_the_gold(name: str) -> None:
    names, change = HARMFUL[name]
    for item, fields in GOLD.items():
        for field in filter(fields.get, names):
            edited = {**fields, field: change(fields[field])}
            assert score("gold", {item: graded(item, edited)}) < 1, (item, field)


# --- edits that cannot hurt ---------------------------------------------------------------


def full_width(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


HARMLESS: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "spaces": lambda text: f"  {text}\n",
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "decomposed": lambda text: normalize("NFD", text),
    "full width": full_width,
    "entities": escape,
    "numeric entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
}


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [mapped(each, change) for each in value]
    if isinstance(value, dict):
        return {key: mapped(each, change) for key, each in value.items()}
    return value


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("edit", HARMLESS)
def test_the_form_of_a_text_changes_nothing(system: str, edit: str) -> None:
    changed = {
        item: graded(item, mapped(fields, HARMLESS[edit]))
        for item, fields in answers(system).items()
    }
    assert score(system, changed) == pytest.approx(score(system))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_form_of_an_answer_changes_nothing(system: str) -> None:
    chance = random.Random(30)
    for item, fields in answers(system).items():
        shuffled = deepcopy(fields)
        for value in shuffled.values():
            if isinstance(value, list):
                chance.shuffle(value)
        text = f"Here you are:\n```json\n{json.dumps(fields, indent=2)}\n```\nAnything else?"
        for same in (graded(item, shuffled), graded(item, None, text)):
            assert score(system, {item: same}) == pytest.approx(score(system))


def test_an_amount_with_its_currency_changes_nothing() -> None:
    for item, fields in GOLD.items():
        for name in AMOUNTS:
            for code in filter(None, [fields["std_curr"], *fields["orig_curr"]]):
                edited = {**fields, name: f"{code} {fields[name]}"}
                assert graded(item, edited)["strict"] == graded(item, fields)["strict"], item
