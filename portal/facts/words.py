"""The words of dates and durations: as regular expressions, and what they mean."""

import re

_MONTHS = (
    ("January", "Jan"),
    ("February", "Feb"),
    ("March", "Mar"),
    ("April", "Apr"),
    ("May", "May"),
    ("June", "Jun"),
    ("July", "Jul"),
    ("August", "Aug"),
    ("September", "Sep"),
    ("October", "Oct"),
    ("November", "Nov"),
    ("December", "Dec"),
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
    for full, short in _MONTHS
    for name in dict.fromkeys((full, "Sept" if short == "Sep" else full, short))
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
    return next(number for number, (_, short) in enumerate(_MONTHS, start=1) if short == starts)


def words_number(words: str) -> int:
    """What NUMBER_WORDS say.

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
