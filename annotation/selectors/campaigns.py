"""Campaigns for lists and for their overview. Counts of documents only, never of labels."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F

from annotation.access import visible_campaigns
from annotation.models import Assignment, Campaign, CampaignDocument, Case, Membership
from portal.accounts.models import display_name
from portal.datasets.models import Document

Stage = CampaignDocument.Stage


@dataclass(frozen=True)
class Stages:
    """How many documents stand where."""

    annotation: int
    adjudication: int
    gold: int

    @property
    def total(self) -> int:
        return self.annotation + self.adjudication + self.gold


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
    stages: Stages
    annotators: tuple[AnnotatorProgress, ...]
    open_cases: int
    new_documents: int


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
        CampaignDocument.objects.filter(campaign__in=campaigns)
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


def _stages(counts: Mapping[str, int]) -> Stages:
    return Stages(
        annotation=counts.get(Stage.ANNOTATION, 0),
        adjudication=counts.get(Stage.ADJUDICATION, 0),
        gold=counts.get(Stage.GOLD, 0),
    )


def campaign_overview(campaign: Campaign) -> Overview:
    documents = CampaignDocument.objects.filter(campaign=campaign)
    stages = dict(documents.order_by().values_list("stage").annotate(n=Count("id")))
    return Overview(
        stages=_stages(stages),
        annotators=_annotators(campaign),
        open_cases=Case.objects.filter(
            campaign_document__campaign=campaign, state=Case.State.OPEN
        ).count(),
        new_documents=Document.objects.filter(dataset=campaign.dataset_id)
        .exclude(pk__in=documents.values("document"))
        .count(),
    )


def flagged_work(campaign: Campaign) -> list[FlaggedWork]:
    """What annotators flagged or skipped, for leads and organisers: reasons may speak of the text.

    Skipped pages first, since they hold the campaign up; submitted work keeps its flag.
    """
    flagged = (
        Assignment.objects.filter(campaign_document__campaign=campaign)
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
        Assignment.objects.filter(campaign_document__campaign=campaign)
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
