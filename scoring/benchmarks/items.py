"""What lists and comparisons need of one item's result, whatever the benchmark."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .contributions import Contribution


class ItemSummary(NamedTuple):
    """One item in short.

    `score` is its own value of the figure that decides, higher is better; None where nothing was
    there to score. `part` names the document type, task or subset that it belongs to, `errors` the
    kinds of errors it has, in order and each once.
    """

    score: float | None
    part: str = ""
    errors: tuple[str, ...] = ()


class Sides(NamedTuple):
    """Gold and prediction in a form in which they can be laid beside each other: two texts, or two
    JSON objects. The prediction is None where there is none, or none that can be read."""

    gold: str | dict[str, Any]
    prediction: str | dict[str, Any] | None


def own_score(added: Iterable[Contribution], figure: str) -> float | None:
    """The figure of a submission that consists of this item alone.

    >>> own_score([Contribution("ffa", 1, 3), Contribution("ffa", 1, 1)], "ffa")
    0.5
    """
    parts = [each for each in added if each.figure == figure]
    counted = sum(each.denominator for each in parts)
    return sum(each.numerator for each in parts) / counted if counted else None


def named_errors(result: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """The words of those keys of a result that are not empty.

    >>> named_errors({"missed_count": 2, "extra_count": 0}, {"missed_count": "missed"})
    ['missed']
    """
    return [words for key, words in names.items() if result.get(key)]
