"""Amounts of money in any notation.

An amount is digits with marks that group them and one before the decimals, with a sign and a
currency. A mark that can be both, as in `1.234`, gives two values: the amount then is whichever the
other side has, unless its currency decides. The published cleaning of ReceiptBench, which only
drops `$`, `,` and spaces, is the other way to read one.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from html import unescape
from pathlib import Path
from typing import Any
from unicodedata import category, decomposition, normalize

# Larger floats cannot represent cents.
LARGEST_AMOUNT = 1e15
AMOUNT_TOLERANCE = 1e-6
# The longest text that is one amount, and the most signs and codes in it.
_LONGEST = 100
_MOST_CURRENCIES = 2

# Returns the possible values of an amount in a currency ("" if unknown): one, two or none.
Read = Callable[[Any, str], tuple[float, ...]]

_TABLE = tomllib.loads(Path(__file__).with_name("currencies.toml").read_text(encoding="utf-8"))
_NOTATION: dict[str, str] = {
    code: kind for kind in ("whole", "comma", "point", "both") for code in _TABLE[kind].split()
}
_CODES = {name.lower(): code for name, code in _TABLE["signs"].items()}
_CODES |= {code.lower(): code for code in _NOTATION}
# A sign of several currencies is its own code.
_SHARED: dict[str, str] = {name.lower(): kind for name, kind in _TABLE["shared_signs"].items()}
_CODES |= {name: name for name in _SHARED}
_NOTATION |= _SHARED
# The signs of a name that can mean several currencies: "dollars" are "$".
_SIGN_OF = {"dollar": "$", "dollars": "$", "¥": "¥", "₨": "rs", "rs.": "rs", "rupee": "rs"}
_SIGN_OF |= {"rupees": "rs", "kr.": "kr", "pesos": "peso"}
_MEANINGS = {
    sign.lower(): frozenset(codes.split()) for sign, codes in _TABLE["currencies_of"].items()
}
_CURRENCIES = "|".join(map(re.escape, sorted(_CODES, key=len, reverse=True)))
# "US $", "U.S. $", "US-$" and "HK $" are written with their sign.
_SPACED_SIGN = re.compile(
    r"(?<![^\W\d_])(?:(u)\.?(s)\.?|([a-z]{2}))[ .-]{1,2}(?=\$)", re.IGNORECASE
)
_NOTES = "|".join(map(re.escape, sorted(_TABLE["beside"]["notes"].split(), key=len, reverse=True)))
_NOTE = rf"(?:\( ?)?(?<![a-z])(?:{_NOTES})(?![a-z])(?: ?\))?"
_BESIDE = re.compile(rf"\A(?:{_NOTE}|[ *])+|(?:{_NOTE}|[ *])+\Z", re.IGNORECASE)
_BARE = re.compile("[-+0-9.,'() ]*")
# A name is a currency if it is not part of a longer word.
_CURRENCY = re.compile(rf"(?<![^\W\d_])(?:{_CURRENCIES})(?![^\W\d_])", re.IGNORECASE)
# "12€50"
_CENTS = re.compile(r"\d\d(?!\d)")

_APOSTROPHES = "'’‘`´′ʼ"
# Arabic marks before decimals and between groups, and the raised British point.
_MARKS = str.maketrans({"٫": ".", "٬": ",", "·": "."})
# "5.-", "5,--" and "5/-": no cents.
_NO_CENTS = re.compile(r"(?<=\d)(?:[.,] ?--?|/[-=])$")
# "¥1,500-", where a currency has no cents.
_NO_CENTS_OF_WHOLE = re.compile(r"(?<=\d)(?:[.,]? ?--?|/[-=])$")
_SHELL = re.compile(
    r"(?P<minus>-)?[+ ]*(?:(?P<open>\()[+ ]*(?P<inner>-)? *)?(?P<body>[\d.,][\d.,' ]*)"
    r"(?P<close>\))? *(?P<behind>-|CR|DR)?",
    re.IGNORECASE,
)
_MARK = re.compile("[.,' ]")


def read_amount(value: Any, currency: str = "") -> tuple[float, ...]:
    """Return the possible values of an amount; empty if it is none.

    Accepts signs and codes of currencies, parentheses and minus signs on either side, a point or a
    comma before the decimals, and groups of digits by commas, points, apostrophes, spaces or in the
    Indian way. A single point or comma before three digits may group or be decimal, unless digits
    or the currency decide: `currency` is a code such as EUR or a sign, and one in the text comes
    first. A list, an object, true, NaN and numbers not below LARGEST_AMOUNT are not amounts.

    >>> read_amount("1.000,00"), read_amount("€1'234.50"), read_amount("($79.33)")
    ((1000.0,), (1234.5,), (-79.33,))
    >>> read_amount("1.234"), read_amount("1.234", "EUR"), read_amount("1.234", "USD")
    ((1234.0, 1.234), (1234.0,), (1.234,))
    """
    if isinstance(value, bool | list | dict) or value is None:
        return ()
    if isinstance(value, int | float):
        return _bounded((value,))
    text = str(value)
    if len(text) > _LONGEST or any(decomposition(char).startswith("<super>") for char in text):
        return ()
    text, codes = _without_currency(_plain(text))
    code = _surest([*codes, currency])
    bare = (_NO_CENTS_OF_WHOLE if _is_whole(code) else _NO_CENTS).sub("", text)
    shell = _SHELL.fullmatch(bare)
    if shell is None or bool(shell["open"]) != bool(shell["close"]):
        return ()
    notation = "whole" if bare != text else _NOTATION.get(code, "both")
    values = _bounded(_values(shell["body"].strip(), notation))
    is_debit = (shell["behind"] or "DR").upper() == "DR"
    if is_debit and not (shell["minus"] or shell["open"]):
        return values
    return tuple(-value for value in values)


def read_amount_as_published(value: Any, _currency: str = "") -> tuple[float, ...]:
    """Return the number in an amount by the published cleaning: without `$`, `,` and white space;
    empty if there is none.

    >>> read_amount_as_published("$1,200.00"), read_amount_as_published("€5")
    ((1200.0,), ())
    """
    if isinstance(value, bool | list | dict) or value is None:
        return ()
    try:
        return _bounded((float("".join(str(value).replace("$", "").replace(",", "").split())),))
    except (ValueError, OverflowError):
        return ()


def currency_of(code: Any, evidence: Any = None) -> str:
    """Return the currency of a receipt from its code or else from the printed evidence; "" if
    neither names one.

    >>> currency_of(" eur "), currency_of("", ["Lyon", "€"]), currency_of(None, ["$"])
    ('EUR', 'EUR', '$')
    """
    listed = [code, *(evidence if isinstance(evidence, list) else [evidence])]
    return _surest([_CODES.get(each.strip().lower(), "") for each in listed if type(each) is str])


def currency_in(amount: Any) -> str:
    """Return the currency that an amount names, "" if none.

    >>> currency_in("45.00 EUR"), currency_in("$45"), currency_in("45")
    ('EUR', '$', '')
    """
    if not isinstance(amount, str) or len(amount) > _LONGEST:
        return ""
    return _surest(_without_currency(_plain(amount))[1])


def same_currency(*amounts: Any) -> bool:
    """Whether amounts, or codes of currencies, name currencies that can be the same one.

    >>> same_currency("$5", "A$5"), same_currency("¥5", "5 EUR"), same_currency("5", "£5", "")
    (True, False, True)
    """
    named = [meant for amount in amounts if (meant := _meant_by(amount))]
    return not named or bool(frozenset.intersection(*named))


def _meant_by(amount: Any) -> frozenset[str]:
    """Return the currencies that any sign in an amount can mean, none without a sign."""
    if not isinstance(amount, str) or not amount or len(amount) > _LONGEST:
        return frozenset()
    codes = [amount] if amount in _CODES.values() else _without_currency(_plain(amount))[1]
    signs = [_SIGN_OF.get(code, code) for code in codes]
    return frozenset().union(*({sign, *_MEANINGS.get(sign.lower(), ())} for sign in signs))


def _is_whole(code: str) -> bool:
    return code == "¥" or _NOTATION.get(code) == "whole"


def _surest(codes: Sequence[str]) -> str:
    """Return the first code of a single currency, else the first of several."""
    return next(
        (code for code in codes if code and code not in _SHARED), next(filter(None, codes), "")
    )


def _plain(text: str) -> str:
    """Return the text with one form of each dash, space, digit and apostrophe."""
    text = normalize("NFKC", unescape(text)).translate(_MARKS)
    folded = ("-" if category(char) == "Pd" or char == "−" else char for char in text)
    plain = ("'" if char in _APOSTROPHES else char for char in folded)
    return " ".join("".join(plain).split())


def _without_currency(text: str) -> tuple[str, list[str]]:
    """Remove signs and codes of the currency, and return the rest and the codes. A sign before two
    last digits is the mark before cents. Notes such as "tax included" are removed, too."""
    codes: list[str] = []
    if _BARE.fullmatch(text):
        return text, codes
    text = _BESIDE.sub("", _SPACED_SIGN.sub(r"\1\2\3", text))
    while len(codes) < _MOST_CURRENCIES and (match := _CURRENCY.search(text)):
        before, behind = text[: match.start()], text[match.end() :]
        is_mark = before[-1:].isdigit() and behind[:1].isdigit()
        if is_mark and not _CENTS.match(behind):
            break
        codes.append(_CODES[match[0].lower()])
        text = f"{before}.{behind}" if is_mark else f"{before.rstrip()}{behind.lstrip()}"
    return _BESIDE.sub("", text).strip(), codes


def _values(body: str, notation: str) -> tuple[float, ...]:
    """Return the possible values of digits with marks."""
    groups, marks = _MARK.split(body), _MARK.findall(body)
    grouped = _is_grouped(groups, marks)
    decimal = _is_decimal(groups, marks)
    if grouped and decimal:
        is_decimal = notation == "point" and marks[-1] == "."
        grouped, decimal = not is_decimal, is_decimal or notation == "both"
    whole = "".join(groups)
    values = [float(whole)] if grouped else []
    if decimal:
        values.append(float(f"{''.join(groups[:-1])}.{groups[-1]}"))
    return tuple(values)


def _is_grouped(groups: list[str], marks: list[str]) -> bool:
    """Whether the marks divide a whole number into groups: of three digits or, by commas, in the
    Indian way."""
    first, *others = groups
    if not others:
        return first != ""
    if len(set(marks)) > 1 or not first or (first[0] == "0" and len(marks) == 1):
        return False
    *inner, last = map(len, others)
    size = 2 if inner and set(inner) == {2} and marks[0] == "," else 3
    return last == 3 and set(inner) <= {size} and len(first) <= size


def _is_decimal(groups: list[str], marks: list[str]) -> bool:
    """Whether the last mark is before decimals. A mark that also groups is if it has less than
    three digits behind it."""
    if not marks or marks[-1] not in ".,":
        return False
    *head, decimals = groups
    if marks[-1] in marks[:-1] and not 0 < len(decimals) < 3:
        return False
    return (len(head) == 1 and bool(head[0] or decimals)) or _is_grouped(head, marks[:-1])


def _bounded(numbers: Iterable[float]) -> tuple[float, ...]:
    """Return the numbers as floats if they are finite and below LARGEST_AMOUNT, else none."""
    try:
        values = tuple(map(float, numbers))
    except OverflowError:
        return ()
    is_bounded = all(math.isfinite(value) and abs(value) < LARGEST_AMOUNT for value in values)
    return values if is_bounded else ()
