"""The labelled set of hard facts is whole: known pages, known labels, two readings each."""

import json
from pathlib import Path

from scoring.metrics.facts import ERROR_TYPES
from tests.shared import REALDATA, needs_realdata

LINES = (Path(__file__).parent / "data" / "hard_facts.jsonl").read_text().splitlines()
FACTS = [json.loads(line) for line in LINES]
LABELS = {"correct", *ERROR_TYPES}


def test_every_fact_has_two_readings_and_a_settled_label() -> None:
    assert len(FACTS) >= 300
    for fact in FACTS:
        readings = {fact["reading_a"], fact["reading_b"]}
        assert fact["label"] in readings <= LABELS
        # Who differs is heard: a settled label comes with its reason.
        assert (len(readings) > 1) == bool(fact.get("note"))


def test_no_fact_of_an_engine_occurs_twice() -> None:
    keys = [(fact["engine"], fact["id"], fact["n"]) for fact in FACTS]
    assert len(set(keys)) == len(keys)
    assert len({engine for engine, _, _ in keys}) >= 5


@needs_realdata
def test_every_fact_is_one_of_the_real_pages() -> None:
    with (REALDATA / "gold.jsonl").open() as file:
        gold = {page["id"]: page["facts"] for page in map(json.loads, file)}
    for fact in FACTS:
        assert gold[fact["id"]][fact["n"]]["type"] == fact["type"]
        assert (REALDATA / "predictions" / fact["engine"] / f"{fact['id']}.html").is_file()
