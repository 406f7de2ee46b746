"""Typographic normalisation of text, with the way back to the original offsets.

Only what a typesetter may vary is levelled: Unicode compatibility forms, dash, minus and quote
look-alikes, invisible characters, repeated spaces, and the spaces inside parentheses, after
currency signs and before a percent sign. Digits, separators and letters never change. Superscript
digits stay as they are: behind a number they are footnote marks, and folding them would append a
digit to it.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_DASHES = "‐‑‒–—―−⁃˗﹘﹣－➖"
_SINGLE_QUOTES = "‘’‚‛′ʼ`´"
_DOUBLE_QUOTES = "“”„‟″"
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_SINGLE_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        "⁄": "/",  # what the compatibility form of ½ holds
    }
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\ufe00-\ufe0f]")
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f]"
# A character with combining marks, or one beyond ASCII: all that folding can change.
_CLUSTER = re.compile(rf".{_MARKS}+|[^\x00-\x7f]", re.DOTALL)
CURRENCY = "$€£¥₹₩¢"
# Of spaces that are single. All begins with the space, which is quickly found.
_SPACE_TO_DROP = re.compile(
    rf" (?:(?<=[(\[]\ )|(?=[)\]])|(?<=[{CURRENCY}]\ )(?=[\d(.\-])|(?<=[\d)]\ )(?=%))"
)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, eq=False)
class Normalised:
    """Normalised text; character `i` of it came from `[starts[i], ends[i])` of the source."""

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Where the non-empty stretch `[start, end)` of the normalised text stands in the
        source."""
        return int(self.starts[start]), int(self.ends[end - 1])


def normalise(text: str) -> Normalised:
    """Normalises `text`; linear time, never raises.

    >>> normalise("loss of $ ( 1,200 ) — 3 %").text
    'loss of $(1,200) - 3%'
    """
    if text.isascii():
        folded = text
        starts = np.arange(len(text), dtype=np.int64)
        ends = starts + 1
    else:
        folded, starts, ends = _fold(text)
    folded, starts, ends = _collapse_spaces(folded, starts, ends)
    keep = np.ones(len(folded), dtype=bool)
    for match in _SPACE_TO_DROP.finditer(folded):
        keep[match.start() : match.end()] = False
    if not keep.all():
        folded = _SPACE_TO_DROP.sub("", folded)
        starts, ends = starts[keep], ends[keep]
    return Normalised(folded, starts, ends)


def normalise_value(value: str) -> str:
    """The normalised form of a value alone, without outer spaces."""
    return normalise(value).text.strip()


def _fold(text: str) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    pieces: list[str] = []
    starts: list[NDArray[np.int64]] = []
    ends: list[NDArray[np.int64]] = []
    position = 0
    for match in _CLUSTER.finditer(text):
        first, last = match.span()
        folded = _fold_cluster(match.group())
        pieces += [text[position:first], folded]
        starts += [np.arange(position, first), np.full(len(folded), first)]
        ends += [np.arange(position + 1, first + 1), np.full(len(folded), last)]
        position = last
    pieces.append(text[position:])
    starts.append(np.arange(position, len(text)))
    ends.append(np.arange(position + 1, len(text) + 1))
    return "".join(pieces), np.concatenate(starts), np.concatenate(ends)


@lru_cache(maxsize=4096)
def _fold_cluster(cluster: str) -> str:
    """One character with its combining marks, folded."""
    if len(cluster) == 1 and unicodedata.decomposition(cluster).startswith(("<super>", "<sub>")):
        return cluster
    folded = unicodedata.normalize("NFKC", cluster).translate(_LOOK_ALIKES)
    return _INVISIBLE.sub("", folded)


def _collapse_spaces(
    text: str, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    if " ".join(text.split()) == text:
        return text, starts, ends
    keep = np.ones(len(text), dtype=bool)
    for match in _SPACES.finditer(text):
        keep[match.start() + 1 : match.end()] = False
    return _SPACES.sub(" ", text), starts[keep], ends[keep]
