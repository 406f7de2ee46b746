"""The value of a date or duration as it is written.

Dates are ISO 8601: `2025-03-24`, `2025-03`, `2025`; a day of no particular year is `--06-30`, as in
XML Schema. ISO 8601 has no quarters and halves of years: they are `2025-Q2` and `2025-H1`. A fiscal
year is written as any other year. Durations are `P1M`, `P13W`, `P1Y6M`; a quarter of a year is
`P3M`. Two dates joined by a dash or a word such as "to" are an interval, `2024-01-01/2024-03-31`.
"""

import re
from calendar import monthrange
from decimal import Decimal

from portal.facts.words import (
    MONTH,
    NUMBER_WORDS,
    ORDINAL_WORD,
    month_number,
    ordinal_number,
    words_number,
)

# Nothing longer is one date.
_MAX_CHARS = 200

_DAY = "(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_MONTH = f"(?P<name>{MONTH})"
_YEAR = "(?P<year>(?:19|20)[0-9]{2})"
_ANY_YEAR = "['’]?(?P<year>(?:19|20)[0-9]{2}|[0-9]{2})"
_FISCAL = "(?:(?:the )?(?:fiscal|calendar) )?(?:year )?"
_NUMBERED = (
    "(?P<first>[0-9]{1,2})(?P<mark>[/.-])(?P<second>[0-9]{1,2})(?P=mark)(?P<year>[0-9]{4}|[0-9]{2})"
)
_PART = "(?P<part>[QH])(?P<index>[1-4])"
_PARTS = rf"(?:FY ?)?(?:{_PART}|(?P<index2>[1-4])(?P<part2>[QH]))[ -]*(?:FY ?)?{_ANY_YEAR}"
_WRITTEN = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        f"{_MONTH} ?{_DAY},? ?{_YEAR}",
        f"{_DAY}(?: day of)? {_MONTH},? {_YEAR}",
        f"{_DAY}-{_MONTH}-{_ANY_YEAR}",
        f"{_MONTH},? {_YEAR}",
        f"{_MONTH} {_DAY}",
        f"{_DAY} {_MONTH}",
        f"{_YEAR}[-/.](?P<month>[0-9]{{1,2}})[-/.]{_DAY}",
        _NUMBERED,
        f"(?P<month>[0-9]{{1,2}})/{_YEAR}",
        _PARTS,
        f"{_YEAR} ?{_PART}",
        f"(?P<ordinal>{ORDINAL_WORD})[ -]quarter(?: of)? {_FISCAL}{_YEAR}",
        f"(?:(?:fiscal|calendar)(?: year)? |FY ?){_ANY_YEAR}",
        _YEAR,
    )
]
_JOINED = re.compile(r"\s*(?:[-–—]|\b(?:to|through|thru|until)\b)\s*", re.IGNORECASE)

_LENGTH = re.compile(
    rf"(?:(?P<figures>[0-9]{{1,3}}(?:\.[0-9]{{1,2}})?)|(?P<words>{NUMBER_WORDS}))"
    r"(?: ?\( ?[0-9]{1,3} ?\))?[ \u2010\u2011-]+"
    r"(?:(?:calendar|business|trading|consecutive|full|fiscal) )?"
    r"(?P<unit>day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)
_BETWEEN_LENGTHS = re.compile(r"(?:,? and |, | )?", re.IGNORECASE)

_POINT_VALUE = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?|-Q[1-4]|-H[12])?"
    r"|--(?P<any_month>[0-9]{2})-(?P<any_day>[0-9]{2})"
)
_NUMERAL = r"[0-9]+(?:\.[0-9]+)?"
_DURATION_VALUE = re.compile(
    rf"P(?=[0-9T])(?:{_NUMERAL}Y)?(?:{_NUMERAL}M)?(?:{_NUMERAL}W)?(?:{_NUMERAL}D)?"
    rf"(?:T(?=[0-9])(?:{_NUMERAL}H)?(?:{_NUMERAL}M)?(?:{_NUMERAL}S)?)?"
)


def read_date(quote: str) -> str:
    """The value of a date, duration or interval; empty when it cannot be read.

    `03/04/2025` is the fourth of March, as filings in the United States write it; when the first
    number is no month, or points part them, the day comes first. Years of two digits are 1969 to
    2068.
    """
    if len(quote) > _MAX_CHARS:
        return ""
    written = " ".join(quote.split())
    return _point(written) or _duration(written) or _interval(written)


def check_date(value: str, sign: str) -> str | None:
    """What is wrong with the value of a date, duration or interval; None when nothing is."""
    if sign:
        return "a date has no sign"
    if not value or _DURATION_VALUE.fullmatch(value):
        return None
    points = value.split("/")
    if len(points) > 2 or not all(_POINT_VALUE.fullmatch(point) for point in points):
        return (
            "the value must be a date such as 2025-03-24, 2025-03, 2025, 2025-Q2 or --06-30, "
            "a duration such as P1M, or an interval of two dates with / between them"
        )
    unreal = next((point for point in points if not _is_real(point)), None)
    return f"there is no such date as {unreal}" if unreal else None


def _is_real(point: str) -> bool:
    match = _POINT_VALUE.fullmatch(point)
    if not match:
        return False
    month = match["month"] or match["any_month"]
    day = match["day"] or match["any_day"]
    return _is_day(int(match["year"] or 2000), int(month or 1), int(day or 1))


def _is_day(year: int, month: int, day: int) -> bool:
    return year > 0 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _point(written: str) -> str:
    for pattern in _WRITTEN:
        if match := pattern.fullmatch(written):
            point = _point_value({key: text for key, text in match.groupdict().items() if text})
            if _is_real(point):
                return point
    return ""


def _point_value(parts: dict[str, str]) -> str:
    year = _full_year(parts["year"]) if "year" in parts else "-"
    if "ordinal" in parts:
        return f"{year}-Q{ordinal_number(parts['ordinal'])}"
    if part := parts.get("part") or parts.get("part2"):
        return f"{year}-{part.upper()}{parts.get('index') or parts.get('index2')}"
    if "first" in parts:
        return f"{year}-{_month_and_day(parts)}"
    month = month_number(parts["name"]) if "name" in parts else parts.get("month")
    numbers = [int(number) for number in (month, parts.get("day")) if number is not None]
    return "-".join([year, *(f"{number:02}" for number in numbers)])


def _month_and_day(parts: dict[str, str]) -> str:
    """Month first, unless points say otherwise or there is no such month or day."""
    first, second = int(parts["first"]), int(parts["second"])
    day_first = parts["mark"] == "."
    if (second if day_first else first) > 12:
        day_first = not day_first
    return f"{second:02}-{first:02}" if day_first else f"{first:02}-{second:02}"


def _full_year(year: str) -> str:
    if len(year) == 4:
        return year
    return f"{'20' if year < '69' else '19'}{year}"


def _duration(written: str) -> str:
    lengths: dict[str, str] = {}
    position = 0
    while match := _LENGTH.match(written, position):
        figures = match["figures"] or str(words_number(match["words"]))
        unit = match["unit"][0].upper()
        if unit == "Q":
            figures, unit = str(3 * Decimal(figures)), "M"
        if unit in lengths:
            return ""
        lengths[unit] = figures
        position = match.end()
        if position == len(written):
            return "P" + "".join(f"{lengths[u]}{u}" for u in "YMWD" if u in lengths)
        between = _BETWEEN_LENGTHS.match(written, position)
        position = between.end() if between else position
    return ""


def _interval(written: str) -> str:
    for joint in _JOINED.finditer(written):
        first, last = _point(written[: joint.start()]), _point(written[joint.end() :])
        if first.startswith("--") and last[:4].isdigit():
            first = last[:4] + first[1:]
            first = first if first <= last else ""
        if first and last:
            return f"{first}/{last}"
    return ""
