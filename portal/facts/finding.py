"""Finds numbers, dates and durations, snaps selections to facts, and warns about spans.

`find_facts` finds facts that an annotator is likely to label, `snap` adjusts a selection to the
intended fact, and `span_warnings` returns warnings, which never prevent saving. The rules on what
not to annotate are from FinCriticalED, annotation rules B.1.2.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from .borders import Borders
from .grammar import (
    ALONE,
    CELL,
    CJK,
    CURRENCY,
    FIGURED_DATE,
    FIGURED_OTHER,
    FOOTNOTE,
    LINE_NUMBER,
    NEGATIVE,
    NO_WIDTH,
    NUMBER,
    NUMBER_WORDS,
    PHONE,
    POSTAL_CODE,
    PRICED,
    STATES,
    VULGAR,
    WORDED_DATE,
    WORDED_OTHER,
    narrowed,
    with_borders,
)
from .spans import label_kind
from .values import read_date, read_number

Kind: TypeAlias = Literal["number", "date"]

# Facts do not begin inside a word. Chinese and Japanese words are not divided by spaces.
_STARTS = rf"(?:(?<![^\W_])|(?<=[{CJK}]))"
_FACT = re.compile(
    rf"""(?={CELL})(?:{LINE_NUMBER}|{CELL}\s*+(?:[{CURRENCY}]\s?)?(?P<alone>{ALONE}))
    | {FOOTNOTE} | {_STARTS}(?:
        (?=[A-Za-z§])(?:(?P<worded>{WORDED_DATE})|{WORDED_OTHER}|{PRICED}(?P<priced>{NUMBER}))
      | (?=[0-9])(?:(?P<figured>{FIGURED_DATE})|{FIGURED_OTHER})
      | (?=[0-9(.+{NEGATIVE}{VULGAR}])(?:{PHONE}|(?P<number>{NUMBER}))
    )""",
    re.VERBOSE,
)
_DATES = frozenset({"worded", "figured"})


class FoundFact(NamedTuple):
    """`[start, end)` in code points of the text, and whether it is a number or a date.

    Durations count as dates, as in the annotation guidelines.
    """

    start: int
    end: int
    kind: Kind


def find_facts(text: str, borders: Sequence[int] = ()) -> list[FoundFact]:
    """Return the numbers, dates and durations of `text` in order, without overlaps.

    A number includes its sign, parentheses, separators and percent sign, but not a currency mark.
    Facts do not cross the ascending `borders` (see `text_borders`), except for a closing
    parenthesis or percent sign that is alone in the next cell. The two ends of a range are two
    facts. Phone and file numbers, postal codes, times of day, and numbers of sections, notes and
    forms are not found. Accepts any text; linear time.

    >>> [("1,200 (3.5%) of $2,000 in Q2 2025"[f.start:f.end]) for f in
    ...  find_facts("1,200 (3.5%) of $2,000 in Q2 2025")]
    ['1,200', '(3.5%)', '2,000', 'Q2 2025']
    """
    if NO_WIDTH.search(text):
        return _found_without(text, borders)
    inside = [border for border in borders if 0 < border < len(text)]
    marks = [(0, CELL), *((border, CELL) for border in inside), (len(text), CELL)]
    marked = with_borders(narrowed(text).replace(CELL, " "), marks)
    found: list[FoundFact] = []
    raised = _raised_places(borders)
    passed = 0
    for match in _FACT.finditer(marked):
        if not match.lastgroup:
            continue
        start, end = match.span(match.lastgroup)
        while passed < len(marks) and marks[passed][0] + passed < start:
            passed += 1
        if start - passed in raised:
            continue
        width = end - start - marked.count(CELL, start, end)
        kind: Kind = "date" if match.lastgroup in _DATES else "number"
        found.append(FoundFact(start - passed, start - passed + width, kind))
    return found


def _raised_places(borders: Sequence[int]) -> set[int]:
    ranges = borders.raised if isinstance(borders, Borders) else ()
    return {place for start, end in ranges for place in range(start, end)}


def _found_without(text: str, borders: Sequence[int]) -> list[FoundFact]:
    """The facts of a text with characters that take no place, which it is searched without."""
    kept = [place for place, character in enumerate(text) if not NO_WIDTH.match(character)]
    shown = "".join(text[place] for place in kept)
    found = find_facts(shown, _moved(borders, kept))
    return [FoundFact(kept[fact.start], kept[fact.end - 1] + 1, fact.kind) for fact in found]


def _moved(borders: Sequence[int], kept: Sequence[int]) -> Borders:
    """The borders in a text of which only the characters at the places `kept` are left."""
    moved = Borders(bisect_left(kept, border) for border in borders)
    if isinstance(borders, Borders):
        moved.raised = tuple(
            (bisect_left(kept, a), bisect_left(kept, b)) for a, b in borders.raised
        )
    return moved


def within(facts: Sequence[FoundFact], start: int, end: int) -> Sequence[FoundFact]:
    """Those of ascending, disjoint facts that share a character with `[start, end)`."""
    first = bisect_right(facts, start, key=lambda fact: fact.end)
    last = bisect_left(facts, end, key=lambda fact: fact.start)
    return facts[first:last]


# Letters and digits, marks between two of them as in 10-K or 5,000, and the parentheses behind
# the number of a section: 30(h), 501(c)(3). Failing that, a run of marks such as $ or a dash.
_TOKEN = re.compile(r"\w+(?:[.,/&'’:\u2011-]\w+)*(?:(?<=[0-9A-Z)])\(\w{1,5}\))*")
_MARKS = re.compile(r"[^\w\s]+")
_WORD = re.compile(r"\w")


def snap(
    text: str, borders: Sequence[int], facts: Sequence[FoundFact], start: int, end: int
) -> tuple[int, int]:
    """Return the range that a selection `[start, end)` means; a double click has `start == end`.

    A selection that touches one fact means that whole fact, even if only a part of it, or also
    signs and white space around it, is selected. Of several facts, at most one of which is
    selected whole, the one selected most is meant. Selections with other words, or with several
    whole facts, are kept, without white space at the edges and with the words and facts they cut.
    The range is empty if there is nothing to select.

    `borders` and `facts` are those of `text_borders` and `find_facts`. Offsets outside the text are
    clamped. Idempotent.
    """
    start, end = sorted(min(max(offset, 0), len(text)) for offset in (start, end))
    quote = text[start:end]
    if quote.strip():
        start, end = end - len(quote.lstrip()), start + len(quote.rstrip())
    elif not _touched_by(facts, start, end):
        end = start
    touched = _touched_by(facts, start, end)
    if fact := _meant(text, touched, start, end):
        return fact.start, fact.end
    if start == end:
        start, end = _piece_at(text, borders, facts, start)
    return _completed(text, borders, facts, start, end)


def _touched_by(facts: Sequence[FoundFact], start: int, end: int) -> Sequence[FoundFact]:
    """The facts that share a character with the selection; an empty one also touches edges."""
    touched = within(facts, start, end)
    if touched or start < end:
        return touched
    first = bisect_left(facts, start, key=lambda fact: fact.end)
    # Between two adjacent facts, the one that begins here is meant.
    beside = [fact for fact in facts[first : first + 2] if fact.start <= start]
    return beside[-1:]


def _meant(text: str, touched: Sequence[FoundFact], start: int, end: int) -> FoundFact | None:
    """The fact that is meant; None if the selection means something else."""
    if not touched or sum(start <= fact.start and fact.end <= end for fact in touched) > 1:
        return None
    position = start
    for fact in touched:
        if _WORD.search(text, position, max(position, fact.start)):
            return None
        position = fact.end
    if _WORD.search(text, position, max(position, end)):
        return None
    return max(touched, key=lambda fact: min(end, fact.end) - max(start, fact.start))


def _piece_at(
    text: str, borders: Sequence[int], facts: Sequence[FoundFact], offset: int
) -> tuple[int, int]:
    """The token or marks at an offset that touches no fact."""
    low, high = _chunk(text, borders, offset)
    following = bisect_left(facts, offset, key=lambda fact: fact.start)
    if following:
        low = max(low, facts[following - 1].end)
    if following < len(facts):
        high = min(high, facts[following].start)
    for pattern in (_TOKEN, _MARKS):
        for match in pattern.finditer(text, low, high):
            if match.start() <= offset <= match.end():
                return match.span()
    return offset, offset


def _completed(
    text: str, borders: Sequence[int], facts: Sequence[FoundFact], start: int, end: int
) -> tuple[int, int]:
    """The selection with the tokens and facts that its edges cut."""
    while start < end:
        touched = _touched_by(facts, start, end)
        low = min([start, *(fact.start for fact in touched[:1])])
        high = max([end, *(fact.end for fact in touched[-1:])])
        low, high = _token_around(text, borders, low)[0], _token_around(text, borders, high)[1]
        if (low, high) == (start, end):
            break
        start, end = low, high
    return start, end


def _token_around(text: str, borders: Sequence[int], offset: int) -> tuple[int, int]:
    """The token that an offset cuts; the offset itself when it cuts none."""
    for match in _TOKEN.finditer(text, *_chunk(text, borders, offset)):
        if match.start() < offset < match.end():
            return match.span()
    return offset, offset


def _chunk(text: str, borders: Sequence[int], offset: int) -> tuple[int, int]:
    """The range around an offset without white space or borders."""
    before = bisect_right(borders, offset)
    low = borders[before - 1] if before else 0
    high = borders[before] if before < len(borders) else len(text)
    start = end = offset
    while start > low and not text[start - 1].isspace():
        start -= 1
    while end < high and not text[end].isspace():
        end += 1
    return start, end


# The context on either side that can show what a number is.
_REACH = 80

_NUMERIC = re.compile(rf"[0-9{VULGAR}]|\b{NUMBER_WORDS}", re.IGNORECASE)
_MONEY_AT_EDGE = re.compile(rf"\s*[{CURRENCY}]|.*[{CURRENCY}]\s*\Z", re.DOTALL)

_NAMED = r"Items?|Notes?|Exhibits?|Forms?|Schedules?|Parts?|Tables?|Figures?|Chapters?|Nos?\."
_STREET = (
    r"St(?:reet|\.)|Ave(?:nue|\.)|Road|Rd\.|Boulevard|Blvd\.?|Drive|Dr\.|Lane|Ln\.|Parkway|Pkwy|"
    r"Plaza|Square|Highway|Hwy|Court|Circle|Terrace"
)
# Code, description, and the pattern to find around the span.
_LOOK_ALIKES = tuple(
    (code, what, re.compile(pattern))
    for code, what, pattern in (
        ("phone_number", "a phone number", rf"(?<![0-9]){PHONE}"),
        ("postal_code", "a postal code", rf"\b(?:{STATES})\.?,?\s+{POSTAL_CODE}"),
        ("item_number", "the number of an item, note or form", rf"\b(?:{_NAMED})\s*[0-9][\w.-]*"),
        ("page_number", "a page number", r"\b[Pp]age\s+[0-9]+|\A\s*[-–—]\s?[0-9]+\s?[-–—]\s*\Z"),
        (
            "address_number",
            "part of a postal address",
            rf"\b[0-9]+[A-Z]?(?:\s[A-Z0-9][\w.]*){{1,4}}?\s(?:{_STREET})(?![a-z])"
            r"|\b(?:Suite|Room|Floor|Box)\s+[0-9]+",
        ),
    )
)


# Warnings that make gold doubtful. The others are advice on what not to annotate.
GRAVE_WARNINGS = frozenset(
    "leading_space trailing_space unbalanced_parenthesis several_facts cut_fact wrong_type "
    "no_value not_a_number not_a_date".split()
)


class SpanWarning(NamedTuple):
    """A stable code for programs, and a sentence for users."""

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
    """Return warnings about the span `[start, end)` of `text`.

    `borders` are those of `text_borders`, `facts` those of `find_facts`; without `facts` they are
    searched around the span. Labels other than numbers and dates are only checked at the edges.
    With a `value`, there are no warnings about missing values. The time depends on the length of
    the span, not of the text. A span outside the text has no warnings.
    """
    if not 0 <= start < end <= len(text):
        return []
    quote = text[start:end]
    kind = label_kind(label)
    warnings = list(_edges(quote))
    if not kind:
        return warnings
    touched = (
        _touched_near(text, borders, start, end) if facts is None else within(facts, start, end)
    )
    same = [fact for fact in touched if fact.kind == kind]
    warnings += _against_facts(same, text, start, end)
    if not same and _cuts_figures(text, borders, start, end):
        warnings.append(SpanWarning("cut_fact", "The span contains only part of a number."))
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
        yield SpanWarning("unbalanced_parenthesis", "The span has an unmatched parenthesis.")


def _is_balanced(quote: str) -> bool:
    depth = 0
    for character in quote:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _about_value(quote: str, kind: Literal["number", "date"], value: str) -> Iterator[SpanWarning]:
    """The reason why the span has no value of its label's kind; at most one warning."""
    reads = {"number": read_number(quote)[0], "date": read_date(quote)}
    if reads[kind]:
        return
    if kind == "number" and reads["date"]:
        yield SpanWarning("wrong_type", "The span is a date or duration labelled as a number.")
    elif kind == "date" and reads["number"]:
        yield SpanWarning("wrong_type", "The span is a number labelled as a date or duration.")
    elif value:
        return
    elif kind == "date":
        yield SpanWarning("not_a_date", "The span is not a valid date or duration.")
    elif _NUMERIC.search(quote):
        yield SpanWarning("no_value", "The span is not a valid number, so it has no value.")
    else:
        yield SpanWarning("not_a_number", "The span contains no number.")


def _about_money(quote: str) -> Iterator[SpanWarning]:
    if _MONEY_AT_EDGE.match(quote) and _NUMERIC.search(quote):
        yield SpanWarning("currency_mark", "The currency symbol or code is not part of the number.")


def _against_facts(
    touched: Sequence[FoundFact], text: str, start: int, end: int
) -> Iterator[SpanWarning]:
    whole = [fact for fact in touched if start <= fact.start and fact.end <= end]
    if len(whole) > 1:
        quotes = " and ".join(_on_one_line(text, fact) for fact in whole[:2])
        yield SpanWarning("several_facts", f"The span contains several facts: {quotes}.")
    for fact in touched:
        if fact not in whole:
            yield SpanWarning(
                "cut_fact", f"The span contains only part of {_on_one_line(text, fact)}."
            )


def _on_one_line(text: str, fact: FoundFact) -> str:
    return " ".join(text[fact.start : fact.end].split())


# Figures before an edge and behind one, with at most one separator at the edge.
_BEHIND = re.compile(r"[0-9][.,'’]?")
_AHEAD = re.compile(r"[.,'’]?[0-9]")


def _cuts_figures(text: str, borders: Sequence[int], start: int, end: int) -> bool:
    """Whether an edge is inside digits with separators, without a border at the cut."""
    cuts = []
    if text[start].isdecimal():
        places = [start - length for length in (1, 2) if start >= length]
        cuts += [(place, start) for place in places if _BEHIND.fullmatch(text, place, start)]
    if text[end - 1].isdecimal() and (ahead := _AHEAD.match(text, end)):
        cuts.append((end - 1, ahead.end() - 1))
    return any(bisect_right(borders, low) == bisect_right(borders, high) for low, high in cuts)


def _touched_near(text: str, borders: Sequence[int], start: int, end: int) -> list[FoundFact]:
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
                yield SpanWarning(code, f"The span looks like {what}, which is not annotated.")
                break


def is_not_annotated(text: str, borders: Sequence[int], fact: FoundFact) -> bool:
    """Whether `span_warnings` says of the found fact that it is not annotated, such as a house
    number.
    """
    looks = _look_alikes(text, borders, fact.start, fact.end)
    return fact.kind == "number" and next(looks, None) is not None
