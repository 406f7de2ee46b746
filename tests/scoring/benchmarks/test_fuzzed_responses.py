"""Every model output is scored: the result can be stored, every figure is None or finite.

The readers accept any text as an answer. Unusable answers are counted, never raised.
"""

import json
from typing import Any

from hypothesis import strategies as st

from scoring.benchmarks import BENCHMARKS
from tests.many import drawn, together
from tests.scoring.benchmarks.fuzzing import put_before
from tests.scoring.benchmarks.samples import SAMPLES, as_lines

DEEP = 100_000
each_benchmark = together("key", BENCHMARKS)

# Values of an answer, as written in its JSON.
VALUES = {
    "lists too deep": "[" * (DEEP // 5) + "]" * (DEEP // 5),
    "objects too deep": '{"a":' * (DEEP // 10) + "1" + "}" * (DEEP // 10),
    "lists that never end": "[" * (DEEP // 10),
    "a few hundred levels": "[" * 900 + "]" * 900,
    "as deep as is read": '{"a":' * 18 + "[]" + "}" * 18,
    "a huge whole number": "1" + "0" * 5000,
    "the largest whole number": "9" * 4300,
    "a huge exponent": "1e999",
    "NaN": "NaN",
    "-Infinity": "-Infinity",
    "a key twice": '{"a": 1, "a": 2}',
    "halves of surrogate pairs": '{"\\ud800": "\\udfff"}',
    "half a surrogate pair": '"\\ud83d"',
    "NUL": '{"\\u0000": ["\\u0000"]}',
    "NUL alone": '"\\u0000"',
    "neither in fields": '{"seller_name": "\\ud83d", "type": "\\u0000", "tax_number": ["\\udfff"]}',
    "words of Python": '{"a": None, "b": [True, False]}',
    "many keys": json.dumps({f"k{n}": n for n in range(2_100)}),
    "many items": json.dumps([{"content": n} for n in range(2_100)]),
    "a point far away": '{"text": "a", "point": [1e308, -1e308]}',
    "a point that is none": '{"text": "a", "point": [1e999, NaN]}',
}
# Answers that are not JSON at all.
TEXTS = {
    "empty": "",
    "white space": " \n\t",
    "null": "null",
    "a fence that never ends": "```json {",
    "nothing but fences": "```latex" * 10_000,
    "nothing but braces": "{" * 100_000,
    "nothing but brackets": "<" * 50_000 + ">" * 50_000,
    "tables inside tables": "<table><tr><td>" * 10_000,
    "tables that never end": "<table>" * 20_000,
    "a span of a billion": '<table><tr><td colspan="1000000000" rowspan="-1">x</td></tr></table>',
    "elements too deep": "<div>" * (DEEP // 4) + "x",
    "entities that are no characters": "&#x110000;&#0;&#55296;&#xD800;&" * 1_000,
    "one long word": "a" * 100_000,
    "digits": "1" * 100_000,
    "minus signs": "-" * 100_000,
    "separators": "1," * 50_000,
    "directions": "\u202e\u2066\u200b" * 1000,
}


def answered(key: str, answer: str) -> tuple[list[str], list[str]]:
    """Return the reader's output if the model gives this answer for every item, after grading
    it."""
    sample = SAMPLES[key]
    names = [{k: v for k, v in line.items() if k in ("id", "subset")} for line in sample.gold]
    return put_before(
        key, "predictions", as_lines([{**name, sample.answer: answer} for name in names])
    )


@each_benchmark
@together("name", VALUES)
def test_any_value_in_an_answer_is_scored(key: str, name: str) -> None:
    value = VALUES[name]
    for answer in (value, f'So: ```json {{"answer": {value}, "detail": [{value}]}}``` !'):
        ids, faults = answered(key, answer)
        assert (len(ids), faults) == (len(SAMPLES[key].gold), [])


@each_benchmark
@together("name", TEXTS)
def test_any_text_is_scored(key: str, name: str) -> None:
    ids, faults = answered(key, TEXTS[name])
    assert (len(ids), faults) == (len(SAMPLES[key].gold), [])


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**15, 10**400)
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["1,200", "$5", "nan", "inf", "1e999", "٣", "²", "\ud800", "\0", "２０"])
)
MARKUP = "<>/=\"'{}[]:,0123456789.-$%() \nabtdruelé\u3000０"
# The keys that readers and scorers use.
KEYS = st.text(max_size=5) | st.sampled_from(
    "answer present_categories seller_name std_total orig_curr type detail content amount ifTax"
    " text point box confidence café total".split()
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@drawn(value=JSON, examples=25)
@each_benchmark
def test_any_json_is_scored(key: str, value: Any) -> None:
    ids, faults = answered(key, json.dumps(value))
    assert (len(ids), faults) == (len(SAMPLES[key].gold), [])


@drawn(fields=st.dictionaries(KEYS, JSON, max_size=6), examples=60)
def test_any_fields_are_scored(fields: dict[str, Any]) -> None:
    line = {"id": "r-1", "fields": fields}
    text = json.dumps(line).replace("NaN", "0").replace("Infinity", "0")
    ids, faults = put_before("receiptbench", "predictions", text.encode())
    assert len(ids) + len(faults) == 1


@drawn(text=st.text(MARKUP, max_size=200), examples=25)
@each_benchmark
def test_any_markup_is_scored(key: str, text: str) -> None:
    ids, faults = answered(key, text)
    assert (len(ids), faults) == (len(SAMPLES[key].gold), [])
