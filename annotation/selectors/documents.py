"""The documents of a campaign, one by one: stage, purpose, and how many annotators each gets."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Campaign, CampaignDocument
from portal.datasets.models import Document

Purpose = CampaignDocument.Purpose


@dataclass(frozen=True)
class DocumentLine:
    """`stage` is empty for a document that is in the dataset alone so far.

    `size` is how many annotators it is to get, None for everybody; `team` how many it has.
    """

    name: str
    doc_type: str
    stage: str
    purpose: str
    size: int | None
    has_own_size: bool
    team: int
    submitted: int

    @property
    def is_calibration(self) -> bool:
        return self.purpose == Purpose.CALIBRATION


def document_rows(campaign: Campaign, *, stage: str = "", purpose: str = "") -> QuerySet[Any]:
    """Documents of the dataset by name, with what the campaign says of them; see `document_line`.

    `stage`: one of the stages, or none for all; `purpose`: `calibration`, or none for all.
    """
    inside = CampaignDocument.objects.filter(campaign=campaign, document=OuterRef("pk"))
    work = (
        Assignment.objects.standing()
        .filter(campaign_document__campaign=campaign, campaign_document__document=OuterRef("pk"))
        .order_by()
        .values("campaign_document__document")
    )
    team = work.annotate(n=Count("id")).values("n")
    done = work.annotate(n=Count("id", filter=Q(state=Assignment.State.SUBMITTED))).values("n")
    documents = Document.objects.filter(dataset=campaign.dataset_id)
    if campaign.selection_id:
        documents = documents.filter(selections=campaign.selection_id)
    rows = documents.annotate(
        stage=Subquery(inside.values("stage")),
        purpose=Subquery(inside.values("purpose")),
        own_overlap=Subquery(inside.values("overlap")),
        team=Coalesce(Subquery(team), 0),
        submitted=Coalesce(Subquery(done), 0),
    )
    # A document that the campaign has not taken in yet has no purpose.
    to_come = Q(purpose__isnull=True, kind=Document.Kind.PAGE, state=Document.State.ACTIVE)
    rows = rows.filter(to_come | ~Q(purpose=Purpose.QUALIFICATION) & Q(purpose__isnull=False))
    if stage:
        rows = rows.filter(stage=stage)
    if purpose:
        rows = rows.filter(purpose=purpose)
    return rows.order_by("name")


def document_line(campaign: Campaign, row: Any) -> DocumentLine:
    """What is shown of one row of `document_rows`."""
    calibration = row.purpose == Purpose.CALIBRATION
    return DocumentLine(
        name=row.name,
        doc_type=row.get_doc_type_display(),
        stage=row.stage or "",
        purpose=row.purpose or Purpose.WORK.value,
        size=None if calibration else row.own_overlap or campaign.overlap,
        has_own_size=row.own_overlap is not None,
        team=row.team,
        submitted=row.submitted,
    )


@dataclass(frozen=True)
class DocumentCounts:
    """Documents of the dataset that become gold, and those of them in the calibration set."""

    all: int
    calibration: int


def document_counts(campaign: Campaign) -> DocumentCounts:
    rows = document_rows(campaign)
    return DocumentCounts(rows.count(), rows.filter(purpose=Purpose.CALIBRATION).count())
