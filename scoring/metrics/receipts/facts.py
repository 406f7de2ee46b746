"""The dates, times, numbers and identifiers of a text, and whether two texts have the same ones.

Texts of a receipt that are alike may still state another day, time or number: `15-July-24` and
`16-July-24` differ in one character. Facts are compared in their order and by their value, so that
`06 Jul 2024` and `6 July 2024` have the same. Source: ReceiptBench, section 3.4 C, which penalises
factual errors.
"""

import re
from calendar import monthrange
from collections.abc import Sequence
from typing import NamedTuple

from portal.facts.grammar import NUMBER_WORDS, words_number

from .amounts import AMOUNT_TOLERANCE, read_amount
from .calendars import MONTH, folded, months_of, plain_dates

# Year, month and day, None if not stated.
Day = tuple[int | None, int | None, int | None]


class Fact(NamedTuple):
    """A fact of a text by its kind.

    A date has its possible `days` and, if it has no name of a month, the place of its year among
    its numbers and these as `written`. A time has hour, minute and second as `written`, a number
    its possible `values`, and a code, such as an identifier, its `text`.
    """

    kind: str
    days: frozenset[Day] = frozenset()
    written: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    text: str = ""


_NAME = rf"{MONTH}\.?"
_DAY = r"\d{1,2}(?!\d)(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:\d{4}|\d{2})(?![\d:h])"
_GAP = r"[ \-/.,']{0,3}(?:(?:de|del|of)\ |г\.?\ )?"
# "2024 m. birželio 25", "2024. gada 25. jūnijs"
_OF_YEAR = r"(?:\.?\ ?(?:m\.|gada|թ\.?|ж\.?,?|г\.?|\(e\)ko)(?=\ ))?"
_FACT = re.compile(
    rf"""
    (?<![a-z\d])(?:
      (?P<y1>\d{{4}}){_OF_YEAR}{_GAP}(?P<m1>{_NAME}){_GAP}(?P<d1>{_DAY})
    | (?P<y6>\d{{4}}){_OF_YEAR}{_GAP}(?P<d6>{_DAY}){_GAP}(?P<m6>{_NAME})
    | (?P<d2>{_DAY}){_GAP}(?P<m2>{_NAME})(?:{_GAP}(?P<y2>{_YEAR}))?
    | (?P<m3>{_NAME})[ ]?(?P<d3>{_DAY})(?:{_GAP}(?P<y3>{_YEAR}))?
    | (?P<m4>{_NAME}){_GAP}(?P<y4>\d{{4}})(?!\d)
    | (?:(?P<y5>\d{{4}}|\d\d)[ ]?[年년][ ]?)?(?P<m5>\d\d?)[ ]?[月월]
        (?:[ ]?(?P<d5>\d\d?)[ ]?[日일号號])?
    | (?P<numeric>(?:\d{{4}}(?P<mark>[-/.])\d\d?(?P=mark)\d\d?
        | \d\d?(?P<mark2>[-/.])\d\d?(?P=mark2)(?:\d{{4}}|\d\d)
        | \d\d?[-/]\d\d?(?![-/.]\d))(?!\d))
    | (?P<before>午前|午後|上午|下午|오전|오후)?[ ]?(?P<hour>\d\d?)
      (?:[ ]?[:h時时點点시][ ]?(?P<minute>\d\d)(?:分|분)?(?::(?P<second>\d\d))?(?!\d)
         (?:[ ]?(?P<half>[ap])\.?m\b\.?)?
        | (?:\.(?P<minute2>\d\d))?[ ]?(?P<half2>[ap])\.?m\b\.?
        | [ ]?[時时點点시](?!\d))
    | (?P<number>\d+(?:[.,']\d+)*)(?![a-z\d])
    | (?P<word>{NUMBER_WORDS})
    )
    | (?<![a-z\d])(?P<code>[a-z]*\d[a-z\d]*)
    """,
    re.VERBOSE,
)
# "2024-07-06T10:15"
_BEFORE_TIME = re.compile(r"(?<=\d)t(?=\d\d:)")
_AFTERNOON = frozenset({"午後", "下午", "오후", "p"})
_MOST_DIGITS = 15


def same_facts(first: str, second: str) -> bool:
    """Whether two texts have equal dates, times, numbers and identifiers, in the same order.

    >>> same_facts("06 Jul 2024", "6 July 2024"), same_facts("2024-07-06", "2024-07-05")
    (True, False)
    >>> same_facts("Room 164, 10:15", "Room 164, 10:45"), same_facts("Paris", "Pariss")
    (False, True)
    """
    return are_same(facts_of(first), facts_of(second))


def are_same(first: Sequence[Fact], second: Sequence[Fact]) -> bool:
    """Whether the facts of two texts are equal one by one."""
    return len(first) == len(second) and all(map(_same, first, second))


def facts_of(text: str) -> list[Fact]:
    """Return the facts of a text in their order.

    >>> [fact.kind for fact in facts_of("Gate B12 on 15-July-24 at 6:55 PM, seats 3 and 4")]
    ['code', 'date', 'time', 'number', 'number']
    """
    return split_facts(text)[0]


def split_facts(text: str) -> tuple[list[Fact], str]:
    """Return the facts of a text and the rest of it, folded, with "\\x00" for each fact.

    >>> split_facts("Gate 5, open")[1]
    'gate \\x00, open'
    """
    facts: list[Fact] = []

    def take(match: re.Match[str]) -> str:
        facts.append(_fact_of({key: part for key, part in match.groupdict().items() if part}))
        return "\x00"

    rest = _FACT.sub(take, _BEFORE_TIME.sub(" ", plain_dates(folded(text).replace("\x00", " "))))
    return facts, rest


def _fact_of(groups: dict[str, str]) -> Fact:
    if code := groups.get("code"):
        return Fact("code", text=code)
    if number := groups.get("number"):
        return _number(number)
    if word := groups.get("word"):
        return Fact("number", values=(float(words_number(word)),))
    if "hour" in groups:
        return _time(groups)
    if numeric := groups.get("numeric"):
        return _numeric_date(numeric)
    parts = {name[0]: part for name, part in groups.items() if name[1:].isdigit()}
    month = parts["m"].rstrip(".")
    year = _full_year(parts["y"]) if "y" in parts else None
    day = int(re.sub(r"\D", "", parts["d"])) if "d" in parts else None
    months = [int(month)] if month.isdigit() else months_of(month)
    return Fact("date", days=frozenset((year, number, day) for number in months))


def _number(digits: str) -> Fact:
    values = read_amount(digits)
    is_code = digits.isdigit() and (len(digits) > _MOST_DIGITS or (digits[0] == "0" < digits[1:]))
    return Fact("code", text=digits) if is_code or not values else Fact("number", values=values)


def _time(groups: dict[str, str]) -> Fact:
    hour = int(groups["hour"])
    minute = int(groups.get("minute") or groups.get("minute2") or 0)
    half = groups.get("half") or groups.get("half2") or groups.get("before", "")
    if half:
        hour = hour % 12 + 12 * (half in _AFTERNOON)
    return Fact("time", written=(hour, minute, int(groups.get("second", 0))))


def _numeric_date(digits: str) -> Fact:
    """Return a date in digits. Unless the year comes first, day and month may have either order."""
    written = re.split("[-/.]", digits)
    if len(written[0]) == 4:
        orders = [(0, 1, 2)]
    elif len(written) == 2:
        orders = [(-1, 0, 1), (-1, 1, 0)]
    else:
        orders = [(2, 0, 1), (2, 1, 0), *([(0, 1, 2)] if len(written[2]) == 2 else [])]
    days = {
        (_full_year(written[year]) if year >= 0 else None, int(written[month]), int(written[day]))
        for year, month, day in orders
    }
    year = orders[0][0]
    numbers = (_full_year(part) if at == year else int(part) for at, part in enumerate(written))
    return Fact("date", frozenset(filter(_is_real, days)), (year, *numbers))


def _full_year(year: str) -> int:
    """Return the year. Two digits are 1969 to 2068."""
    number = int(year)
    return number if len(year) == 4 else number + (2000 if number < 69 else 1900)


def _is_real(day: Day) -> bool:
    year, month, number = day
    if not month or not number or month > 12:
        return False
    return number <= monthrange(year or 2000, month)[1]


def _same(first: Fact, second: Fact) -> bool:
    if first.kind != second.kind:
        return False
    if first.kind == "number":
        return any(abs(a - b) < AMOUNT_TOLERANCE for a in first.values for b in second.values)
    if first.kind == "date" and not (first.written[:1] == second.written[:1] != ()):
        return bool(first.days & second.days)
    return (first.written, first.text) == (second.written, second.text)
