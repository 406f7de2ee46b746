"""The result of an item that has no facts, in words: labels for its keys, and no raw JSON.

Works for any benchmark; result_words.toml has the labels of those that there are.
"""

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORDS = tomllib.loads(Path(__file__).with_name("result_words.toml").read_text(encoding="utf-8"))
_LABELS: dict[str, str] = _WORDS["labels"]
_ORDER = {key: place for place, key in enumerate(_WORDS["order"]["keys"])}
_VERBATIM = frozenset(_WORDS["verbatim"]["keys"])
_COUNTS = frozenset(_WORDS["counts"]["keys"])
_NAMED = frozenset(_WORDS["named"]["keys"])
_SIDES = frozenset({"gold", "prediction"})
NOTHING, NONE = "–", "none"
# Results of our own are shallow; what is deeper is not worth a page.
_DEEPEST = 6
MOST_CHARACTERS = 2000


@dataclass(frozen=True)
class ResultRow:
    label: str
    text: str
    is_name: bool = False
    """Whether the label is a field's own name."""


@dataclass(frozen=True)
class ResultPart:
    """Rows that belong together; the first part, of the item as a whole, has no title."""

    title: str
    rows: tuple[ResultRow, ...]


def result_parts(
    result: Mapping[str, Any], *, without: Collection[str], is_compared: bool
) -> list[ResultPart]:
    """What the scorer said of the item, but for the keys in `without`; where the page has gold and
    prediction side by side (`is_compared`), they are not told again field by field."""
    told = {key: value for key, value in _ordered(result) if key not in without}
    groups = {key: value for key, value in told.items() if isinstance(value, dict) and value}
    whole = tuple(_row(key, value) for key, value in told.items() if key not in groups)
    parts = [ResultPart("", whole)] if whole else []
    return parts + [
        ResultPart(label(key), tuple(_inside(key, group, is_compared)))
        for key, group in groups.items()
    ]


def _ordered(group: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(group.items(), key=lambda pair: (_ORDER.get(pair[0], len(_ORDER)), pair[0]))


def _inside(key: str, group: Mapping[str, Any], is_compared: bool) -> Iterable[ResultRow]:
    is_name = key in _VERBATIM
    for name, told in _ordered(group):
        value = told
        if is_compared and isinstance(told, dict):
            value = {inner: told[inner] for inner in told if inner not in _SIDES}
        text = words(value, within=(key, name))
        yield ResultRow(name if is_name else label(name), text, is_name=is_name)


def _row(key: str, value: Any) -> ResultRow:
    return ResultRow(label(key), words(value, within=(key,)))


def label(key: str) -> str:
    """
    >>> label("f1"), label("numeric_accuracy")
    ('F1', 'Numeric accuracy')
    """
    spaced = key.replace("_", " ")
    return _LABELS.get(key, f"{spaced[:1].upper()}{spaced[1:]}")


def words(value: Any, within: tuple[str, ...] = ()) -> str:
    """A value as a reader would say it; `within` are the keys it stands under.

    >>> words(None), words([]), words(True), words(2 / 3), words(["a", "b"])
    ('–', 'none', 'yes', '0.6667', 'a, b')
    >>> words([1, 0, 2, 0], within=("counts",))
    '1 right, 2 not found'
    """
    text = _words(value, within)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}… cut off"


def _words(value: Any, within: tuple[str, ...]) -> str:
    match value:
        case None | "":
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4f}".rstrip("0").rstrip(".")
        case str():
            return value.replace("_", " ") if _NAMED.intersection(within[-1:]) else value
        case dict() | list():
            return _several(value, within) if value else NONE
    return str(value)


def _several(value: dict[str, Any] | list[Any], within: tuple[str, ...]) -> str:
    if len(within) > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return "; ".join(_entry(key, inner, within) for key, inner in _ordered(value))
    if _COUNTS.intersection(within) and _are_counts(value):
        pairs = zip(value, _WORDS["counts"]["words"], strict=True)
        return ", ".join(f"{count} {word}" for count, word in pairs if count) or NONE
    if any(isinstance(each, list | dict) for each in value):
        return "; ".join(_nested(each, within) for each in value)
    return ", ".join(_words(each, within) for each in value)


def _entry(key: str, value: Any, within: tuple[str, ...]) -> str:
    name = key if _VERBATIM.intersection(within[-1:]) or "weights" in within else label(key).lower()
    text = _words(value, (*within, key))
    return text if key in _COUNTS else f"{name}: {text}"


def _nested(value: Any, within: tuple[str, ...]) -> str:
    """A field as `[path, value]` is told as such."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        return f"{value[0]}: {_words(value[1], (*within, ''))}"
    return _words(value, (*within, ""))


def _are_counts(value: list[Any]) -> bool:
    return len(value) == len(_WORDS["counts"]["words"]) and all(type(n) is int for n in value)
