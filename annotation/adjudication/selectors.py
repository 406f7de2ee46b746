"""Reads of adjudication: cases, their queue, a whole page, documents that failed validation.

Proposals are named A, B, … instead of by annotator, so that decisions are blind.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from annotation.doubts import Doubt, Mark, doubts, page_doubts
from annotation.errors import OwnWork
from annotation.models import Assignment, Campaign, CampaignDocument, Case, Comment, Decision, Span
from annotation.page_facts import page_facts
from annotation.spans import FACT, label_keys
from portal.accounts.models import display_name

from .settling import GOLD, Answers, both, letter_of, letters, majority

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
class CombinedAnswer:
    """Two proposals that can be combined."""

    letters: tuple[str, str]
    spans: tuple[SpanData, ...]


@dataclass(frozen=True)
class HistoryEntry:
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
    both: CombinedAnswer | None
    decision: tuple[SpanData, ...]
    choice: str
    reason: str
    decided_by: str | None
    decided_at: datetime | None
    history: tuple[HistoryEntry, ...]

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


def case_view(case: Case) -> CaseView:
    """For several cases, prefetch `decisions__decided_by`, and select document and `decided_by`."""
    names = letters(case.proposals)
    proposals = tuple(
        Proposal(letter, tuple(proposal["spans"]))
        for letter, proposal in zip(names, case.proposals, strict=True)
    )
    marked = tuple(proposal.letter for proposal in proposals if proposal.spans)
    history = tuple(_history_entry(decision, names) for decision in case.decisions.all())
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
    if case.kind in {Case.Kind.VALUE, Case.Kind.DOUBTFUL, Case.Kind.REVIEW}:
        return case.kind
    if is_missing:
        return "only"
    return "label" if case.kind == Case.Kind.LABEL else "boundary"


def _note(case: Case, history: Sequence[HistoryEntry]) -> str:
    opened = [entry.reason for entry in history if entry.choice == Decision.Choice.REOPENED]
    return opened[-1] if opened else case.reason


def _together(case: Case, proposals: Sequence[Proposal]) -> CombinedAnswer | None:
    combined = both(case.proposals)
    if combined is None:
        return None
    first, second = combined.places
    names = (proposals[first].letter, proposals[second].letter)
    return CombinedAnswer(names, _spans(combined.answers, proposals))


def _spans(answers: Answers, proposals: Sequence[Proposal]) -> tuple[SpanData, ...]:
    """The spans of the proposals that match the answers, with their quotes and values."""
    spans = [span for proposal in proposals for span in proposal.spans]
    return tuple(
        next(
            span
            for span in spans
            if (span["label"], span["start"], span["end"]) == (fact.label, fact.start, fact.end)
            and fact.value in {None, span.get("value")}
        )
        for fact in answers
    )


def _history_entry(decision: Decision, names: Sequence[str]) -> HistoryEntry:
    place = decision.proposal
    return HistoryEntry(
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
        Remark(names[work.pk], f"{work.get_flag_display()}: {work.flag_reason}", None, None, "")
        for work in assignments
        if work.flag
    ]
    for comment in comments:
        span = spans.get((comment.assignment_id, comment.span_key))
        place = (span.start, span.end, span.quote) if span else (None, None, "")
        remarks.append(Remark(names[comment.assignment_id], comment.text, *place))
    return remarks


def remarks_at(remarks: Sequence[Remark], start: int, end: int) -> list[Remark]:
    """The comments on spans that share a character with `[start, end)`."""
    return [
        note
        for note in remarks
        if note.start is not None and note.end is not None and note.start < end and start < note.end
    ]


ORDERS = {"text": "By document", "score": "Lowest agreement first"}
# Reopened gold has no score. These cases come first.
_BY_SCORE = (F("score").asc(), "campaign_document", "start")
_BY_TEXT = ("campaign_document", "start")


@dataclass(frozen=True)
class CaseFilter:
    """A filter and an order for cases. An empty field matches all."""

    state: str = Case.State.OPEN
    kind: str = ""
    label: str = ""
    document: str = ""
    order: str = "text"

    @property
    def query(self) -> str:
        """The query string of a URL, without default values."""
        fields = {"state": self.state, "kind": self.kind, "label": self.label}
        fields |= {"document": self.document, "order": self.order}
        defaults = {"state": Case.State.OPEN, "order": "text"}
        return urlencode(
            {name: value for name, value in fields.items() if value and value != defaults.get(name)}
        )

    @property
    def over_open_cases(self) -> "CaseFilter":
        """The same filter for the open cases of all documents."""
        return replace(self, state=Case.State.OPEN, document="")


def filtered_cases(campaign: Campaign, wanted: CaseFilter) -> QuerySet[Case]:
    """The campaign's cases that match the filter, in its order."""
    cases = Case.objects.filter(campaign_document__campaign=campaign)
    if wanted.state:
        cases = cases.filter(state=wanted.state)
    if wanted.kind:
        cases = cases.filter(kind=wanted.kind)
    if wanted.document:
        cases = cases.filter(campaign_document__document__name=wanted.document)
    if wanted.label:
        # All databases write this pair the same way, and labels are plain names.
        pair = f'"label": {json.dumps(wanted.label)}'
        cases = cases.annotate(written=Cast("proposals", TextField())).filter(
            written__contains=pair
        )
    return cases.order_by(*(_BY_SCORE if wanted.order == "score" else _BY_TEXT))


def case_counts(campaign: Campaign) -> dict[str, Counter[str]]:
    """The number of cases of each kind, by state."""
    counts: dict[str, Counter[str]] = {state: Counter() for state in Case.State.values}
    cases = Case.objects.filter(campaign_document__campaign=campaign).order_by()
    for state, kind, n in cases.values_list("state", "kind").annotate(n=Count("id")):
        counts[state][kind] = n
    return counts


def documents_with_cases(campaign: Campaign) -> list[str]:
    """The names of the documents that have a case."""
    documents = CampaignDocument.objects.filter(campaign=campaign, cases__isnull=False)
    names = documents.order_by("document__name").values_list("document__name", flat=True)
    return list(names.distinct())


def open_cases(campaign: Campaign) -> QuerySet[Case]:
    return filtered_cases(campaign, CaseFilter())


def for_user(cases: QuerySet[Case], user: Any) -> QuerySet[Case]:
    """The cases that the user may decide: not those of documents that they annotated."""
    own = Assignment.objects.of(user).active().values("campaign_document")
    return cases.exclude(campaign_document__in=own)


def next_open_case(campaign: Campaign, after: Case, user: Any) -> Case | None:
    """The user's next open case of the document, else of the campaign, else its first one."""
    cases = for_user(open_cases(campaign), user).exclude(pk=after.pk)
    here = cases.filter(campaign_document=after.campaign_document_id)
    later = cases.filter(campaign_document__gt=after.campaign_document_id)
    return (
        here.filter(start__gt=after.start).first() or here.first() or later.first() or cases.first()
    )


def page_url(campaign: Campaign, name: str, wanted: CaseFilter) -> str:
    """The URL of a document's adjudication page, with the filter."""
    url = reverse("annotation:adjudication-page", args=[campaign.slug, name])
    return f"{url}?{wanted.query}" if wanted.query else url


# Reasons that a lead can choose by key. They name the rule; the marks show the details.
QUICK_REASONS = (
    "Oversight: missed, or labelled by mistake.",
    "Boundary: the span must cover the whole fact and nothing else.",
    "Not a fact according to the guidelines.",
    "A fact according to the guidelines.",
    "Wrong label according to the guidelines.",
    "Value or sign misread.",
)
_HEADING = re.compile(r"^#{1,3}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
MAX_HEADINGS = 12
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def quick_reasons(guidelines: str) -> list[str]:
    """Reasons that can be chosen by key: the usual ones, then the sections of the guidelines.

    >>> quick_reasons("## Signs\\nMark them.")[-1]
    'Guidelines, “Signs”.'
    """
    headings = _HEADING.findall(_FENCE.sub("", guidelines))[:MAX_HEADINGS]
    return [*QUICK_REASONS, *(f"Guidelines, “{heading}”." for heading in headings)]


def obstacle_for(campaign_document: CampaignDocument, user: Any) -> str:
    """The reason for which the user may not decide cases of the document, or empty."""
    return OwnWork.message if campaign_document.is_labelled_by(user) else ""


def adjudication_page(
    campaign_document: CampaignDocument, wanted: CaseFilter, user: Any
) -> dict[str, Any]:
    """The data of the adjudication page of one document, which must come with its campaign.

    `marks`: gold without a case, [{start, end, label, quote, value, sign, origin}]; `cases` as
    CaseView; `queue`: primary keys of the open cases that match the filter, in its order;
    `remarks`: annotators' comments; `doubtful`: gold and proposals with a warning; `facts`:
    [start, end, kind] to snap to; `reasons` to choose from; `next`: URL of the next page with a
    matching open case for the user, or null; `obstacle`: why the user may not decide, or empty.
    """
    campaign, document = campaign_document.campaign, campaign_document.document
    waiting = filtered_cases(campaign, wanted.over_open_cases).filter(
        campaign_document=campaign_document
    )
    caseless = campaign_document.gold_spans.filter(case__isnull=True)
    cases = campaign_document.cases.select_related(
        "campaign_document__document", "decided_by"
    ).prefetch_related("decisions__decided_by")
    return {
        "document": document.name,
        "stage": campaign_document.stage,
        "text_sha256": document.text_sha256,
        "labels": label_keys(campaign.labels),
        "marks": list(caseless.values(*FACT, "origin")),
        "cases": [asdict(view) for view in map(case_view, cases.order_by("start"))],
        "queue": list(waiting.values_list("pk", flat=True)),
        "remarks": [asdict(remark) for remark in page_remarks(campaign_document)],
        "facts": [[fact.start, fact.end, fact.kind] for fact in page_facts(document).facts],
        "reasons": quick_reasons(campaign.guidelines),
        "doubtful": [asdict(doubt) for doubt in page_doubts(campaign_document)],
        "next": next_page_url(campaign_document, wanted, user),
        "obstacle": obstacle_for(campaign_document, user),
        "review_round": campaign_document.review_round_id is not None,
    }


def next_page_url(campaign_document: CampaignDocument, wanted: CaseFilter, user: Any) -> str | None:
    """The URL of the user's next page with a matching open case; after the last one, of the first.

    Ordered by agreement, it is the page of the case with the lowest agreement.
    """
    campaign, wanted = campaign_document.campaign, wanted.over_open_cases
    matching = for_user(filtered_cases(campaign, wanted), user)
    cases = matching.exclude(campaign_document=campaign_document)
    later = cases.filter(campaign_document__gt=campaign_document.pk)
    following = (None if wanted.order == "score" else later.first()) or cases.first()
    if following is None:
        return None
    return page_url(campaign, following.campaign_document.document.name, wanted)


@dataclass(frozen=True)
class Fault:
    """A fault of a span, or of the page if `quote` is empty."""

    code: str
    message: str
    quote: str


@dataclass(frozen=True)
class FaultyWork:
    """One annotator's faults in a document, and marks with a warning (`doubts`), which do not fail
    validation.
    """

    assignment: int
    annotator: str
    faults: tuple[Fault, ...]
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True)
class FaultyDocument:
    """A document in validation with the work of its annotators."""

    row: CampaignDocument
    name: str
    works: tuple[FaultyWork, ...]

    @property
    def fault_count(self) -> int:
        return sum(len(work.faults) for work in self.works)


def faulty_documents(campaign: Campaign) -> list[FaultyDocument]:
    """Documents in validation, by name."""
    rows = list(
        CampaignDocument.objects.filter(campaign=campaign, stage=CampaignDocument.Stage.VALIDATION)
        .select_related("document__content")
        .order_by("document__name")
    )
    works: dict[int, list[Assignment]] = defaultdict(list)
    for work in (
        Assignment.objects.active()
        .filter(campaign_document__in=rows)
        .select_related("annotator")
        .prefetch_related("spans")
        .order_by("id")
    ):
        works[work.campaign_document_id].append(work)
    quotes = _quotes(rows)
    return [
        FaultyDocument(
            row=row,
            name=row.document.name,
            works=tuple(_work(work, row, quotes) for work in works[row.pk]),
        )
        for row in rows
    ]


def _quotes(rows: list[CampaignDocument]) -> dict[tuple[int, str], str]:
    """The quotes of the faulty spans, by assignment and key."""
    wanted = {fault["assignment"] for row in rows for fault in row.faults if fault["key"]}
    spans = Span.objects.filter(assignment__in=wanted)
    return {
        (assignment, key): quote
        for assignment, key, quote in spans.values_list("assignment", "key", "quote")
    }


def _work(
    work: Assignment, row: CampaignDocument, quotes: dict[tuple[int, str], str]
) -> FaultyWork:
    marks = [Mark(span.start, span.end, span.label, span.value) for span in work.spans.all()]
    return FaultyWork(
        assignment=work.pk,
        annotator=display_name(work.annotator),
        faults=tuple(
            Fault(fault["code"], fault["message"], quotes.get((work.pk, fault["key"]), ""))
            for fault in row.faults
            if fault["assignment"] == work.pk
        ),
        doubts=tuple(doubts(row.document, marks)),
    )
