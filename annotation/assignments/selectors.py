"""Who may get work, teams, and lists of assignments and documents for leads and organisers.

The lists show states and the day of the last save, never labels. Exact times would reveal how often
an annotator saved, and so how much there is to label.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import (
    Case,
    CharField,
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
from django.db.models.functions import Cast, Coalesce, Greatest, TruncDate
from django.shortcuts import get_object_or_404
from django.utils import timezone

from annotation.access import CampaignAccess, managed_campaign
from annotation.models import Assignment, Campaign, CampaignDocument, Membership, Revision
from annotation.models.assignments import AssignmentQuerySet
from portal.accounts.models import User, display_name
from portal.audit.models import Event
from portal.datasets.models import Document

State = Assignment.State
Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose
UNFINISHED = (State.ASSIGNED, State.IN_PROGRESS)
TAKE_BACK_MINUTES = 10
FILTERS = ("open", "begun", "untouched", "flagged", "returned", "submitted")


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
    unfinished = rows.filter(state__in=UNFINISHED)
    if show == "begun":
        return unfinished.filter(state=State.IN_PROGRESS)
    if show == "untouched":
        return unfinished.filter(state=State.ASSIGNED)
    if show == "returned":
        return unfinished.exclude(return_reason="")
    return unfinished


def with_heirs(campaign: Campaign, rows: Sequence[Any]) -> Sequence[Any]:
    """Sets `idle_days` and `heirs` on each row of `assignment_rows`.

    `heirs` are the members who may take it over, with `open`, their number of unfinished documents;
    empty if the assignment is submitted or the campaign is not open.
    """
    members = list(_with_open(active_members(campaign), campaign))
    teams = _teams([row.campaign_document_id for row in rows])
    today = timezone.localdate()
    for row in rows:
        team = teams[row.campaign_document_id]
        row.idle_days = (today - row.idle_since).days
        row.heirs = [one for one in members if row.is_workable and one.user_id not in team]
    return rows


def _teams(documents: Sequence[int]) -> Mapping[int, set[int]]:
    teams: dict[int, set[int]] = {pk: set() for pk in documents}
    rows = Assignment.objects.active().filter(campaign_document__in=documents)
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        teams[document].add(annotator)
    return teams


def _with_open(members: QuerySet[Membership], campaign: Campaign) -> QuerySet[Any]:
    unfinished = counted_work(campaign).filter(state__in=UNFINISHED)
    mine = Q(user__assignments__in=unfinished.values("pk"))
    counted = members.annotate(open=Count("user__assignments", filter=mine))
    return counted.select_related("user")


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


def has_qualification(campaign: Campaign) -> bool:
    """Whether annotators must pass a qualification round before they get work."""
    pages = CampaignDocument.objects.filter(
        campaign=campaign, purpose=CampaignDocument.Purpose.QUALIFICATION
    )
    return pages.exists()


def active_members(campaign: Campaign) -> QuerySet[Membership]:
    """Annotators who may get work, in the order of joining.

    In a campaign with a qualification round, only those who passed it.
    """
    members = _annotators(campaign)
    if has_qualification(campaign):
        members = members.filter(qualified_at__isnull=False)
    return members.order_by("id")


def awaits_qualification(campaign: Campaign) -> bool:
    """Whether an annotator has not passed the qualification round yet."""
    return _annotators(campaign).filter(qualified_at__isnull=True).exists()


def unqualified_annotators(campaign: Campaign) -> int:
    """The number of annotators who get no work until they qualify."""
    if not has_qualification(campaign):
        return 0
    return _annotators(campaign).filter(qualified_at__isnull=True).count()


def _annotators(campaign: Campaign) -> QuerySet[Membership]:
    return Membership.objects.filter(
        campaign=campaign, role=Membership.Role.ANNOTATOR, user__is_active=True
    )


def active_annotators(campaign: Campaign) -> list[int]:
    """The primary keys of the users in `active_members`."""
    return list(active_members(campaign).values_list("user", flat=True))


def teams_of(campaign: Campaign) -> dict[int, list[int]]:
    """The current annotators of each page that is to become gold."""
    teams: dict[int, list[int]] = defaultdict(list)
    rows = counted_work(campaign).order_by("id")
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        teams[document].append(annotator)
    return dict(teams)


def withdrawn_from(campaign: Campaign) -> dict[int, list[int]]:
    """Former annotators of each page. Only a lead can assign it to them again."""
    barred: dict[int, list[int]] = defaultdict(list)
    rows = Assignment.objects.filter(
        campaign_document__campaign=campaign, state=Assignment.State.WITHDRAWN
    )
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        barred[document].append(annotator)
    return barred


def may_take_back(assignment: Assignment) -> bool:
    """Whether the annotator may take the submission back: within TAKE_BACK_MINUTES, and before the
    page was compared with the work of others. At most one query.
    """
    submitted_at = assignment.submitted_at
    if submitted_at is None or not assignment.may_return:
        return False
    if timezone.now() - submitted_at > timedelta(minutes=TAKE_BACK_MINUTES):
        return False
    document = assignment.campaign_document
    return document.stage == Stage.ANNOTATION or document.assignments.active().count() == 1


def submissions_set_aside(campaign: Campaign) -> int:
    """The number of returned untouched submissions, which do not count for agreement."""
    works = Assignment.objects.filter(campaign_document__campaign=campaign)
    return Event.objects.filter(
        verb="return_submission",
        subject_type=Assignment._meta.label_lower,
        subject_id__in=works.values_list(Cast("pk", CharField())),
        data__first_submission="set aside",
    ).count()


def barred_leads(campaign: Campaign, pages: Collection[int]) -> defaultdict[int, set[int]]:
    """The leads who may not decide cases of each document, because they annotated it."""
    leads = Membership.objects.filter(campaign=campaign, role=Membership.Role.LEAD)
    work = Assignment.objects.active().filter(
        campaign_document__in=pages, annotator__in=leads.values("user")
    )
    barred: defaultdict[int, set[int]] = defaultdict(set)
    for page, lead in work.values_list("campaign_document", "annotator"):
        barred[page].add(lead)
    return barred
