"""Draws documents again and again, the same on every machine and for every system of a board.

The draws are made of the bits of PCG64, whose stream numpy keeps for ever, which it does not
promise of its distributions.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

FEWEST_RESAMPLES = 1000
# Weights that are held at a time, so that memory does not grow with the documents.
_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Resampling:
    """How often each document counts in each replicate; see `resampling`.

    `documents` are sorted by stratum and name; `starts` and `sizes` say for each of them where its
    stratum begins and how many it has.
    """

    documents: tuple[str, ...]
    starts: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    seed: str
    resamples: int

    @property
    def key(self) -> str:
        """The same for resamplings that give the same weights to the same documents."""
        parts = (self.seed, str(self.resamples), *self.documents, *map(str, self.starts.tolist()))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """Weights of shape (some replicates, documents), all replicates in turn. Each row sums to
        the number of documents, within each stratum to its size."""
        bits = _bits("bootstrap", self.seed)
        n = len(self.documents)
        rows = max(1, _BLOCK // n)
        for first in range(0, self.resamples, rows):
            some = min(rows, self.resamples - first)
            draws = bits.random_raw(some * n).reshape(some, n) >> np.uint64(32)
            # Scaling 32 random bits to a size is uneven by less than one in a million.
            drawn = (self.starts + ((draws * self.sizes) >> np.uint64(32))).astype(np.int64)
            drawn += np.arange(some)[:, None] * n
            yield np.bincount(drawn.ravel(), minlength=some * n).reshape(some, n)

    def weights(self) -> NDArray[np.int64]:
        """All weights, of shape (resamples, documents)."""
        return np.concatenate(list(self.blocks()))


def resampling(
    documents: Sequence[str],
    *,
    seed: str,
    strata: Sequence[str] | None = None,
    resamples: int = FEWEST_RESAMPLES,
) -> Resampling:
    """Weights for documents, the same on every machine and in any order of the documents.

    `seed` is any text, such as the hash of a release. `strata` names the stratum of each document,
    within which it is resampled. Raises ValueError for no documents, for one that comes twice, and
    for fewer than FEWEST_RESAMPLES.

    >>> resampling(["a", "b", "c"], seed="v1").weights()[1:4].tolist()
    [[1, 1, 1], [0, 2, 1], [1, 1, 1]]
    """
    strata = [""] * len(documents) if strata is None else strata
    if not documents or len(set(documents)) != len(documents):
        raise ValueError("documents must be there, each of them once")
    if len(strata) != len(documents):
        raise ValueError(f"{len(documents)} documents cannot be of {len(strata)} strata")
    if resamples < FEWEST_RESAMPLES:
        raise ValueError(f"at least {FEWEST_RESAMPLES} resamples are needed, not {resamples}")
    ordered = sorted(zip(strata, documents, strict=True))
    _, first, inverse, sizes = np.unique(
        [stratum for stratum, _ in ordered],
        return_index=True, return_inverse=True, return_counts=True,
    )  # fmt: skip
    return Resampling(
        tuple(name for _, name in ordered),
        first[inverse].astype(np.uint64),
        sizes[inverse].astype(np.uint64),
        seed,
        resamples,
    )


def coins(seed: str, trials: int, n: int) -> Iterator[NDArray[np.float64]]:
    """Fair coins of shape (some trials, n), 0 or 1, all trials in turn; from any text as seed."""
    bits = _bits("randomisation", seed)
    rows = max(1, _BLOCK // n)
    for first in range(0, trials, rows):
        some = min(rows, trials - first)
        yield (bits.random_raw(some * n) >> np.uint64(63)).reshape(some, n).astype(np.float64)


def _bits(purpose: str, seed: str) -> PCG64:
    digest = hashlib.sha256(f"{purpose}\0{seed}".encode()).digest()
    return PCG64(int.from_bytes(digest[:16], "big"))
