"""Reading text: a model's output compared with the words of a page, as in CC-OCR.

First, code fences around an answer and the preamble of a LaTeX document are removed. The published
evaluators use regular expressions that take quadratic time and more on hostile text; this module
takes one pass over the text.

Then the metrics. Documents in LaTeX, formulas and molecules are scored by normalised edit
similarity: 1 - Levenshtein distance over characters / length of the longer text, in [0, 1], higher
is better, two empty texts: 1 (equation 5, and its parsing evaluator, which cleans the response but
removes only spaces and, in documents, newlines from the gold). Words or characters, in any order,
are scored as multisets of basic units (equations 1 and 2, Eval-Trans: 1e-9 is added to every
denominator, so that a perfect score is about 1e-9 below 1 and nothing to read gives 0). Repetition:
whether a model repeats itself (appendix A.3.4). Grounding: whether the words are read at their
positions (equations 3 and 4, Eval-Pos, after Y. Liu et al., SPTS v2, TPAMI 2023, and TextMonkey,
2024).
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from scoring.metrics import Strict, TooLargeError, check_characters

_FENCE = "```"

# The opening of each command, and the marks that follow it. The command ends with the last mark, on
# the same line.
_PREAMBLE = (
    (r"\documentclass{", ("}",)),
    (r"\usepackage[", ("]{", "}")),
    (r"\usepackage{", ("}",)),
    (r"\geometry{", ("}",)),
    (r"\begin{document}", ()),
    (r"\end{document}", ()),
    (r"\noindent", ()),
)


def fenced(text: str, language: str) -> str:
    """Return the content of the first code fence of a language, or the whole text without one.

    An unclosed fence holds everything after it. Source: CC-OCR's parsing evaluator.

    >>> fenced("Here: ```html <p>1</p>``` done", "html")
    ' <p>1</p>'
    >>> fenced("```html <p>1</p>", "html")
    ' <p>1</p>'
    """
    opening = _FENCE + language
    start = text.find(opening)
    if start < 0:
        return text
    start += len(opening)
    # A fence has at least one character inside.
    end = text.find(_FENCE, start + 1)
    return text[start:end] if end >= 0 else text[start:].split(opening)[0]


def without_preamble(text: str) -> str:
    r"""Remove the commands of a LaTeX preamble, `\begin{document}` and `\noindent`.

    Source: CC-OCR's parsing evaluator.

    >>> without_preamble("\\documentclass{article}\\usepackage[utf8]{inputenc}\\noindent Net loss")
    ' Net loss'
    """
    for opening, marks in _PREAMBLE:
        if not marks:
            text = text.replace(opening, "")
        elif opening in text:
            text = "\n".join(_without(line, opening, marks) for line in text.split("\n"))
    return text


def _without(line: str, opening: str, marks: tuple[str, ...]) -> str:
    """Remove everything from each opening to the last of the marks after it."""
    kept = []
    position = 0
    while (start := line.find(opening, position)) >= 0:
        end = _end_of(line, start + len(opening), marks)
        if end < 0:
            break
        kept.append(line[position:start])
        position = end
    return "".join([*kept, line[position:]])


def _end_of(line: str, position: int, marks: tuple[str, ...]) -> int:
    """Return the end of the last mark, searching for each after the one before; -1 if one is
    missing."""
    for mark in marks:
        start = line.find(mark, position)
        if start < 0:
            return -1
        position = start + len(mark)
    return position


_SPACES = str.maketrans("", "", " ")
_LINES = str.maketrans("", "", " \n")
_WHITE_MARKS = str.maketrans("", "", " \n\t")


def similarity(gold: str, prediction: str) -> float:
    """1 - Levenshtein distance / longer length, in [0, 1]; higher is better.

    Raises TooLargeError.

    >>> similarity("a+b", "a-b")
    0.6666666666666667
    """
    check_characters(len(gold), len(prediction))
    return 1.0 - Levenshtein.normalized_distance(gold, prediction)


def document_score(gold: str, response: str) -> float:
    """Similarity of a page in LaTeX, without preamble, code fence, spaces and newlines.

    >>> document_score("Net loss", "```latex\\n\\\\documentclass{article}\\nNet loss\\n```")
    1.0
    """
    prediction = fenced(without_preamble(response), "latex")
    return similarity(gold.translate(_LINES), prediction.translate(_LINES))


def formula_score(gold: str, response: str) -> float:
    """Similarity of a formula in LaTeX, without code fence, spaces, tabs and newlines.

    >>> formula_score("x^2", "```latex x^ 2```")
    1.0
    """
    prediction = response.replace("```latex", "").replace("```", "").translate(_WHITE_MARKS)
    return similarity(gold.translate(_SPACES), prediction)


def molecule_score(gold: str, response: str) -> float:
    """Similarity of a molecule in SMILES, without spaces, newlines and `<smiles>` tags.

    >>> molecule_score("CC(=O)O", "<smiles>CC(=O)O</smiles>")
    1.0
    """
    prediction = response.translate(_LINES).replace("<smiles>", "").replace("</smiles>", "")
    return similarity(gold.translate(_SPACES), prediction)


_EPSILON = 1e-9
_WHITE = re.compile(r"\s+")
_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class UnitRule:
    """The definition of a basic unit: a character or a word. Words keep either all characters or
    only ASCII letters and digits."""

    characters: bool = False
    alphanumeric: bool = False


class Overlap(NamedTuple):
    """Units of the gold, units of the prediction, and how many they share."""

    gold: int
    prediction: int
    right: int


def reading_units(text: str, rule: UnitRule) -> list[str]:
    """Return the basic units of a text, in lower case and in reading order, without empty ones.

    `###` and `***` are removed first. Spaces are not characters.

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
    """Return the sizes of two multisets of units and of their overlap: Σ min(count in gold, in
    prediction).

    >>> unit_overlap(["a", "a", "b"], ["a", "b", "b", "c"])
    Overlap(gold=3, prediction=4, right=2)
    """
    shared = Counter(gold) & Counter(prediction)
    return Overlap(len(gold), len(prediction), shared.total())


def overlap_f1(overlap: Overlap) -> float:
    """F1 of one text, in [0, 1]; higher is better. 0 without units in the gold or in the
    prediction.

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


# A unit repeated more often than this in a row is a run …
MOST_TIMES = 5
# … and an output is repetitive if a run is a larger share of it than this.
MOST_OF_OUTPUT = 0.25


def is_repetitive(text: str) -> bool:
    """Whether one unit occurs more than MOST_TIMES times in a row and makes up more than
    MOST_OF_OUTPUT of the text, by characters.

    A unit is any stretch of characters: a word, a line, a row of a table. White space counts as one
    space, and not at all around the text and behind the last copy. Linear time. Source: CC-OCR,
    appendix A.3.4.

    >>> is_repetitive("no no no no no no"), is_repetitive("no no no no no")
    (True, False)
    >>> is_repetitive("收据" * 6), is_repetitive("Net loss\\n" * 6), is_repetitive("1 2 3 4 5 6")
    (True, True, False)
    """
    spaced = " ".join(text.split()) + " "
    codes = np.frombuffer(spaced.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    for period in _periods(spaced):
        start, end = _longest_stretch(codes[period:] == codes[:-period])
        times = (end - start) // period + 1
        length = times * period - (" " in spaced[start : start + period])
        if times > MOST_TIMES and length > MOST_OF_OUTPUT * (len(spaced) - 1):
            return True
    return False


def _periods(spaced: str) -> set[int]:
    """Return candidates for the period of a run, among them that of every run that is long enough.

    For runs of `least` to 2·least - 1 characters the text is cut into blocks. A run contains a
    whole block and the block's next copy, one period later; since no block is shorter than the
    period, nothing equals it in between.
    """
    periods = set()
    least = int(MOST_OF_OUTPUT * (len(spaced) - 1)) + 1
    while least <= len(spaced):
        longest = (2 * least - 1) // (MOST_TIMES + 1)
        size = (-(-5 * least // 6) + 1) // 2
        for start in range(0, len(spaced) - size + 1, size):
            end = start + size
            at = spaced.find(spaced[start:end], start + 1, end + longest)
            if at >= 0:
                periods.add(at - start)
        least *= 2
    return periods


def _longest_stretch(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the longest stretch `[start, end)` of true flags, the first of equally long ones."""
    breaks = np.concatenate(([-1], np.flatnonzero(~flags), [len(flags)]))
    longest = int(np.diff(breaks).argmax())
    return int(breaks[longest]) + 1, int(breaks[longest + 1])


# Coordinates are pixels or shares of a page; larger values cannot be a place on a page.
_LARGEST = 1e9
# Pairs of words of gold and prediction; a page has some hundred words.
MOST_PAIRS = 4_000_000
# Words of the prediction whose distances are computed at a time.
_ROWS = 256


@dataclass(frozen=True)
class Word:
    """A word, its centre, and the model's confidence if given."""

    text: str
    centre: tuple[float, float]
    confidence: float | None = None


@dataclass(frozen=True)
class Matches:
    """Words read correctly in their place, words that only the prediction has, and words that only
    the gold has. `extra` of `fp` are not the one word that is compared with a gold word."""

    tp: int
    fp: int
    fn: int
    extra: int


def word_of(entry: Any) -> Word | None:
    """Read a word from `{"text", "point": [x, y]}` or `{"text", "box": [x1, y1, x2, y2]}`, with an
    optional `confidence`; None if invalid.

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
    """Return the numbers of a point or box; empty if invalid."""
    if not isinstance(value, list) or len(value) != count or not all(map(_is_number, value)):
        return []
    return [float(number) for number in value]


def _is_number(value: Any) -> bool:
    """Whether this is a finite number of a plausible size."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def check_words(gold: int, prediction: int) -> None:
    """Raise TooLargeError if there are too many words to match."""
    if gold * prediction > MOST_PAIRS:
        raise TooLargeError(f"{gold:,} and {prediction:,} words are not compared")


def match_words(gold: Sequence[Word], prediction: Sequence[Word], rule: UnitRule) -> Matches:
    """Count the words that were read correctly in their place.

    Each word of the prediction goes to the gold word with the nearest centre. Of several at one
    gold word the most confident is kept; of equally confident ones (or without confidences) the
    nearest. It is correct if the two have the same units by the rule of text reading. If several
    gold words are equally near, one with the same text that no other word has is taken. The order
    of words changes nothing. Raises TooLargeError beyond MOST_PAIRS.

    >>> words = [Word("Net", (0.0, 0.0)), Word("loss", (9.0, 0.0))]
    >>> match_words(words, [Word("net", (1.0, 0.0)), Word("gain", (8.0, 0.0))], UnitRule())
    Matches(tp=1, fp=1, fn=1, extra=0)
    """
    if not gold or not prediction:
        return Matches(0, len(prediction), len(gold), len(prediction))
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
    matched: set[int] = set()
    right = 0
    for number in order:
        key = _key(prediction[number], rule)
        choices = nearest[number]
        same = [choice for choice in choices if keys[choice] == key and choice not in matched]
        target = same[0] if same else choices[0]
        if target not in matched:
            matched.add(target)
            right += keys[target] == key
    extra = len(prediction) - len(matched)
    return Matches(right, len(prediction) - right, len(gold) - right, extra)


def _confidence(word: Word) -> float:
    return -math.inf if word.confidence is None else word.confidence


def _key(word: Word, rule: UnitRule) -> tuple[str, ...]:
    """Return what two words must share. A word without units is compared as it is."""
    return tuple(reading_units(word.text, rule)) or ("", word.text.strip())


def _nearest(
    gold: Sequence[Word], prediction: Sequence[Word]
) -> tuple[list[list[int]], list[float]]:
    """Return the positions of the nearest gold words for each word of the prediction, and their
    distance."""
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


def grounding_f1(counts: Strict) -> float:
    """F1 of the words of one image or of all, in [0, 1]; higher is better.

    2·TP / (2·TP + FP + FN). No words in gold and prediction: 1.

    >>> grounding_f1(Strict(right=6, counted=8))
    0.75
    """
    return counts.right / counts.counted if counts.counted else 1.0
