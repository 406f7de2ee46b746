"""Second readings of a fact, next to its value or in another copy of it.

A prediction that gives two different readings in one place has not read the fact: a user must
choose. Two readings may follow each other ("1,203 or 1,200", one of them in brackets or struck
through), or the page, a table or a row may be given twice with differences. A second copy without
a difference says nothing new.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .alignment import Alignment, align
from .errors import explain, is_found, similarity
from .normalise import alnum_of, digits_of
from .occurrences import FactKind, GoldFact, is_whole_value, occurrence_at
from .places import FormFinder, PlaceJudge, Span

# A second reading has at most these characters between it and the first, in so many words.
_REACH = 48
_MOST_WORDS = 5
# Words and signs between two readings of one value.
_OFFERS = re.compile(
    r"\b(?:or|and/or|either|alternatively|alternative|alt|maybe|perhaps|possibly|probably|versus|vs"
    r"|not|rather|instead|corrected?|correction|sic|aka|oder|ou|o)\b|[→⇒≈≠]|->|=>|~~",
    re.IGNORECASE,
)
# These may set a second reading apart, but are common elsewhere.
_APART = re.compile(r"[/?\[\]]")
_WORD = re.compile(r"[^ ]+")
_ALNUM = re.compile(r"[^\W_]")
_DATE = re.compile(
    r"[^\W\d_]{3,}\.? \d{1,2}(?:, ?|\s)\d{4}|\d{1,2} [^\W\d_]{3,}\.? \d{4}|[^\W\d_]{3,}\.? \d{1,4}"
    r"|\d{1,4}([/.-])\d{1,2}\1\d{1,4}|(?:19|20)\d\d"
)
_NUMBER = re.compile(r"[-+($€£¥]*\d[\d.,']*[%)]*")
_EDGE = " .,;:|\"'*=~!_[]{}<>?"
# Without an offer, a number is a second reading if it is this similar, or written in the same form.
_LEAST_ALIKE = 0.6
# Errors that leave the reading the same value.
_SAME_READING = frozenset({"", "separator", "spacing", "other"})
# How well a reading must fit a fact's place (PlaceJudge.fit) in another copy.
_SURE = 1.2
# Letters and digits that a text must have to be another copy of something.
_LEAST_COPY, _LEAST_AROUND, _NEAR = 12, 8, 50
_MOST_COPIES = 4
# Text that is searched for copies, compared with the gold, and other text before them.
_LONGEST_COPY, _MOST_NOISE = 4, 10_000


def is_reading(fact: GoldFact, text: str) -> bool:
    """Whether a text in the place of a fact is another reading of it."""
    bare = text.strip(_EDGE)
    if fact.kind == "number" and not (_NUMBER.fullmatch(bare) and _is_alike(fact.value, bare)):
        return False
    return is_found(fact.value, bare, fact.kind) and not says(fact, text)


def says(fact: GoldFact, text: str) -> bool:
    """Whether a text in the place of a fact has its value, however it is written."""
    at = text.find(fact.value)
    if at >= 0:
        occurrence = occurrence_at(text, at, at + len(fact.value))
        if is_whole_value(fact.value, fact.kind, occurrence, fact.place):
            return True
    return not differs(fact.value, text.strip(_EDGE), fact.kind)


def _has_content(text: str, kind: FactKind) -> bool:
    return bool(alnum_of(text) if kind == "text" else digits_of(text))


def _may_be_read(text: str, kind: FactKind) -> bool:
    """Whether a text has the form of a value."""
    bare = text.strip(_EDGE)
    form = {"number": _NUMBER, "date": _DATE}.get(kind)
    return form is None or bool(form.search(bare) if kind == "date" else form.fullmatch(bare))


def differs(value: str, reading: str, kind: FactKind) -> bool:
    """Whether a reading is another value, however similar.

    >>> differs("1,200", "1200", "number"), differs("1,200", "(1,200)", "number")
    (False, True)
    """
    return explain(value, reading, kind) not in _SAME_READING


class Place(NamedTuple):
    """Where a fact was read: at `span` of the prediction, within `cell` if that is known. `own` is
    its stretch of the condensed gold text. A fact `in_sentence` may be read over several lines."""

    span: Span
    own: Span
    cell: Span | None
    in_sentence: bool


class Beside:
    """Finds second readings next to a value, in the same cell or line of the prediction."""

    def __init__(
        self, text: str, alignment: Alignment, rows: NDArray[np.int64], taken: NDArray[np.bool_]
    ) -> None:
        """`rows` are those of the characters of the condensed prediction, `taken` the characters of
        the text that belong to a verdict."""
        self._text = text
        self._alignment = alignment
        self._rows = rows
        self._taken = taken

    def another(self, fact: GoldFact, place: Place) -> bool:
        """Whether there is another reading of `fact` next to its value, which is at `place`."""
        return any(
            self._has_reading(fact, list(self._free(words, place)), in_cell=bool(place.cell))
            for words in self._around(place)
        )

    def has_value(self, fact: GoldFact, place: Place) -> bool:
        """Whether the fact's value is next to another reading of it, which is at `place`."""
        return _may_be_read(self._text[slice(*place.span)], fact.kind) and any(
            self._text[start:end].strip(_EDGE).strip("()") == fact.value.strip("()")
            for words in self._around(place)
            for start, end in self._free(words, place)
        )

    def _around(self, place: Place) -> tuple[list[Span], list[Span]]:
        start, end = place.span
        low, high = place.cell or (max(0, start - _REACH), min(len(self._text), end + _REACH))
        before = [word.span() for word in _WORD.finditer(self._text, low, start)][::-1]
        return before, [word.span() for word in _WORD.finditer(self._text, end, high)]

    def _has_reading(self, fact: GoldFact, words: list[Span], *, in_cell: bool) -> bool:
        if not words:
            return False
        around = self._text[min(words)[0] : max(words)[1]]
        readings = [r for r in _readings(around, fact.kind) if differs(fact.value, r, fact.kind)]
        for reading in _readings(around, fact.kind):
            around = around.replace(reading, " ")
        if readings and _OFFERS.search(around):
            return True
        is_apart = bool(_APART.search(around)) or (in_cell and not alnum_of(around))
        return any(_is_alike(fact.value, reading, is_apart=is_apart) for reading in readings)

    def _free(self, words: Sequence[Span], place: Place) -> Iterator[Span]:
        """Yield the words from the value outwards, up to one that belongs to something else."""
        row = self._row(place.span)
        for start, end in words[:_MOST_WORDS]:
            is_beyond = not place.in_sentence and self._row((start, end)) != row
            if is_beyond or self._taken[start:end].any() or self._is_gold(start, end, place.own):
                return
            yield start, end

    def _row(self, span: Span) -> int:
        first, _ = self._alignment.prediction.span(*span)
        return int(self._rows[first]) if first < len(self._rows) else -1

    def _is_gold(self, start: int, end: int, own: Span) -> bool:
        """Whether a word is aligned with gold text other than the fact."""
        faces = self._alignment.to_gold[slice(*self._alignment.prediction.span(start, end))]
        away = (faces >= 0) & ((faces < own[0]) | (faces >= own[1]))
        return 2 * int(away.sum()) > len(faces)


def _is_alike(value: str, reading: str, *, is_apart: bool = False) -> bool:
    """Whether a number or date may be a reading of a value: similar digits or, if it `is_apart`, as
    many; or the same form."""
    own, other = digits_of(value), digits_of(reading)
    if len(own) == 1:
        return _form(value) == _form(reading)
    if _form(value.strip("()")) == _form(reading.strip("()")):
        return True
    is_long = len(own) == len(other) if is_apart else abs(len(own) - len(other)) <= 1
    return is_long and (is_apart or similarity(own, other) >= _LEAST_ALIKE)


def _form(text: str) -> str:
    return re.sub(r"\d", "0", text)


def _readings(text: str, kind: FactKind) -> Iterator[str]:
    if kind == "date":
        yield from (match.group() for match in _DATE.finditer(text))
        return
    for word in text.split():
        bare = word.replace("~~", "").strip(_EDGE)
        if kind == "text" or _NUMBER.fullmatch(bare):
            yield bare
        elif not any(map(str.isalpha, bare)):
            yield from (match.group() for match in _NUMBER.finditer(bare))


class Occurring:
    """How often gold and prediction have a text: what the page itself says elsewhere is no second
    reading of a fact, unless the prediction has it more often."""

    def __init__(self, gold: str, prediction: str) -> None:
        self._texts = gold, prediction
        self._known: dict[str, bool] = {}

    def is_more(self, text: str) -> bool:
        """Whether the prediction has a text more often than the gold."""
        if text not in self._known:
            whole = re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])")
            own, read = (len(whole.findall(each)) for each in self._texts)
            self._known[text] = read > own
        return self._known[text]


@dataclass(frozen=True)
class Reading:
    """The text in a fact's place in another copy: `is_value` is whether it is the fact's value."""

    n: int
    is_value: bool


def in_other_copies(
    gold: str,
    text: str,
    alignment: Alignment,
    facts: Collection[GoldFact],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Iterator[Reading]:
    """Yield the readings of `facts` in the parts of a prediction that the alignment left over, as
    far as these are another copy of gold text.

    `rows` are those of the characters of both normalised texts.
    """
    values = {fact.value for fact in facts}
    known = Occurring(gold, text)
    seen = alignment.to_prediction >= 0
    left = np.ones(len(text), dtype=bool)
    for _ in range(_MOST_COPIES):
        left[alignment.prediction.places[alignment.to_gold >= 0]] = False
        text, kept = _left_over(text, left, most=_LONGEST_COPY * len(gold) + _MOST_NOISE)
        if len(alnum_of(text)) < _LEAST_COPY:
            return
        rows = rows[0], rows[1][kept]
        alignment = align(gold, text)
        judge = PlaceJudge(
            alignment,
            rows[0][alignment.gold.places],
            rows[1][alignment.prediction.places],
        )
        finder = FormFinder(text, alignment, np.zeros(len(text), dtype=bool), values)
        for fact in facts:
            form = finder.in_place(fact)
            if form is None or not _has_content(text[slice(*form)], fact.kind):
                continue
            own = alignment.gold.span(fact.place.start, fact.place.end)
            fit = judge.fit(own, [alignment.prediction.span(*form)])
            at = alignment.prediction.span(*form)
            reading = text[slice(*form)].strip(_EDGE)
            is_value = says(fact, reading)
            if not is_value and (
                reading in values
                or not _may_be_read(reading, fact.kind)
                or not known.is_more(reading)
            ):
                continue
            sure = judge.surely_same & seen[alignment.to_gold]
            if fit[0] >= _SURE and _is_copy(alignment, sure, own, at):
                yield Reading(fact.n, is_value)
        if not (alignment.to_gold >= 0).any():
            return
        seen |= alignment.to_prediction >= 0
        left = np.ones(len(text), dtype=bool)


def _is_copy(alignment: Alignment, sure: NDArray[np.bool_], own: Span, at: Span) -> bool:
    """Whether there is enough of the gold text around a fact, at `own`, around a place of the
    prediction."""
    low, high = max(0, at[0] - _NEAR), at[1] + _NEAR
    faces = alignment.to_gold[low:high]
    near = sure[low:high] & (abs(faces - own[0]) <= 2 * _NEAR)
    near[at[0] - low : at[1] - low] = False
    gold = alignment.gold.chars
    return sum(gold[face].isalpha() for face in faces[near].tolist()) >= _LEAST_AROUND


def _left_over(text: str, left: NDArray[np.bool_], most: int) -> tuple[str, NDArray[np.int64]]:
    """Return the words of which most is left, and the place of each character; `most` at most."""
    counts = np.concatenate(([0], np.cumsum(left))).tolist()
    keep = np.zeros(len(text) + 1, dtype=bool)
    for word in _WORD.finditer(text):
        start, end = word.span()
        if 2 * (counts[end] - counts[start]) > end - start and _ALNUM.search(text, start, end):
            keep[start : end + 1] = True
    places = np.flatnonzero(keep)[:most]
    ended = f"{text} "
    return "".join(map(ended.__getitem__, places.tolist())), np.minimum(places, len(text) - 1)
