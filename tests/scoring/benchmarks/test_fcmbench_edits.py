"""Edits of FCMBench answers whose right verdict is known: harmless ones change no score, harmful
ones lower it. On the gold as its own prediction, a seeded sample of it or all of it.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scoring.benchmarks.fcmbench import FCMBENCH
from scoring.metrics.fields import names_identifier
from tests.shared import ORACLE, needs_oracle

OPTIONS = FCMBENCH.check_options({})
each_size = pytest.mark.parametrize("size", [40, pytest.param(None, marks=pytest.mark.slow)])

Edit = Callable[[Any], str]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """Return the value with every text changed, except under keys of identifiers."""
    if isinstance(value, dict):
        return {k: v if names_identifier(k) else _each(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [_each(child, change) for child in value]
    return change(value) if isinstance(value, str) else value


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" < c <= "~" and c not in "<>," else c for c in text)


HARMLESS: dict[str, Edit] = {
    "as it is": _json,
    "in a fence": lambda v: f"Here it is:\n```json\n{_json(v)}\n```\nDone.",
    "between braces": lambda v: f"From {{image}} I read {_json(v)} as {{asked}}.",
    "twice": lambda v: f"{_json(v)} In short: {_json(v)}",
    "Python": repr,
    "spread over lines": lambda v: json.dumps(v, ensure_ascii=True, indent=4),
    "comma before a bracket": lambda v: re.sub(r"(?<=[\]\"\d])([}\]])", r",\1", _json(v)),
    "full width": lambda v: _json(_each(v, _wide)),
    "spaces around": lambda v: _json(_each(v, lambda text: f"\u00a0{text}\u3000")),
    "decomposed": lambda v: _json(_each(v, lambda text: text.replace("é", "e\u0301"))),
    "keys in another order": lambda v: _json(dict(reversed(v.items()))),
}

# Edits that make any answer with a value wrong.
HARMFUL: dict[str, Edit] = {
    "nothing": lambda _: "",
    "cannot tell": lambda _: "I cannot tell.",
    "null": lambda _: '{"answer": null}',
    "cut": lambda v: _json(v).rstrip("}")[:-1],
    "without its end": lambda v: _json(v)[:-1],
    "another answer": lambda v: f'{_json(v)} or {{"answer": "something else"}}',
    "a value in front of each": lambda v: _json(_every_value(v, lambda x: f"x{x}")),
    "each value or another": lambda v: _json(_every_value(v, lambda x: [x, f"x{x}"])),
    "other keys": lambda v: _json({"answer": {"other": v.get("answer", v)}}),
}


def _every_value(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _every_value(child, change) for key, child in value.items()}
    if isinstance(value, list):
        changed = [_every_value(child, change) for child in value]
        return [x for c in changed for x in (c if isinstance(c, list) else [c])]
    return change(value)


def _gold(size: int | None) -> Iterator[tuple[dict[str, Any], Any]]:
    lines = (ORACLE / "fcmbench" / "gold.jsonl").read_text("utf-8").splitlines()
    chosen = lines if size is None else random.Random(30).sample(lines, size)
    for line in map(json.loads, chosen):
        if "num_cal_005" not in line["subtask"]:
            yield line, json.loads(line["response"])


def _strict(line: dict[str, Any], response: str) -> float:
    prediction = {"id": line["id"], "response": response}
    score: float = FCMBENCH.score_item(line, prediction, OPTIONS)["strict"]
    return score


@needs_oracle
@each_size
@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_edits_change_nothing(name: str, size: int | None) -> None:
    edited = [(line, HARMLESS[name](value)) for line, value in _gold(size)]
    assert [(line["id"], text) for line, text in edited if _strict(line, text) != 1] == []


@needs_oracle
@each_size
@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_edits_lower_the_score(name: str, size: int | None) -> None:
    edited = [
        (line, HARMFUL[name](value))
        for line, value in _gold(size)
        # Where nothing is the right answer, there is no value to change.
        if _strict(line, '{"answer": []}') != 1
    ]
    assert len(edited) >= 20
    assert [(line["id"], text) for line, text in edited if _strict(line, text) == 1] == []
