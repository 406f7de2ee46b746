"""Patterns of numbers, dates and durations in filings.

The regular expressions match text with CELL marks at the borders between blocks and table cells
(see `portal.facts.borders`); most are in verbose form.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

# Characters of East Asian width, and those that take no place on the page: the same text to a
# reader.
_WIDE = str.maketrans("０１２３４５６７８９（）．，％－＋／￥＄￡￠", "0123456789().,%-+/¥$£¢")
NO_WIDTH = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


def narrowed(text: str) -> str:
    """The text with full-width figures and signs as plain ones, of the same length."""
    return text.translate(_WIDE)


_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_UNITS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = ("first", "second", "third", "fourth")

# A month as filings begin it: with a capital, or in capitals. "may" is a verb.
MONTH = "|".join(
    form
    for full in _MONTHS
    for name in dict.fromkeys((full, "Sept" if full == "September" else full, full[:3]))
    for form in (rf"{name}\b\.?", rf"{name.upper()}\b\.?")
)
_UNDER_TWENTY = "|".join(sorted(_UNITS, key=len, reverse=True))
_UNDER_HUNDRED = rf"(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_UNITS[:9])}))?|{_UNDER_TWENTY}"
# "two", "twenty-one", "one hundred and eighty"; to be matched without regard to case.
NUMBER_WORDS = (
    rf"(?:(?:{'|'.join(_UNITS[:9])})[\s-]hundred(?:[\s-](?:and[\s-])?(?:{_UNDER_HUNDRED}))?"
    rf"|{_UNDER_HUNDRED})\b"
)
ORDINAL_WORD = "|".join(_ORDINALS)

_VALUES = {word: value for value, word in enumerate(_UNITS, start=1)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}


def month_number(name: str) -> int:
    """1 to 12 for a name that MONTH matches, in any case and with or without a full stop."""
    starts = name[:3].title()
    return next(n for n, full in enumerate(_MONTHS, start=1) if full.startswith(starts))


def words_number(words: str) -> int:
    """The value of a match of NUMBER_WORDS.

    >>> words_number("one hundred and Eighty-five")
    185
    """
    total = 0
    for word in re.split(r"[\s-]+", words.lower()):
        if word == "hundred":
            total *= 100
        elif word != "and":
            total += _VALUES[word]
    return total


def ordinal_number(word: str) -> int:
    """1 for "first", to 4 for "fourth"."""
    return _ORDINALS.index(word.lower()) + 1


# The mark of a border in a text. It does not occur in canonical text.
CELL = "\x00"


def with_borders(text: str, marks: Sequence[tuple[int, str]]) -> str:
    """Insert a mark at each of the ascending offsets."""
    cuts = [0, *(offset for offset, _ in marks), len(text)]
    stretches = [text[start:end] for start, end in pairwise(cuts)]
    after = [*(mark for _, mark in marks), ""]
    return "".join(map("".join, zip(stretches, after, strict=True)))


# Inside a character class: dashes used as minus, signs before a negative number (Japanese filings
# print triangles), and currency marks.
MINUS = "\\-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
NEGATIVE = f"{MINUS}△▲"
CURRENCY = "$€£¥₹₩₽₣₺¢"
# Written before an amount without a space. Other characters before a figure make it a name, as in
# B2, unless the figure has groups.
_CODES = (
    "USD US EUR GBP JPY CNY RMB CHF SEK NOK DKK ISK CAD AUD NZD HKD SGD TWD KRW INR IDR MYR PHP "
    "THB VND BRL MXN ARS CLP COP ZAR NGN KES Ksh KSh TRY RUB UAH PLN CZK HUF RON BGN ILS NIS AED "
    "SAR QAR EGP PKR BDT LKR Rs\\.? Rp\\.? RM Fr\\.? kr\\.? Kč zł"
).replace(" ", "|")
# Written after a figure without a space.
_UNITS_AFTER = (
    "x k K M B m b bn Bn mn Mn mm MM mln bps? pp ppm CR million billion trillion thousand "
    "kW MW GW TW kWh MWh GWh TWh kg km cm sqm sqft ft ha mg ml lb lbs bbl boe mt MT kt Mt"
).replace(" ", "|")
VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"

_SPACE = "[ \\xa0]"
_GAP = rf"[\s{CELL}]*+"
_ALONE = rf"(?=\s*+{CELL})"

# --- numbers ---

_FRACTION = r"[0-9]{1,3}[/\u2044][0-9]{1,3}(?![0-9/\u2044])"
_GROUPED = r"""(?:
    [0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?            # 1,234,567.89
  | [0-9]{1,2}(?:,[0-9]{2}){1,9},[0-9]{3}(?:\.[0-9]++)?   # 12,34,567
  | [0-9]{1,3}(?:\.[0-9]{3})++,[0-9]++                 # 1.234,56
  | [0-9]{1,3}(?:\.[0-9]{3}){2,}+                      # 1.234.567
  | [0-9]{1,3}(?:[\xa0\u2009\u202f'’][0-9]{3})++(?:[.,][0-9]++)?
)(?![0-9]|[.,][0-9])"""
_FIGURES = rf"""(?:
    [0-9]{{1,4}}(?:[ \xa0-]{_FRACTION}|[{VULGAR}]) | {_FRACTION} | [{VULGAR}]
  | {_GROUPED} | [0-9]++(?:\.[0-9]++(?:[eE][-+]?[0-9]{{1,2}}(?![0-9]))?)?(?![.,][0-9])
  | (?<!\.)\.[0-9]++
)"""
# 1 234 567, alone in its cell or between words, but not the columns of a plain text, a telephone
# number, or the number of a company: ABN 46 008 583 542.
_SPACED = r"[0-9]{1,3}(?:[ \xa0][0-9]{3})++(?:,[0-9]++)?(?![0-9]|[.,-][0-9])"
_SPACED_IN_WORDS = rf"""(?:
    (?<![0-9.,%)]\ )(?<![A-Z]\ )(?<!\ \ ){_SPACED}(?=\s?[a-zß-ÿ€%]|[.;,)]|\s*+{CELL})
)"""
_MONEY = rf"(?:[{CURRENCY}]\s?)?"
# A percent sign or closing parenthesis may be alone in the next cell.
_PERCENT = rf"(?:{_SPACE}?%|{_GAP}%{_ALONE})"
_CLOSING = rf"(?:\s*+\)(?:{_PERCENT})?|{_GAP}\)(?:\s?%)?{_ALONE})"
_TRAILING = rf"(?:[{MINUS}](?=\s*+{CELL}|\s{{2}})|{_SPACE}?CR(?![A-Za-z0-9]))"
# 1.5x, 25bps, $10M, 500円; with other suffixes it is a name: 3rd, 10K405, 529A. A figure with
# groups or decimals is a number whatever the suffix, except for the number of a section: 12.5A.
CJK = "\u3040-\u30ff\u4e00-\u9fff"
_ENDS = (
    rf"(?=(?:{_UNITS_AFTER}|{_CODES})?(?![^\W_])"
    "|[百千万萬億亿兆]*[円元圓株人名個百千万萬億亿兆])"
)
_ENDS_OF_GROUPED = r"(?=[^\W\d_]*+[23]?(?![^\W_]))"
_ENDED = rf"""(?:
    {_GROUPED}{_ENDS_OF_GROUPED} | [0-9]++\.[0-9]++(?=(?:[A-Za-z]{{2,}}|[gltm])[23]?(?![^\W_]))
  | {_SPACED_IN_WORDS} | {_FIGURES}{_ENDS}
)"""
# Not inside digits with separators, nor at a part of a name: 10-K, A-2.
_BEGINS = r"(?<![0-9][.,'’])(?<![/.,][0-9])(?<![A-Z]-)"
NUMBER = rf"""(?:
    \((?:\s?|{_GAP})[{NEGATIVE}]?{_MONEY}(?!(?:19|20)[0-9]{{2}}\)){_FIGURES}{_PERCENT}?{_CLOSING}
  | (?:(?<![)%.,{MINUS}])[{NEGATIVE}+]{_MONEY})?+{_BEGINS}{_ENDED}(?:{_PERCENT}|{_TRAILING})?
)"""
# An amount directly behind a currency or a word of up to five characters.
PRICED = rf"(?:(?:{_CODES})(?=[0-9.])|[A-Za-z]{{1,5}}(?={_GROUPED}))"
# A sign or groups with spaces make a number only if nothing else is in the cell.
ALONE = rf"""(?:
    \({_SPACE}?{_SPACED}{_SPACE}?\)(?:{_SPACE}?%)?
  | (?:[{NEGATIVE}]{_SPACE}?{_MONEY})(?:{_SPACED}|{_FIGURES})(?:{_SPACE}?%)?
  | {_SPACED}(?:{_SPACE}?%)?
){_ALONE}"""

# --- dates and durations ---

_YEAR = "(?:19|20)[0-9]{2}(?![0-9])"
_SHORT_YEAR = rf"(?:{_YEAR}|['’]?[0-9]{{2}}(?![0-9%]|[.,][0-9]))"
_DAY = "[0-9]{1,2}(?:st|nd|rd|th)?(?![0-9A-Za-z])"
_NOT_MORE = r"(?![^\W_]|[.,]?[0-9]|%)"
_FISCAL = r"(?:(?:the\s+)?(?:fiscal|calendar)\s+)?(?:year\s+)?"
_UNIT = r"(?:day|week|month|quarter|year)s?(?![A-Za-z])"
_KIND = r"(?:(?:calendar|business|trading|consecutive|full|fiscal)\s+)?"
_COUNTED = rf"(?:\s*\(\s*[0-9]{{1,3}}\s*\))?[\s\u2010\u2011-]+{_KIND}(?i:{_UNIT})"

WORDED_DATE = rf"""(?:
    (?:{MONTH})\s+{_DAY}(?:,\s*|\s+){_YEAR}
  | (?:{MONTH}),?\s+{_YEAR}
  | (?:{MONTH})\s+{_DAY}{_NOT_MORE}
  | (?:FY\s?)?(?:Q[1-4]|H[12])[\s-]*(?:FY\s?)?{_SHORT_YEAR}
  | (?i:{ORDINAL_WORD})[\s-]+(?i:quarter)(?:\s+of)?\s+{_FISCAL}{_YEAR}
  | (?:(?i:fiscal|calendar)(?:\s+(?i:year))?\s+{_YEAR}|FY\s?{_SHORT_YEAR})
  | (?i:{NUMBER_WORDS}){_COUNTED}
)"""
FIGURED_DATE = rf"""(?:
    {_YEAR}[-/.][01]?[0-9][-/.][0-3]?[0-9](?![0-9])
  | [0-3]?[0-9]/[0-3]?[0-9]/(?:{_YEAR}|[0-9]{{2}}(?![0-9/]))
  | [0-3]?[0-9](?:-[0-3]?[0-9]-|\.[0-3]?[0-9]\.){_YEAR}
  | [01]?[0-9]/{_YEAR}
  | {_DAY}(?:\s+day\s+of)?(?:\s+(?:{MONTH}),?\s+{_YEAR}|-(?:{MONTH})-{_SHORT_YEAR})
  | {_DAY}\s+(?:{MONTH})(?!\s*[0-9])
  | (?:[1-4]Q|[12]H)[\s-]*(?:FY\s?)?{_SHORT_YEAR}
  | {_YEAR}\s?Q[1-4](?![0-9A-Za-z])
  | [0-9]{{1,3}}(?:\.[0-9]{{1,2}})?{_COUNTED}
  | (?<![{CURRENCY}])(?<![{CURRENCY}][\s{CELL}]){_YEAR}{_NOT_MORE}
)"""

# --- numbers that are not facts ---

STATES = (
    "A[KLRZ] C[AOT] D[CE] FL GA HI I[ADLN] K[SY] LA M[ADEINOST] N[CDEHJMVY] O[HKR] P[AR] RI "
    "S[CD] T[NX] UT V[AT] W[AIVY]"
).replace(" ", "|")
_REFERRING = (
    "Items? Sections? Sec\\. Notes? Exhibits? Rules? Forms? Pages? Schedules? Articles? Parts? "
    "Regulations? Release Topic Chapter Lines? Table Figure Footnotes? Clauses? Paragraphs? "
    "Instrs?\\. Subtopic ASC ASU SFAS FAS IFRS IAS Nos?\\. §§?"
).replace(" ", "|")
_REFERENCE = r"[0-9]++(?:[.-][0-9A-Za-z]++)*+[A-Za-z]?(?:\([0-9A-Za-z]{1,5}\))*+"
_NO_AMOUNT = "(?![^\\W_]|[.,]?[0-9]|%)"
POSTAL_CODE = r"[0-9]{5}(?:-[0-9]{4})?(?![0-9%]|[.,][0-9])"
PHONE = r"(?:\([0-9]{3}\)\s?|[0-9]{3}[\s.-])[0-9]{3}[.-][0-9]{4}(?![0-9])"
WORDED_OTHER = rf"""(?:
    (?i:{_REFERRING})\s*(?i:nos?\.\s*)?(?!{_YEAR}){_REFERENCE}{_NO_AMOUNT}
    (?:(?:,|\s?[{MINUS}]|\s(?:and|or|to|through))\s?[0-9]{{1,2}}[a-z]?{_NO_AMOUNT}){{0,9}}
  | (?:{STATES})\.?,?[\s{CELL}]+{POSTAL_CODE}
)"""
FIGURED_OTHER = rf"""(?:
    {PHONE}
  | [0-9]{{5}}-[0-9]{{4}}(?![0-9]) | [0-9]{{2}}-[0-9]{{7}}(?![0-9])
  | [0-9]{{1,3}}-[0-9]{{5,}} | 0[0-9]++-[0-9]++ | [0-9]++-0[0-9]++ | [0-9]++(?:-[0-9]++){{2,}}
  | [0-9]{{1,2}}(?::[0-9]{{2}})++
  | (?![0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}(?![0-9.]))[0-9]++(?:\.[0-9]++){{2,}}
  | [0-9]{{1,4}}[A-Za-z]?(?:\([A-Za-z]{{1,4}}\))(?:\([0-9A-Za-z]{{1,5}}\))*+
  | [0-9]{{1,2}}-[A-Z](?![a-z])
  | [0-9]{{10,}}+(?![.,][0-9]) | (?!{_GROUPED})[0-9]++(?:,[0-9]++)++
)"""
# The number of a footnote behind a figure: 9,012(3), or 9,012 (3) at the end of a cell.
FOOTNOTE = rf"(?<=[0-9])(?:\([0-9]{{1,2}}\)(?![0-9.,])|\ \([0-9]{{1,2}}\){_ALONE})"
# The number of a list item, and that of a page between dashes.
LINE_NUMBER = rf"""{CELL}\s*+(?:
    \(?[0-9]{{1,2}}[.)]\s++(?=[A-Z“"])
  | [{MINUS}]\s?[0-9]{{1,4}}\s?[{MINUS}]{_ALONE}
)"""
