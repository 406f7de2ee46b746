"""What a page adds to the figures that have an interval."""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.benchmarks.contributions import Combined, Contribution
from scoring.metrics.text import general_score

from .labels import FIRST_FFA, accuracy_of, first_labels
from .matchers import PAGE_SCORES, beside_key

_TEXT = ("r1", "rl", "edit_distance")

COMBINED = {"general": Combined(_TEXT, general_score)}


def contributions(result: Mapping[str, Any], options: Mapping[str, str]) -> Iterator[Contribution]:
    if result["missing"] and options["missing"] == "skip":
        return
    for key in _TEXT:
        yield Contribution(key, result["text"][key])
    first = first_labels(dict(options))
    for label, counts in result["types"].items():
        for figure in (accuracy_of(label)[0], "ffa", *([FIRST_FFA] if label in first else [])):
            yield Contribution(figure, counts["correct"], counts["facts"])
    for matcher, correct in result.get("beside", {}).items():
        yield Contribution(beside_key(matcher), len(correct), len(result["facts"]))
    for figure, value in page_scores(result).items():
        yield Contribution(figure, value)


def page_scores(result: Mapping[str, Any]) -> dict[str, float]:
    """What a judge says of the whole page, where one was asked; nothing is said of the overall
    score of a page without facts."""
    said = result.get("judge", {})
    found = {figure: said.get(name) for figure, name in PAGE_SCORES.items()}
    return {figure: value for figure, value in found.items() if value is not None}
