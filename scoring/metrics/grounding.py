"""Text grounding: are the words read where they stand?

Source: CC-OCR, equations 3 and 4 (Eval-Pos), after Y. Liu et al., SPTS v2, TPAMI 2023, and
TextMonkey, 2024.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .limits import TooLargeError
from .reading import UnitRule, reading_units

# Coordinates are pixels or shares of a page; beyond this they are no place on one.
_LARGEST = 1e9
# Pairs of words of gold and prediction; a page has some hundred words.
MOST_PAIRS = 4_000_000
# Words of the prediction whose distances are computed at a time.
_ROWS = 256


@dataclass(frozen=True)
class Word:
    """A word and the centre of where it stands; how sure the model was, if it says so."""

    text: str
    centre: tuple[float, float]
    confidence: float | None = None


@dataclass(frozen=True)
class Matches:
    """Words read right in their place, words that only the prediction has, and only the gold."""

    tp: int
    fp: int
    fn: int


def word_of(entry: Any) -> Word | None:
    """The word in `{"text", "point": [x, y]}` or `{"text", "box": [x1, y1, x2, y2]}`, with an
    optional `confidence`; None if it is none.

    >>> word_of({"text": "Total", "box": [10, 20, 30, 24]})
    Word(text='Total', centre=(20.0, 22.0), confidence=None)
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        return None
    point, box = _coordinates(entry.get("point"), 2), _coordinates(entry.get("box"), 4)
    if point:
        centre = (point[0], point[1])
    elif box:
        centre = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    else:
        return None
    confidence: Any = entry.get("confidence")
    return Word(entry["text"], centre, float(confidence) if _is_number(confidence) else None)


def _coordinates(value: Any, count: int) -> list[float]:
    """The numbers of a point or box; empty if it is none."""
    if not isinstance(value, list) or len(value) != count or not all(map(_is_number, value)):
        return []
    return [float(number) for number in value]


def _is_number(value: Any) -> bool:
    """Whether this is a number within reason; NaN and infinities are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def check_words(gold: int, prediction: int) -> None:
    """Raises TooLargeError if so many words are not matched."""
    if gold * prediction > MOST_PAIRS:
        raise TooLargeError(f"{gold:,} and {prediction:,} words are not compared")


def match_words(gold: Sequence[Word], prediction: Sequence[Word], rule: UnitRule) -> Matches:
    """Which words were read right in their place.

    Each word of the prediction goes to the gold word with the nearest centre. Of several at one
    gold word the most confident is kept, of equally confident ones (or without confidences) the
    nearest. It is right if the two have the same units by the rule of text reading. Where several
    gold words are equally near, one with the same text is taken that no other has. The order of
    words changes nothing. Raises TooLargeError beyond MOST_PAIRS.

    >>> words = [Word("Net", (0.0, 0.0)), Word("loss", (9.0, 0.0))]
    >>> match_words(words, [Word("net", (1.0, 0.0)), Word("gain", (8.0, 0.0))], UnitRule())
    Matches(tp=1, fp=1, fn=1)
    """
    if not gold or not prediction:
        return Matches(0, len(prediction), len(gold))
    check_words(len(gold), len(prediction))
    targets = sorted(gold, key=lambda word: (word.centre, word.text))
    nearest, distances = _nearest(targets, prediction)
    order = sorted(
        range(len(prediction)),
        key=lambda number: (
            -_confidence(prediction[number]),
            distances[number],
            prediction[number].text,
            prediction[number].centre,
        ),
    )
    keys = [_key(word, rule) for word in targets]
    taken: set[int] = set()
    right = 0
    for number in order:
        key = _key(prediction[number], rule)
        choices = nearest[number]
        same = [choice for choice in choices if keys[choice] == key and choice not in taken]
        target = same[0] if same else choices[0]
        if target not in taken:
            taken.add(target)
            right += keys[target] == key
    return Matches(right, len(prediction) - right, len(gold) - right)


def _confidence(word: Word) -> float:
    return -math.inf if word.confidence is None else word.confidence


def _key(word: Word, rule: UnitRule) -> tuple[str, ...]:
    """What two words must share; a word without units stands for itself."""
    return tuple(reading_units(word.text, rule)) or ("", word.text.strip())


def _nearest(
    gold: Sequence[Word], prediction: Sequence[Word]
) -> tuple[list[list[int]], list[float]]:
    """For each word of the prediction the positions of the nearest gold words, and how far."""
    targets = np.array([word.centre for word in gold])
    places = np.array([word.centre for word in prediction])
    nearest: list[list[int]] = []
    distances: list[float] = []
    for start in range(0, len(places), _ROWS):
        squares: NDArray[np.float64] = (
            (places[start : start + _ROWS, None, :] - targets[None, :, :]) ** 2
        ).sum(axis=2)
        least = squares.min(axis=1)
        nearest += [
            np.flatnonzero(row == low).tolist() for row, low in zip(squares, least, strict=True)
        ]
        distances += least.tolist()
    return nearest, distances


def grounding_f1(tp: int, fp: int, fn: int) -> float:
    """F1 of the words of one image or of all, in [0, 1]; higher is better.

    2·TP / (2·TP + FP + FN). No words in gold and prediction: 1.

    >>> grounding_f1(3, 1, 1)
    0.75
    """
    words = 2 * tp + fp + fn
    return 2 * tp / words if words else 1.0
