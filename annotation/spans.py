"""Read, check and compare spans, without Django.

Meaning: the value and sign of a span are derived from its quote, unless the annotator edited them.

Faults: a fault is `{"index": place in the list, "key": the span's key if it has one, "code": …,
"message": …}`. The codes are `type`, `key`, `label`, `value`, `duplicate_key`, `quote` and
`too_many`, and those of `portal.facts.check_spans`.

Clusters: spans of any annotators that overlap, directly or through others, form a cluster. It is
the smallest range that can be decided by itself, because no span crosses its ends.

Comparison with gold: a span is right when its offsets and label equal those of a gold fact, after
white space at the ends is trimmed. Every other cluster counts as one error. Precision, recall and
F1 are those of exact spans, as in the CoNLL shared task on named entities (E. Tjong Kim Sang and
F. De Meulder, 2003).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal, NamedTuple

from portal.facts import SIGNS, FactValue, Span, check_spans, check_value, read_value, trim_span
from portal.facts.spans import characters

MAX_VALUE = 200
# Every save sends the whole page again, with mostly the same quotes.
_READINGS_KEPT = 20_000
_QUOTE_KEPT = 100

# Signs whose display name differs from the stored one.
_SIGN_NAMES = {"trailing_minus": "trailing minus", "trailing_cr": "trailing CR"}

# Every sign with its name, for forms and pages.
SIGN_CHOICES = [(sign, _SIGN_NAMES.get(sign, sign)) for sign in SIGNS]


class Meaning(NamedTuple):
    """A value and sign of `portal.facts`. `edited` is true if the annotator entered them."""

    value: str
    sign: str
    edited: bool


def derived(quote: str, label: str) -> FactValue:
    """The value and sign that the rules of `portal.facts` derive from the quote."""
    return _remembered(quote, label) if len(quote) <= _QUOTE_KEPT else read_value(quote, label)


@lru_cache(maxsize=_READINGS_KEPT)
def _remembered(quote: str, label: str) -> FactValue:
    return read_value(quote, label)


def meaning_of(span: Mapping[str, Any]) -> Meaning:
    """The meaning of a span whose `value`, `sign` and `edited` may be missing.

    A missing value or sign is derived, and both are if `edited` is false. A client can therefore
    send a span back with new offsets, and its value follows. A value and sign equal to the derived
    ones do not count as edited.
    """
    own = derived(span["quote"], span["label"])
    if span.get("edited") is False:
        return Meaning(*own, edited=False)
    value, sign = span.get("value"), span.get("sign")
    given = FactValue(own.value if value is None else value, own.sign if sign is None else sign)
    return Meaning(*given, edited=given != own)


def meaning_problem(meaning: Meaning, label: str) -> str | None:
    """The problem with an edited value and sign, or None."""
    if not meaning.edited:
        return None
    if len(meaning.value) > MAX_VALUE:
        return f"value is longer than {MAX_VALUE} characters"
    if not meaning.value.isprintable() or not meaning.sign.isprintable():
        return "value and sign must consist of printable characters"
    return check_value(meaning.value, meaning.sign, label)


def settled_value(readings: Iterable[FactValue], quote: str, label: str) -> FactValue:
    """The value of a gold span: the annotators' value if they agree, otherwise the derived one.

    >>> settled_value([FactValue("12", "plain"), FactValue("12000", "plain")], "12", "Number").value
    '12'
    """
    distinct = set(readings)
    return distinct.pop() if len(distinct) == 1 else derived(quote, label)


MAX_SPANS = 20_000
MAX_LABEL = 64
KEY = re.compile(r"[A-Za-z0-9_-]{1,36}")

Fault = dict[str, Any]


class Draft(NamedTuple):
    """A span to save: `[start, end)` in code points, the text the client saw there, and its value
    and sign. `edited` is true if these were entered and not derived from the quote.
    """

    key: str
    label: str
    start: int
    end: int
    quote: str
    value: str
    sign: str
    edited: bool


PLACED = ("key", "label", "start", "end", "quote")


class _UnfitError(ValueError):
    """A span does not have the required form."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_spans(raw: object) -> tuple[list[Draft], list[Fault]]:
    """The spans of a decoded JSON value, and the faults of spans that do not have the right form.

    Without faults, the list contains every span in the given order.
    """
    if not isinstance(raw, list):
        return [], [_fault(0, "", "type", "spans must be a list")]
    if len(raw) > MAX_SPANS:
        message = f"a document may have {MAX_SPANS} spans at most, not {len(raw)}"
        return [], [_fault(MAX_SPANS, "", "too_many", message)]
    drafts, faults = [], []
    for index, item in enumerate(raw):
        try:
            drafts.append(_draft(item))
        except _UnfitError as error:
            faults.append(_fault(index, _key_of(item), error.code, str(error)))
    return drafts, faults


def recorded_span(span: Mapping[str, Any]) -> Draft:
    """A span of a stored revision. Old revisions lack the value, which is then derived."""
    meaning = (span["value"], span["sign"], span["edited"]) if "value" in span else meaning_of(span)
    return Draft(*(span[name] for name in PLACED), *meaning)


def check_drafts(text: str, drafts: Sequence[Draft], labels: Sequence[str]) -> list[Fault]:
    """The faults that prevent saving these spans over this text; empty if there are none."""
    faults = []
    seen: set[str] = set()
    for index, draft in enumerate(drafts):
        if draft.key in seen:
            faults.append(_fault(index, draft.key, "duplicate_key", "two spans have this key"))
        seen.add(draft.key)
        in_range = 0 <= draft.start < draft.end <= len(text)
        if in_range and text[draft.start : draft.end] != draft.quote:
            where = characters(draft.start, draft.end)
            message = f"the text at {where} differs from the quote"
            faults.append(_fault(index, draft.key, "quote", message))
    spans = [Span(draft.start, draft.end, draft.label) for draft in drafts]
    faults += [
        _fault(fault.index, drafts[fault.index].key, fault.code, fault.message)
        for fault in check_spans(text, spans, labels)
    ]
    return sorted(faults, key=lambda fault: int(fault["index"]))


def _draft(item: object) -> Draft:
    """The span; raises _UnfitError if its form is wrong."""
    if not isinstance(item, dict):
        raise _UnfitError("type", "a span must be an object with key, label, start, end and quote")
    _check_types(item)
    if len(item["label"]) > MAX_LABEL:
        raise _UnfitError("label", f"label is longer than {MAX_LABEL} characters")
    if not KEY.fullmatch(item["key"]):
        raise _UnfitError("key", "key must have 1 to 36 characters: letters or digits, “-” or “_”")
    meaning = meaning_of(item)
    if problem := meaning_problem(meaning, item["label"]):
        raise _UnfitError("value", problem)
    return Draft._make([*(item[name] for name in PLACED), *meaning])


def _check_types(item: Mapping[str, Any]) -> None:
    for name in ("key", "label", "quote"):
        if not isinstance(item.get(name), str):
            raise _UnfitError("type", f"{name} must be a string")
    for name in ("start", "end"):
        # bool is an int in Python; in JSON it is not a number.
        if type(item.get(name)) is not int:
            raise _UnfitError("type", f"{name} must be an integer")
    for name in ("value", "sign"):
        if not isinstance(item.get(name), str | None):
            raise _UnfitError("type", f"{name} must be a string, or null to derive it")


def _key_of(item: object) -> str:
    """The span's key if it is valid, so that a response may repeat it."""
    key = item.get("key") if isinstance(item, dict) else None
    return key if isinstance(key, str) and KEY.fullmatch(key) else ""


def _fault(index: int, key: str, code: str, message: str) -> Fault:
    fault: Fault = {"index": index, "code": code, "message": message}
    return fault | {"key": key} if key else fault


FACT = ("label", "start", "end", "quote", "value", "sign")


def fact_of(span: Any) -> dict[str, Any]:
    """The fields by which facts are compared, of a stored span."""
    return {name: getattr(span, name) for name in FACT}


def misplaced(index: int, span: Span, what: str, place: Any, gold: Iterable[Any]) -> list[Fault]:
    """The faults of a span of gold that is outside its place (a case or a fact; `what` names it),
    or overlaps one of the stored spans of gold.
    """
    if span.end <= place.start or span.start >= place.end:
        where, allowed = characters(span.start, span.end), characters(place.start, place.end)
        message = f"the span ({where}) is outside {what} ({allowed})"
        return [_fault(index, "", "outside", message)]
    return [
        _fault(
            index,
            "",
            "overlaps_gold",
            f"the span ({characters(span.start, span.end)}) overlaps “{other.quote}” "
            f"({characters(other.start, other.end)}), which is already gold",
        )
        for other in gold
        if span.start < other.end and other.start < span.end
    ]


def label_css(label: str, labels: Sequence[str]) -> str:
    """The CSS class of a label's colour and line; empty for a label the campaign lacks."""
    return f"label-{labels.index(label) + 1}" if label in labels else ""


def label_keys(labels: Sequence[str]) -> list[dict[str, str]]:
    """The labels with their keys and CSS classes, for scripts."""
    return [
        {"name": name, "key": str(place), "css": label_css(name, labels)}
        for place, name in enumerate(labels, start=1)
    ]


ClusterKind = Literal["boundary", "label", "missing", "extra"]


@dataclass(frozen=True)
class Cluster:
    """Overlapping spans in `[start, end)` code points, per annotator in the given order."""

    start: int
    end: int
    marks: tuple[tuple[Span, ...], ...]

    @property
    def is_unanimous(self) -> bool:
        """Whether all annotators marked the same. The cluster then holds one distinct span."""
        return len(set(self.marks)) == 1

    @property
    def kind(self) -> ClusterKind:
        """How the annotators differ, by the most serious difference.

        `missing`: at least half marked something, the rest nothing. `extra`: fewer than half did.
        `boundary`: the offsets differ. `label`: only the labels differ.
        """
        marked = sum(bool(spans) for spans in self.marks)
        if marked < len(self.marks):
            return "missing" if 2 * marked >= len(self.marks) else "extra"
        ranges = {tuple((span.start, span.end) for span in spans) for spans in self.marks}
        return "boundary" if len(ranges) > 1 else "label"

    @property
    def score(self) -> float:
        """Agreement of the annotators, 0 to 1.

        The largest share of annotators with the same marks. If boundaries differ, the mean
        character F1 over all pairs, so that a stray bracket counts little.
        """
        if self.kind == "boundary":
            pairs = list(combinations(self.marks, 2))
            return sum(_characters_f1(a, b) for a, b in pairs) / len(pairs)
        return Counter(self.marks).most_common(1)[0][1] / len(self.marks)

    @property
    def majority(self) -> tuple[Span, ...] | None:
        """The marks shared by more than half of at least three annotators, or None.

        An empty tuple means that most annotators marked nothing.
        """
        marks, count = Counter(self.marks).most_common(1)[0]
        return marks if len(self.marks) > 2 and 2 * count > len(self.marks) else None


def _characters_f1(first: Sequence[Span], second: Sequence[Span]) -> float:
    a, b = (
        {at for span in spans for at in range(span.start, span.end)} for spans in (first, second)
    )
    return 2 * len(a & b) / (len(a) + len(b))


def clusters(annotators: Sequence[Sequence[Span]]) -> list[Cluster]:
    """The clusters of a document in text order. Spans of one annotator must not overlap.

    >>> ann = [Span(0, 4, "Number"), Span(10, 14, "Date")]
    >>> ben = [Span(0, 4, "Number"), Span(12, 20, "Date")]
    >>> [(cluster.start, cluster.end, cluster.is_unanimous) for cluster in clusters([ann, ben])]
    [(0, 4, True), (10, 20, False)]
    """
    everything = sorted(
        ((span, who) for who, spans in enumerate(annotators) for span in spans),
        key=lambda item: (item[0].start, item[0].end, item[1]),
    )
    ranges: list[Cluster] = []
    marks: list[list[Span]] = []
    start = end = 0
    for span, who in everything:
        if not marks or span.start >= end:
            if marks:
                ranges.append(_cluster(start, end, marks))
            marks = [[] for _ in annotators]
            start, end = span.start, span.end
        marks[who].append(span)
        end = max(end, span.end)
    if marks:
        ranges.append(_cluster(start, end, marks))
    return ranges


def _cluster(start: int, end: int, marks: list[list[Span]]) -> Cluster:
    return Cluster(start, end, tuple(tuple(spans) for spans in marks))


Outcome = Literal["right", "boundary", "label", "missed", "extra"]


@dataclass(frozen=True)
class Compared:
    """A range `[start, end)` with the spans of gold and of the annotator in it.

    `right`: the same span. `label`: the same offsets with another label. `boundary`: overlapping
    offsets. `missed`: only gold has a span. `extra`: only the annotator has one.
    """

    start: int
    end: int
    outcome: Outcome
    gold: tuple[Span, ...]
    marked: tuple[Span, ...]


@dataclass(frozen=True)
class Tally:
    """Counts of marks against gold.

    `matched`, `label`, `boundary` and `missed` count gold facts and sum to `expected`. `extra`
    counts marks that touch no gold fact, `marked` counts all marks. Rates are in [0, 1], higher is
    better, and None if the denominator is 0.
    """

    matched: int = 0
    label: int = 0
    boundary: int = 0
    missed: int = 0
    extra: int = 0
    marked: int = 0
    expected: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            *(getattr(self, count.name) + getattr(other, count.name) for count in fields(self))
        )

    @property
    def precision(self) -> float | None:
        """Matched / marked."""
        return self.matched / self.marked if self.marked else None

    @property
    def recall(self) -> float | None:
        """Matched / expected."""
        return self.matched / self.expected if self.expected else None

    @property
    def f1(self) -> float | None:
        """See `span_f1`."""
        return span_f1(self.matched, self.marked, self.expected)

    @property
    def errors(self) -> int:
        return self.label + self.boundary + self.missed + self.extra


def span_f1(matched: int, marked: int, expected: int) -> float | None:
    """2 * matched / (marked + expected), 0 to 1; None if both sides are empty.

    >>> span_f1(3, 4, 5)
    0.6666666666666666
    """
    return 2 * matched / (marked + expected) if marked + expected else None


def compare_with_gold(text: str, gold: Iterable[Span], marked: Iterable[Span]) -> list[Compared]:
    """All facts and marks of a document in text order. Spans of one side must not overlap.

    >>> gold = [Span(0, 2, "Number"), Span(4, 8, "Date")]
    >>> [part.outcome for part in compare_with_gold("12, 2024", gold, [Span(0, 2, "Date")])]
    ['label', 'missed']
    """
    sides = [{trim_span(text, span) for span in spans} for spans in (gold, marked)]
    # Shared spans overlap nothing else, so only the rest, usually a few, needs clustering.
    both = sides[0] & sides[1]
    ranges = [Compared(span.start, span.end, "right", (span,), (span,)) for span in both]
    ranges += [
        Compared(cluster.start, cluster.end, _outcome(cluster), cluster.marks[0], cluster.marks[1])
        for cluster in clusters([sorted(side - both) for side in sides])
    ]
    return sorted(ranges, key=lambda compared: compared.start)


def _outcome(cluster: Cluster) -> Outcome:
    gold, marked = cluster.marks
    if not marked:
        return "missed"
    if not gold:
        return "extra"
    ranges = ([(span.start, span.end) for span in side] for side in (gold, marked))
    return "label" if next(ranges) == next(ranges) else "boundary"


def tally(ranges: Iterable[Compared]) -> Tally:
    """The counts over all labels."""
    return sum(tally_by_label(ranges).values(), Tally())


def tally_by_label(ranges: Iterable[Compared]) -> dict[str, Tally]:
    """The counts by label: facts and their errors by the label of gold, marks by their own."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for compared in ranges:
        for span in compared.gold:
            tallies[span.label] += _of_gold(compared.outcome)
        for span in compared.marked:
            tallies[span.label] += Tally(marked=1, extra=int(compared.outcome == "extra"))
    return dict(tallies)


def _of_gold(outcome: Outcome) -> Tally:
    counted = {"right": "matched"}.get(outcome, outcome)
    return Tally(**{counted: 1, "expected": 1})


def spans_of(rows: Iterable[Sequence[Any]]) -> list[Span]:
    """Spans stored as `[start, end, label, …]`; further values are ignored."""
    return [Span(*row[:3]) for row in rows]
