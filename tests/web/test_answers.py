"""Answers of the API, made from dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import pytest
from rest_framework import serializers

from portal.web.answers import answer


@dataclass(frozen=True)
class Part:
    name: str
    share: float | None


@dataclass(frozen=True)
class Whole:
    """A text."""

    title: str
    count: int
    is_open: bool
    kind: Literal["a", "b"]
    made_at: datetime
    parts: tuple[Part, ...]
    best: Part | None
    by_key: Mapping[str, int]
    tags: Sequence[str]


WHOLE = Whole(
    "Title", 2, True, "a", datetime(2026, 1, 2, tzinfo=UTC), (Part("x", None),), None, {"k": 1}, "t"
)


def test_every_field_is_answered_by_its_annotation() -> None:
    shape = answer(Whole)
    assert (shape.__name__, shape.__doc__) == ("Whole", "A text.")
    assert shape(WHOLE).data == {
        "title": "Title",
        "count": 2,
        "is_open": True,
        "kind": "a",
        "made_at": "2026-01-02T00:00:00Z",
        "parts": [{"name": "x", "share": None}],
        "best": None,
        "by_key": {"k": 1},
        "tags": ["t"],
    }
    best, kind = shape().fields["best"], shape().fields["kind"]
    assert best.allow_null
    assert isinstance(kind, serializers.ChoiceField)
    assert list(kind.choices) == ["a", "b"]


def test_fields_can_be_named_described_given_and_left_out() -> None:
    size = serializers.CharField(source="name")
    shape = answer(Part, "Piece", leave_out=["name"], share="Of all.", size=size)
    assert shape.__name__ == "Piece"
    assert list(shape().fields) == ["share", "size"]
    assert shape().fields["share"].help_text == "Of all."
    assert shape(Part("x", 0.5)).data == {"share": 0.5, "size": "x"}


def test_a_nested_dataclass_gets_its_first_answer() -> None:
    @dataclass(frozen=True)
    class Inner:
        key: int
        secret: str

    @dataclass(frozen=True)
    class Outer:
        one: Inner
        several: tuple[Inner, ...]

    made = answer(Inner, "InnerAnswer", leave_out=["secret"])
    answer(Inner, "Another")
    inner = Inner(1, "x")
    assert answer(Outer)(Outer(inner, (inner,))).data == {
        "one": {"key": 1},
        "several": [{"key": 1}],
    }
    assert type(answer(Outer)().fields["one"]) is made


def test_a_field_may_be_called_name() -> None:
    shape = answer(Part, name="Of the part.")
    assert shape().fields["name"].help_text == "Of the part."
    assert list(answer(Part, name=serializers.SlugField())().fields) == ["name", "share"]


def test_an_annotation_without_a_field_is_refused() -> None:
    @dataclass
    class Odd:
        value: complex

    with pytest.raises(TypeError, match="no field of an answer is known for <class 'complex'>"):
        answer(Odd)
