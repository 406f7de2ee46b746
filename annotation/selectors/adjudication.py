"""Cases for the lead: the queue, and one case with its proposals in context.

Annotators are shown as letters, so that a decision looks at the marks and not at who made them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from django.db.models import Count, QuerySet
from django.urls import reverse

from annotation.excerpts import Excerpts
from annotation.models import Campaign, Case


@dataclass(frozen=True)
class Excerpt:
    """A stretch of the page with what stands around it, and the label somebody gave it."""

    label: str
    css: str
    start: int
    end: int
    before: str
    quote: str
    after: str


@dataclass(frozen=True)
class Proposal:
    """What one annotator marked in the knot; no excerpts when they marked nothing."""

    letter: str
    key: int
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True)
class CaseView:
    case: Case
    document_name: str
    proposals: tuple[Proposal, ...]
    context: Excerpt
    open_in_document: int
    open_in_campaign: int
    next_open: int | None

    @property
    def is_open(self) -> bool:
        return self.case.state == Case.State.OPEN


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


def letter_of(place: int) -> str:
    """A for the first annotator of a document, B for the second."""
    return ascii_uppercase[place]


def label_css(label: str, labels: Sequence[str]) -> str:
    """The class that gives a label its colour and line; empty for a label the campaign lacks."""
    return f"label-{labels.index(label) + 1}" if label in labels else ""


def case_queue(campaign: Campaign, *, state: str, kind: str = "") -> Queue:
    """`state` is `open` or `decided`; `kind` narrows further, empty for all."""
    cases = Case.objects.filter(campaign_document__campaign=campaign)
    counts = Counter[tuple[str, str]]()
    for case_state, case_kind, n in (
        cases.order_by().values_list("state", "kind").annotate(n=Count("id"))
    ):
        counts[case_state, case_kind] = n
    shown = cases.filter(state=state)
    if kind:
        shown = shown.filter(kind=kind)
    return Queue(
        open=_sum(counts, Case.State.OPEN),
        decided=_sum(counts, Case.State.DECIDED),
        kinds=tuple(
            KindCount(kind, label, counts[state, kind]) for kind, label in Case.Kind.choices
        ),
        cases=shown.select_related("campaign_document__document", "decided_by").order_by(
            "campaign_document", "start"
        ),
    )


def _sum(counts: Counter[tuple[str, str]], state: str) -> int:
    return sum(n for (case_state, _), n in counts.items() if case_state == state)


def open_cases(campaign: Campaign) -> QuerySet[Case]:
    return Case.objects.filter(
        campaign_document__campaign=campaign, state=Case.State.OPEN
    ).order_by("campaign_document", "start")


def next_open_case(campaign: Campaign, after: Case) -> Case | None:
    """The next open case of the document, then of the campaign, then from the beginning."""
    cases = open_cases(campaign).exclude(pk=after.pk)
    here = cases.filter(campaign_document=after.campaign_document_id)
    later = cases.filter(campaign_document__gt=after.campaign_document_id)
    return (
        here.filter(start__gt=after.start).first() or here.first() or later.first() or cases.first()
    )


def case_view(campaign: Campaign, case: Case) -> CaseView:
    """One case with its proposals; `case` must come with the document's content."""
    content = case.campaign_document.document.content
    excerpts = Excerpts(content.html, content.text)
    still_open = open_cases(campaign)
    following = next_open_case(campaign, case)
    return CaseView(
        case=case,
        document_name=case.campaign_document.document.name,
        proposals=tuple(
            _proposal(place, proposal, excerpts, campaign.labels)
            for place, proposal in enumerate(case.proposals)
        ),
        context=_excerpt(excerpts, case.start, case.end, "", campaign.labels),
        open_in_document=still_open.filter(campaign_document=case.campaign_document_id).count(),
        open_in_campaign=still_open.count(),
        next_open=following.pk if following else None,
    )


def case_page_data(campaign: Campaign, view: CaseView) -> dict[str, Any]:
    """What the page's JavaScript needs: the place, each proposal's spans, and the gold around."""
    case = view.case
    gold = case.campaign_document.gold_spans.exclude(case=case).values_list("label", "start", "end")
    return {
        "case": {"start": case.start, "end": case.end},
        "text_sha256": case.campaign_document.document.text_sha256,
        "text_chars": case.campaign_document.document.text_chars,
        "proposals": [
            {
                "letter": proposal.letter,
                "spans": [
                    {"css": excerpt.css, "start": excerpt.start, "end": excerpt.end}
                    for excerpt in proposal.excerpts
                ],
            }
            for proposal in view.proposals
        ],
        "gold": [
            {"css": label_css(label, campaign.labels), "start": start, "end": end}
            for label, start, end in gold
        ],
        "html": reverse("annotation:case-html", args=[campaign.slug, case.pk]),
    }


def _proposal(
    place: int, proposal: Mapping[str, Any], excerpts: Excerpts, labels: Sequence[str]
) -> Proposal:
    return Proposal(
        letter=letter_of(place),
        key=place + 1,
        excerpts=tuple(
            _excerpt(excerpts, span["start"], span["end"], span["label"], labels)
            for span in proposal["spans"]
        ),
    )


def _excerpt(
    excerpts: Excerpts, start: int, end: int, label: str, labels: Sequence[str]
) -> Excerpt:
    before, quote, after = excerpts.around(start, end)
    return Excerpt(label, label_css(label, labels), start, end, before, quote, after)
