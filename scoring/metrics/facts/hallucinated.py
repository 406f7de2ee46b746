"""Numbers and dates of a prediction that its gold page does not have.

Facts are judged one by one from the gold's side; what a model adds of its own no fact can tell.
"""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from .normalise import normalise

# What a page's item result lists one by one; all are counted.
MOST_SHOWN = 50
# Of a token that is listed: no number or date of a document is longer.
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
# Every name and short form of a month, with the form in which they are compared.
_MONTH_OF = {name[:length]: name[:3] for name in _MONTHS for length in (3, 4, len(name))}
# A word, a date of three numbers, or a number. A comma before a year lost its space.
_PIECE = re.compile(
    r"[a-z]+|[0-9]+(?:[/-][0-9]+){2}"
    r"|[0-9]+(?:(?:[.']|,(?!(?:19|20)[0-9]{2}(?![0-9])))[0-9]+)*",
    re.IGNORECASE,
)
# What may stand between a month and its day.
_GAPS = frozenset(["", " ", ".", ". "])
_LONGEST_DAY = 2


@dataclass(frozen=True)
class Hallucinated:
    """Of `tokens` number-like and date-like tokens of the prediction, `count` match nothing in the
    gold; `shown` are the first of those in the order of their first place, at most MOST_SHOWN."""

    tokens: int
    count: int
    shown: tuple[str, ...]


NOTHING_READ = Hallucinated(0, 0, ())


def number_and_date_tokens(text: str) -> list[str]:
    """The number-like and date-like tokens of a text, in order; linear time, never raises.

    - Date-like: the name of a month, in full or short, with a day before or after it (written
      "dec 31" whatever its form), and three numbers joined by `/` or `-`. The year after a day is
      a number of its own, since in the heads of tables it often stands in another line.
    - Number-like: any other digits with single points, commas or apostrophes between them.
      Signs, currency and percent signs and letters beside them are no part of it.

    The text is normalised as for the matchers (`normalise`): typography is levelled, digits and
    separators are not.

    >>> number_and_date_tokens("On May 27, 2021 a loss of $(1,200.5) or 3%; due 2021-06-30.")
    ['may 27', '2021', '1,200.5', '3', '2021-06-30']
    """
    # In visible text, whose spaces are single, nothing of ASCII would change that matters here.
    text = text if text.isascii() else normalise(text).text
    tokens: list[str] = []
    month = day = ""  # what the piece before was, if it can be part of a date
    end = 0
    for match in _PIECE.finditer(text):
        piece, is_beside = match.group(), text[end : match.start()] in _GAPS
        before, after = (month, day) if is_beside else ("", "")
        month = day = ""
        end = match.end()
        if piece[0].isalpha():
            month = _MONTH_OF.get(piece.lower(), "")
            if month and after:
                tokens[-1], month = f"{month} {int(after)}", ""
        elif before and _is_day(piece):
            tokens.append(f"{before} {int(piece)}")
        else:
            tokens.append(piece)
            day = piece if _is_day(piece) else ""
    return tokens


def _is_day(piece: str) -> bool:
    return len(piece) <= _LONGEST_DAY and piece.isdecimal()


def hallucinated(gold: str, prediction: str) -> Hallucinated:
    """What the prediction's visible text has more of than the gold's: of equal tokens the gold's
    number is taken off, so that the third copy of a value that stands twice in the gold counts as
    one.

    The rate `count / tokens` is in [0, 1], lower is better; without tokens there is none. All
    tokens of the gold count, not only those in facts. Linear time.

    >>> hallucinated("12 of 12 and 7", "12 12 12 and 8")
    Hallucinated(tokens=4, count=2, shown=('12', '8'))
    """
    found = number_and_date_tokens(prediction)
    extra = Counter(found) - Counter(number_and_date_tokens(gold))
    shown = tuple(token[:MOST_CHARACTERS] for token in islice(extra.elements(), MOST_SHOWN))
    return Hallucinated(len(found), extra.total(), shown)
