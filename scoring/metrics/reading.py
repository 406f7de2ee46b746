"""Text reading: how many of a page's words or characters a model read, whatever their order.

Both texts are split into basic units and compared as multisets. Source: CC-OCR, equations 1 and 2
(Eval-Trans), as its text reading evaluator computes them: 1e-9 is added to every denominator, so
that a perfect score falls short of 1 by some 1e-9 and nothing to read gives 0.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_EPSILON = 1e-9
_WHITE = re.compile(r"\s+")
_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class UnitRule:
    """What a basic unit is: a character or a word; of words either all or only letters and digits
    of ASCII are kept."""

    characters: bool = False
    alphanumeric: bool = False


class Overlap(NamedTuple):
    """Units of the gold, units of the prediction, and how many they share."""

    gold: int
    prediction: int
    right: int


def reading_units(text: str, rule: UnitRule) -> list[str]:
    """The basic units of a text, in lower case and in reading order; empty ones are dropped.

    `###` and `***` go first. Characters are taken without spaces.

    >>> reading_units("### Net loss:\\n$1,200", UnitRule())
    ['net', 'loss:', '$1,200']
    >>> reading_units("Net loss: $1,200", UnitRule(alphanumeric=True))
    ['net', 'loss', '1200']
    >>> reading_units("净 损失", UnitRule(characters=True))
    ['净', '损', '失']
    """
    text = text.strip().replace("\t", " ").replace("\n", " ").replace("###", "").replace("***", "")
    text = _WHITE.sub(" ", text)
    pieces: Iterable[str] = text.replace(" ", "") if rule.characters else text.split(" ")
    units = [piece.lower() for piece in pieces]
    if rule.alphanumeric:
        units = [_NOT_ALPHANUMERIC.sub("", unit) for unit in units]
    return [unit for unit in units if unit]


def unit_overlap(gold: Sequence[str], prediction: Sequence[str]) -> Overlap:
    """Sizes of two multisets of units and of what they share: Σ min(count in gold, in prediction).

    >>> unit_overlap(["a", "a", "b"], ["a", "b", "b", "c"])
    Overlap(gold=3, prediction=4, right=2)
    """
    shared = Counter(gold) & Counter(prediction)
    return Overlap(len(gold), len(prediction), shared.total())


def overlap_f1(overlap: Overlap) -> float:
    """F1 of one text, in [0, 1]; higher is better. 0 without units to read or without any read.

    >>> round(overlap_f1(Overlap(gold=4, prediction=4, right=3)), 6)
    0.75
    """
    recall = overlap.right / (overlap.gold + _EPSILON)
    precision = overlap.right / (overlap.prediction + _EPSILON)
    return 2 * recall * precision / (recall + precision + _EPSILON)


def macro_f1(scores: Sequence[float]) -> float:
    """Mean of the F1 of all texts, in [0, 1]; higher is better; 0 without texts."""
    return math.fsum(scores) / (len(scores) + _EPSILON)


def micro_f1(overlaps: Iterable[Overlap]) -> float:
    """F1 of all texts' units together, in [0, 1]; higher is better; 0 without texts.

    >>> round(micro_f1([Overlap(4, 4, 4), Overlap(4, 4, 2)]), 6)
    0.75
    """
    gold = prediction = right = 0
    for overlap in overlaps:
        gold += overlap.gold
        prediction += overlap.prediction
        right += overlap.right
    return overlap_f1(Overlap(gold, prediction, right))
