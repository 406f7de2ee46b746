"""Nothing is gained by not answering: no edit that only removes an answer raises a score that
ranks.

Removing content that contradicts other content, or that no one asked for, is not meant: it may be
the reason why a score is low.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from scoring.benchmarks import BENCHMARKS, Benchmark, ItemResult, Payload
from scoring.metrics.fields import plain
from tests.scoring.benchmarks.samples import SAMPLES
from tests.shared import ORACLE, needs_oracle

ROUNDING = 1e-9
_OTHER_DIGITS = str.maketrans("0123456789", "1234567890")


class Rise(NamedTuple):
    """An edit that raised a score."""

    figure: str
    item: str
    edit: str


def removals(payload: Payload, answer: str) -> Iterator[tuple[str, Payload | None]]:
    """Yield edits of a prediction, each with its name."""
    yield "no prediction", None
    value = payload[answer] if answer in payload else payload["fields"]
    if isinstance(value, str):
        for name, text in _of_text(value):
            yield name, payload | {answer: text}
    else:
        for name, other in _of_value(value):
            yield name, payload | {"fields": other}


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "cannot tell", "I cannot tell."
    yield "null", "null"
    yield "first half", text[: len(text) // 2]
    yield "second half", text[len(text) // 2 :]
    first, last = text.find("{"), text.rfind("}") + 1
    try:
        value = json.loads(text[first:last])
    except ValueError:
        return
    yield "null as the answer", '{"answer": null}'
    for name, other in _of_value(value):
        yield name, text[:first] + json.dumps(other, ensure_ascii=False) + text[last:]


def _of_value(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in _leaves(value):
        yield f"without {'.'.join(path)}", _edited(value, path, is_null=False)
        yield f"null for {'.'.join(path)}", _edited(value, path, is_null=True)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values of objects. A list is one value."""
    if path and not (isinstance(value, dict) and value):
        yield path
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(child, (*path, key))


def _edited(value: dict[str, Any], path: Sequence[str], *, is_null: bool) -> dict[str, Any]:
    key, *rest = path
    if rest:
        return value | {key: _edited(value[key], rest, is_null=is_null)}
    if is_null:
        return value | {key: None}
    return {name: child for name, child in value.items() if name != key}


def misread(payload: Payload) -> Payload:
    """Return the prediction with every digit misread, except in its id."""
    text = json.dumps({key: payload[key] for key in payload if key not in ("id", "subset")})
    changed: Payload = json.loads(text.translate(_OTHER_DIGITS))
    return payload | changed


def rises(spec: Benchmark, pairs: Sequence[tuple[Payload, Payload]], answer: str) -> Iterator[Rise]:
    """Yield the edits of one prediction each that raise a score of the whole submission."""
    options = spec.check_options({})
    results = [spec.score_item(gold, prediction, options) for gold, prediction in pairs]
    before = _ranked(spec, results)
    for at, (gold, prediction) in enumerate(pairs):
        for name, edited in removals(prediction, answer):
            result = spec.score_item(gold, edited, options)
            after = _ranked(spec, [*results[:at], result, *results[at + 1 :]])
            for figure, score in before.items():
                if after[figure] > score + ROUNDING:
                    yield Rise(figure, str(gold["id"]), name)


def _ranked(spec: Benchmark, results: Sequence[ItemResult]) -> Mapping[str, float]:
    """Return the scores that rank rows; a row without one comes last."""
    options = spec.check_options({})
    scores = spec.aggregate(results, options).scores
    ranking = [column for column in spec.columns_for(options) if column.rank]
    signs = {column.key: 1 if column.direction == "up" else -1 for column in ranking}
    return {
        key: -1.0 if (score := scores[key]) is None else sign * score for key, sign in signs.items()
    }


def _pairs(key: str) -> list[tuple[Payload, Payload]]:
    """Return gold and predictions of a benchmark's sample, the same with every digit misread, and
    right ones."""
    spec, sample = BENCHMARKS[key], SAMPLES[key]
    gold = {_name(spec, line): line for line in sample.gold}
    pairs = [(gold[_name(spec, line)], dict(line)) for line in sample.predictions]
    others = [(ours | {"id": f"{ours['id']}-2"}, misread(theirs)) for ours, theirs in pairs]
    right = [
        (ours | {"id": f"{ours['id']}-3"}, _right(ours, theirs, sample.answer))
        for ours, theirs in pairs
    ]
    return pairs + others + right


def _right(gold: Payload, prediction: Payload, answer: str) -> Payload:
    """Return a prediction that is right, if its gold is of the same form; else this one."""
    if "fields" in gold:
        return {"id": gold["id"], "fields": gold["fields"]}
    own = gold.get("answer", gold.get(answer))
    if own is None:
        return prediction
    return prediction | {answer: own if isinstance(own, str) else json.dumps(own)}


def _name(spec: Benchmark, line: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(line[key] for key in spec.id_keys)


@pytest.mark.parametrize("key", BENCHMARKS)
def test_not_answering_never_raises_a_score_that_ranks(key: str) -> None:
    assert list(rises(BENCHMARKS[key], _pairs(key), SAMPLES[key].answer)) == []


def _oracle(size: int | None) -> list[tuple[Payload, Payload]]:
    """Return questions of FCMBench with the answers of a model: a seeded sample, or all."""
    folder = ORACLE / "fcmbench"
    gold, predictions = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("gold.jsonl", "predictions.jsonl")
    )
    answers = {line["id"]: line for line in predictions}
    pairs = [(line, answers[line["id"]]) for line in gold]
    return pairs if size is None else random.Random(30).sample(pairs, size)


_FIELD = re.compile(r"(?:without|null for) (?:answer\.?)?(.*)", re.DOTALL)


@needs_oracle
@pytest.mark.parametrize("size", [25, pytest.param(None, marks=pytest.mark.slow)])
def test_a_model_of_fcmbench_gains_nothing_by_not_answering(size: int | None) -> None:
    """A question counts in the mean of its subtask, so that its own score decides. Fields for which
    nothing is the right answer may be left out."""
    spec = BENCHMARKS["fcmbench"]
    options = spec.check_options({})
    pairs = _oracle(size)
    edits: Counter[str] = Counter()
    for gold, prediction in pairs:
        before = spec.score_item(gold, prediction, options)["strict"]
        asked = {path for path, _ in spec.score_item(gold, None, options)["missed"]}
        for name, edited in removals(prediction, "response"):
            field = _FIELD.fullmatch(name)
            if before is None or (field and plain(field[1]) not in asked):
                continue
            assert spec.score_item(gold, edited, options)["strict"] <= before, (gold["id"], name)
            edits["field" if field else name] += 1
    assert edits["cannot tell"] >= 0.9 * len(pairs)
    assert edits["field"] >= len(pairs) / 2
