"""Numbers and dates of a prediction that its gold page does not have.

Facts are judged one by one from the gold's side, so they cannot reveal what a model adds.
"""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

# Number of tokens that an item result lists; all are counted.
MOST_SHOWN = 50
# Characters of a listed token; no number or date of a document is longer.
MOST_CHARACTERS = 60

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
# Every name and short form of a month, with the form used for comparison.
_MONTH_OF = {name[:length]: name[:3] for name in _MONTHS for length in (3, 4, len(name))}
# A date of three numbers, or a number. A comma before a year lost its space. Both begin with one
# digit, since such a pattern is searched faster than one that begins with a repeated set.
_NUMBER = re.compile(
    r"[0-9][0-9]*(?:(?:[/-][0-9]+){2}|(?:(?:[.']|,(?!(?:19|20)[0-9]{2}(?![0-9])))[0-9]+)*)"
)
_LONGEST_DAY = 2
# A word that may be a month, with the text allowed between it and its day.
_WORD_BEFORE = re.compile(r"(?<![a-z])([a-z]{3,9})\.? ?\Z", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"\.? ?([a-z]{3,9})(?![a-z])", re.IGNORECASE)
_REACH = 11  # characters: the longest such word with the longest gap


@dataclass(frozen=True)
class Hallucinated:
    """Of `tokens` number-like and date-like tokens of the prediction, `count` match nothing in the
    gold; `shown` are the first MOST_SHOWN of those, in order of first occurrence."""

    tokens: int
    count: int
    shown: tuple[str, ...]


NOTHING_READ = Hallucinated(0, 0, ())


def number_and_date_tokens(text: str) -> list[str]:
    """Return the number-like and date-like tokens of a normalised text (`normalise`), in order.
    Linear time, never raises.

    - Date-like: the name of a month, in full or short, with a day before or after it (always
      written "dec 31"), and three numbers joined by `/` or `-`. The year after a day is a
      separate number, since in the heads of tables it is often in another line.
    - Number-like: any other digits with single points, commas or apostrophes between them.
      Adjacent signs, currency marks, percent signs and words are not part of it.

    >>> number_and_date_tokens("On May 27, 2021 a loss of $(1,200.5) or 3%; due 2021-06-30.")
    ['may 27', '2021', '1,200.5', '3', '2021-06-30']
    """
    tokens: list[str] = []
    done = 0  # end of the last day's month, which belongs to no other day
    for match in _NUMBER.finditer(text):
        token = match.group()
        if _is_day(token):
            start, end = match.span()
            month = _month(_WORD_BEFORE.search(text, max(done, start - _REACH), start))
            behind = None if month else _WORD_BEHIND.match(text, end)
            if behind and (month := _month(behind)):
                done = behind.end()
            token = f"{month} {int(token)}" if month else token
        tokens.append(token)
    return tokens


def _month(word: re.Match[str] | None) -> str:
    return _MONTH_OF.get(word[1].lower(), "") if word else ""


def _is_day(piece: str) -> bool:
    return len(piece) <= _LONGEST_DAY and piece.isdecimal()


def hallucinated(gold: str, prediction: str) -> Hallucinated:
    """Return the tokens that the prediction has more often than the gold, both as normalised
    visible text. Equal tokens are counted: the third copy of a value that occurs twice in the gold
    counts as one.

    The rate `count / tokens` is in [0, 1], lower is better; undefined without tokens. All tokens of
    the gold count, not only those in facts. Linear time.

    >>> hallucinated("12 of 12 and 7", "12 12 12 and 8")
    Hallucinated(tokens=4, count=2, shown=('12', '8'))
    """
    found = number_and_date_tokens(prediction)
    extra = Counter(found) - Counter(number_and_date_tokens(gold))
    shown = tuple(token[:MOST_CHARACTERS] for token in islice(extra.elements(), MOST_SHOWN))
    return Hallucinated(len(found), extra.total(), shown)
