"""The value of a number as it is written, and how its sign is shown."""

import re
from fractions import Fraction
from unicodedata import numeric

from portal.facts.grammar import CURRENCY, MINUS, VULGAR
from portal.facts.words import NUMBER_WORDS, words_number

PLAIN = "plain"
PARENTHESES = "parentheses"
SIGNS = (PLAIN, "minus", PARENTHESES, "trailing_minus", "trailing_cr")

NUMBER_VALUE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+|/[1-9][0-9]*)?")

_AROUND = rf"[{CURRENCY}%\s]*+"
_SHELL = re.compile(
    rf"{_AROUND}(?P<open>\()?{_AROUND}(?P<minus>[{MINUS}])?\+?{_AROUND}"
    rf"(?P<figures>[0-9{VULGAR}.](?:.*[0-9{VULGAR}])?){_AROUND}(?P<close>\))?{_AROUND}"
    rf"(?P<trailing_minus>[{MINUS}])?(?P<trailing_cr>CR)?\s*",
    re.DOTALL,
)
_DECIMAL = re.compile(r"[0-9]*(?:\.[0-9]+)?")
_COMMAS = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]+)?")
_GAPS = re.compile(r"[0-9]{1,3}(?:[\u2009\u202f'’][0-9]{3})+(?:[.,][0-9]+)?")
_POINTS = re.compile(r"[0-9]{1,3}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,})")
_FRACTION = re.compile(r"([0-9]{1,9})[/\u2044]([0-9]{1,9})")
_MIXED = re.compile(
    rf"([0-9]{{1,9}})(?:[ \xa0-]([0-9]{{1,3}})[/\u2044]([0-9]{{1,3}})|\s?([{VULGAR}]))"
)
_WORDS = re.compile(NUMBER_WORDS, re.IGNORECASE)


def read_number(quote: str) -> tuple[str, str]:
    """The value of a number and its sign convention; two empty strings when it cannot be read.

    The value is a decimal with all places that were written, or a fraction of two whole numbers.
    Nothing is scaled: `25.63%` is 25.63.
    """
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
    """What is wrong with the value and sign convention of a number; None when nothing is.

    Both empty are fine: the value is not known.
    """
    if not value and not sign:
        return None
    if sign not in SIGNS:
        return f"the sign must be one of {', '.join(SIGNS)}"
    if not NUMBER_VALUE.fullmatch(value):
        return "the value must be a decimal such as -1200 or 25.63, or a fraction such as 1/3"
    is_negative = value.startswith("-")
    if is_negative and not _is_nonzero(value):
        return "zero has no minus sign"
    if is_negative and sign == PLAIN:
        return "a negative value is not written plain: choose how its sign is shown"
    if not is_negative and sign != PLAIN and _is_nonzero(value):
        return f"a number with the sign {sign} is negative: the value begins with -"
    return None


def _negative(value: str) -> str:
    return f"-{value}" if _is_nonzero(value) else value


def _is_nonzero(value: str) -> bool:
    return re.search("[1-9]", value.partition("/")[0]) is not None


def _figures(figures: str) -> str:
    """The unsigned value of figures with their separators; empty when they are no number."""
    if _COMMAS.fullmatch(figures):
        return _decimal(figures.replace(",", ""))
    if _GAPS.fullmatch(figures):
        return _decimal(re.sub("[\u2009\u202f'’]", "", figures).replace(",", "."))
    if _POINTS.fullmatch(figures):
        return _decimal(figures.replace(".", "").replace(",", "."))
    if _DECIMAL.fullmatch(figures):
        return _decimal(figures)
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
