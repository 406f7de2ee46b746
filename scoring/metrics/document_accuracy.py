"""Financial document accuracy: the numbers, line items, sections and disclosures of a statement
that its OCR text contains.

Source: "Financial Document Accuracy Evaluation (Enhanced Version)". For numbers,
`matching="unique-substring"` is the rule as its README words it, `"substring"` the rule of its
program, and `"exact"` compares whole numbers. Nothing is rounded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

Matching = Literal["exact", "substring", "unique-substring"]

SECTIONS = ("balance sheet", "statement of profit and loss", "cash flow", "auditor")
DISCLOSURES = (
    "true and fair",
    "for the year ended",
    "earnings per equity share",
    "as at march",
)

NUMBER = re.compile(r"-?\d[\d,.]*")
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

    - numbers, `exact`: the distinct normalised numbers of the gold that are among the normalised
      numbers of the text; a point at the end is a full stop and not part of a number.
    - numbers, `substring` (the published program): every number of the gold, as often as it occurs,
      that is a substring of the text reduced to digits, points and minus signs.
    - numbers, `unique-substring` (the published README): the same, but equal normalised numbers of
      the gold count once.
    - line items: the strings of more than three characters that the text contains, both normalised.
    - sections and disclosures: the phrases, normalised, that the text contains.
    """
    normalised = normalize_text(text)
    strings = [string for string in extract_all_text(gold) if len(string) > _SHORT]
    return DocumentMatch(
        numbers=_match_numbers(gold, text, matching),
        line_items=_contained(map(normalize_text, strings), normalised),
        sections=_contained(map(normalize_text, sections), normalised),
        disclosures=_contained(map(normalize_text, disclosures), normalised),
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
        unique = dict.fromkeys(map(_whole_number, extract_all_numbers(gold)))
        return _contained(filter(None, unique), set(map(_whole_number, NUMBER.findall(text))))
    numbers: Iterable[str] = map(normalize_number, extract_all_numbers(gold))
    if matching == "unique-substring":
        numbers = dict.fromkeys(numbers)
    return _contained(filter(None, numbers), normalize_number(text))


def _whole_number(number: str) -> str:
    return normalize_number(number).rstrip(".")


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
