"""The queue of cases: what is open, by kind, label, document and agreement."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Count, F, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from annotation.models import Campaign, CampaignDocument, Case

ORDERS = {"text": "page by page", "score": "lowest agreement first"}
# Where no annotator agreed or disagreed there is no score to go by: such cases come first.
_BY_SCORE = (F("score").asc(), "campaign_document", "start")
_BY_TEXT = ("campaign_document", "start")


@dataclass(frozen=True)
class CaseFilter:
    """Which cases are asked for, and in which order; an empty field asks for all."""

    state: str = Case.State.OPEN
    kind: str = ""
    label: str = ""
    document: str = ""
    order: str = "text"

    @property
    def query(self) -> str:
        """As the query of an address, without what is the usual."""
        fields = {"state": self.state, "kind": self.kind, "label": self.label}
        fields |= {"document": self.document, "order": self.order}
        usual = {"state": Case.State.OPEN, "order": "text"}
        return urlencode(
            {name: value for name, value in fields.items() if value and value != usual.get(name)}
        )


@dataclass(frozen=True)
class KindCount:
    """How many cases of one kind are in the state asked for."""

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


def label_css(label: str, labels: Sequence[str]) -> str:
    """The class that gives a label its colour and line; empty for a label the campaign lacks."""
    return f"label-{labels.index(label) + 1}" if label in labels else ""


def filtered_cases(campaign: Campaign, wanted: CaseFilter) -> QuerySet[Case]:
    """The campaign's cases that match, in the order asked for."""
    cases = Case.objects.filter(campaign_document__campaign=campaign)
    if wanted.state:
        cases = cases.filter(state=wanted.state)
    if wanted.kind:
        cases = cases.filter(kind=wanted.kind)
    if wanted.document:
        cases = cases.filter(campaign_document__document__name=wanted.document)
    if wanted.label:
        # All databases write this pair alike, and labels are plain names.
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
    """The names of the documents that have a case, for choosing one."""
    documents = CampaignDocument.objects.filter(campaign=campaign, cases__isnull=False)
    names = documents.order_by("document__name").values_list("document__name", flat=True)
    return list(names.distinct())


def open_cases(campaign: Campaign) -> QuerySet[Case]:
    return filtered_cases(campaign, CaseFilter())


def next_open_case(campaign: Campaign, after: Case) -> Case | None:
    """The next open case of the document, then of the campaign, then from the beginning."""
    cases = open_cases(campaign).exclude(pk=after.pk)
    here = cases.filter(campaign_document=after.campaign_document_id)
    later = cases.filter(campaign_document__gt=after.campaign_document_id)
    return (
        here.filter(start__gt=after.start).first() or here.first() or later.first() or cases.first()
    )


def next_page(campaign: Campaign, after: CampaignDocument, wanted: CaseFilter) -> str | None:
    """The name of the next page with an open case that matches; from the beginning after the last.

    With the order by agreement it is the page of the case with the lowest.
    """
    cases = filtered_cases(campaign, wanted).exclude(campaign_document=after)
    later = cases.filter(campaign_document__gt=after.pk)
    following = (None if wanted.order == "score" else later.first()) or cases.first()
    return following.campaign_document.document.name if following else None


def page_address(campaign: Campaign, name: str, wanted: CaseFilter) -> str:
    """The address of a document's page in adjudication, with the filter to go on with."""
    address = reverse("annotation:adjudication-page", args=[campaign.slug, name])
    return f"{address}?{wanted.query}" if wanted.query else address
