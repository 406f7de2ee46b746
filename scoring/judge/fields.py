"""Questions whether two values of a field mean the same.

Comparing receipts is pure, and asking is not. A first comparison with a judge that only records
pairs collects the questions. A second one uses the answers as the judge. The pairs do not depend on
the answers.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scoring.metrics.receipts import FIELDS as RULES
from scoring.metrics.receipts import Protocol, compare_field

from .questions import FIELDS, FieldAnswer, Prompt, Question

_MOST_OUTPUT = 200
# A reading with the same meaning is never that much longer than the reference, but an attempt to
# instruct the judge is.
_TIMES, _CHARACTERS = 4, 60


class Pair(NamedTuple):
    """Two values of a field, normalised, that are not equal."""

    field: str
    gold: str
    prediction: str

    @property
    def is_hopeless(self) -> bool:
        """Whether the reading is too long to mean the same, so that the judge is not asked."""
        return len(self.prediction) > _TIMES * len(self.gold) + _CHARACTERS


class Verdicts:
    """Answers as the judge of a protocol: deterministic and picklable."""

    def __init__(self, same: Mapping[Pair, bool]) -> None:
        self._same = dict(same)

    def __call__(self, field: str, gold: str, prediction: str) -> bool:
        """Raises KeyError for an unknown pair."""
        pair = Pair(field, gold, prediction)
        return not pair.is_hopeless and self._same[pair]


def pairs_of(gold: Mapping[str, Any], prediction: Mapping[str, Any]) -> list[Pair]:
    """The distinct pairs that a judge decides when these receipts are compared."""
    noted: dict[Pair, None] = {}

    def note(field: str, first: str, second: str) -> bool:
        pair = Pair(field, first, second)
        if not pair.is_hopeless:
            noted[pair] = None
        return False

    for rule in RULES:
        if rule.kind == "semantic":
            values = gold.get(rule.name), prediction.get(rule.name)
            compare_field(rule, *values, Protocol(judge=note))
    return list(noted)


def field_question(pair: Pair, prompt: Prompt = FIELDS) -> Question[FieldAnswer]:
    sections = {"FIELD": pair.field, "REFERENCE": pair.gold, "READING": pair.prediction}
    return Question(prompt, FieldAnswer, sections, _MOST_OUTPUT)
