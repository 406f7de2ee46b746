"""Dates of other calendars, numerals and languages, rewritten in one form.

`plain_dates` gives each year its number in the Gregorian calendar and each named month a character
of its own, and drops weekdays and numerals of other scripts. So `令和6年5月1日`, `R6.5.1` and
`1 มิ.ย. 2567` need no pattern of their own. The names of months and weekdays are those of CLDR.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import category, decimal, normalize

from babel import Locale
from babel.localedata import locale_identifiers
from hijridate import Hijri

_TABLE = tomllib.loads(Path(__file__).with_name("calendars.toml").read_text(encoding="utf-8"))
_SHORT_NAMES_OF = frozenset(_TABLE["languages"]["short"].split())
_SHORT = 3
_LONGEST_NAME_WORDS = 4

# Private characters, each for the months that a name can mean. Texts lose their own.
_FIRST, _LAST = 0xE000, 0xEFFF
MONTH = f"[{chr(_FIRST)}-{chr(_LAST)}]"

# Accents, Arabic vowels, and characters without a width.
_DROPPED_MARKS = re.compile(
    "[\u0300-\u036f\u064b-\u0652\u0640\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_QUOTES = str.maketrans({**dict.fromkeys("’‘`´ʼ", "'"), "،": ","})


def folded(text: str) -> str:
    """Return the text in lower case without accents, with one form of each space, dash, digit and
    apostrophe.

    >>> folded("１５\N{NO-BREAK SPACE}Août – ٢٠٢٤")
    '15 aout - 2024'
    """
    if text.isascii():
        return " ".join(text.lower().replace("`", "'").split())
    plain = normalize("NFKC", _DROPPED_MARKS.sub("", normalize("NFKD", text.lower())))
    return " ".join("".join(map(_folded_character, plain.translate(_QUOTES))).split())


def _folded_character(char: str) -> str:
    if char.isascii():
        return char
    kind = category(char)
    if kind == "Nd":
        return str(decimal(char))
    return "-" if kind == "Pd" or char == "−" else " " if kind == "Co" else char


class Names(NamedTuple):
    """Names of months with the numbers they can mean, names of weekdays, and Thai months."""

    months: Mapping[str, frozenset[int]]
    weekdays: frozenset[str]
    thai: frozenset[str]
    characters: Mapping[frozenset[int], str]


@cache
def names() -> Names:
    """Return the names of all languages, folded. It takes a second, once."""
    months: dict[str, set[int]] = {}
    weekdays: set[str] = set()
    thai: set[str] = set()
    for language in locale_identifiers():
        if "_" in language:
            continue
        locale = Locale.parse(language)
        for name, number in _names_of(locale.months):
            if len(name) > _SHORT or not name.isascii() or language in _SHORT_NAMES_OF:
                months.setdefault(name, set()).add(number)
                thai.update([name] if language == "th" else [])
        for name, _ in _names_of(locale.days):
            if len(name) > 1 and (not name.isascii() or language in _SHORT_NAMES_OF):
                weekdays.add(name)
    for name, number in _TABLE["months"].items():
        months.setdefault(name, set()).add(number)
    frozen = {name: frozenset(numbers) for name, numbers in months.items()}
    distinct = dict.fromkeys(frozen.values())
    characters = {numbers: chr(_FIRST + at) for at, numbers in enumerate(distinct)}
    return Names(frozen, frozenset(weekdays), frozenset(thai), characters)


def _names_of(table: Mapping[str, Mapping[str, Mapping[int, str]]]) -> Iterator[tuple[str, int]]:
    for widths in table.values():
        for width in ("wide", "abbreviated"):
            for number, name in widths.get(width, {}).items():
                text = re.sub("^(?:de |d'|di |ב)", "", folded(name)).rstrip(".")
                if text and not any(map(str.isdigit, text)):
                    yield text, number
                    if not text.isascii() and "." in text:
                        yield text.replace(".", ""), number


@cache
def _months_by_character() -> Mapping[str, frozenset[int]]:
    return {char: numbers for numbers, char in names().characters.items()}


def months_of(char: str) -> frozenset[int]:
    """Return the numbers of the months that a character of `plain_dates` means."""
    return _months_by_character()[char]


def plain_dates(text: str) -> str:
    """Return a folded text with its dates in one form.

    >>> plain_dates("令和6年5月1日(水)"), plain_dates("民國113/05/01")
    ('2024年5月1日', '2024/05/01')
    >>> plain_dates("二〇二四年四月二十日")
    '2024年4月20日'
    >>> plain_dates("15/09/1445 هـ"), plain_dates("sat, 15/06/2567")
    ('2024-03-25', '15/06/2024')
    """
    if not text.isascii():
        text = _CJK_NUMBER.sub(_cjk_number, _CJK_WEEKDAY.sub("", text))
        text = _COMMON_ERA.sub(" ", text)
        text = _ERA.sub(_from_era, _THAI_YEAR.sub(_from_thai, text))
    text = _HIJRI.sub(_from_hijri, text)
    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    text = _ROC.sub(lambda match: str(int(match[0]) + _ERAS["民國"] - 1), text)
    text = _LETTER_ERA.sub(_from_letter, _VIETNAMESE.sub(_vietnamese_month, text))
    text = _BUDDHIST.sub(lambda match: str(int(match["year"]) - _BUDDHIST_YEARS), text)
    return _with_months(text)


# --- eras ---

_ERAS: Mapping[str, int] = _TABLE["eras"]
_ERA_LETTERS: Mapping[str, int] = _TABLE["era_letters"]
_ERA = re.compile(rf"(?:中[华華])?(?P<era>{'|'.join(_ERAS)}) ?(?P<year>元|\d{{1,3}}(?!\d))")
_LETTER_ERA = re.compile(
    r"(?<![a-z\d])(?P<era>[rhstm令平昭大明])\.? ?(?P<year>\d\d?)(?=([./-])\d\d?\3\d\d?(?!\d)|年)"
)
# "15. 6. 2024"
_SPACED = re.compile(
    r"(?<![\d.])(\d\d?)\. (\d\d?)\. ?(?=\d{4}(?!\d))|(?<!\d)(\d{4})\. (\d\d?)\. ?(?=\d\d?(?!\d))"
)
# A year of three digits is one of the Republic of China.
_ROC = re.compile(r"(?<![\d./-])1\d\d(?=([./-])\d\d?\1\d\d?(?![\d./-])| ?年 ?\d\d? ?月)")
# Years of the Buddhist era in this century and the last, marked or in a date.
_BUDDHIST_YEARS = 543
_BUDDHIST = re.compile(r"(?:พ\.?ศ\.? ?|b\.?e\.? ?)?(?<!\d)(?P<year>2[45]\d\d|26[0-3]\d)(?!\d)")
_COMMON_ERA = re.compile(r" ?ค\.?ศ\.? ?(?=\d)")
_THAI_YEAR = re.compile(r"(?P<month>[\u0e01-\u0e5b.]{3,12})(?P<gap> ?)(?P<year>\d\d)(?![\d:.,])")


def _from_era(match: re.Match[str]) -> str:
    year = 1 if match["year"] == "元" else int(match["year"])
    return str(_ERAS[match["era"]] + year - 1)


def _from_letter(match: re.Match[str]) -> str:
    return str(_ERA_LETTERS[match["era"]] + int(match["year"]) - 1)


def _from_thai(match: re.Match[str]) -> str:
    """Write the two digits of a Buddhist year after the name of a month in full."""
    if match["month"].strip(".") not in names().thai:
        return match[0]
    return f"{match['month']}{match['gap']}{2500 + int(match['year']) - _BUDDHIST_YEARS}"


# --- the Islamic calendar ---

_HIJRI_MONTHS = {folded(name): number for name, number in _TABLE["hijri_months"].items()}
_HIJRI_NAME = "|".join(sorted(map(re.escape, _HIJRI_MONTHS), key=len, reverse=True))
_HIJRI = re.compile(
    rf"""(?<!\d)(?:
      (?P<d>\d\d?)[ ,]{{0,2}}(?P<name>{_HIJRI_NAME})[ ,]{{0,2}}(?P<y>1[345]\d\d)
    | (?P<d2>\d\d?)(?P<mark>[-/.])(?P<m2>\d\d?)(?P=mark)(?P<y2>1[345]\d\d)(?=[ ]?(?:ه|ah\b))
    | (?P<y3>1[345]\d\d)(?P<mark3>[-/.])(?P<m3>\d\d?)(?P=mark3)(?P<d3>\d\d?)(?=[ ]?(?:ه|ah\b))
    )(?:[ ]?(?:هـ?|ah\b)\.?)?""",
    re.VERBOSE,
)


def _from_hijri(match: re.Match[str]) -> str:
    parts = {key[0]: part for key, part in match.groupdict().items() if part and key[0] in "dmy"}
    month = _HIJRI_MONTHS[match["name"]] if match["name"] else int(parts["m"])
    try:
        return Hijri(int(parts["y"]), month, int(parts["d"])).to_gregorian().isoformat()
    except (ValueError, OverflowError):  # No such day, or beyond the tables.
        return match[0]


# --- Chinese, Japanese, Korean and Vietnamese ---

_CJK_DIGITS = {char: at for at, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "元": 1}
_CJK_UNITS = {"十": 10, "廿": 20, "卅": 30, "百": 100}
_CJK_NUMBER = re.compile(
    r"[〇零一二三四五六七八九十百廿卅]{1,9}(?= ?[年月日号號時时点點分])|元(?=年)"
)
_CJK_WEEKDAY = re.compile(
    r"\((?:[月火水木金土日]曜?|[월화수목금토일一二三四五六])\)|\(?[月火水木金土日]曜日?\)?"
    r"|\(?(?:星期|周|週)[一二三四五六日天]\)?|\(?[월화수목금토일]요일\)?"
)
_VIETNAMESE = re.compile(r"\b(?:thang|thg)\.? ?(?P<month>1[012]|0?[1-9])(?!\d)(?: ?nam\b)?")


def _cjk_number(match: re.Match[str]) -> str:
    """Write 二〇二四 or 二十四 in digits."""
    if _CJK_UNITS.keys().isdisjoint(match[0]):
        return "".join(str(_CJK_DIGITS[char]) for char in match[0])
    total = digit = 0
    for char in match[0]:
        if char in _CJK_UNITS:
            total, digit = total + max(digit, 1) * _CJK_UNITS[char], 0
        else:
            digit = _CJK_DIGITS[char]
    return str(total + digit)


def _vietnamese_month(match: re.Match[str]) -> str:
    return names().characters[frozenset([int(match["month"])])]


# --- names of months and weekdays ---

# The character that ends a name of a month does not belong to it: "Sept.", "Jul'24".
_WORD = re.compile(r"[^\s\d,;:/()\[\]年月日.-]+(?:\.(?=[^\W\d_])[^\s\d,;:/()\[\]年月日.-]+)*\.?")
_AFTER_DATE = re.compile(rf"[\d日일{MONTH[1:-1]}][., (]{{0,3}}\Z")
_BEFORE_DATE = re.compile(r"[., ]{0,3}\d{1,4}(?!\d)")
_BEFORE_WHOLE_DATE = re.compile(r"[., ]{0,3}\d{1,4}(?P<mark>[-/.])\d{1,2}(?!\d)")
_BEFORE_MONTH = re.compile(r"[., ]{0,3}(?:\d{1,2}(?:st|nd|rd|th)?[ ./-]{0,3}(?:de |of )?)?")
_AFTER_MONTH = re.compile(rf"{MONTH}[ ./-]{{0,3}}\d{{1,2}}[., (]{{1,3}}\Z")
_DAY_BEFORE = re.compile(r"\d ?(?:st|nd|rd|th|er|年|년|\.)?[ \-/.,']{0,3}(?:(?:de|del|of) )?\Z")
_NUMBER_AFTER = re.compile(r"[ \-/.,']{0,3}(?:(?:de|del|of|г\.?) )?\d")
_HEBREW_IN = "ב"
_LONGEST_NAME = 40
_DIGIT = re.compile("[0-9]")


def _with_months(text: str) -> str:
    """Replace names of months by their characters, and drop weekdays next to a date."""
    if not _DIGIT.search(text):
        return text
    words = [match.span() for match in _WORD.finditer(text)]
    pieces: list[str] = []
    done = index = 0
    while index < len(words):
        count, name = _name_at(text, words, index)
        start, end = words[index][0], words[index + max(count, 1) - 1][1]
        before = ("".join(pieces[-2:])[-9:] + text[done:start][-9:])[-9:]
        if _is_weekday(text, words, index, name, before):
            pieces += [text[done:start].rstrip("("), " "]
            done = end + (text[end : end + 1] in {",", ")"})
        elif count and _is_in_date(text, end, before):
            pieces += [text[done:start], names().characters[names().months[name]]]
            done = end
        index += max(count, 1)
    return " ".join("".join([*pieces, text[done:]]).split())


def _is_in_date(text: str, end: int, before: str) -> bool:
    """Whether a number is next to this name. In other places it is a word: `Wal-Mart`."""
    return bool(_DAY_BEFORE.search(before) or _NUMBER_AFTER.match(text, end))


def _name_at(text: str, words: list[tuple[int, int]], index: int) -> tuple[int, str]:
    """Return the number of words that name a month here and the name; else 0 and the word."""
    start = words[index][0]
    for count in range(min(_LONGEST_NAME_WORDS, len(words) - index), 0, -1):
        end = words[index + count - 1][1]
        if end - start > _LONGEST_NAME:
            continue
        name = text[start:end].rstrip(".'").removeprefix("d'")
        name = name.removeprefix(_HEBREW_IN)
        if name in names().months:
            return count, name
    return 0, text[start : min(words[index][1], start + _LONGEST_NAME)].rstrip(".'")


def _is_weekday(
    text: str, words: list[tuple[int, int]], index: int, name: str, before: str
) -> bool:
    """Whether this word is a weekday next to a date. One that also names a month is one next to a
    date that has its month."""
    if name not in names().weekdays:
        return False
    end = words[index][1]
    follows = index + 1 < len(words) and _name_at(text, words, index + 1)[0] > 0
    month = _BEFORE_MONTH.match(text, end)
    has_month = follows and month is not None and month.end() == words[index + 1][0]
    if has_month or _BEFORE_WHOLE_DATE.match(text, end) or _AFTER_MONTH.search(before):
        return True
    is_beside = _BEFORE_DATE.match(text, end) or _AFTER_DATE.search(before)
    return name not in names().months and bool(is_beside)
