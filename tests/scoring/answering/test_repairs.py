"""Each change to raw answers, and what it leaves alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.answering.rendering import storable
from scoring.metrics.answer import (
    FENCE,
    JSON_PART,
    JSON_REPAIR,
    REASONING,
    Form,
    read_answer,
)

FENCED = "Here it is:\n```{}\n{}\n```\nDone."


@pytest.mark.parametrize(
    ("text", "form", "wanted", "names"),
    [
        ("<p>1</p>", "html", "<p>1</p>", []),
        (FENCED.format("html", "<p>1</p>"), "html", "<p>1</p>", [FENCE]),
        ("```\n<p>1</p>\n```", "html", "<p>1</p>", [FENCE]),
        ("```html\n<p>cut off", "html", "<p>cut off", [FENCE]),
        (FENCED.format("css", "p {}"), "html", FENCED.format("css", "p {}"), []),
        ("```html\n1\n```\n```html\n2\n```", "html", "```html\n1\n```\n```html\n2\n```", []),
        (FENCED.format("latex", r"\frac12"), "latex", r"\frac12", [FENCE]),
        ("<think>\n{}\n</think>\nNet", "text", "Net", [REASONING]),
        ("<p><think>x</think>1", "html", "<p>\n1", [REASONING]),
        ('{"a": 1}', "json", '{"a": 1}', []),
        (FENCED.format("json", '{"a": 1}'), "json", '{"a": 1}', [FENCE]),
        ('Sure: {"a": 1}.', "json", '{"a": 1}', [JSON_PART]),
        ('{"a": [1, 2,],}', "json", '{"a":[1,2]}', [JSON_REPAIR]),
        ('{"a": ",}", "b": "",}', "json", '{"a":",}","b":""}', [JSON_REPAIR]),
        ("{'a': True, 'b': None}", "json", '{"a":true,"b":null}', [JSON_REPAIR]),
        ("{'a': float('nan')}", "json", "{'a': float('nan')}", []),
        ("{'a': 1.50, 'a': 2}", "json", '{"a":1.50,"a":2}', [JSON_REPAIR]),
        ("As in [1]: {'a': 1} Yes", "json", '{"a":1}', [JSON_REPAIR]),
        ('{"a": 1} or {"a": 2}', "json", '{"a": 1} or {"a": 2}', []),
        ("no idea", "json", "no idea", []),
        ('{"a": 1', "json", '{"a": 1', []),
        ("{'a': True}", "text", "{'a': True}", []),
    ],
)
def test_repair(text: str, form: Form, wanted: str, names: list[str]) -> None:
    assert read_answer(text, form) == (wanted, tuple(names))


@given(st.text(), st.sampled_from(["html", "latex", "json", "text"]))
def test_repair_of_any_text_names_what_it_did(text: str, form: Form) -> None:
    changed, names = read_answer(text, form)
    assert (changed != text) == bool(names)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_valid_json_is_left_alone(value: object) -> None:
    text = json.dumps({"a": value}, ensure_ascii=False)
    if "```" not in text:
        assert read_answer(text, "json") == (text, ())


@given(st.text(st.characters()))
def test_storable_text_has_no_character_that_is_refused(text: str) -> None:
    fixed, _ = storable(text + "\0\ud83d")
    assert "\0" not in fixed
    fixed.encode()
