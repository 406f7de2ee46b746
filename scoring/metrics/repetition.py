"""Repetition: does a model say the same over and over again?

Source: CC-OCR, appendix A.3.4.
"""

import re

_UNIT = re.compile(r"[^ \n]+")

# A unit said more often than this in a row is a run …
MOST_TIMES = 5
# … and an output is repetitive if a run takes up more of it than this.
MOST_OF_OUTPUT = 0.25


def longest_run(text: str) -> str:
    """The longest stretch in which one unit stands more than MOST_TIMES times in a row; "" if none.

    Units are split by spaces and newlines.

    >>> longest_run("so no no no no no no end")
    'no no no no no no'
    """
    best = (0, 0)
    start = end = times = 0
    unit = ""
    for match in _UNIT.finditer(text):
        if match[0] == unit:
            times += 1
        else:
            unit, start, times = match[0], match.start(), 1
        end = match.end()
        if times > MOST_TIMES and end - start > best[1] - best[0]:
            best = (start, end)
    return text[best[0] : best[1]]


def is_repetitive(text: str) -> bool:
    """Whether one run takes up more than MOST_OF_OUTPUT of the output, by characters.

    >>> is_repetitive("no no no no no no"), is_repetitive("no no no no no")
    (True, False)
    """
    return len(longest_run(text)) > MOST_OF_OUTPUT * len(text)
