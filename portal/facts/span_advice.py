"""What may be wrong with a span: advice for the annotator, never a reason to refuse it.

What not to annotate is from FinCriticalED, annotation rules B.1.2.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from portal.facts.date_values import read_date
from portal.facts.finding import FoundFact, find_facts, within
from portal.facts.grammar import CURRENCY, PHONE, POSTAL_CODE, STATES, VULGAR
from portal.facts.labels import label_kind
from portal.facts.number_values import read_number
from portal.facts.words import NUMBER_WORDS

# How much text on either side can tell what a number is.
_REACH = 80

_NUMERIC = re.compile(rf"[0-9{VULGAR}]|\b{NUMBER_WORDS}", re.IGNORECASE)
_MONEY_AT_EDGE = re.compile(rf"\s*[{CURRENCY}]|.*[{CURRENCY}]\s*\Z", re.DOTALL)

_NAMED = r"Items?|Notes?|Exhibits?|Forms?|Schedules?|Parts?|Tables?|Figures?|Chapters?|Nos?\."
_STREET = (
    r"St(?:reet|\.)|Ave(?:nue|\.)|Road|Rd\.|Boulevard|Blvd\.?|Drive|Dr\.|Lane|Ln\.|Parkway|Pkwy|"
    r"Plaza|Square|Highway|Hwy|Court|Circle|Terrace"
)
# Code, the place in a sentence about it, and what is looked for about the span.
_LOOK_ALIKES = tuple(
    (code, what, re.compile(pattern))
    for code, what, pattern in (
        ("phone_number", "a phone number", rf"(?<![0-9]){PHONE}"),
        ("postal_code", "a postal code", rf"\b(?:{STATES})\.?,?\s+{POSTAL_CODE}"),
        ("item_number", "the number of an item, note or form", rf"\b(?:{_NAMED})\s*[0-9][\w.-]*"),
        ("page_number", "a page number", r"\b[Pp]age\s+[0-9]+|\A\s*[-–—]\s?[0-9]+\s?[-–—]\s*\Z"),
        (
            "address_number",
            "part of an address",
            rf"\b[0-9]+[A-Z]?(?:\s[A-Z0-9][\w.]*){{1,4}}?\s(?:{_STREET})(?![a-z])"
            r"|\b(?:Suite|Room|Floor|Box)\s+[0-9]+",
        ),
    )
)


# Those that make a fact doubtful as gold. The rest is advice on what not to annotate.
GRAVE_WARNINGS = frozenset(
    {
        "leading_space",
        "trailing_space",
        "unbalanced_parenthesis",
        "several_facts",
        "cut_fact",
        "wrong_type",
        "no_value",
        "not_a_number",
        "not_a_date",
    }
)


class SpanWarning(NamedTuple):
    """A stable word for programs, and a sentence for people."""

    code: str
    message: str


def span_warnings(
    text: str,
    borders: Sequence[int],
    start: int,
    end: int,
    label: str,
    facts: Sequence[FoundFact] | None = None,
    value: str = "",
) -> list[SpanWarning]:
    """What looks wrong with the span `[start, end)` of `text`; an empty list when nothing does.

    `borders` are those of `text_borders`, `facts` those of `find_facts`; without facts they are
    looked for around the span. Of labels that are neither numbers nor dates only the edges are
    checked. `value` is the fact's value, if it has one: then none is missing. The time depends on
    the length of the span, not of the text. A span outside the text has no warnings.
    """
    if not 0 <= start < end <= len(text):
        return []
    quote = text[start:end]
    kind = label_kind(label)
    warnings = list(_edges(quote))
    if not kind:
        return warnings
    touched = _touched(text, borders, start, end) if facts is None else within(facts, start, end)
    same = [fact for fact in touched if fact.kind == kind]
    warnings += _against_facts(same, text, start, end)
    if not same and _cuts_figures(text, borders, start, end):
        warnings.append(SpanWarning("cut_fact", "The span cuts through a number."))
    warnings += _about_value(quote, kind, value)
    if kind == "number":
        warnings += [*_about_money(quote), *_look_alikes(text, borders, start, end)]
    return warnings


def _edges(quote: str) -> Iterator[SpanWarning]:
    if quote[0].isspace():
        yield SpanWarning("leading_space", "The span begins with white space.")
    if quote[-1].isspace():
        yield SpanWarning("trailing_space", "The span ends with white space.")
    if not _is_balanced(quote):
        yield SpanWarning("unbalanced_parenthesis", "A parenthesis has no partner in the span.")


def _is_balanced(quote: str) -> bool:
    depth = 0
    for character in quote:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _about_value(quote: str, kind: Literal["number", "date"], value: str) -> Iterator[SpanWarning]:
    """What keeps the span from having a value of its label's kind; one warning at most."""
    reads = {"number": read_number(quote)[0], "date": read_date(quote)}
    if reads[kind]:
        return
    if kind == "number" and reads["date"]:
        yield SpanWarning("wrong_type", "This is a date or duration, but it is labelled a number.")
    elif kind == "date" and reads["number"]:
        yield SpanWarning("wrong_type", "This is a number, but it is labelled a date or duration.")
    elif value:
        return
    elif kind == "date":
        yield SpanWarning("not_a_date", "This cannot be read as a date or duration.")
    elif _NUMERIC.search(quote):
        yield SpanWarning("no_value", "This cannot be read as a number, so it has no value.")
    else:
        yield SpanWarning("not_a_number", "There is no number in the span.")


def _about_money(quote: str) -> Iterator[SpanWarning]:
    if _MONEY_AT_EDGE.match(quote) and _NUMERIC.search(quote):
        yield SpanWarning("currency_mark", "A currency mark is not part of the number.")


def _against_facts(
    touched: Sequence[FoundFact], text: str, start: int, end: int
) -> Iterator[SpanWarning]:
    whole = [fact for fact in touched if start <= fact.start and fact.end <= end]
    if len(whole) > 1:
        quotes = " and ".join(_on_one_line(text, fact) for fact in whole[:2])
        yield SpanWarning("several_facts", f"The span holds several facts: {quotes}.")
    for fact in touched:
        if fact not in whole:
            yield SpanWarning("cut_fact", f"The span cuts through {_on_one_line(text, fact)}.")


def _on_one_line(text: str, fact: FoundFact) -> str:
    return " ".join(text[fact.start : fact.end].split())


def _cuts_figures(text: str, borders: Sequence[int], start: int, end: int) -> bool:
    """Whether an edge stands between two digits that no border parts."""
    return any(
        0 < edge < len(text)
        and text[edge - 1].isdecimal()
        and text[edge].isdecimal()
        and bisect_left(borders, edge) == bisect_right(borders, edge)
        for edge in (start, end)
    )


def _touched(text: str, borders: Sequence[int], start: int, end: int) -> list[FoundFact]:
    """The facts that share a character with the span, found in the text around it."""
    low, high = max(start - _REACH, 0), min(end + _REACH, len(text))
    near = borders[bisect_right(borders, low) : bisect_left(borders, high)]
    found = find_facts(text[low:high], [border - low for border in near])
    facts = [FoundFact(fact.start + low, fact.end + low, fact.kind) for fact in found]
    return [*within(facts, start, end)]


def _look_alikes(text: str, borders: Sequence[int], start: int, end: int) -> Iterator[SpanWarning]:
    before, after = bisect_right(borders, start), bisect_left(borders, end)
    low = max(start - _REACH, borders[before - 1] if before else 0)
    high = min(end + _REACH, borders[after] if after < len(borders) else len(text))
    for code, what, pattern in _LOOK_ALIKES:
        for match in pattern.finditer(text[low:high]):
            if match.start() + low < end and start < match.end() + low:
                yield SpanWarning(code, f"This looks like {what}, which is not annotated.")
                break
