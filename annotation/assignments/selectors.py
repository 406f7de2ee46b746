"""Lists of assignments and documents, for leads and organisers.

They show states and the day of the last save, never labels. Exact times would reveal how often an
annotator saved, and so how much there is to label.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import (
    Case,
    Count,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Greatest, TruncDate
from django.shortcuts import get_object_or_404
from django.utils import timezone

from annotation.access import CampaignAccess, managed_campaign
from annotation.models import Assignment, Campaign, CampaignDocument, Revision
from annotation.models.assignments import AssignmentQuerySet
from portal.accounts.models import User, display_name
from portal.datasets.models import Document

from .returning import may_return
from .sharing import active_members

State = Assignment.State
Stage = CampaignDocument.Stage
FILTERS = ("open", "begun", "untouched", "flagged", "returned", "submitted")


@dataclass(frozen=True)
class Colleague:
    """An annotator who may get work, with their number of unfinished documents."""

    pk: int
    name: str
    open: int


@dataclass(frozen=True)
class AssignmentLine:
    """A row of `assignment_rows`. `heirs` may take it over; empty if it is submitted or the
    campaign is not open.
    """

    assignment: Any
    idle_days: int
    may_return: bool
    heirs: tuple[Colleague, ...]


def counted_work(campaign: Campaign) -> AssignmentQuerySet:
    """The assignments that count for the campaign's progress."""
    return (
        Assignment.objects.active()
        .filter(campaign_document__campaign=campaign)
        .exclude(campaign_document__purpose=CampaignDocument.Purpose.QUALIFICATION)
        .exclude(campaign_document__stage=Stage.EXCLUDED)
    )


def assignment_rows(
    campaign: Campaign, *, show: str = "open", annotator: int | None = None, idle: int = 0
) -> QuerySet[Any]:
    """Assignments with `idle_since`, longest idle first.

    `show` is one of FILTERS, `annotator` a user's primary key, and `idle` a number of days without
    a save that must be exceeded.
    """
    saves = Revision.objects.filter(assignment=OuterRef("pk")).order_by()
    last_save = Subquery(saves.values("assignment").annotate(at=Max("saved_at")).values("at"))
    rows: QuerySet[Any] = (
        counted_work(campaign)
        .select_related("annotator", "campaign_document__document", "campaign_document__campaign")
        .annotate(idle_since=TruncDate(Greatest("created_at", Coalesce(last_save, "created_at"))))
    )
    rows = _shown(rows, show)
    if annotator is not None:
        rows = rows.filter(annotator=annotator)
    if idle:
        rows = rows.filter(idle_since__lt=timezone.localdate() - timedelta(days=idle))
    return rows.order_by("idle_since", "campaign_document__document__name", "id")


def _shown(rows: QuerySet[Any], show: str) -> QuerySet[Any]:
    if show == "submitted":
        return rows.filter(state=State.SUBMITTED)
    if show == "flagged":
        return rows.exclude(flag=Assignment.Flag.NONE)
    unfinished = rows.filter(state__in=[State.ASSIGNED, State.IN_PROGRESS])
    if show == "begun":
        return unfinished.filter(state=State.IN_PROGRESS)
    if show == "untouched":
        return unfinished.filter(state=State.ASSIGNED)
    if show == "returned":
        return unfinished.exclude(return_reason="")
    return unfinished


def assignment_lines(campaign: Campaign, rows: Sequence[Any]) -> list[AssignmentLine]:
    """The table lines of one page of `assignment_rows`."""
    colleagues = campaign_colleagues(campaign)
    teams = _teams([row.campaign_document_id for row in rows])
    return [_line(row, teams[row.campaign_document_id], colleagues) for row in rows]


def _line(row: Any, team: frozenset[int], colleagues: Sequence[Colleague]) -> AssignmentLine:
    free = tuple(each for each in colleagues if each.pk not in team) if row.is_workable else ()
    idle = timezone.localdate() - row.idle_since
    return AssignmentLine(row, idle.days, may_return(row), free)


def _teams(documents: Sequence[int]) -> Mapping[int, frozenset[int]]:
    teams: dict[int, set[int]] = {pk: set() for pk in documents}
    rows = Assignment.objects.active().filter(campaign_document__in=documents)
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        teams[document].add(annotator)
    return {pk: frozenset(team) for pk, team in teams.items()}


def campaign_colleagues(campaign: Campaign) -> list[Colleague]:
    """The annotators who may get work, in the order of joining."""
    left = dict(
        Assignment.objects.filter(
            campaign_document__campaign=campaign,
            campaign_document__stage=Stage.ANNOTATION,
            state__in=[State.ASSIGNED, State.IN_PROGRESS],
        )
        .order_by()
        .values_list("annotator")
        .annotate(n=Count("id"))
    )
    return [
        Colleague(member.user_id, display_name(member.user), left.get(member.user_id, 0))
        for member in active_members(campaign).select_related("user")
    ]


def campaign_annotators(campaign: Campaign) -> list[tuple[int, str]]:
    """Everyone with work in the campaign, including former members: (primary key, name)."""
    people = User.objects.filter(pk__in=counted_work(campaign).values("annotator"))
    return sorted(((user.pk, display_name(user)) for user in people), key=lambda item: item[1])


def annotator_for(user: Any, slug: str, pk: int) -> tuple[CampaignAccess, User]:
    """Someone with work (a user's primary key) in a campaign that the user manages."""
    access = managed_campaign(user, slug)
    people = User.objects.filter(pk__in=counted_work(access.campaign).values("annotator"))
    return access, get_object_or_404(people, pk=pk)


def assignment_counts(campaign: Campaign) -> Counter[str]:
    """The number of assignments in each of FILTERS. Two queries."""
    counts: Counter[str] = Counter()
    rows = counted_work(campaign).order_by().values("state", "flag").annotate(n=Count("id"))
    returned = counted_work(campaign).exclude(return_reason="")
    counts["returned"] = returned.exclude(state=State.SUBMITTED).count()
    for row in rows:
        if row["flag"]:
            counts["flagged"] += row["n"]
        if row["state"] == State.SUBMITTED:
            counts["submitted"] += row["n"]
            continue
        counts["open"] += row["n"]
        counts["begun" if row["state"] == State.IN_PROGRESS else "untouched"] += row["n"]
    return counts


Purpose = CampaignDocument.Purpose


def document_rows(campaign: Campaign, *, stage: str = "", purpose: str = "") -> QuerySet[Any]:
    """Documents of the dataset by name, annotated with their state in the campaign.

    `stage` is empty for a document that is not in the campaign yet. `size` is the required number
    of annotators, None for all; `team` is the current number. The arguments filter the rows if they
    are not empty.
    """
    inside = CampaignDocument.objects.filter(campaign=campaign, document=OuterRef("pk"))
    work = (
        Assignment.objects.active()
        .filter(campaign_document__campaign=campaign, campaign_document__document=OuterRef("pk"))
        .order_by()
        .values("campaign_document__document")
    )
    team = work.annotate(n=Count("id")).values("n")
    done = work.annotate(n=Count("id", filter=Q(state=Assignment.State.SUBMITTED))).values("n")
    documents = Document.objects.filter(dataset=campaign.dataset_id)
    if campaign.selection_id:
        documents = documents.filter(selections=campaign.selection_id)
    size = Case(
        When(purpose=Purpose.CALIBRATION, then=Value(None)),
        default=Coalesce("own_overlap", Value(campaign.overlap)),
        output_field=IntegerField(),
    )
    rows = documents.annotate(
        stage=Coalesce(Subquery(inside.values("stage")), Value("")),
        purpose=Coalesce(Subquery(inside.values("purpose")), Value(Purpose.WORK.value)),
        own_overlap=Subquery(inside.values("overlap")),
        team=Coalesce(Subquery(team), 0),
        submitted=Coalesce(Subquery(done), 0),
    ).annotate(size=size)
    to_come = Q(stage="", kind=Document.Kind.PAGE, state=Document.State.ACTIVE)
    rows = rows.filter(to_come | ~Q(purpose=Purpose.QUALIFICATION) & ~Q(stage=""))
    if stage:
        rows = rows.filter(stage=stage)
    if purpose:
        rows = rows.filter(purpose=purpose)
    return rows.order_by("name")


def document_counts(campaign: Campaign) -> dict[str, int]:
    """The number of documents that are to become gold, and of those in the calibration set."""
    rows = document_rows(campaign)
    return {
        "all": rows.count(),
        "calibration": rows.filter(purpose=Purpose.CALIBRATION).count(),
    }
