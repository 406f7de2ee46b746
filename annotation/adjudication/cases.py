"""Cases as a lead sees them: proposals, possible choices, and decisions.

Proposals are named A, B, … instead of by annotator, so that decisions are blind. `Case.proposals`
stores them as `{"assignment": primary key or None, "spans": [{label, start, end, quote, value,
sign}, …]}`. Old proposals have no value and no sign. A proposal without an assignment is the gold
before the case was reopened.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from annotation.models import CampaignDocument, Case, Comment, Decision, Span
from portal.accounts.models import display_name

GOLD = "gold"


class Answer(NamedTuple):
    """A span of a decision. A missing value or sign is taken from the annotators if they agree,
    otherwise derived.
    """

    label: str
    start: int
    end: int
    value: str | None = None
    sign: str | None = None

    @property
    def mark(self) -> "Answer":
        """The span without value and sign."""
        return Answer(self.label, self.start, self.end)


Answers = tuple[Answer, ...]
Proposals = Sequence[Mapping[str, Any]]


class Both(NamedTuple):
    """Two proposals, by their indexes, and their combined marks."""

    places: tuple[int, int]
    answers: Answers


def letter_of(place: int) -> str:
    """The name of an annotator of a document: A for the first, B for the second, AA after Z.

    >>> [letter_of(place) for place in (0, 25, 26)]
    ['A', 'Z', 'AA']
    """
    before, last = divmod(place, 26)
    return (letter_of(before - 1) if before else "") + chr(ord("A") + last)


def letters(proposals: Proposals) -> list[str]:
    """The name of each proposal: `A`, `B`, … for annotators, or `gold`."""
    names, annotators = [], 0
    for proposal in proposals:
        if proposal["assignment"] is None:
            names.append(GOLD)
        else:
            names.append(letter_of(annotators))
            annotators += 1
    return names


def answers_of(proposal: Mapping[str, Any]) -> Answers:
    """The marks of one proposal, with their values."""
    return tuple(
        Answer(span["label"], span["start"], span["end"], span.get("value"), span.get("sign"))
        for span in proposal["spans"]
    )


def majority(proposals: Proposals, *, by_value: bool) -> Answers | None:
    """The marks shared by more than half of at least three annotators, or None.

    An empty tuple means that most marked nothing. Marks are equal if their offsets and labels are;
    with `by_value`, their values and signs must be equal, too.
    """
    given = [answers_of(proposal) for proposal in proposals if proposal["assignment"] is not None]
    if len(given) < 3:
        return None
    marks = [one if by_value else _marks(one) for one in given]
    most, count = Counter(marks).most_common(1)[0]
    if 2 * count <= len(given):
        return None
    if not by_value:
        # The majority may agree on the values even if the others do not.
        held = {one for one in given if _marks(one) == most}
        return held.pop() if len(held) == 1 else most
    return most


def both(proposals: Proposals) -> Both | None:
    """The combination of two proposals that do not overlap, if there is exactly one."""
    found: dict[Answers, Both] = {}
    given = [answers_of(proposal) for proposal in proposals]
    for (i, first), (j, second) in combinations(enumerate(given), 2):
        together = tuple(sorted({*_marks(first), *_marks(second)}, key=lambda one: one.start))
        is_more = len(together) > max(len(first), len(second))
        if is_more and not _overlap(together):
            known = {one.mark: one for one in (*second, *first)}
            found.setdefault(together, Both((i, j), tuple(known[one] for one in together)))
    return next(iter(found.values())) if len(found) == 1 else None


def _marks(answers: Answers) -> Answers:
    return tuple(one.mark for one in answers)


def _overlap(answers: Answers) -> bool:
    """Whether any two answers overlap. They must be sorted by start."""
    return any(a.end > b.start for a, b in pairwise(answers))


SpanData = Mapping[str, Any]


@dataclass(frozen=True)
class Proposal:
    """The marks of one annotator, or the former gold. Spans: {label, start, end, quote, value,
    sign}.
    """

    letter: str
    spans: tuple[SpanData, ...]

    @property
    def is_gold(self) -> bool:
        return self.letter == GOLD


@dataclass(frozen=True)
class Together:
    """Two proposals that can be combined."""

    letters: tuple[str, str]
    spans: tuple[SpanData, ...]


@dataclass(frozen=True)
class Verdict:
    """An entry of the case's history: a decision, or a reopening."""

    choice: str
    letter: str | None
    spans: tuple[SpanData, ...]
    reason: str
    decided_by: str | None
    decided_at: datetime


@dataclass(frozen=True)
class CaseView:
    """A case with its proposals and history.

    `difference`: `only`, `boundary` or `label`, or the kind of the case. `marked_by`: the proposals
    with at least one span. `note`: the reason for which an open case was opened, if there is one.
    """

    id: int
    document: str
    kind: str
    kind_label: str
    state: str
    start: int
    end: int
    score: float | None
    difference: str
    marked_by: tuple[str, ...]
    note: str
    proposals: tuple[Proposal, ...]
    majority: tuple[SpanData, ...] | None
    both: Together | None
    decision: tuple[SpanData, ...]
    choice: str
    reason: str
    decided_by: str | None
    decided_at: datetime | None
    history: tuple[Verdict, ...]

    @property
    def is_open(self) -> bool:
        return self.state == Case.State.OPEN


@dataclass(frozen=True)
class Remark:
    """A comment of an annotator on a span, or on the page if it has no offsets."""

    letter: str
    text: str
    start: int | None
    end: int | None
    quote: str


def case_views(cases: Iterable[Case]) -> list[CaseView]:
    """The cases in the given order. Prefetch `decisions__decided_by` and select the document and
    `decided_by` to avoid further queries.
    """
    return [case_view(case) for case in cases]


def case_view(case: Case) -> CaseView:
    names = letters(case.proposals)
    proposals = tuple(
        Proposal(letter, tuple(proposal["spans"]))
        for letter, proposal in zip(names, case.proposals, strict=True)
    )
    marked = tuple(one.letter for one in proposals if one.spans)
    history = tuple(_verdict(decision, names) for decision in case.decisions.all())
    most = majority(case.proposals, by_value=case.kind == Case.Kind.VALUE)
    is_open = case.state == Case.State.OPEN
    return CaseView(
        id=case.pk,
        document=case.campaign_document.document.name,
        kind=case.kind,
        kind_label=case.get_kind_display(),
        state=case.state,
        start=case.start,
        end=case.end,
        score=None if case.kind == Case.Kind.REVIEW else case.score,
        difference=_difference(case, len(marked) < len(proposals)),
        marked_by=marked,
        note=_note(case, history) if is_open else "",
        proposals=proposals,
        majority=None if most is None else _spans(most, proposals),
        both=_together(case, proposals),
        decision=tuple(case.decision),
        choice="" if is_open or not history else history[-1].choice,
        reason="" if is_open else case.reason,
        decided_by=display_name(case.decided_by) if case.decided_by else None,
        decided_at=case.decided_at,
        history=history,
    )


def _difference(case: Case, is_missing: bool) -> str:
    if case.kind in {Case.Kind.VALUE, Case.Kind.REVIEW}:
        return case.kind
    if is_missing:
        return "only"
    return "label" if case.kind == Case.Kind.LABEL else "boundary"


def _note(case: Case, history: Sequence[Verdict]) -> str:
    opened = [one.reason for one in history if one.choice == Decision.Choice.REOPENED]
    return opened[-1] if opened else case.reason


def _together(case: Case, proposals: Sequence[Proposal]) -> Together | None:
    found = both(case.proposals)
    if found is None:
        return None
    first, second = found.places
    names = (proposals[first].letter, proposals[second].letter)
    return Together(names, _spans(found.answers, proposals))


def _spans(answers: Answers, proposals: Sequence[Proposal]) -> tuple[SpanData, ...]:
    """The spans of the proposals that match the answers, with their quotes and values."""
    spans = [span for proposal in proposals for span in proposal.spans]
    return tuple(
        next(
            span
            for span in spans
            if (span["label"], span["start"], span["end"]) == (one.label, one.start, one.end)
            and one.value in {None, span.get("value")}
        )
        for one in answers
    )


def _verdict(decision: Decision, names: Sequence[str]) -> Verdict:
    place = decision.proposal
    return Verdict(
        choice=decision.choice,
        letter=names[place] if place is not None and place < len(names) else None,
        spans=tuple(decision.spans),
        reason=decision.reason,
        decided_by=display_name(decision.decided_by) if decision.decided_by else None,
        decided_at=decision.decided_at,
    )


def page_remarks(campaign_document: CampaignDocument) -> list[Remark]:
    """The annotators' comments on the page and its spans, and their reasons for flagging it.

    A comment on a deleted span counts as a comment on the page.
    """
    assignments = list(campaign_document.assignments.active().order_by("id"))
    names = {assignment.pk: letter_of(n) for n, assignment in enumerate(assignments)}
    comments = Comment.objects.filter(assignment__in=assignments).order_by("assignment", "id")
    keys = {comment.span_key for comment in comments if comment.span_key}
    spans = {
        (span.assignment_id, span.key): span
        for span in Span.objects.filter(assignment__in=assignments, key__in=keys)
    }
    remarks = [
        Remark(names[one.pk], f"{one.get_flag_display()}: {one.flag_reason}", None, None, "")
        for one in assignments
        if one.flag
    ]
    for comment in comments:
        span = spans.get((comment.assignment_id, comment.span_key))
        place = (span.start, span.end, span.quote) if span else (None, None, "")
        remarks.append(Remark(names[comment.assignment_id], comment.text, *place))
    return remarks


def remarks_at(remarks: Sequence[Remark], start: int, end: int) -> list[Remark]:
    """The comments on spans that share a character with `[start, end)`."""
    return [
        one
        for one in remarks
        if one.start is not None and one.end is not None and one.start < end and start < one.end
    ]
