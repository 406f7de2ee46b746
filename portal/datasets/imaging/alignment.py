"""Which printed character is which character of the canonical text.

A browser prints the text in its order but for what floats or is placed, changes its case where the
style says so, and adds bullets. So the two texts, without white space, are aligned by their longest
common subsequence; what is left over is then looked for wherever it was printed.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

# Cells of the alignment's table, one bit each: 100 MB.
_CELLS = 800_000_000
# A stretch that was printed elsewhere is found by at least so many characters.
_LEAST_MOVED = 3
_HYPHENS = dict.fromkeys("\u2010\u2011", "-")


def align(text: str, printed: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (offset in `text`, index in `printed`), by offset; each at most once.

    >>> align("a bc", ["A", "b", "x", "c"])
    [(0, 0), (2, 1), (3, 3)]
    """
    offsets = [offset for offset, char in enumerate(text) if _is_printed(char)]
    source = "".join(_plain(text[offset]) for offset in offsets)
    target = "".join(_plain(char) for char in printed)
    pairs = [
        (offsets[a + step], b + step)
        for a, b, length in _matches(source, target)
        for step in range(length)
    ]
    return sorted(pairs)


def printable_count(text: str) -> int:
    """How many characters of the text a picture can show."""
    return sum(map(_is_printed, text))


def _is_printed(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char) not in {"Cc", "Cf"}


def _plain(char: str) -> str:
    """One character for one, so that indices stay what they are."""
    lower = char.lower()
    plain = lower if len(lower) == 1 else char
    return _HYPHENS.get(plain, plain)


def _matches(source: str, target: str) -> Iterator[tuple[int, int, int]]:
    if source == target:
        yield 0, 0, len(source)
        return
    blocks = _in_order(source, target)
    yield from blocks
    yield from _moved(source, target, blocks)


def _in_order(source: str, target: str) -> list[tuple[int, int, int]]:
    if len(source) * len(target) > _CELLS:
        # Too long to align as a whole; the ends are what mostly agrees.
        head = _common(source, target)
        tail = _common(source[head:][::-1], target[head:][::-1])
        return [(0, 0, head), (len(source) - tail, len(target) - tail, tail)]
    from rapidfuzz.distance import LCSseq

    blocks = LCSseq.opcodes(source, target).as_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size]


def _common(one: str, other: str) -> int:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _moved(
    source: str, target: str, blocks: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Blocks among what is left over of both, the longest of each stretch first."""
    left = _gaps([(a, length) for a, _, length in blocks], len(source))
    printed = _gaps([(b, length) for _, b, length in blocks], len(target))
    while left and printed:
        start, end = left.pop()
        best = max(
            ((*_longest(source[start:end], target[low:high]), low, high) for low, high in printed),
            key=lambda found: found[2],
        )
        a, b, length, low, high = best
        if length < min(_LEAST_MOVED, end - start):
            continue
        yield start + a, low + b, length
        rest = [(start, start + a), (start + a + length, end)]
        left.extend((x, y) for x, y in rest if x < y)
        printed.remove((low, high))
        printed.extend((x, y) for x, y in [(low, low + b), (low + b + length, high)] if x < y)


def _longest(one: str, other: str) -> tuple[int, int, int]:
    match = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return match.a, match.b, match.size


def _gaps(taken: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    gaps, at = [], 0
    for start, length in sorted(taken):
        if start > at:
            gaps.append((at, start))
        at = start + length
    if at < end:
        gaps.append((at, end))
    return gaps
