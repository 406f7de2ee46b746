"""Near duplicates among many texts, without comparing all with all.

Two steps. Texts that probably share most of their runs of words fall into the same buckets (MinHash
and locality-sensitive hashing), and only those are compared word by word.

**Numbers weigh.** The similarity is that of the sequences of words and numbers, in which a number
counts like NUMBER_WEIGHT words. The same statement of two quarters has all words in common and
hardly a number; words alone would call it a duplicate, though for a benchmark of numbers it is
another page. With the weight, 400 words and 10 numbers of which 8 differ are 0.91 alike, and
0.98 without. A page of 400 words of which only its number and one date differ stays at 0.98.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from rapidfuzz.distance import Indel
from rensa import RMinHash, RMinHashLSH

THRESHOLD = 0.95
# Below it buckets would hold unrelated texts too.
MIN_THRESHOLD = 0.9
NUMBER_WEIGHT = 5
# A run of so many words; two, so that few changed words leave most runs as they are.
SHINGLE = 2
PERMUTATIONS = 128
SEED = 1
# Two texts that are exactly as alike as the threshold fall into one bucket at least so often.
RECALL = 0.99
# Of so many candidates of one text, those that share most runs are compared.
MAX_CANDIDATES = 50

_TOKEN = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+")


class Duplicate(NamedTuple):
    """Two keys, in the order in which they were given, and how alike their texts are, 0 to 1."""

    first: str
    second: str
    similarity: float


@dataclass
class DuplicateSearch:
    """What a search has found and done so far.

    `compared` pairs were compared word by word; `passed_over` candidates were not, because their
    text had more than MAX_CANDIDATES. `without_words` names texts that have nothing to compare.
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
    """All pairs of texts that are at least `threshold` alike.

    `text_of` gives the text of a key and is asked again for texts that are compared, so that only
    their signatures are kept in memory. Texts with the very same words are each paired with the
    first of them alone. `each` is called with the number of texts done after every text. Raises
    ValueError for a key that comes twice and a threshold outside MIN_THRESHOLD to 1.
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
    """How alike two texts are, 0 to 1; 0 where it is under the cutoff.

    Formula: 2 LCS / (length of both), over the sequences of words (case ignored) and numbers, a
    number NUMBER_WEIGHT times; LCS is the length of the longest common subsequence. Two texts
    without words are 1 alike.

    >>> similarity("Net sales 1,200", "Net sales 1,300") == 2 * 2 / (7 + 7)
    True
    """
    return Indel.normalized_similarity(
        _weighted(_words(first)), _weighted(_words(second)), score_cutoff=cutoff
    )


def bands(threshold: float) -> tuple[int, int]:
    """Number of buckets a text is in, and of MinHash values that name each.

    A share x of changed words leaves at least (1 - cx) / (1 + cx) of the runs in common, where
    c = 2 SHINGLE - 1, if every change stands alone. The more values name a bucket, the fewer
    unrelated texts share it; they are the most with which a pair at the threshold is still found
    with the probability RECALL, 1 - (1 - J^values)^buckets. Source: Leskovec, Rajaraman, Ullman,
    Mining of Massive Datasets, section 3.4.

    >>> bands(0.95), bands(0.9)
    ((25, 5), (42, 3))
    """
    changed = (2 * SHINGLE - 1) * (1 - threshold)
    shared = (1 - changed) / (1 + changed)
    return next(
        (PERMUTATIONS // values, values)
        # A single bucket would be no search by parts; two is what the library asks for.
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
            raise ValueError(f"{key} comes twice")
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
        """Those in a bucket with the signature, most alike first."""
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
    """The different runs of SHINGLE words; a shorter text is one run."""
    return list(dict.fromkeys(_runs(words)))


def _runs(words: Sequence[str]) -> Iterator[str]:
    for start in range(max(len(words) - SHINGLE + 1, 1)):
        yield " ".join(words[start : start + SHINGLE])
