"""Reads of adjudication: the queue of cases, a whole page, documents that failed validation."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from annotation.models import Assignment, Campaign, CampaignDocument, Case, Span
from annotation.page_facts import Doubt, Mark, doubts, page_doubts, page_facts
from annotation.spans import FACT, label_css
from portal.accounts.models import display_name

from .cases import case_views, page_remarks

ORDERS = {"text": "By page", "score": "Lowest agreement first"}
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
    def open_cases(self) -> "CaseFilter":
        """The same filter for the open cases of all documents."""
        return replace(self, state=Case.State.OPEN, document="")


@dataclass(frozen=True)
class KindCount:
    """The number of cases of one kind in the selected state."""

    kind: str
    label: str
    count: int


@dataclass(frozen=True)
class Queue:
    """Counts over the whole campaign, and the cases that match the filter."""

    open: int
    decided: int
    kinds: tuple[KindCount, ...]
    cases: QuerySet[Case]

    @property
    def total(self) -> int:
        return self.open + self.decided


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


def case_queue(campaign: Campaign, wanted: CaseFilter) -> Queue:
    counts = Counter[tuple[str, str]]()
    cases = Case.objects.filter(campaign_document__campaign=campaign)
    for state, kind, n in cases.order_by().values_list("state", "kind").annotate(n=Count("id")):
        counts[state, kind] = n
    return Queue(
        open=_sum(counts, Case.State.OPEN),
        decided=_sum(counts, Case.State.DECIDED),
        kinds=tuple(
            KindCount(kind, label, counts[wanted.state, kind]) for kind, label in Case.Kind.choices
        ),
        cases=filtered_cases(campaign, wanted).select_related(
            "campaign_document__document", "decided_by"
        ),
    )


def _sum(counts: Counter[tuple[str, str]], state: str) -> int:
    return sum(n for (case_state, _), n in counts.items() if case_state == state)


def documents_with_cases(campaign: Campaign) -> list[str]:
    """The names of the documents that have a case."""
    documents = CampaignDocument.objects.filter(campaign=campaign, cases__isnull=False)
    names = documents.order_by("document__name").values_list("document__name", flat=True)
    return list(names.distinct())


def open_cases(campaign: Campaign) -> QuerySet[Case]:
    return filtered_cases(campaign, CaseFilter())


def next_open_case(campaign: Campaign, after: Case) -> Case | None:
    """The next open case of the document, else of the campaign, else its first one."""
    cases = open_cases(campaign).exclude(pk=after.pk)
    here = cases.filter(campaign_document=after.campaign_document_id)
    later = cases.filter(campaign_document__gt=after.campaign_document_id)
    return (
        here.filter(start__gt=after.start).first() or here.first() or later.first() or cases.first()
    )


def next_page(campaign: Campaign, after: CampaignDocument, wanted: CaseFilter) -> str | None:
    """The name of the next page with a matching case; after the last page, the first one.

    Ordered by agreement, it is the page of the case with the lowest agreement.
    """
    cases = filtered_cases(campaign, wanted).exclude(campaign_document=after)
    later = cases.filter(campaign_document__gt=after.pk)
    following = (None if wanted.order == "score" else later.first()) or cases.first()
    return following.campaign_document.document.name if following else None


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


def adjudication_page(campaign_document: CampaignDocument, wanted: CaseFilter) -> dict[str, Any]:
    """The data of the adjudication page of one document, which must come with its campaign.

    `marks`: gold without a case, [{start, end, label, quote, value, sign, origin}]; `cases` as
    CaseView; `queue`: primary keys of the open cases that match the filter, in its order;
    `remarks`: annotators' comments; `doubtful`: gold and proposals with a warning; `facts`:
    [start, end, kind] to snap to; `reasons` to choose from; `next`: URL of the next page with a
    matching open case, or null.
    """
    campaign, document = campaign_document.campaign, campaign_document.document
    caseless = campaign_document.gold_spans.filter(case__isnull=True)
    cases = campaign_document.cases.select_related(
        "campaign_document__document", "decided_by"
    ).prefetch_related("decisions__decided_by")
    return {
        "document": document.name,
        "stage": campaign_document.stage,
        "text_sha256": document.text_sha256,
        "labels": [
            {"name": name, "key": str(place), "css": label_css(name, campaign.labels)}
            for place, name in enumerate(campaign.labels, start=1)
        ],
        "marks": list(caseless.values(*FACT, "origin")),
        "cases": [asdict(view) for view in case_views(cases.order_by("start"))],
        "queue": page_queue(campaign_document, wanted),
        "remarks": [asdict(remark) for remark in page_remarks(campaign_document)],
        "facts": [[fact.start, fact.end, fact.kind] for fact in page_facts(document).facts],
        "reasons": quick_reasons(campaign.guidelines),
        "doubtful": [asdict(doubt) for doubt in page_doubts(campaign_document)],
        "next": next_page_url(campaign_document, wanted),
        "review_round": campaign_document.review_round_id is not None,
    }


def page_queue(campaign_document: CampaignDocument, wanted: CaseFilter) -> list[int]:
    """The page's open cases that match the filter, in its order."""
    cases = filtered_cases(campaign_document.campaign, wanted.open_cases)
    return list(cases.filter(campaign_document=campaign_document).values_list("pk", flat=True))


def next_page_url(campaign_document: CampaignDocument, wanted: CaseFilter) -> str | None:
    """The URL of the next page with a matching open case, with the same filter."""
    campaign = campaign_document.campaign
    name = next_page(campaign, campaign_document, wanted.open_cases)
    return page_url(campaign, name, wanted.open_cases) if name else None


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
