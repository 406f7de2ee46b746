"""Finds the numbers, dates and durations of a text: what an annotator is likely to label."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from portal.facts.borders import CELL, with_borders
from portal.facts.grammar import (
    FIGURED_DATE,
    FIGURED_OTHER,
    LINE_NUMBER,
    MINUS,
    NUMBER,
    PHONE,
    VULGAR,
    WORDED_DATE,
    WORDED_OTHER,
)

Kind: TypeAlias = Literal["number", "date"]

# Nothing begins inside a word, but an amount may follow the letters of its currency.
_STARTS = r"(?:(?<![^\W_])|(?<=USD)|(?<=EUR)|(?<=GBP))"
_FACT = re.compile(
    rf"""(?={CELL}){LINE_NUMBER} | {_STARTS}(?:
        (?=[A-Za-z§])(?:(?P<worded>{WORDED_DATE})|{WORDED_OTHER})
      | (?=[0-9])(?:(?P<figured>{FIGURED_DATE})|{FIGURED_OTHER})
      | (?=[0-9(.+{MINUS}{VULGAR}])(?:{PHONE}|(?P<number>{NUMBER}))
    )""",
    re.VERBOSE,
)


class FoundFact(NamedTuple):
    """`[start, end)` in code points of the text, and whether it is a number or a date.

    A duration is a date too, as annotation guidelines have it.
    """

    start: int
    end: int
    kind: Kind


def find_facts(text: str, borders: Sequence[int] = ()) -> list[FoundFact]:
    """The numbers, dates and durations of `text` in order, none overlapping another.

    A number has its sign, parentheses, separators and percent sign; a currency mark stands outside.
    Nothing runs over one of the ascending `borders` (see `text_borders`) but a closing parenthesis
    or percent sign that is alone in the next cell. The two ends of a range are two facts. Phone and
    file numbers, postal codes, times of day, and numbers of sections, notes and forms are left to
    the annotator. Any text is accepted; time is linear.

    >>> [("1,200 (3.5%) of $2,000 in Q2 2025"[f.start:f.end]) for f in
    ...  find_facts("1,200 (3.5%) of $2,000 in Q2 2025")]
    ['1,200', '(3.5%)', '2,000', 'Q2 2025']
    """
    inside = [border for border in borders if 0 < border < len(text)]
    marks = [(0, CELL), *((border, CELL) for border in inside), (len(text), CELL)]
    marked = with_borders(text.replace(CELL, " "), marks)
    found: list[FoundFact] = []
    passed = 0
    for match in _FACT.finditer(marked):
        if not match.lastgroup:
            continue
        start, end = match.span(match.lastgroup)
        while passed < len(marks) and marks[passed][0] + passed < start:
            passed += 1
        width = end - start - marked.count(CELL, start, end)
        kind: Kind = "number" if match.lastgroup == "number" else "date"
        found.append(FoundFact(start - passed, start - passed + width, kind))
    return found


def within(facts: Sequence[FoundFact], start: int, end: int) -> Sequence[FoundFact]:
    """Those of ascending, disjoint facts that share a character with `[start, end)`."""
    first = bisect_right(facts, start, key=lambda fact: fact.end)
    last = bisect_left(facts, end, key=lambda fact: fact.start)
    return facts[first:last]
