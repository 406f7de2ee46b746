"""Typographic normalisation: what it removes, what it keeps, and the mapping to the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.facts.normalise import normalise, normalise_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\u00a0200", "1 200"),
        ("−5.0 – 7 — ‐", "-5.0 - 7 - -"),
        ("“it’s”", '"it\'s"'),
        ("( 1,200 )", "(1,200)"),
        ("$ 7 and € (3) and $ x", "$7 and €(3) and $ x"),
        ("3 % of (2) %", "3% of (2)%"),
        ("１，２００％", "1,200%"),
        ("½", "1/2"),
        ("soft\u00adhy\u200bphen", "softhyphen"),
        ("1,200¹ m²", "1,200¹ m²"),
        ("e\u0301tat  \n x", "état x"),
        ("a  b", "a b"),
    ],
)
def test_typography_is_levelled(text: str, expected: str) -> None:
    assert normalise(text).text == expected


@pytest.mark.parametrize("value", ["1,200", "(1,200)", "1.200", "1 200", "DECEMBER", "l0O"])
def test_digits_separators_and_words_never_change(value: str) -> None:
    assert normalise_value(value) == value


def test_source_span_leads_back() -> None:
    text = "loss of $ ( 1,200\u00a0) ½"
    normalised = normalise(text)
    start = normalised.text.index("(1,200)")
    first, last = normalised.source_span(start, start + len("(1,200)"))
    assert text[first:last] == "( 1,200\u00a0)"
    start = normalised.text.index("1/2")
    assert text[slice(*normalised.source_span(start, start + 3))] == "½"


@given(st.text(max_size=60))
def test_normalising_keeps_count_of_every_character(text: str) -> None:
    normalised = normalise(text)
    assert len(normalised.text) == len(normalised.starts) == len(normalised.ends)
    assert all(
        0 <= start < end <= len(text)
        for start, end in zip(normalised.starts, normalised.ends, strict=True)
    )
    assert all(a <= b for a, b in zip(normalised.starts, normalised.starts[1:], strict=False))
