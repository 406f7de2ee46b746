"""Looks for personal data in a text: e-mail, telephone, social security, card, account numbers.

Filings are full of numbers, so a form alone is never enough where filings write other things in it:
a number needs a check digit and the range of an issuer, or a word before it that says what it is.
What is not looked for: names and addresses, telephone numbers of seven digits or in letters, and
numbers that are partly masked already.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from portal.facts.grammar import CELL, with_borders
from portal.facts.labelstudio.drift import Places

from .check_digits import iban_lengths, is_card, is_iban, is_routing_number, is_ssn

PiiKind: TypeAlias = Literal["email", "phone", "ssn", "card", "account"]


class PiiMatch(NamedTuple):
    """`[start, end)` in code points of the text, and what it looks like.

    `rule` tells more than the kind: email, phone, toll_free (a business has it, hardly a person),
    ssn, card, iban, routing, account.
    """

    start: int
    end: int
    kind: PiiKind
    rule: str


class _Rule(NamedTuple):
    """A stretch that the pattern's group `value` matches and whose digits `check` takes."""

    kind: PiiKind
    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]


_HYPHEN = "[-\u2010\u2011\u2012\u2013\u2212]"
_MARK = f"(?:{_HYPHEN}|[.])"
# Neither inside a word or number, nor a part of a longer number with points and hyphens.
_BEGIN = rf"(?<![^\W_])(?<![0-9][.,])(?<![0-9]{_HYPHEN})"
_END = rf"(?![^\W_]|[.,][0-9]|{_HYPHEN}[0-9])"

_EMAIL = r"""(?<![\w.+%-])(?P<value>
    [\w+%-][\w.+%-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}
)(?![\w@])"""

# Area and exchange of the North American plan: N9X is kept for later, N11 are services.
_AREA, _EXCHANGE, _LINE = "[2-9][0-8][0-9]", "[2-9](?!11)[0-9]{2}", "[0-9]{4}"
_EXTENSION = r"(?:,?\s?(?:[Ee]xt(?:ension|\.)?|x)\s?[0-9]{1,6})?"
# The area code may stand in a cell of its own.
_PHONE = rf"""{_BEGIN}(?P<value>(?:\+?1(?:{_MARK}|\s)?)?(?:
    \(\s?{_AREA}\s?\)\s?{CELL}?\s?{_EXCHANGE}\s?(?:{_MARK}|\s)\s?{_LINE}
  | {_AREA}(?P<mark>{_MARK}){_EXCHANGE}(?P=mark){_LINE}
  | {_AREA}\s{_EXCHANGE}{_HYPHEN}{_LINE}
){_EXTENSION}){_END}"""
_FOREIGN = rf"""(?<![\w.,+])(?P<value>\+(?!1[0-9\W])
    [1-9][0-9]{{0,2}}(?:(?:{_MARK}|\s|\s?\(|\)\s?)?[0-9]{{1,8}}){{1,7}}
)(?![\w%]|[.,][0-9])"""
_TOLD_PHONE = rf"""(?i:\b(?:tel|telephone|phone|fax|facsimile|mobile)\b)
    [^0-9+]{{0,24}}(?P<value>(?:\+?1\s?)?{_AREA}\s?{_EXCHANGE}\s?{_LINE}){_END}"""

_SSN = rf"""{_BEGIN}(?P<value>[0-9]{{3}}(?P<mark>{_HYPHEN})[0-9]{{2}}(?P=mark)[0-9]{{4}}){_END}"""
_TOLD_SSN = rf"""(?i:\b(?:ssn|social\s+security)\b)
    [^0-9]{{0,24}}(?P<value>[0-9]{{3}}\s?[0-9]{{2}}\s?[0-9]{{4}}){_END}"""

_CARD = rf"""{_BEGIN}(?P<value>
    [0-9]{{13,19}}
  | [0-9]{{4}}(?P<four>[ \xa0-])[0-9]{{4}}(?P=four)[0-9]{{4}}(?P=four)[0-9]{{1,4}}
        (?:(?P=four)[0-9]{{1,3}})?
  | [0-9]{{4}}(?P<six>[ \xa0-])[0-9]{{6}}(?P=six)[0-9]{{4,5}}
){_END}"""

_IBAN = rf"""(?<![^\W_])(?P<value>(?:{"|".join(iban_lengths())})[0-9]{{2}}
    (?:[ \xa0]?[A-Z0-9]){{11,30}})"""

_ROUTING = rf"""(?:\b(?:ABA|RTN)\b|(?i:\b(?:routing|transit)\b))
    [^0-9]{{0,32}}(?P<value>[0-9](?:[ \xa0-]?[0-9]){{8}}){_END}"""
_ACCOUNT = rf"""(?i:\b(?:account|acct|a/c)\b)[.\s]{{0,2}}(?:
    (?:\s?(?i:numbers?|nos?|nr)\b|\s?\#)[^\w(]{{0,8}}(?:is\s)?
        (?P<value>[0-9](?:[ \xa0-]?[0-9]){{5,16}})
  | [^\w(]{{0,4}}(?P<long>[0-9](?:[ \xa0-]?[0-9]){{7,16}})
){_END}"""


def _any(_digits: str) -> bool:
    return True


def _is_foreign_phone(digits: str) -> bool:
    """A country code and a number have 8 to 15 digits together. Source: ITU-T E.164."""
    return 8 <= len(digits) <= 15


# In the order of certainty: of two that meet the one further up stands.
_PATTERNS: tuple[tuple[PiiKind, str, str, Callable[[str], bool]], ...] = (
    ("email", "email", _EMAIL, _any),
    ("card", "card", _CARD, is_card),
    ("account", "routing", _ROUTING, is_routing_number),
    ("ssn", "ssn", _SSN, is_ssn),
    ("ssn", "ssn", _TOLD_SSN, is_ssn),
    ("account", "account", _ACCOUNT, _any),
    ("phone", "phone", _PHONE, _any),
    ("phone", "phone", _FOREIGN, _is_foreign_phone),
    ("phone", "phone", _TOLD_PHONE, _any),
)
_RULES = tuple(
    _Rule(kind, name, re.compile(pattern, re.VERBOSE), check)
    for kind, name, pattern, check in _PATTERNS
)
_IBAN_PATTERN = re.compile(_IBAN, re.VERBOSE)
_TOLL_FREE = re.compile(r"(?:\+?1)?8(?:00|33|44|55|66|77|88)[0-9]{7}")
_DECIMAL = re.compile(r"\+[0-9]+\.[0-9]+")


def find_pii(text: str, borders: Sequence[int] = ()) -> list[PiiMatch]:
    """What may be personal data, in order, none overlapping another.

    `borders` are the ascending offsets at which a block or table cell begins (`text_borders`):
    nothing runs over one but a telephone number after its area code. Any text is accepted; the time
    is linear.

    >>> [match[:3] for match in find_pii("Call (212) 555-0100 or write to a.b@example.org")]
    [(5, 19, 'phone'), (32, 47, 'email')]
    """
    inside = [border for border in borders if 0 < border < len(text)]
    marked = with_borders(text.replace(CELL, " "), [(border, CELL) for border in inside])
    marks = [border + index for index, border in enumerate(inside)]
    taken = Places()
    found: list[PiiMatch] = []
    for kind, rule, first, last in _candidates(marked):
        start, end = first - bisect_left(marks, first), last - bisect_left(marks, last)
        if not taken.meets(start, end):
            taken.take(start, end)
            found.append(PiiMatch(start, end, kind, rule))
    return sorted(found)


def _candidates(marked: str) -> Iterator[tuple[PiiKind, str, int, int]]:
    """What the rules find, rule by rule: kind, name of the rule, and place in the marked text."""
    for match in _IBAN_PATTERN.finditer(marked):
        if end := _iban_end(marked, match.start("value"), match.end("value")):
            yield "account", "iban", match.start("value"), end
    for rule in _RULES:
        for match in rule.pattern.finditer(marked):
            group = "value" if match["value"] else "long"
            value = match[group]
            digits = re.sub("[^0-9]", "", value)
            if not rule.check(digits) or _DECIMAL.fullmatch(value):
                continue
            is_free = rule.kind == "phone" and _TOLL_FREE.match(digits)
            name = "toll_free" if is_free else rule.name
            yield rule.kind, name, *match.span(group)


def _iban_end(marked: str, start: int, limit: int) -> int | None:
    """Where the IBAN that begins at `start` ends: what follows may look like more of it."""
    length = iban_lengths()[marked[start : start + 2]]
    characters = ""
    for end in range(start, limit):
        if not marked[end].isspace():
            characters += marked[end]
        if len(characters) == length:
            is_whole = not marked[end + 1 : end + 2].isalnum()
            return end + 1 if is_whole and is_iban(characters) else None
    return None
