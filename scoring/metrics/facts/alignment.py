"""Aligns a gold text with a prediction, character by character, through words, numbers and moved
blocks.

Works in three passes, each in the gaps that the previous one left: anchors, then words and numbers
one by one (a word may be misspelt, a number may have another number in its place), then single
characters. Words decide: labels are weighted by their alphabetic characters and numbers little, so
that a number that slipped into another row is aligned with the number of that row.

Anchors are stretches that both texts share exactly, wherever they are. Both texts come without
spaces and in lower case, so that lost spaces cost nothing. Only stretches with words can be
anchors: a number in another row must not pull that row along. The heaviest sequence of anchors in
common order is taken first, then the remaining ones in further sequences; so a paragraph or table
that moved as a whole is found in its new place.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from .normalise import Condensed, as_digits, condense

_SEED = 8  # characters; at least _SEED_LETTERS of them alphabetic
_SEED_LETTERS = 5
_BASE = np.uint64(1_000_003)
# More frequent seeds say little and cost much (headers repeated on every page, dot leaders).
_MOST_REPEATS = 8
_MOST_ANCHORS = 4000
# A sequence of leftover anchors needs this many alphabetic characters to count as moved text.
_MOVED_LETTERS = 10
_MOVED_GAP = 200
_MOST_SEQUENCES = 60
# Number of anchors compared at a time with all before them.
_BLOCK = 64


@dataclass(frozen=True)
class Anchor:
    """`length` characters that are equal from `gold` and from `prediction` on."""

    gold: int
    prediction: int
    length: int


def find_anchors(gold: str, prediction: str) -> list[list[Anchor]]:
    """Return sequences of anchors, heaviest first. Within a sequence both positions increase and no
    anchors overlap."""
    letters = [0, *accumulate(map(str.isalpha, gold))]
    pool = _matches(gold, prediction, letters)
    sequences: list[list[Anchor]] = []
    free_gold = np.ones(len(gold) + 1, dtype=bool)
    free_prediction = np.ones(len(prediction) + 1, dtype=bool)
    while pool and len(sequences) < _MOST_SEQUENCES:
        sequence = _heaviest_sequence(pool, letters, moved=bool(sequences))
        weight = sum(letters[a.gold + a.length] - letters[a.gold] for a in sequence)
        if sequences and weight < _MOVED_LETTERS:
            break
        sequences.append(sequence)
        for anchor in sequence:
            free_gold[anchor.gold : anchor.gold + anchor.length] = False
            free_prediction[anchor.prediction : anchor.prediction + anchor.length] = False
        pool = _free_parts(pool, free_gold, free_prediction)
    return sequences


def _matches(gold: str, prediction: str, letters: list[int]) -> list[Anchor]:
    """Return the longest _MOST_ANCHORS of the maximal stretches that contain a seed."""
    order, starts, ends = _seeds(gold, prediction, letters)
    repeats: defaultdict[str, int] = defaultdict(int)
    reached: dict[int, int] = {}
    anchors: list[Anchor] = []
    done = 0
    for p in np.flatnonzero((starts < ends) & (ends - starts <= _MOST_REPEATS)).tolist():
        if p < done:
            continue
        seed = prediction[p : p + _SEED]
        if repeats[seed] >= _MOST_REPEATS:
            continue
        repeats[seed] += 1
        alike = order[starts[p] : ends[p]].tolist()
        for g in alike:
            if gold[g : g + _SEED] == seed and reached.get(g - p, -1) <= p:
                anchor = _extend(gold, prediction, g, p)
                reached[g - p] = anchor.prediction + anchor.length
                anchors.append(anchor)
        if len(alike) == 1:
            # Later seeds inside this match would only find it again.
            done = reached.get(alike[0] - p, 0) - _SEED + 1
    anchors.sort(key=lambda anchor: (-anchor.length, anchor.prediction, anchor.gold))
    return anchors[:_MOST_ANCHORS]


def _seeds(
    gold: str, prediction: str, letters: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find the seeds of the prediction in the gold text. Those of the seed at `p` are
    `order[starts[p]:ends[p]]`, ascending, except for hash collisions."""
    own, other = _hashes(gold), _hashes(prediction)
    counts = np.array(letters)
    worded = np.flatnonzero(counts[_SEED : _SEED + len(own)] - counts[: len(own)] >= _SEED_LETTERS)
    order = worded[np.argsort(own[worded], kind="stable")]
    keys = own[order]
    return order, np.searchsorted(keys, other, "left"), np.searchsorted(keys, other, "right")


def _hashes(text: str) -> NDArray[np.uint64]:
    """Return a hash of the seed at every position of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    count = max(0, len(codes) - _SEED + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for k in range(_SEED):
        hashes = hashes * _BASE + codes[k : k + count]
    return hashes


def _extend(gold: str, prediction: str, g: int, p: int) -> Anchor:
    """Return the maximal equal stretch through the seed at `g` and `p`."""
    start = 0
    while g > start and p > start and gold[g - start - 1] == prediction[p - start - 1]:
        start += 1
    end = _SEED
    for step in (64, 8, 1):
        while gold[g + end : g + end + step] == prediction[p + end : p + end + step] != "":
            end += min(step, len(gold) - g - end)
    return Anchor(g - start, p - start, start + end)


def _heaviest_sequence(pool: list[Anchor], letters: list[int], *, moved: bool) -> list[Anchor]:
    """Return the sequence with the most alphabetic characters, with a small penalty for every jump
    between anchors.

    Anchors that overlap in part count with the rest. A moved sequence may have only short gaps.
    """
    pool = sorted(pool, key=lambda anchor: (anchor.prediction, anchor.gold))
    places = np.array([(a.gold, a.prediction, a.length) for a in pool])
    weight = np.array([letters[a.gold + a.length] - letters[a.gold] for a in pool], dtype=float)
    best = weight.copy()
    previous = np.full(len(pool), -1)
    for first in range(0, len(pool), _BLOCK):
        gains = _gains(places[: first + _BLOCK], weight, first, moved=moved)
        for i, gain in enumerate(gains, start=first):
            if i == 0:
                continue
            total = best[:i] + gain[:i]
            j = int(total.argmax())
            if total[j] > best[i]:
                best[i], previous[i] = total[j], j
    return _trimmed(pool, _walk_back(int(best.argmax()), previous))


def _gains(
    places: NDArray[np.int64], weight: NDArray[np.float64], first: int, *, moved: bool
) -> NDArray[np.float64]:
    """Return what each anchor from `first` on adds to a sequence that ends in each of all; minus
    infinity if it cannot follow. `places` holds their starts in gold and prediction and their
    lengths."""
    g, p, length = places.T
    own = slice(first, None)
    gap_g = g[own, None] - (g + length)
    gap_p = p[own, None] - (p + length)
    overlap = np.maximum(0, np.maximum(-gap_g, -gap_p))
    length = length[own, None]
    jump = np.minimum(np.abs(gap_g - gap_p), 200) * 0.01
    gains = weight[first : len(places), None] * (1 - overlap / length) - jump
    allowed = (g < g[own, None]) & (p < p[own, None]) & (overlap < length)
    if moved:
        allowed &= (gap_g <= _MOVED_GAP) & (gap_p <= _MOVED_GAP)
    return np.where(allowed, gains, -np.inf)


def _walk_back(last: int, previous: NDArray[np.int64]) -> list[int]:
    indices = [last]
    while previous[indices[-1]] >= 0:
        indices.append(int(previous[indices[-1]]))
    return indices[::-1]


def _trimmed(pool: list[Anchor], indices: list[int]) -> list[Anchor]:
    """Return the anchors without the heads that overlap the anchor before."""
    sequence: list[Anchor] = []
    for index in indices:
        anchor = pool[index]
        if sequence:
            last = sequence[-1]
            overlap = max(
                0,
                last.gold + last.length - anchor.gold,
                last.prediction + last.length - anchor.prediction,
            )
            anchor = Anchor(
                anchor.gold + overlap, anchor.prediction + overlap, anchor.length - overlap
            )
        if anchor.length > 0:
            sequence.append(anchor)
    return sequence


def _free_parts(
    pool: list[Anchor], free_gold: NDArray[np.bool_], free_prediction: NDArray[np.bool_]
) -> list[Anchor]:
    """Return what no chosen anchor covers: whole anchors, and stretches of others that are as long
    as a seed."""
    counts_g = np.concatenate(([0], np.cumsum(free_gold)))
    counts_p = np.concatenate(([0], np.cumsum(free_prediction)))
    parts: list[Anchor] = []
    for anchor in pool:
        g, p, length = anchor.gold, anchor.prediction, anchor.length
        in_g = counts_g[g + length] - counts_g[g]
        in_p = counts_p[p + length] - counts_p[p]
        if in_g == in_p == length:
            parts.append(anchor)
        elif min(in_g, in_p) >= _SEED:
            parts.extend(_free_stretches(anchor, free_gold, free_prediction))
    return parts


def _free_stretches(
    anchor: Anchor, free_gold: NDArray[np.bool_], free_prediction: NDArray[np.bool_]
) -> list[Anchor]:
    g, p, length = anchor.gold, anchor.prediction, anchor.length
    free = free_gold[g : g + length] & free_prediction[p : p + length]
    edges = np.flatnonzero(np.diff(np.concatenate(([0], free.astype(np.int8), [0]))))
    return [
        Anchor(g + int(start), p + int(start), int(end - start))
        for start, end in zip(edges[::2], edges[1::2], strict=True)
        if end - start >= _SEED
    ]


# The range of an alignment of single words. Larger gaps, which only unrelated or huge texts leave,
# are aligned by characters alone.
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
    """Which characters of two condensed texts are aligned.

    `to_gold[p]` is the gold character aligned with character `p` of the prediction, or -1;
    `to_prediction` is the inverse. `same[p]` is whether the two are equal.
    """

    gold: Condensed
    prediction: Condensed
    to_gold: NDArray[np.int64]
    to_prediction: NDArray[np.int64]
    same: NDArray[np.bool_]


def align(gold: str, prediction: str) -> Alignment:
    """Align two normalised texts. Deterministic; time grows with the product of unrelated stretches
    only."""
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
        # Moved sequences first: the main sequence gets what they do not claim.
        for sequence in sequences[1:]:
            for before, after in pairwise(sequence):
                self._gap(_end_gold(before), after.gold, _end_prediction(before), after.prediction)
            self._tail(sequence[-1])
        main = sequences[0] if sequences else []
        end = Anchor(len(self.gold.chars), len(self.prediction.chars), 0)
        for before, after in zip([Anchor(0, 0, 0), *main], [*main, end], strict=True):
            self._gap(_end_gold(before), after.gold, _end_prediction(before), after.prediction)

    def _anchors(self) -> list[list[Anchor]]:
        """Return the anchors, none of which begins or ends inside a number of either text.

        Equal beginnings of two numbers do not mean that the numbers belong together.
        """
        gold, prediction = self.gold.number_bounds(), self.prediction.number_bounds()
        sequences = []
        for sequence in find_anchors(self.gold.chars, self.prediction.chars):
            whole = [_without_parts(anchor, gold, prediction) for anchor in sequence]
            if usable := [anchor for anchor in whole if anchor.length > 0]:
                sequences.append(usable)
        return sequences

    def _face(self, gold: int, prediction: int, length: int) -> None:
        self.to_gold[prediction : prediction + length] = np.arange(gold, gold + length)
        self.to_prediction[gold : gold + length] = np.arange(prediction, prediction + length)
        self.same[prediction : prediction + length] = True

    def _tail(self, last: Anchor) -> None:
        """Align the text after a moved sequence: the values after its last label."""
        free_gold = _run_length(self.to_prediction, _end_gold(last))
        free_prediction = _run_length(self.to_gold, _end_prediction(last))
        if min(free_gold, free_prediction) < _TAIL:
            g, p = _end_gold(last), _end_prediction(last)
            length = min(free_gold, free_prediction)
            self._gap(g, g + length, p, p + length)

    def _gap(self, g0: int, g1: int, p0: int, p1: int) -> None:
        """Align gold `[g0, g1)` with prediction `[p0, p1)` as far as both are free."""
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
        """Return pairs of aligned words, as slices of the free characters."""
        gold = _free_words(self.gold, free_g)
        prediction = _free_words(self.prediction, free_p) if gold else []
        if not prediction or len(gold) * len(prediction) > _MOST_WORD_PAIRS:
            return []
        pairs = _align_words([word for word, _ in gold], [word for word, _ in prediction])
        return [(gold[i][1], prediction[j][1]) for i, j in pairs]

    def _characters(self, free_g: NDArray[np.int64], free_p: NDArray[np.int64]) -> None:
        if not len(free_g) or not len(free_p):
            return
        gold = "".join(map(self.gold.chars.__getitem__, free_g.tolist()))
        prediction = "".join(map(self.prediction.chars.__getitem__, free_p.tolist()))
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
    """Return the anchor without parts of numbers at its ends. The bounds are those of
    `number_bounds`."""
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
    """Return how many characters from `start` on are unaligned, up to _TAIL."""
    aligned = np.flatnonzero(faces[start : start + _TAIL] >= 0)
    return int(aligned[0]) if len(aligned) else len(faces[start : start + _TAIL])


def _free_words(text: Condensed, free: NDArray[np.int64]) -> list[tuple[str, slice]]:
    """Return the words whose characters are all free, with their slices of `free`."""
    first = int(np.searchsorted(text.starts, free[0], side="right")) - 1
    last = int(np.searchsorted(text.starts, free[-1], side="right")) - 1
    starts = text.starts[first : last + 2]
    at = np.searchsorted(free, starts)
    counts = np.diff(at)
    whole = np.flatnonzero(counts == np.diff(starts))
    return [(text.words[first + k], slice(int(at[k]), int(at[k + 1]))) for k in whole]


def _align_words(gold: list[str], prediction: list[str]) -> list[tuple[int, int]]:
    """Return the best monotone pairing of words (Needleman-Wunsch), as index pairs."""
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
        # A step to the right costs the skipped word, so a running maximum finds the best one
        # before.
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
    """Return the score of aligning two words; minus infinity if they have nothing in common."""
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
    return not word.isalpha() and any(map(str.isdigit, word))


def _as_number(word: str) -> str:
    """Return a word with digits, or a short one of look-alikes, as a number; others unchanged."""
    is_number = _has_digit(word) or (len(word) <= _SHORT and not word.isalpha())
    return as_digits(word) if is_number else word


def _skip_cost(word: str) -> float:
    return _SKIPPED_NUMBER if _has_digit(word) else _SKIPPED_WORD
