"""Financial document accuracy: the numbers, line items, sections and disclosures of a statement
that its OCR text contains.

Source: "Financial Document Accuracy Evaluation (Enhanced Version)". For numbers,
`matching="unique-substring"` is the rule as its README words it, `"substring"` the rule of its
program, and `"exact"` compares whole numbers: those of texts as written, those of JSON by value.
Nothing is rounded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypedDict
from unicodedata import decimal, normalize

Matching = Literal["exact", "substring", "unique-substring"]

SECTIONS = ("balance sheet", "statement of profit and loss", "cash flow", "auditor")
DISCLOSURES = (
    "true and fair",
    "for the year ended",
    "earnings per equity share",
    "as at march",
)

NUMBER = re.compile(r"-?\d[\d,.]*")
# Numbers of the exact rule. A dash is a sign unless it is between numbers or words; commas are part
# of a number only if they group its digits.
_DASH = "-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_COMMA, _POINT = "[,\uff0c\u066c]", "[.\uff0e\u066b]"
_CURRENCY = "$\u00a2-\u00a5\u20a0-\u20c0\uff04\uffe0\uffe1\uffe5"
_WRITTEN = re.compile(
    rf"""
    (?P<sign>(?<![\w)%\]])[{_DASH}])?+ (?:(?<=[{_DASH}])[{_CURRENCY}]\ ?)?
    (?: (?: (?!0)\d{{1,2}}(?:{_COMMA}\d\d){{1,9}}{_COMMA}\d{{3}}(?!\d)
          | (?!0)\d{{1,3}}(?:{_COMMA}\d{{3}}(?!\d))+
          | \d++
        ) (?:{_POINT}\d++)*
      | (?<![\w.]){_POINT}\d++ )
    """,
    re.VERBOSE,
)
# Numbers of JSON have no leading zeros.
_LIST = re.compile(r"(?:0|[1-9]\d*)(?:\.\d+)?(?:,(?:0|[1-9]\d*)(?:\.\d+)?)+", re.ASCII)
_DATE = re.compile(r"\d\d?\.\d\d?\.(?:\d{4}|\d\d)|\d{4}\.\d\d?\.\d\d?")
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("“”„‟", '"'),
    }
)
_NOT_OF_ANUMBER = re.compile(r"[^\d.-]")
_SHORT = 3


class AccuracyReport(TypedDict):
    """The four accuracies and their weighted mean, each in [0, 1]; higher is better."""

    numeric_accuracy: float
    line_item_accuracy: float
    section_accuracy: float
    disclosure_accuracy: float
    final_score: float


WEIGHTS = {
    "numeric_accuracy": 0.4,
    "line_item_accuracy": 0.2,
    "section_accuracy": 0.2,
    "disclosure_accuracy": 0.2,
}


@dataclass(frozen=True)
class Containment:
    """The values searched for, and the missing ones in order."""

    wanted: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def total(self) -> int:
        return len(self.wanted)

    @property
    def found(self) -> int:
        return self.total - len(self.missed)

    @property
    def accuracy(self) -> float:
        """found / total, in [0, 1]; 0 if there was nothing to search for."""
        return self.found / self.total if self.total else 0.0


@dataclass(frozen=True)
class DocumentMatch:
    """The matches of one document, by part."""

    numbers: Containment
    line_items: Containment
    sections: Containment
    disclosures: Containment

    def report(self) -> AccuracyReport:
        """Return the four accuracies and their mean with weights .4/.2/.2/.2."""
        numeric, items = self.numbers.accuracy, self.line_items.accuracy
        sections, disclosures = self.sections.accuracy, self.disclosures.accuracy
        return {
            "numeric_accuracy": numeric,
            "line_item_accuracy": items,
            "section_accuracy": sections,
            "disclosure_accuracy": disclosures,
            "final_score": WEIGHTS["numeric_accuracy"] * numeric
            + WEIGHTS["line_item_accuracy"] * items
            + WEIGHTS["section_accuracy"] * sections
            + WEIGHTS["disclosure_accuracy"] * disclosures,
        }


def normalize_text(text: str) -> str:
    """Return the text in lower case, with white space collapsed to single spaces and trimmed.

    >>> normalize_text("  Balance\\n SHEET ")
    'balance sheet'
    """
    return " ".join(text.lower().split())


def normalize_number(number: str) -> str:
    """Keep only digits, decimal points and minus signs.

    >>> normalize_number("-1,234.50 INR")
    '-1234.50'
    """
    return _NOT_OF_ANUMBER.sub("", number)


class Written(NamedTuple):
    """A number in a text: its place, and its digits as written, with a minus and a point but
    without marks that group them. `in_parentheses` is how accounts write negative ones. `joined` is
    the number that the list in brackets which it begins may be instead: `[1,200]`."""

    start: int
    end: int
    digits: str
    in_parentheses: bool
    joined: str = ""

    def shown(self) -> Iterator[str]:
        """Yield its digits and its possible values."""
        yield self.digits
        yield number_value(self.digits)
        if self.in_parentheses:
            yield number_value(f"-{self.digits}")
        if self.joined:
            yield self.joined


def written_numbers(text: str) -> Iterator[Written]:
    """Yield the numbers of a text by the exact rule, in any digits.

    A hyphen in a range, a date or a word is no minus, a comma that does not group digits separates
    numbers, and so do the points of a date and the commas of a list in brackets.

    >>> [number.digits for number in written_numbers("−1,200 in 2019-2020, 31.03.2024: [7,8]")]
    ['-1200', '2019', '2020', '31', '03', '2024', '7', '8']
    >>> [number.digits for number in written_numbers('[120,130] of 1,200')]
    ['120', '130', '1200']
    """
    for match in _WRITTEN.finditer(text):
        digits = "".join(map(_plain_digit, match[0]))
        start, end = match.span()
        if _DATE.fullmatch(digits):
            yield from _parts(match, r"\d+")
            continue
        if _is_list(text, start, end):
            first, *others = _parts(match, r"\d[\d.]*")
            yield first._replace(joined=digits)
            yield from others
            continue
        sign = "-" if match["sign"] else ""
        is_enclosed = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
        yield Written(
            start, end, sign + (f"0{digits}" if digits[0] == "." else digits), is_enclosed
        )


def _parts(match: re.Match[str], pattern: str) -> Iterator[Written]:
    for part in re.finditer(pattern, match[0]):
        plain = "".join(map(_plain_digit, part[0]))
        yield Written(match.start() + part.start(), match.start() + part.end(), plain, False)


def _is_list(text: str, start: int, end: int) -> bool:
    """Whether the commas between digits separate the numbers of a list of JSON."""
    is_enclosed = text[start - 1 : start] == "[" and text[end : end + 1] == "]"
    return is_enclosed and _LIST.fullmatch(text, start, end) is not None


def _plain_digit(char: str) -> str:
    """Return a digit or point in ASCII; nothing for other characters."""
    if char in ".\uff0e\u066b":
        return "."
    return str(decimal(char)) if char.isdecimal() else ""


def number_value(digits: str) -> str:
    """Return the value of a number as written, without zeros that do not change it.

    >>> number_value("2.10"), number_value("007"), number_value("-0.0"), number_value("1.2.30")
    ('2.1', '7', '0', '1.2.30')
    """
    if digits.count(".") > 1:
        return digits
    whole, _, fraction = digits.removeprefix("-").partition(".")
    value = f"{whole.lstrip('0') or '0'}.{fraction.rstrip('0')}".rstrip(".")
    return f"-{value}" if digits.startswith("-") and value != "0" else value


def plain_text(text: str) -> str:
    """Return the text in lower case with one form of each character, dash, quote and space.

    >>> plain_text("Cash\N{NO-BREAK SPACE}Flow – ２０２４")
    'cash flow - 2024'
    """
    return normalize_text(normalize("NFKC", text).translate(_TYPOGRAPHY))


def extract_all_numbers(value: Any) -> list[str]:
    """Return every number in a JSON value as text, in document order, including numbers in strings.

    In strings a number is a digit, optionally after a minus, and the digits, commas and points that
    follow. Keys are ignored; true and false are not numbers.

    >>> extract_all_numbers({"profit": "-1,200 (2023: 950)", "shares": 12, "audited": True})
    ['-1,200', '2023', '950', '12']
    """
    numbers: list[str] = []
    for leaf in _leaves(value):
        if isinstance(leaf, str):
            numbers.extend(NUMBER.findall(leaf))
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            numbers.append(str(leaf))
    return numbers


def extract_all_text(value: Any) -> list[str]:
    """Return every string in a JSON value, trimmed, in document order, without blank ones and keys.

    >>> extract_all_text({"items": [" Revenue ", "", 7], "note": "Audited"})
    ['Revenue', 'Audited']
    """
    strings = (leaf.strip() for leaf in _leaves(value) if isinstance(leaf, str))
    return [text for text in strings if text]


def match_document(
    gold: Any,
    text: str,
    *,
    matching: Matching = "exact",
    sections: Sequence[str] = SECTIONS,
    disclosures: Sequence[str] = DISCLOSURES,
) -> DocumentMatch:
    """Search OCR text for the numbers and strings of a gold JSON value, and for fixed phrases.

    - numbers, `exact`: the distinct numbers of the gold that are among those of the text, see
      `written_numbers`. Numbers in strings must have the same digits, those of JSON the same value.
    - numbers, `substring` (the published program): every number of the gold, as often as it occurs,
      that is a substring of the text reduced to digits, points and minus signs.
    - numbers, `unique-substring` (the published README): the same, but equal normalised numbers of
      the gold count once.
    - line items: the strings of more than three characters that the text contains, both normalised.
    - sections and disclosures: the phrases, normalised, that the text contains.

    With `exact`, typography is normalised, too (`plain_text`).
    """
    plain = plain_text if matching == "exact" else normalize_text
    normalised = plain(text)
    strings = [string for string in extract_all_text(gold) if len(string) > _SHORT]
    return DocumentMatch(
        numbers=_match_numbers(gold, text, matching),
        line_items=_contained(map(plain, strings), normalised),
        sections=_contained(map(plain, sections), normalised),
        disclosures=_contained(map(plain, disclosures), normalised),
    )


def financial_accuracy_report(
    gt_json: Any,
    ocr_text: str,
    *,
    matching: Matching = "exact",
    sections: Sequence[str] = SECTIONS,
    disclosures: Sequence[str] = DISCLOSURES,
) -> AccuracyReport:
    """Return the four accuracies of one document's OCR text against its gold, and their weighted
    mean.

    `final_score` = .4 numeric + .2 line items + .2 sections + .2 disclosures. A part with nothing
    to search for is 0. See `match_document` for the rules.

    >>> report = financial_accuracy_report(
    ...     {"Revenue": "1,200"}, "Balance Sheet. Revenue 1200", sections=["balance sheet"])
    >>> report["numeric_accuracy"], report["section_accuracy"], report["line_item_accuracy"]
    (1.0, 1.0, 0.0)
    """
    match = match_document(
        gt_json, ocr_text, matching=matching, sections=sections, disclosures=disclosures
    )
    return match.report()


def _match_numbers(gold: Any, text: str, matching: Matching) -> Containment:
    if matching == "exact":
        return _match_written(gold, text)
    numbers: Iterable[str] = map(normalize_number, extract_all_numbers(gold))
    if matching == "unique-substring":
        numbers = dict.fromkeys(numbers)
    return _contained(filter(None, numbers), normalize_number(text))


def _match_written(gold: Any, text: str) -> Containment:
    digits, values = set[str](), set[str]()
    for number in written_numbers(text):
        digits.update({number.digits, number.joined})
        values.update(number.shown())
    # Whether a number is also wanted by its value.
    wanted: dict[str, bool] = {}
    for leaf in _leaves(gold):
        if isinstance(leaf, str):
            for number in written_numbers(leaf):
                wanted.setdefault(number.digits, False)
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            wanted[json_number(leaf)] = True
    missed = (
        number
        for number, by_value in wanted.items()
        if number not in digits and not (by_value and number in values)
    )
    return Containment(tuple(wanted), tuple(missed))


def json_number(number: float) -> str:
    """Return the value of a number of JSON in digits.

    >>> json_number(0.00001), json_number(1e16), json_number(2.10)
    ('0.00001', '10000000000000000', '2.1')
    """
    return number_value(f"{Decimal(str(number)):f}")


def _contained(wanted: Iterable[str], where: str | set[str]) -> Containment:
    looked_for = tuple(wanted)
    return Containment(looked_for, tuple(item for item in looked_for if item not in where))


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the scalars of a JSON value in document order, at any depth."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(reversed(node.values()))
        elif isinstance(node, list):
            stack.extend(reversed(node))
        else:
            yield node
