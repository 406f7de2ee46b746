"""Documents that failed integrity validation. Everybody has submitted them, so a lead may look."""

from collections import defaultdict
from dataclasses import dataclass

from annotation.models import Assignment, Campaign, CampaignDocument, Span
from portal.accounts.models import display_name

from .doubts import Doubt, Mark, doubts


@dataclass(frozen=True)
class Fault:
    """What is wrong with a span, or with the page where `quote` is empty."""

    code: str
    message: str
    quote: str


@dataclass(frozen=True)
class FaultyWork:
    """One annotator's faults in a document."""

    assignment: int
    annotator: str
    faults: tuple[Fault, ...]
    """None: this one's work is sound."""
    doubts: tuple[Doubt, ...]
    """Marks with a warning, which alone hold nothing up."""


@dataclass(frozen=True)
class FaultyDocument:
    row: CampaignDocument
    name: str
    works: tuple[FaultyWork, ...]

    @property
    def fault_count(self) -> int:
        return sum(len(work.faults) for work in self.works)


def faulty_documents(campaign: Campaign) -> list[FaultyDocument]:
    """Documents in validation in the order of their names. Few queries."""
    rows = list(
        CampaignDocument.objects.filter(campaign=campaign, stage=CampaignDocument.Stage.VALIDATION)
        .select_related("document__content")
        .order_by("document__name")
    )
    works: dict[int, list[Assignment]] = defaultdict(list)
    for work in (
        Assignment.objects.standing()
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
    """What the faulty spans say, by assignment and key."""
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
