"""Aligns a gold text with a prediction, character by character, through words, numbers and moved
blocks.

Three passes, each in the gaps that the one before left: anchors (see `anchors`), then words and
numbers one by one (a word may be misspelt, a number may have another number in its place), then
single characters. The words decide: labels weigh by their letters, a number little, so that a
number which slipped into another row faces the number of that row.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from .anchors import Anchor, find_anchors
from .condense import Condensed, condense
from .lookalikes import as_digits

# How far an alignment of single words goes; larger gaps, which only unrelated or huge texts
# leave, are aligned by characters alone.
_MOST_WORD_PAIRS = 4_000_000
_TAIL = 80
_LEAST_WORD_SIMILARITY = 0.5
_MOST_WORD_WEIGHT = 12.0
_SAME_NUMBER = 2.0
_SKIPPED_NUMBER = 0.5
_SKIPPED_WORD = 0.1
_SHORT = 4


@dataclass(frozen=True, eq=False)
class Alignment:
    """Which characters of two condensed texts face each other.

    `to_gold[p]` is the gold character that character `p` of the prediction faces, or -1;
    `to_prediction` the other way round. `same[p]` tells whether the two are equal.
    """

    gold: Condensed
    prediction: Condensed
    to_gold: NDArray[np.int64]
    to_prediction: NDArray[np.int64]
    same: NDArray[np.bool_]


def align(gold: str, prediction: str) -> Alignment:
    """Aligns two normalised texts. Deterministic; time grows with the product of unrelated
    stretches only."""
    aligner = _Aligner(condense(gold), condense(prediction))
    aligner.run()
    return Alignment(
        aligner.gold,
        aligner.prediction,
        aligner.to_gold,
        aligner.to_prediction,
        aligner.same,
    )


class _Aligner:
    def __init__(self, gold: Condensed, prediction: Condensed) -> None:
        self.gold = gold
        self.prediction = prediction
        self.to_gold = np.full(len(prediction.chars), -1, dtype=np.int64)
        self.to_prediction = np.full(len(gold.chars), -1, dtype=np.int64)
        self.same = np.zeros(len(prediction.chars), dtype=bool)

    def run(self) -> None:
        sequences = self._anchors()
        for sequence in sequences:
            for anchor in sequence:
                self._face(anchor.gold, anchor.prediction, anchor.length)
        # Moved sequences first: what they do not claim belongs to the main one.
        for sequence in sequences[1:]:
            for before, after in pairwise(sequence):
                self._gap(_end_gold(before), after.gold, _end_prediction(before), after.prediction)
            self._tail(sequence[-1])
        main = sequences[0] if sequences else []
        end = Anchor(len(self.gold.chars), len(self.prediction.chars), 0)
        for before, after in zip([Anchor(0, 0, 0), *main], [*main, end], strict=True):
            self._gap(_end_gold(before), after.gold, _end_prediction(before), after.prediction)

    def _anchors(self) -> list[list[Anchor]]:
        """The anchors, none of which begins or ends inside a number of either text.

        The equal beginnings of two numbers say nothing of whether they face each other.
        """
        gold, prediction = self.gold.number_bounds(), self.prediction.number_bounds()
        sequences = []
        for sequence in find_anchors(self.gold.chars, self.prediction.chars):
            whole = [_without_parts(anchor, gold, prediction) for anchor in sequence]
            if kept := [anchor for anchor in whole if anchor.length > 0]:
                sequences.append(kept)
        return sequences

    def _face(self, gold: int, prediction: int, length: int) -> None:
        self.to_gold[prediction : prediction + length] = np.arange(gold, gold + length)
        self.to_prediction[gold : gold + length] = np.arange(prediction, prediction + length)
        self.same[prediction : prediction + length] = True

    def _tail(self, last: Anchor) -> None:
        """Aligns what follows a moved sequence: the values behind its last label."""
        free_gold = _run_length(self.to_prediction, _end_gold(last))
        free_prediction = _run_length(self.to_gold, _end_prediction(last))
        if min(free_gold, free_prediction) < _TAIL:
            g, p = _end_gold(last), _end_prediction(last)
            length = min(free_gold, free_prediction)
            self._gap(g, g + length, p, p + length)

    def _gap(self, g0: int, g1: int, p0: int, p1: int) -> None:
        """Aligns gold `[g0, g1)` with prediction `[p0, p1)` as far as both are free."""
        free_g = g0 + np.flatnonzero(self.to_prediction[g0:g1] < 0)
        free_p = p0 + np.flatnonzero(self.to_gold[p0:p1] < 0)
        if not len(free_g) or not len(free_p):
            return
        end = (slice(len(free_g), len(free_g)), slice(len(free_p), len(free_p)))
        done_g = done_p = 0
        for in_g, in_p in [*self._words(free_g, free_p), end]:
            self._characters(free_g[done_g : in_g.start], free_p[done_p : in_p.start])
            self._characters(free_g[in_g], free_p[in_p])
            done_g, done_p = in_g.stop, in_p.stop

    def _words(
        self, free_g: NDArray[np.int64], free_p: NDArray[np.int64]
    ) -> list[tuple[slice, slice]]:
        """Pairs of words that face each other, as slices of the free characters."""
        gold = _free_words(self.gold, free_g)
        prediction = _free_words(self.prediction, free_p) if gold else []
        if not prediction or len(gold) * len(prediction) > _MOST_WORD_PAIRS:
            return []
        pairs = _align_words([word for word, _ in gold], [word for word, _ in prediction])
        return [(gold[i][1], prediction[j][1]) for i, j in pairs]

    def _characters(self, free_g: NDArray[np.int64], free_p: NDArray[np.int64]) -> None:
        if not len(free_g) or not len(free_p):
            return
        gold = "".join(self.gold.chars[g] for g in free_g)
        prediction = "".join(self.prediction.chars[p] for p in free_p)
        for op in Levenshtein.opcodes(gold, prediction):
            if op.tag in {"equal", "replace"}:
                g = free_g[op.src_start : op.src_end]
                p = free_p[op.dest_start : op.dest_end]
                self.to_gold[p] = g
                self.to_prediction[g] = p
                self.same[p] = op.tag == "equal"


def _without_parts(
    anchor: Anchor,
    gold: tuple[NDArray[np.int64], NDArray[np.int64]],
    prediction: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Anchor:
    """The anchor without the parts of numbers at its ends; the bounds as of `number_bounds`."""
    g, p, end = anchor.gold, anchor.prediction, anchor.length
    end -= max(g + end - int(gold[0][g + end]), p + end - int(prediction[0][p + end]), 0)
    start = max(
        int(gold[1][g]) - g if gold[0][g] < g else 0,
        int(prediction[1][p]) - p if prediction[0][p] < p else 0,
    )
    return Anchor(g + start, p + start, end - start)


def _end_gold(anchor: Anchor) -> int:
    return anchor.gold + anchor.length


def _end_prediction(anchor: Anchor) -> int:
    return anchor.prediction + anchor.length


def _run_length(faces: NDArray[np.int64], start: int) -> int:
    """How many characters from `start` on face nothing yet, up to _TAIL."""
    taken = np.flatnonzero(faces[start : start + _TAIL] >= 0)
    return int(taken[0]) if len(taken) else len(faces[start : start + _TAIL])


def _free_words(text: Condensed, free: NDArray[np.int64]) -> list[tuple[str, slice]]:
    """The words all of whose characters are free, with their slices of `free`."""
    first = int(np.searchsorted(text.starts, free[0], side="right")) - 1
    last = int(np.searchsorted(text.starts, free[-1], side="right")) - 1
    starts = text.starts[first : last + 2]
    at = np.searchsorted(free, starts)
    counts = np.diff(at)
    whole = np.flatnonzero(counts == np.diff(starts))
    return [(text.words[first + k], slice(int(at[k]), int(at[k + 1]))) for k in whole]


def _align_words(gold: list[str], prediction: list[str]) -> list[tuple[int, int]]:
    """The best monotone pairing of words (Needleman-Wunsch), as index pairs."""
    scores = _pair_scores(gold, prediction)
    skip_gold = np.array([_skip_cost(word) for word in gold])
    skip_prediction = np.concatenate(([0.0], np.cumsum([_skip_cost(word) for word in prediction])))
    best = -skip_prediction
    paired = np.zeros((len(gold), len(prediction)), dtype=bool)
    carried = np.zeros((len(gold), len(prediction)), dtype=bool)
    for i in range(len(gold)):
        down = best - skip_gold[i]
        diagonal = best[:-1] + scores[i]
        paired[i] = diagonal > down[1:]
        reached = np.concatenate((down[:1], np.maximum(down[1:], diagonal)))
        # A step to the right costs the skipped word, so the best one before is found by a running
        # maximum.
        best = np.maximum.accumulate(reached + skip_prediction) - skip_prediction
        carried[i] = best[1:] > reached[1:] + 1e-9
    return _trace(paired, carried)


def _trace(paired: NDArray[np.bool_], carried: NDArray[np.bool_]) -> list[tuple[int, int]]:
    i, j = paired.shape[0] - 1, paired.shape[1] - 1
    pairs: list[tuple[int, int]] = []
    while i >= 0 and j >= 0:
        if carried[i, j]:
            j -= 1
        elif paired[i, j]:
            pairs.append((i, j))
            i -= 1
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


def _pair_scores(gold: list[str], prediction: list[str]) -> NDArray[np.float32]:
    """What facing each other is worth to two words; minus infinity where they have nothing in
    common."""
    read = [_as_number(word) for word in prediction]
    similarity = cdist(gold, read, scorer=Levenshtein.normalized_similarity, dtype=np.float32)
    is_number_g = np.array([_has_digit(word) for word in gold])[:, None]
    is_number_p = np.array([_has_digit(word) for word in read])[None, :]
    weight = np.array(
        [min(sum(map(str.isalpha, word)), _MOST_WORD_WEIGHT) for word in gold], dtype=np.float32
    )[:, None]
    as_words = np.where(
        similarity >= _LEAST_WORD_SIMILARITY, (weight + 0.5) * (2 * similarity - 0.9), -np.inf
    )
    as_numbers = np.where(similarity == 1, _SAME_NUMBER, 0.2 + similarity)
    as_mixed = np.where(similarity >= 0.4, similarity, -np.inf)
    both = is_number_g & is_number_p
    neither = ~is_number_g & ~is_number_p
    scores: NDArray[np.float32] = np.where(both, as_numbers, np.where(neither, as_words, as_mixed))
    return scores


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _as_number(word: str) -> str:
    """A word with digits, or a short one of look-alikes, as a number; any other as it is."""
    is_number = _has_digit(word) or (len(word) <= _SHORT and not word.isalpha())
    return as_digits(word) if is_number else word


def _skip_cost(word: str) -> float:
    return _SKIPPED_NUMBER if _has_digit(word) else _SKIPPED_WORD
