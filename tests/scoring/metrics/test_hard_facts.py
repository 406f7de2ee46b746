"""The labelled set of hard facts is complete, and the aligned matcher agrees with its labels."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from scoring.metrics.facts import ERROR_TYPES, Verdict, match_aligned, read_page, read_prediction
from tests.many import SOME, each_part, part_of
from tests.shared import REALDATA, needs_realdata

LINES = (Path(__file__).parent / "data" / "hard_facts.jsonl").read_text().splitlines()
FACTS = [json.loads(line) for line in LINES]
LABELS = {"correct", *ERROR_TYPES}


def test_every_fact_has_two_readings_and_a_settled_label() -> None:
    assert len(FACTS) >= 300
    for fact in FACTS:
        first = {fact["reading_a"], fact["reading_b"]}
        # Facts that both called missing were read again, for whether anything was read there.
        assert ("reread_a" in fact) == (first == {"missing"})
        readings = {fact["reread_a"], fact["reread_b"]} if "reread_a" in fact else first
        assert fact["label"] in readings <= LABELS
        # Disagreement is considered: a settled label has a reason.
        assert (len(readings) > 1) == bool(fact.get("note"))


def test_no_fact_of_an_engine_occurs_twice() -> None:
    keys = [(fact["engine"], fact["id"], fact["n"]) for fact in FACTS]
    assert len(set(keys)) == len(keys)
    assert len({engine for engine, _, _ in keys}) >= 5


def test_every_label_has_at_least_ten_facts() -> None:
    assert {label: n for label, n in Counter(f["label"] for f in FACTS).items() if n < 10} == {}


@needs_realdata
def test_every_fact_is_one_of_the_real_pages() -> None:
    with (REALDATA / "gold.jsonl").open() as file:
        gold = {page["id"]: page["facts"] for page in map(json.loads, file)}
    for fact in FACTS:
        assert gold[fact["id"]][fact["n"]]["type"] == fact["type"]
        assert (REALDATA / "predictions" / fact["engine"] / f"{fact['id']}.html").is_file()


@cache
def _verdicts(engine: str, page: str) -> list[Verdict]:
    gold = (REALDATA / "gold" / f"{page}.html").read_text(encoding="utf-8")
    prediction = (REALDATA / "predictions" / engine / f"{page}.html").read_text(encoding="utf-8")
    return match_aligned(read_page(gold), read_prediction(prediction))


def _got(fact: dict[str, Any]) -> str:
    return _verdicts(fact["engine"], fact["id"])[fact["n"]].error or "correct"


def _disagreement(fact: dict[str, Any]) -> str:
    matched = _verdicts(fact["engine"], fact["id"])[fact["n"]].matched_text
    place = f"{fact['engine']} {fact['id']} fact {fact['n']}"
    return f"{place}: labelled {fact['label']}, got {_got(fact)} ({matched!r})"


def _facts_of(part: str) -> list[dict[str, Any]]:
    """Return the facts of a part of the read pages."""
    pages = part_of(sorted({(fact["engine"], fact["id"]) for fact in FACTS}), part)
    return [fact for fact in FACTS if (fact["engine"], fact["id"]) in pages]


@needs_realdata
@each_part
def test_verdicts_agree_with_the_labels(part: str) -> None:
    facts = _facts_of(part)
    other = [f for f in facts if (_got(f) == "correct") != (f["label"] == "correct")]
    assert len(other) <= 0.02 * len(facts), "\n".join(map(_disagreement, other))


@needs_realdata
@each_part
def test_error_types_agree_with_the_labels(part: str) -> None:
    # The slow part counts all facts, because the share is that of the whole set.
    facts = _facts_of(part) if part == SOME else FACTS
    wrong = [fact for fact in facts if fact["label"] != "correct"]
    other = [fact for fact in wrong if _got(fact) != fact["label"]]
    assert len(other) <= 0.08 * len(wrong), "\n".join(map(_disagreement, other))
