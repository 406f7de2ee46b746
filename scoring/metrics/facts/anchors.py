"""Anchors: stretches of text that gold and prediction share letter for letter, wherever they stand.

Both texts come without spaces and in lower case, so that lost spaces cost nothing. Only stretches
with words in them can be anchors: a number that stands in another row must not pull that row
along. The heaviest sequence of anchors in common order is taken first, then what is left over in
further sequences of its own; so a paragraph or table that moved as a whole is found at its new
place.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

_SEED = 8  # characters; at least _SEED_LETTERS of them letters
_SEED_LETTERS = 5
_BASE = np.uint64(1_000_003)
# Seeds that occur more often say little and cost much (headers repeated on every page, dot
# leaders).
_MOST_REPEATS = 8
_MOST_ANCHORS = 4000
# A sequence of leftover anchors must hold this many letters to count as moved text.
_MOVED_LETTERS = 10
_MOVED_GAP = 200
_MOST_SEQUENCES = 60
# So many anchors at a time are compared with all before them.
_BLOCK = 64


@dataclass(frozen=True)
class Anchor:
    """`length` characters that are equal from `gold` and from `prediction` on."""

    gold: int
    prediction: int
    length: int


def find_anchors(gold: str, prediction: str) -> list[list[Anchor]]:
    """Sequences of anchors, heaviest first; within a sequence both positions rise, and none
    overlap."""
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
    """All maximal stretches that hold a seed, the longest _MOST_ANCHORS of them."""
    order, starts, ends = _seeds(gold, prediction, letters)
    repeats: defaultdict[str, int] = defaultdict(int)
    reached: dict[int, int] = {}
    found: list[Anchor] = []
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
                found.append(anchor)
        if len(alike) == 1:
            # What follows inside this match can only find it again.
            done = reached.get(alike[0] - p, 0) - _SEED + 1
    found.sort(key=lambda anchor: (-anchor.length, anchor.prediction, anchor.gold))
    return found[:_MOST_ANCHORS]


def _seeds(
    gold: str, prediction: str, letters: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where the gold text has the seeds of the prediction: those of the seed at `p` are
    `order[starts[p]:ends[p]]`, but for chance hits, and rise."""
    own, other = _hashes(gold), _hashes(prediction)
    counts = np.array(letters)
    worded = np.flatnonzero(counts[_SEED : _SEED + len(own)] - counts[: len(own)] >= _SEED_LETTERS)
    order = worded[np.argsort(own[worded], kind="stable")]
    keys = own[order]
    return order, np.searchsorted(keys, other, "left"), np.searchsorted(keys, other, "right")


def _hashes(text: str) -> NDArray[np.uint64]:
    """A hash of the seed at every place of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    count = max(0, len(codes) - _SEED + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for k in range(_SEED):
        hashes = hashes * _BASE + codes[k : k + count]
    return hashes


def _extend(gold: str, prediction: str, g: int, p: int) -> Anchor:
    """The maximal equal stretch through the seed at `g` and `p`."""
    start = 0
    while g > start and p > start and gold[g - start - 1] == prediction[p - start - 1]:
        start += 1
    end = _SEED
    for step in (64, 8, 1):
        while gold[g + end : g + end + step] == prediction[p + end : p + end + step] != "":
            end += min(step, len(gold) - g - end)
    return Anchor(g - start, p - start, start + end)


def _heaviest_sequence(pool: list[Anchor], letters: list[int], *, moved: bool) -> list[Anchor]:
    """The sequence with the most letters, a little less for every jump between its anchors.

    Anchors that overlap in part count for the rest. A moved sequence may have only short gaps.
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
    """What each anchor from `first` on adds to a sequence that ends in each of all; minus infinity
    where it cannot follow. `places` holds their starts in gold and prediction and their lengths."""
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
    """The anchors without the heads that overlap the anchor before."""
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
    """What no chosen anchor covers: whole anchors, and stretches of others that are as long as a
    seed."""
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
