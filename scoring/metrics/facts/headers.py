"""The headers of columns in a line of text that separates them by single spaces."""

import re
from collections.abc import Sequence

_YEAR_OR_DATE = re.compile(
    r"(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d{1,2},? ?)?(?:19|20)\d\d"
    r"|Q[1-4](?: \d{4})?",
    re.IGNORECASE,
)
_HEADER_WORD = re.compile(rf"{_YEAR_OR_DATE.pattern}|\([^)]*\)|[^ ]+", re.IGNORECASE)


def split_header(texts: Sequence[str], count: int, *, by_words: bool = False) -> list[str]:
    """Return the last `count` headers of a row in which only the order shows the columns: its
    cells, or the dates or words in them."""
    if len(texts) >= count:
        return list(texts[-count:]) if len(texts) <= count + 1 else []
    text = " ".join(texts)
    dates = _YEAR_OR_DATE.findall(text)
    if len(dates) == count:
        return dates
    if len(texts) > 1 or count < 2:
        return []
    if phrases := _phrases(text.split(), count):
        return phrases
    words = _HEADER_WORD.findall(text) if by_words else []
    is_title = not any(word[0].islower() for word in words)
    return words[-count:] if is_title and count <= len(words) <= count + 1 else []


def _phrases(words: list[str], count: int) -> list[str]:
    """Return the headers of `count` columns that begin or end alike, such as "three months ended
    six months ended"; each may be above several columns."""
    for number in range(count, 1, -1):
        length = len(words) // number
        if length < 2 or len(words) % number or count % number:
            continue
        parts = [words[k : k + length] for k in range(0, len(words), length)]
        if any(len(set(column)) == 1 for column in zip(*parts, strict=True)):
            return [" ".join(part) for part in parts for _ in range(count // number)]
    return []
