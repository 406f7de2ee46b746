"""Campaigns for lists and for their overview. Counts of documents only, never of labels."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.access import visible_campaigns
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Membership,
    ReviewItem,
)
from portal.accounts.models import display_name
from portal.datasets.models import ReleaseItem

from .assignments import counted_work

Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose


@dataclass(frozen=True)
class Stages:
    """How many documents stand where. Pages of a qualification round are none of them."""

    screening: int = 0
    annotation: int = 0
    validation: int = 0
    adjudication: int = 0
    gold: int = 0
    excluded: int = 0

    @property
    def total(self) -> int:
        """What becomes gold; an excluded document does not."""
        return self.screening + self.annotation + self.validation + self.adjudication + self.gold


@dataclass(frozen=True)
class CampaignRow:
    campaign: Campaign
    roles: tuple[str, ...]
    stages: Stages


@dataclass(frozen=True)
class AnnotatorProgress:
    """An annotator's documents by state: how much is done, nothing about what was marked."""

    user: int
    name: str
    to_do: int
    in_progress: int
    submitted: int

    @property
    def total(self) -> int:
        return self.to_do + self.in_progress + self.submitted

    @property
    def left(self) -> int:
        return self.to_do + self.in_progress


@dataclass(frozen=True)
class Overview:
    """`unassigned` counts documents in annotation that nobody has yet, `to_share` these and those
    that are new in the dataset; `review_items` the facts that wait for a reviewer's verdict.
    """

    stages: Stages
    annotators: tuple[AnnotatorProgress, ...]
    open_cases: int
    new_documents: int
    unassigned: int
    calibration: int
    review_items: int
    # Gold documents that no release holds as they are now.
    unreleased: int

    @property
    def documents(self) -> int:
        """All that can become gold, in the campaign or only in its dataset."""
        return self.stages.total + self.new_documents

    @property
    def to_share(self) -> int:
        return self.new_documents + self.unassigned


@dataclass(frozen=True)
class FlaggedWork:
    """A page that an annotator wants the lead to look at; nothing about what was marked."""

    document: str
    annotator: str
    flag: str
    reason: str
    state: str


def campaign_rows(user: Any) -> list[CampaignRow]:
    """The campaigns the user may see, with their stages and the user's own roles."""
    campaigns = list(visible_campaigns(user).select_related("dataset"))
    stages = _stages_of(
        _becoming_gold()
        .filter(campaign__in=campaigns)
        .order_by()
        .values_list("campaign", "stage")
        .annotate(n=Count("id"))
    )
    roles: dict[int, list[str]] = {}
    for campaign, role in Membership.objects.filter(user=user).values_list("campaign", "role"):
        roles.setdefault(campaign, []).append(role)
    return [
        CampaignRow(
            campaign=campaign,
            roles=tuple(sorted(roles.get(campaign.pk, []))),
            stages=_stages(stages.get(campaign.pk, Counter())),
        )
        for campaign in campaigns
    ]


def _stages_of(rows: Any) -> Mapping[int, Counter[str]]:
    counts: dict[int, Counter[str]] = {}
    for campaign, stage, n in rows:
        counts.setdefault(campaign, Counter())[stage] = n
    return counts


def _becoming_gold() -> QuerySet[CampaignDocument]:
    return CampaignDocument.objects.exclude(purpose=Purpose.QUALIFICATION)


def _stages(counts: Mapping[str, int]) -> Stages:
    return Stages(**{stage.value: counts.get(stage, 0) for stage in Stage})


def campaign_overview(campaign: Campaign) -> Overview:
    documents = CampaignDocument.objects.filter(campaign=campaign)
    cases = Case.objects.filter(campaign_document__campaign=campaign, state=Case.State.OPEN)
    items = ReviewItem.objects.filter(round__campaign=campaign, verdict=ReviewItem.Verdict.PENDING)
    new = campaign.candidates()
    counts = _document_counts(documents)
    return Overview(
        stages=Stages(**{stage.value: counts[stage.value] for stage in Stage}),
        annotators=_annotators(campaign),
        open_cases=cases.count(),
        new_documents=new.exclude(pk__in=documents.values("document")).count(),
        unassigned=counts["unassigned"],
        calibration=counts["calibration"],
        review_items=items.count(),
        unreleased=counts["unreleased"],
    )


def _document_counts(documents: QuerySet[CampaignDocument]) -> dict[str, int]:
    """The stages, and what else is counted of documents, in one query."""
    given = Assignment.objects.standing().filter(campaign_document=OuterRef("pk"))
    released = ReleaseItem.objects.filter(
        document=OuterRef("document"), release__frozen_at__gte=OuterRef("gold_at")
    )
    becoming_gold = documents.exclude(purpose=Purpose.QUALIFICATION)
    return becoming_gold.aggregate(
        **{stage.value: Count("id", filter=Q(stage=stage)) for stage in Stage},
        unassigned=Count("id", filter=Q(~Exists(given), stage=Stage.ANNOTATION)),
        unreleased=Count("id", filter=Q(~Exists(released), stage=Stage.GOLD)),
        calibration=Count("id", filter=Q(purpose=Purpose.CALIBRATION) & ~Q(stage=Stage.EXCLUDED)),
    )


def flagged_work(campaign: Campaign) -> list[FlaggedWork]:
    """What annotators flagged or skipped, for leads and organisers: reasons may speak of the text.

    Skipped pages first, since they hold the campaign up; submitted work keeps its flag.
    """
    flagged = (
        counted_work(campaign)
        .exclude(flag=Assignment.Flag.NONE)
        .select_related("annotator", "campaign_document__document")
        .order_by("-flag", "campaign_document__document__name", "id")
    )
    return [
        FlaggedWork(
            document=assignment.campaign_document.document.name,
            annotator=display_name(assignment.annotator),
            flag=assignment.flag,
            reason=assignment.flag_reason,
            state=assignment.state,
        )
        for assignment in flagged
    ]


def _annotators(campaign: Campaign) -> tuple[AnnotatorProgress, ...]:
    """Everybody with the role, and everybody with work in the campaign, in the order of joining."""
    members = Membership.objects.filter(campaign=campaign, role=Membership.Role.ANNOTATOR)
    names: dict[int, str] = {
        membership.user_id: str(membership.user)
        for membership in members.select_related("user").order_by("id")
    }
    states: dict[int, Counter[str]] = {}
    rows = (
        counted_work(campaign)
        .order_by("annotator")
        .values("annotator", "state", name=F("annotator__name"), email=F("annotator__email"))
        .annotate(n=Count("id"))
    )
    for row in rows:
        # Somebody who left is shown for what they submitted.
        names.setdefault(row["annotator"], row["name"] or row["email"].partition("@")[0])
        states.setdefault(row["annotator"], Counter())[row["state"]] = row["n"]
    return tuple(_progress(pk, name, states.get(pk, Counter())) for pk, name in names.items())


def _progress(user: int, name: str, states: Counter[str]) -> AnnotatorProgress:
    state = Assignment.State
    return AnnotatorProgress(
        user=user,
        name=name,
        to_do=states[state.ASSIGNED],
        in_progress=states[state.IN_PROGRESS],
        submitted=states[state.SUBMITTED],
    )
