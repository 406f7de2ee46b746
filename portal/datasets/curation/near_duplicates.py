"""Find near duplicates among many texts without comparing every pair.

Texts that probably share most of their word sequences are put into the same buckets (MinHash and
locality-sensitive hashing). Only texts in the same bucket are compared word by word.

The similarity compares sequences of words and numbers, where a number counts as NUMBER_WEIGHT
words. The statements of two quarters share all words but few numbers, and are different pages for
a benchmark of numbers. Two texts of 400 words and 10 numbers, 8 of them different, have a
similarity of 0.91 with the weight and 0.98 without. Two texts of 400 words that differ in a page
number and one date have 0.98.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel
from rensa import RMinHash, RMinHashLSH

THRESHOLD = 0.95
# With a lower threshold, buckets would contain unrelated texts.
MIN_THRESHOLD = 0.9
NUMBER_WEIGHT = 5
# Words per sequence. With two, a changed word affects few sequences.
SHINGLE = 2
PERMUTATIONS = 128
SEED = 1
# The least probability that two texts at the threshold share a bucket.
RECALL = 0.99
# Candidates of one text that are compared; the ones with the most shared sequences are chosen.
MAX_CANDIDATES = 50

# Of two texts, the share of the smaller one that a copy has in common.
COPIED = 0.8
# Words per sequence of a copy, and the least sequences; shorter texts must have the same words.
COPIED_WORDS, LEAST_COPIED = 4, 12
# Sequences in more texts than this are common phrases, and no sign of a copy.
COMMON = 20
# With more texts, only every second, third… sequence is kept, to save memory.
TEXTS_IN_FULL = 500

Key = TypeVar("Key")
Other = TypeVar("Other")

_TOKEN = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+")


class Duplicate(NamedTuple):
    """Two keys in the order of the input, and the similarity of their texts from 0 to 1."""

    first: str
    second: str
    similarity: float


@dataclass
class DuplicateSearch:
    """The result of a search.

    `compared` pairs were compared word by word. `passed_over` candidates were skipped because a
    text had more than MAX_CANDIDATES. `without_words` lists texts without words or numbers.
    """

    pairs: list[Duplicate] = field(default_factory=list)
    compared: int = 0
    passed_over: int = 0
    without_words: list[str] = field(default_factory=list)


def near_duplicates(
    keys: Iterable[str],
    text_of: Callable[[str], str],
    *,
    threshold: float = THRESHOLD,
    each: Callable[[int], None] | None = None,
) -> DuplicateSearch:
    """Find all pairs of texts with a similarity of at least `threshold`.

    `text_of` returns the text of a key and may be called again, because only signatures are kept in
    memory. Texts with identical words are paired only with the first of them. `each` is called
    after every text with the number of finished texts. Raises ValueError for a repeated key and a
    threshold outside MIN_THRESHOLD to 1.
    """
    if not MIN_THRESHOLD <= threshold <= 1:
        raise ValueError(f"the threshold must be {MIN_THRESHOLD} to 1, not {threshold}")
    finder = _Finder(text_of, threshold)
    for done, key in enumerate(keys, start=1):
        finder.add(key)
        if each:
            each(done)
    return finder.search


def similarity(first: str, second: str, *, cutoff: float = 0) -> float:
    """Return the similarity of two texts from 0 to 1, or 0 if it is below the cutoff.

    Formula: 2 LCS / (sum of the lengths) over the sequences of words (ignoring case) and numbers,
    each number NUMBER_WEIGHT times; LCS is the length of the longest common subsequence. Two texts
    without words have a similarity of 1.

    >>> similarity("Net sales 1,200", "Net sales 1,300") == 2 * 2 / (7 + 7)
    True
    """
    return Indel.normalized_similarity(
        _weighted(_words(first)), _weighted(_words(second)), score_cutoff=cutoff
    )


def copies(
    texts: Mapping[Key, str], others: Iterable[tuple[Other, str]]
) -> Iterator[tuple[Key, Other]]:
    """Yield the pairs of a text and another one that contains most of it, or the reverse.

    Unlike the similarity, this ignores what only the longer text has, such as an inserted
    paragraph. Compares sequences of COPIED_WORDS words, each with a number NUMBER_WEIGHT times;
    COPIED of those of the smaller text must be in both. `others` are read once, one at a time.

    >>> page = " ".join(f"word{chr(97 + n)} of" for n in range(20))
    >>> list(copies({"a": page}, [("b", f"A new beginning. {page}"), ("c", page[:60])]))
    [('a', 'b')]
    """
    every = 1 + len(texts) // TEXTS_IN_FULL
    places: defaultdict[int, list[Key]] = defaultdict(list)
    same: defaultdict[tuple[str, ...], list[Key]] = defaultdict(list)
    for key, text in texts.items():
        words = _words(text)
        same[tuple(words)].append(key)
        for part in _copied_parts(words, every).tolist():
            places[part].append(key)
    common = _sorted(part for part, keys in places.items() if len(keys) > COMMON)
    for part in common.tolist():
        del places[part]
    known = _sorted(places)
    weights = Counter[Key]()
    for part, keys in places.items():
        weights.update(dict.fromkeys(keys, part & _WEIGHT))
    for other, text in others:
        if not (words := _words(text)):
            continue
        parts = _copied_parts(words, every)
        parts = parts[~_among(parts, common)]
        total = int((parts & np.uint64(_WEIGHT)).sum())
        shared = Counter[Key]()
        for part in parts[_among(parts, known)].tolist():
            shared.update(dict.fromkeys(places[part], part & _WEIGHT))
        enough = {key for key in shared if shared[key] >= COPIED * min(total, weights[key])}
        alike = dict.fromkeys([*same.get(tuple(words), []), *(k for k in shared if k in enough)])
        yield from ((key, other) for key in alike)


def _sorted(parts: Iterable[int]) -> NDArray[np.uint64]:
    return np.sort(np.fromiter(parts, np.uint64))


def _among(parts: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which parts are in a sorted array, without sorting it again."""
    if not len(known):
        return np.zeros(len(parts), np.bool_)
    places = np.searchsorted(known, parts)
    same: NDArray[np.bool_] = known[np.minimum(places, len(known) - 1)] == parts
    return same


# The lowest bits of a sequence are its weight.
_WEIGHT = 7
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def _copied_parts(words: Sequence[str], every: int) -> NDArray[np.uint64]:
    """The distinct sequences of a text as numbers, with their weight; none of a short text."""
    count = len(words) - COPIED_WORDS + 1
    if count < LEAST_COPIED:
        return np.array([], dtype=np.uint64)
    hashes = np.fromiter((crc32(word.encode()) for word in words), np.uint64, len(words))
    digits = np.fromiter((word[0].isdigit() for word in words), np.bool_, len(words))
    hashed, has_number = np.zeros(count, np.uint64), np.zeros(count, np.bool_)
    for start in range(COPIED_WORDS):
        # Wraps around, as a hash may.
        hashed = (hashed ^ hashes[start : start + count]) * _FACTOR
        has_number |= digits[start : start + count]
    kept = hashed % np.uint64(every) == 0
    weight = np.where(has_number, np.uint64(NUMBER_WEIGHT), np.uint64(1))
    return np.unique((hashed & ~np.uint64(_WEIGHT) | weight)[kept])


def bands(threshold: float) -> tuple[int, int]:
    """Return the number of buckets of a text, and the number of MinHash values per bucket.

    If a share x of the words is changed, each alone, at least J = (1 - cx) / (1 + cx) of the
    sequences stay in common, where c = 2 SHINGLE - 1. More values per bucket mean fewer unrelated
    texts in it. The result is the largest number of values with which a pair at the threshold is
    found with a probability 1 - (1 - J^values)^buckets of at least RECALL. Source: Leskovec,
    Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.

    >>> bands(0.95), bands(0.9)
    ((25, 5), (42, 3))
    """
    changed = (2 * SHINGLE - 1) * (1 - threshold)
    shared = (1 - changed) / (1 + changed)
    return next(
        (PERMUTATIONS // values, values)
        # The library needs at least two buckets.
        for values in range(PERMUTATIONS // 2, 0, -1)
        if 1 - (1 - shared**values) ** (PERMUTATIONS // values) >= RECALL
    )


class _Finder:
    def __init__(self, text_of: Callable[[str], str], threshold: float) -> None:
        self.search = DuplicateSearch()
        self._text_of = text_of
        self._threshold = threshold
        buckets, values = bands(threshold)
        self._permutations = buckets * values
        self._buckets = RMinHashLSH(threshold, self._permutations, buckets)
        # The buckets hold positions in these two lists.
        self._indexed: list[str] = []
        self._signatures: list[RMinHash] = []
        self._firsts: dict[bytes, str] = {}
        self._keys: set[str] = set()

    def add(self, key: str) -> None:
        if key in self._keys:
            raise ValueError(f"the key {key} is repeated")
        self._keys.add(key)
        words = _words(self._text_of(key))
        if not words:
            self.search.without_words.append(key)
            return
        first = self._firsts.setdefault(sha256(" ".join(words).encode()).digest(), key)
        if first != key:
            self.search.pairs.append(Duplicate(first, key, 1.0))
            return
        signature = RMinHash(self._permutations, SEED)
        signature.update(_shingles(words))
        self._compare(key, words, self._candidates(signature))
        self._buckets.insert(len(self._indexed), signature)
        self._indexed.append(key)
        self._signatures.append(signature)

    def _candidates(self, signature: RMinHash) -> list[str]:
        """Return the texts that share a bucket with the signature, the most similar ones first."""
        found = sorted(self._buckets.query(signature))
        found.sort(key=lambda place: -self._signatures[place].jaccard(signature))
        self.search.passed_over += len(found[MAX_CANDIDATES:])
        return [self._indexed[place] for place in found[:MAX_CANDIDATES]]

    def _compare(self, key: str, words: Sequence[str], candidates: Sequence[str]) -> None:
        weighted = _weighted(words)
        for candidate in candidates:
            other = _weighted(_words(self._text_of(candidate)))
            self.search.compared += 1
            alike = Indel.normalized_similarity(other, weighted, score_cutoff=self._threshold)
            if alike >= self._threshold:
                self.search.pairs.append(Duplicate(candidate, key, alike))


def _words(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())


def _weighted(words: Iterable[str]) -> list[str]:
    return [word for word in words for _ in range(NUMBER_WEIGHT if word[0].isdigit() else 1)]


def _shingles(words: Sequence[str]) -> list[str]:
    """Return the distinct sequences of SHINGLE words; a shorter text is one sequence."""
    starts = range(max(len(words) - SHINGLE + 1, 1))
    return list({" ".join(words[start : start + SHINGLE]) for start in starts})
