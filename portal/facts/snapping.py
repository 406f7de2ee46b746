"""From what a hand selects to what it means: whole facts, whole words."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from portal.facts.finding import FoundFact, within

# Letters and digits, marks between two of them as in 10-K or 5,000, and the parentheses behind
# the number of a section: 30(h), 501(c)(3). Failing that, a run of marks such as $ or a dash.
_TOKEN = re.compile(r"\w+(?:[.,/&'’:\u2011-]\w+)*(?:(?<=[0-9A-Z)])\(\w{1,5}\))*")
_MARKS = re.compile(r"[^\w\s]+")
_WORD = re.compile(r"\w")


def snap(
    text: str, borders: Sequence[int], facts: Sequence[FoundFact], start: int, end: int
) -> tuple[int, int]:
    """The stretch that a selection `[start, end)` means; a double click has `start == end`.

    What touches one fact means the whole fact, though a part of it, or signs and white space about
    it, was selected. Of several of which not two are selected whole, the one selected most is
    meant. A selection with words beside facts, or with several facts, stays as it is, but for white
    space at its edges and the words and facts that it cuts. Nothing to select is an empty stretch.

    `borders` and `facts` are those of `text_borders` and `find_facts`. Offsets outside the text are
    moved in. To snap what was snapped changes nothing.
    """
    start, end = sorted(min(max(offset, 0), len(text)) for offset in (start, end))
    quote = text[start:end]
    if quote.strip():
        start, end = end - len(quote.lstrip()), start + len(quote.rstrip())
    elif not _touched(facts, start, end):
        end = start
    touched = _touched(facts, start, end)
    if fact := _meant(text, touched, start, end):
        return fact.start, fact.end
    if start == end:
        start, end = _piece_at(text, borders, facts, start)
    return _completed(text, borders, facts, start, end)


def _touched(facts: Sequence[FoundFact], start: int, end: int) -> Sequence[FoundFact]:
    """The facts that share a character with the selection; an empty one also touches edges."""
    touched = within(facts, start, end)
    if touched or start < end:
        return touched
    first = bisect_left(facts, start, key=lambda fact: fact.end)
    # Between two facts the one that begins here is meant, not the one that ends.
    beside = [fact for fact in facts[first : first + 2] if fact.start <= start]
    return beside[-1:]


def _meant(text: str, touched: Sequence[FoundFact], start: int, end: int) -> FoundFact | None:
    """The one fact that is meant; None when the selection means something else."""
    if not touched or sum(start <= fact.start and fact.end <= end for fact in touched) > 1:
        return None
    position = start
    for fact in touched:
        if _WORD.search(text, position, max(position, fact.start)):
            return None
        position = fact.end
    if _WORD.search(text, position, max(position, end)):
        return None
    return max(touched, key=lambda fact: min(end, fact.end) - max(start, fact.start))


def _piece_at(
    text: str, borders: Sequence[int], facts: Sequence[FoundFact], offset: int
) -> tuple[int, int]:
    """The token or marks at an offset that touches no fact."""
    low, high = _chunk(text, borders, offset)
    following = bisect_left(facts, offset, key=lambda fact: fact.start)
    if following:
        low = max(low, facts[following - 1].end)
    if following < len(facts):
        high = min(high, facts[following].start)
    for pattern in (_TOKEN, _MARKS):
        for match in pattern.finditer(text, low, high):
            if match.start() <= offset <= match.end():
                return match.span()
    return offset, offset


def _completed(
    text: str, borders: Sequence[int], facts: Sequence[FoundFact], start: int, end: int
) -> tuple[int, int]:
    """The selection with the tokens and facts that its edges cut."""
    while start < end:
        touched = _touched(facts, start, end)
        low = min([start, *(fact.start for fact in touched[:1])])
        high = max([end, *(fact.end for fact in touched[-1:])])
        low, high = _token_around(text, borders, low)[0], _token_around(text, borders, high)[1]
        if (low, high) == (start, end):
            break
        start, end = low, high
    return start, end


def _token_around(text: str, borders: Sequence[int], offset: int) -> tuple[int, int]:
    """The token that an offset cuts; the offset itself when it cuts none."""
    for match in _TOKEN.finditer(text, *_chunk(text, borders, offset)):
        if match.start() < offset < match.end():
            return match.span()
    return offset, offset


def _chunk(text: str, borders: Sequence[int], offset: int) -> tuple[int, int]:
    """The stretch about an offset without white space or a border in it."""
    before = bisect_right(borders, offset)
    low = borders[before - 1] if before else 0
    high = borders[before] if before < len(borders) else len(text)
    start = end = offset
    while start > low and not text[start - 1].isspace():
        start -= 1
    while end < high and not text[end].isspace():
        end += 1
    return start, end
