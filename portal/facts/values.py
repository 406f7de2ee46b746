"""Normalised values and sign conventions of facts: reading and checking.

Dates are ISO 8601: `2025-03-24`, `2025-03`, `2025`; a day without a year is `--06-30`, as in XML
Schema. Quarters and halves of years, which ISO 8601 lacks, are `2025-Q2` and `2025-H1`. Fiscal
years are written like other years. Durations are `P1M`, `P13W`, `P1Y6M`; a quarter of a year is
`P3M`. Two dates joined by a dash or a word such as "to" are an interval, `2024-01-01/2024-03-31`.
"""

import re
from calendar import monthrange
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple
from unicodedata import numeric

from .grammar import (
    CURRENCY,
    MINUS,
    MONTH,
    NEGATIVE,
    NO_WIDTH,
    NUMBER_WORDS,
    ORDINAL_WORD,
    VULGAR,
    month_number,
    narrowed,
    ordinal_number,
    words_number,
)
from .spans import label_kind

PLAIN = "plain"
PARENTHESES = "parentheses"
SIGNS = (PLAIN, "minus", PARENTHESES, "trailing_minus", "trailing_cr")

NUMBER_VALUE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+|/[1-9][0-9]*)?")

_AROUND = rf"[{CURRENCY}%\s]*+"
_SHELL = re.compile(
    rf"{_AROUND}(?P<open>\()?{_AROUND}(?P<minus>[{NEGATIVE}])?\+?{_AROUND}"
    rf"(?P<figures>[0-9{VULGAR}.](?:.*[0-9{VULGAR}])?){_AROUND}(?P<close>\))?{_AROUND}"
    rf"(?P<trailing_minus>[{MINUS}])?(?P<trailing_cr>CR)?\s*",
    re.DOTALL,
)
_DECIMAL = re.compile(r"[0-9]*(?:\.[0-9]+)?")
_COMMAS = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]+)?")
_GAPS = re.compile(r"[0-9]{1,3}(?:[ \xa0\u2009\u202f'’][0-9]{3})+(?:[.,][0-9]+)?")
_POWER = re.compile(r"[0-9]+\.[0-9]+[eE][-+]?[0-9]{1,2}")
_POINTS = re.compile(r"[0-9]{1,3}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,})")
_FRACTION = re.compile(r"([0-9]{1,9})[/\u2044]([0-9]{1,9})")
_MIXED = re.compile(
    rf"([0-9]{{1,9}})(?:[ \xa0-]([0-9]{{1,3}})[/\u2044]([0-9]{{1,3}})|\s?([{VULGAR}]))"
)
_WORDS = re.compile(NUMBER_WORDS, re.IGNORECASE)


def read_number(quote: str) -> tuple[str, str]:
    """Return the value of a number and its sign convention; empty strings if it is unreadable.

    The value is a decimal with all written places, or a fraction of two whole numbers. Values are
    not scaled: `25.63%` is 25.63.
    """
    quote = NO_WIDTH.sub("", narrowed(quote))
    words = quote.strip()
    if _WORDS.fullmatch(words):
        return str(words_number(words)), PLAIN
    shell = _SHELL.fullmatch(quote)
    if not shell or bool(shell["open"]) != bool(shell["close"]):
        return "", ""
    value = _figures(shell["figures"])
    if not value:
        return "", ""
    if shell["open"]:
        return _negative(value), PARENTHESES
    sign = next((name for name in SIGNS if name in shell.groupdict() and shell[name]), PLAIN)
    return value if sign == PLAIN else _negative(value), sign


def check_number(value: str, sign: str) -> str | None:
    """Return the error of a number's value and sign convention, or None.

    Both may be empty if the value is unknown.
    """
    if not value and not sign:
        return None
    if sign not in SIGNS:
        return f"the sign must be one of {', '.join(SIGNS)}"
    if not NUMBER_VALUE.fullmatch(value):
        return "the value must be a decimal such as -1200 or 25.63, or a fraction such as 1/3"
    is_negative = value.startswith("-")
    if is_negative and not _is_nonzero(value):
        return "zero cannot have a minus sign"
    if is_negative and sign == PLAIN:
        return "a negative value cannot have a plain sign: choose how the sign is shown"
    if not is_negative and sign != PLAIN and _is_nonzero(value):
        return f"a number with the sign {sign} is negative: the value must begin with -"
    return None


def _negative(value: str) -> str:
    return f"-{value}" if _is_nonzero(value) else value


def _is_nonzero(value: str) -> bool:
    return re.search("[1-9]", value.partition("/")[0]) is not None


def _figures(figures: str) -> str:
    """The unsigned value of digits with separators; empty if they are not a number."""
    if _COMMAS.fullmatch(figures):
        return _decimal(figures.replace(",", ""))
    if _GAPS.fullmatch(figures):
        return _decimal(re.sub("[^0-9.,]", "", figures).replace(",", "."))
    if _POINTS.fullmatch(figures):
        return _decimal(figures.replace(".", "").replace(",", "."))
    if _DECIMAL.fullmatch(figures):
        return _decimal(figures)
    if _POWER.fullmatch(figures):
        return _decimal(f"{Decimal(figures):f}")
    return _fraction(figures)


def _decimal(figures: str) -> str:
    whole, point, places = figures.partition(".")
    return f"{whole.lstrip('0') or '0'}{point}{places}"


def _fraction(figures: str) -> str:
    """A fraction as written; one with a whole number before it as a fraction in lowest terms."""
    if written := _FRACTION.fullmatch(figures):
        top, bottom = int(written[1]), int(written[2])
        return f"{top}/{bottom}" if bottom else ""
    if len(figures) == 1 and figures in VULGAR:
        return _ratio(_vulgar(figures))
    mixed = _MIXED.fullmatch(figures)
    if not mixed or (mixed[3] and not int(mixed[3])):
        return ""
    part = _vulgar(mixed[4]) if mixed[4] else Fraction(int(mixed[2]), int(mixed[3]))
    return _ratio(int(mixed[1]) + part)


def _vulgar(character: str) -> Fraction:
    return Fraction(numeric(character)).limit_denominator(10)


def _ratio(fraction: Fraction) -> str:
    return f"{fraction.numerator}/{fraction.denominator}"


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
    """Return the value of a date, duration or interval; empty if it is unreadable.

    `03/04/2025` is 4 March, as in the United States. If the first number is not a month, or dots
    separate the numbers, the day comes first. Years of two digits are 1969 to 2068.
    """
    if len(quote) > _MAX_CHARS:
        return ""
    written = " ".join(quote.split())
    return _point(written) or _duration(written) or _interval(written)


def check_date(value: str, sign: str) -> str | None:
    """Return the error of the value of a date, duration or interval, or None."""
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
    """Month first, unless dots separate the numbers or there is no such month or day."""
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


class FactValue(NamedTuple):
    """A value valid for `check_value`, and one of SIGNS for a number; empty if unknown."""

    value: str
    sign: str


def read_value(quote: str, label: str) -> FactValue:
    """Read the value and sign convention of a fact from its quote.

    A number is a decimal with all written places, or a fraction: `(1,200.50)` is -1200.50 in
    parentheses. It is not scaled, neither by a percent sign nor by its context. A date is ISO 8601,
    with the additions named above. Labels of other kinds have neither value nor sign. Accepts any
    quote; unreadable values are empty.

    >>> read_value("(1,200)", "Number"), read_value("March 24, 2025", "Date").value
    (FactValue(value='-1200', sign='parentheses'), '2025-03-24')
    """
    kind = label_kind(label)
    if kind == "number":
        return FactValue(*read_number(quote))
    return FactValue(read_date(quote) if kind == "date" else "", "")


def check_value(value: str, sign: str, label: str) -> str | None:
    """Return the error of a value and sign convention as a sentence, or None.

    Results of `read_value` and two empty strings are valid.
    """
    kind = label_kind(label)
    if kind == "number":
        return check_number(value, sign)
    if kind == "date":
        return check_date(value, sign)
    return f"the label {label} has no value and no sign" if value or sign else None
