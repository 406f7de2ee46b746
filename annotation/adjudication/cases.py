"""Cases as a lead sees them: proposals under letters, what can be chosen, and what was decided.

Annotators are letters, so that a decision looks at the marks and not at who made them. A proposal
is `{"assignment": its primary key or None, "spans": [{label, start, end, quote, value, sign}, …]}`
as `Case.proposals` keeps it; those of the first version have no value and no sign. Without an
assignment it is the gold as it was before the place was opened again.
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
    """A span of a decision. Without value and sign they are what all who marked it read alike, else
    derived.
    """

    label: str
    start: int
    end: int
    value: str | None = None
    sign: str | None = None

    @property
    def mark(self) -> "Answer":
        """The same without value and sign."""
        return Answer(self.label, self.start, self.end)


Answers = tuple[Answer, ...]
Proposals = Sequence[Mapping[str, Any]]


class Both(NamedTuple):
    """The places of two proposals, and their marks as one."""

    places: tuple[int, int]
    answers: Answers


def letter_of(place: int) -> str:
    """A for the first annotator of a document, B for the second, AA after Z.

    >>> [letter_of(place) for place in (0, 25, 26)]
    ['A', 'Z', 'AA']
    """
    before, last = divmod(place, 26)
    return (letter_of(before - 1) if before else "") + chr(ord("A") + last)


def letters(proposals: Proposals) -> list[str]:
    """The name of each proposal: the annotator's letter, or `gold`."""
    names, annotators = [], 0
    for proposal in proposals:
        if proposal["assignment"] is None:
            names.append(GOLD)
        else:
            names.append(letter_of(annotators))
            annotators += 1
    return names


def answers_of(proposal: Mapping[str, Any]) -> Answers:
    """The marks of one proposal, with the values they were given."""
    return tuple(
        Answer(span["label"], span["start"], span["end"], span.get("value"), span.get("sign"))
        for span in proposal["spans"]
    )


def majority(proposals: Proposals, *, by_value: bool) -> Answers | None:
    """What more than half of at least three annotators marked; None when there is no such thing.

    An empty tuple says that most marked nothing. Marks count as the same when place and label are,
    and with `by_value` only when value and sign are, too.
    """
    given = [answers_of(proposal) for proposal in proposals if proposal["assignment"] is not None]
    if len(given) < 3:
        return None
    marks = [one if by_value else _marks(one) for one in given]
    most, count = Counter(marks).most_common(1)[0]
    if 2 * count <= len(given):
        return None
    if not by_value:
        # Those of the majority may agree on the values, whatever the others read.
        held = {one for one in given if _marks(one) == most}
        return held.pop() if len(held) == 1 else most
    return most


def both(proposals: Proposals) -> Both | None:
    """Two proposals that do not overlap, as one, when there is only one such pair to be meant."""
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
    """Whether any two of them do; they come sorted by their start."""
    return any(a.end > b.start for a, b in pairwise(answers))


SpanData = Mapping[str, Any]


@dataclass(frozen=True)
class Proposal:
    """What one annotator marked, or the gold as it was (letter `gold`). Spans: {label, start, end,
    quote, value, sign}.
    """

    letter: str
    spans: tuple[SpanData, ...]

    @property
    def is_gold(self) -> bool:
        return self.letter == GOLD


@dataclass(frozen=True)
class Together:
    """Two proposals that fit beside each other."""

    letters: tuple[str, str]
    spans: tuple[SpanData, ...]


@dataclass(frozen=True)
class Verdict:
    """One decision of the case's history, or its being opened again."""

    choice: str
    letter: str | None
    spans: tuple[SpanData, ...]
    reason: str
    decided_by: str | None
    decided_at: datetime


@dataclass(frozen=True)
class CaseView:
    """`difference`: how the marks differ, `only`, `boundary` or `label`, else the kind of the case;
    `marked_by`: the letters of who marked anything; `note`: why it is open, where somebody said so.
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
    """A comment of an annotator, on a span or, with no offsets, on the page."""

    letter: str
    text: str
    start: int | None
    end: int | None
    quote: str


def case_views(cases: Iterable[Case]) -> list[CaseView]:
    """The cases in the order given. They should come with `decisions__decided_by` prefetched and
    their document and `decided_by` selected.
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
    """The answers as proposed: with their quotes, and with the values of the first who has them."""
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
    """What the annotators wrote about the page and its spans, and why they flagged it.

    A comment on a span that is no more counts as one on the page.
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
    """Those on spans that share a character with `[start, end)`."""
    return [
        one
        for one in remarks
        if one.start is not None and one.end is not None and one.start < end and start < one.end
    ]
