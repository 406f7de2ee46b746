"""Find and mask personal data in a text: email, phone, social security, card, account numbers.

Filings contain many numbers, so a pattern alone is often not enough: a number also needs a check
digit and an issuer's range, or a word before it that names its type. Names, postal addresses, phone
numbers of seven digits or as words, and numbers that are partly masked are not detected. `mask`
covers parts of a text without changing any offset. No Django.
"""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from portal.facts.grammar import CELL, with_borders
from portal.facts.labelstudio.placing import Places
from portal.facts.markup import Kind, tokens
from portal.facts.spans import characters


class Issuer(NamedTuple):
    """The first digits of cards, from `low` to `high`, and their possible numbers of digits."""

    low: str
    high: str
    lengths: tuple[int, ...]


# Source: ISO/IEC 7812 and the issuers' publications. Maestro and RuPay are left out: with their
# wide ranges and many lengths, one in ten long numbers would match.
ISSUERS = (
    Issuer("4", "4", (13, 16, 19)),  # Visa
    Issuer("51", "55", (16,)),  # Mastercard
    Issuer("2221", "2720", (16,)),
    Issuer("34", "34", (15,)),  # American Express
    Issuer("37", "37", (15,)),
    Issuer("6011", "6011", (16, 19)),  # Discover
    Issuer("644", "649", (16, 19)),
    Issuer("65", "65", (16, 19)),
    Issuer("300", "305", (14, 16, 19)),  # Diners Club
    Issuer("3095", "3095", (14, 16, 19)),
    Issuer("36", "36", (14, 16, 19)),
    Issuer("38", "39", (14, 16, 19)),
    Issuer("3528", "3589", (16, 19)),  # JCB
    Issuer("62", "62", (16, 17, 18, 19)),  # UnionPay
)


def is_card(digits: str) -> bool:
    """Whether the first digits and the length fit an issuer, and the Luhn check passes.

    >>> is_card("4111111111111111"), is_card("4111111111111112"), is_card("1111111111111117")
    (True, False, False)
    """
    return luhn(digits) and any(
        issuer.low <= digits[: len(issuer.low)] <= issuer.high and len(digits) in issuer.lengths
        for issuer in ISSUERS
    )


def luhn(digits: str) -> bool:
    """Whether the digits, every second one from the right doubled, sum to a multiple of 10.

    A doubled digit above 9 counts as its digit sum. Source: ISO/IEC 7812-1, annex B.

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(number // 10 + number % 10 for number in doubled)
    return total % 10 == 0


def is_iban(characters: str) -> bool:
    """Whether the length fits the country and the number modulo 97 is 1.

    `characters` are upper-case letters and digits without spaces. The first four move to the end,
    and A to Z count as 10 to 35. Source: ISO 13616 and ISO 7064.

    >>> is_iban("GB82WEST12345698765432"), is_iban("GB82WEST12345698765433")
    (True, False)
    """
    if iban_lengths().get(characters[:2]) != len(characters):
        return False
    moved = characters[4:] + characters[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


@cache
def iban_lengths() -> dict[str, int]:
    """The length of an IBAN by country code."""
    path = Path(__file__).with_name("iban_lengths.toml")
    return {country: int(length) for country, length in tomllib.loads(path.read_text()).items()}


def is_routing_number(digits: str) -> bool:
    """Whether nine digits can be an ABA routing number.

    The first two are 00 to 12, 21 to 32, 61 to 72 or 80, and the digits with the repeated weights
    3, 7, 1 sum to a multiple of 10. Source: American Bankers Association.

    >>> is_routing_number("021000021"), is_routing_number("021000022")
    (True, False)
    """
    first = int(digits[:2])
    ranges = ((0, 12), (21, 32), (61, 72), (80, 80))
    if len(digits) != 9 or not any(low <= first <= high for low, high in ranges):
        return False
    weights = (3, 7, 1) * 3
    return sum(int(digit) * by for digit, by in zip(digits, weights, strict=True)) % 10 == 0


def is_ssn(digits: str) -> bool:
    """Whether nine digits can be a social security number, which has no check digit.

    Areas 000, 666 and from 900, group 00 and serial 0000 are not used. Source: US Social Security
    Administration.

    >>> is_ssn("219099998"), is_ssn("666121234"), is_ssn("123001234")
    (True, False, False)
    """
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


PiiKind: TypeAlias = Literal["email", "phone", "ssn", "card", "account"]


class PiiMatch(NamedTuple):
    """A match at `[start, end)` in code points of the text.

    `rule` is more specific than `kind`: email, phone, toll_free (usually a business), ssn, card,
    iban, routing, account.
    """

    start: int
    end: int
    kind: PiiKind
    rule: str


class _Rule(NamedTuple):
    """A pattern with a group `value`, whose digits must pass `check`."""

    kind: PiiKind
    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]


_HYPHEN = "[-\u2010\u2011\u2012\u2013\u2212]"
_MARK = f"(?:{_HYPHEN}|[.])"
# Not inside a word or number, and not part of a longer number with points and hyphens.
_BEGIN = rf"(?<![^\W_])(?<![0-9][.,])(?<![0-9]{_HYPHEN})"
_END = rf"(?![^\W_]|[.,][0-9]|{_HYPHEN}[0-9])"

_EMAIL = r"""(?<![\w.+%-])(?P<value>
    [\w+%-][\w.+%-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}
)(?![\w@])"""

# Area and exchange of the North American plan: N9X is reserved, N11 are services.
_AREA, _EXCHANGE, _LINE = "[2-9][0-8][0-9]", "[2-9](?!11)[0-9]{2}", "[0-9]{4}"
_EXTENSION = r"(?:,?\s?(?:[Ee]xt(?:ension|\.)?|x)\s?[0-9]{1,6})?"
# The area code may be in a separate cell.
_PHONE = rf"""{_BEGIN}(?P<value>(?:\+?1(?:{_MARK}|\s)?)?(?:
    \(\s?{_AREA}\s?\)\s?{CELL}?\s?{_EXCHANGE}\s?(?:{_MARK}|\s)\s?{_LINE}
  | {_AREA}(?P<mark>{_MARK}){_EXCHANGE}(?P=mark){_LINE}
  | {_AREA}\s{_EXCHANGE}{_HYPHEN}{_LINE}
){_EXTENSION}){_END}"""
_FOREIGN = rf"""(?<![\w.,+])(?P<value>\+(?!1[0-9\W])
    [1-9][0-9]{{0,2}}(?:(?:{_MARK}|\s|\s?\(|\)\s?)?[0-9]{{1,8}}){{1,7}}
)(?![\w%]|[.,][0-9])"""
_NAMED_PHONE = rf"""(?i:\b(?:tel|telephone|phone|fax|facsimile|mobile)\b)
    [^0-9+]{{0,24}}(?P<value>(?:\+?1\s?)?{_AREA}\s?{_EXCHANGE}\s?{_LINE}){_END}"""

_SSN = rf"""{_BEGIN}(?P<value>[0-9]{{3}}(?P<mark>{_HYPHEN})[0-9]{{2}}(?P=mark)[0-9]{{4}}){_END}"""
_NAMED_SSN = rf"""(?i:\b(?:ssn|social\s+security)\b)
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
    """Whether country code and number have 8 to 15 digits. Source: ITU-T E.164."""
    return 8 <= len(digits) <= 15


# The most certain ones first: of two overlapping matches, the first one is kept.
_PATTERNS: tuple[tuple[PiiKind, str, str, Callable[[str], bool]], ...] = (
    ("email", "email", _EMAIL, _any),
    ("card", "card", _CARD, is_card),
    ("account", "routing", _ROUTING, is_routing_number),
    ("ssn", "ssn", _SSN, is_ssn),
    ("ssn", "ssn", _NAMED_SSN, is_ssn),
    ("account", "account", _ACCOUNT, _any),
    ("phone", "phone", _PHONE, _any),
    ("phone", "phone", _FOREIGN, _is_foreign_phone),
    ("phone", "phone", _NAMED_PHONE, _any),
)
_RULES = tuple(
    _Rule(kind, name, re.compile(pattern, re.VERBOSE), check)
    for kind, name, pattern, check in _PATTERNS
)
_IBAN_PATTERN = re.compile(_IBAN, re.VERBOSE)
_TOLL_FREE = re.compile(r"(?:\+?1)?8(?:00|33|44|55|66|77|88)[0-9]{7}")
_DECIMAL = re.compile(r"\+[0-9]+\.[0-9]+")


def find_pii(text: str, borders: Sequence[int] = ()) -> list[PiiMatch]:
    """Find possible personal data, in order and without overlaps, in linear time.

    `borders` are the ascending offsets at which blocks and table cells begin (`text_borders`). No
    match crosses a border, except for a phone number after its area code.

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
    """Yield the matches by rule: kind, rule name, start and end in the marked text."""
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
    """Return the end of the IBAN at `start`; the text after it may look like more of it."""
    length = iban_lengths()[marked[start : start + 2]]
    characters = ""
    for end in range(start, limit):
        if not marked[end].isspace():
            characters += marked[end]
        if len(characters) == length:
            is_whole = not marked[end + 1 : end + 2].isalnum()
            return end + 1 if is_whole and is_iban(characters) else None
    return None


# One code point and one UTF-16 unit, as offsets must not change.
COVER = "█"
_READABLE = re.compile(r"\S")
_CHARACTER = re.compile(r"&[^;&\s]*;|.", re.DOTALL)


def mask(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    """Cover all characters of the ranges `[start, end)` except for white space.

    The result has the length of the text. Ranges may overlap, and masking twice changes nothing.
    Raises ValueError for an invalid range.

    >>> mask("Call 555 0100 now", [(5, 13)])
    'Call ███ ████ now'
    """
    covered = _covered(stretches)
    _check(covered, len(text))
    return _masked(list(text), 0, covered)


def mask_html(canonical_html: str, stretches: Iterable[tuple[int, int]]) -> str:
    """Cover ranges of the text of canonical HTML without changing its markup.

    `canonical_text(mask_html(html, s))` equals `mask(canonical_text(html), s)`, and the result is
    canonical. Texts in attributes, such as alternative texts, are not masked. Raises ValueError as
    `mask` does.
    """
    covered = _covered(stretches)
    pieces: list[str] = []
    position = first = 0
    for token in tokens(canonical_html):
        source = canonical_html[token.start : token.end]
        if token.kind is Kind.TEXT:
            end = position + len(unescape(source))
            while first < len(covered) and covered[first][1] <= position:
                first += 1
            if first < len(covered) and covered[first][0] < end:
                source = _masked(_CHARACTER.findall(source), position, covered[first:])
            position = end
        pieces.append(source)
    _check(covered, position)
    return "".join(pieces)


def _covered(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort the ranges and join those that overlap or touch."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted((stretch[0], stretch[1]) for stretch in stretches):
        if start >= end or start < 0:
            raise ValueError(f"{characters(start, end)}: not a range of a text")
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _check(covered: Sequence[tuple[int, int]], length: int) -> None:
    if covered and covered[-1][1] > length:
        start, end = covered[-1]
        where = characters(start, end)
        raise ValueError(f"{where}: not within the {length} characters of the text")


def _masked(characters: list[str], position: int, covered: Sequence[tuple[int, int]]) -> str:
    """Join the characters, the first of which is at `position`, and cover those in the ranges."""
    for start, end in covered:
        if start >= position + len(characters):
            break
        inside = range(max(start - position, 0), min(end - position, len(characters)))
        for index in inside:
            if _READABLE.fullmatch(unescape(characters[index])):
                characters[index] = COVER
    return "".join(characters)
