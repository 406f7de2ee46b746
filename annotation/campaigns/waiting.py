"""The next steps of a campaign, and the open tasks of its people. Counts tasks, never labels.

Pages to screen or check, cases and review items are shared: they count for everyone with the role.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.access import CampaignAccess
from annotation.adjudication.selectors import open_cases
from annotation.assignments.selectors import (
    active_annotators,
    barred_leads,
    has_qualification,
    unqualified_annotators,
)
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Membership,
    Reminder,
    ReviewItem,
    ReviewRound,
    Revision,
    Screening,
)
from annotation.review.selectors import lacks_reviewer
from portal.accounts.models import User, display_name
from portal.audit.models import Event

from .selectors import Overview, why_no_documents


@dataclass(frozen=True)
class Step:
    """A next step, the role that takes it, and whether the user has that role."""

    who: str
    text: str
    is_mine: bool
    action: str = ""
    url: str = ""
    posts: bool = False
    """Whether the action is a POST to the URL, not a page."""


def next_steps(access: CampaignAccess, overview: Overview, user: int) -> list[Step]:
    """The steps in the order of the workflow, those of `user` (a primary key) first."""
    campaign = access.campaign
    if campaign.state == Campaign.State.DRAFT:
        steps = [*_draft_steps(access, overview)]
    else:
        steps = [
            *_screening_steps(access, overview),
            *_labelling_steps(access, overview, user),
            *_deciding_steps(access, overview, user),
        ]
    return sorted(steps, key=lambda step: not step.is_mine)


def _draft_steps(access: CampaignAccess, overview: Overview) -> Iterator[Step]:
    campaign, mine = access.campaign, access.may_manage
    lacking = campaign.overlap - len(overview.annotators)
    if not overview.documents:
        text = why_no_documents(campaign)
        yield Step("organiser", text, access.is_organiser)
    if lacking > 0:
        text = f"Add {_count(lacking, 'annotator')}. Every document needs {campaign.overlap}."
        yield Step("lead or organiser", text, mine, *_page("Invite", "people", campaign))
    if overview.documents and lacking <= 0:
        text = f"Open the campaign. {_count(overview.documents, 'document')} will be "
        text += "screened, then " if campaign.screening else ""
        text += f"assigned to {_count(len(overview.annotators), 'annotator')}."
        yield Step("lead or organiser", text, mine)


def _screening_steps(access: CampaignAccess, overview: Overview) -> Iterator[Step]:
    campaign, waiting = access.campaign, overview.stages.screening
    if campaign.state == Campaign.State.OPEN and waiting:
        text = f"Screen {_count(waiting, 'document')}."
        yield Step("anyone", text, bool(access.roles), *_page("Screen", "screening", campaign))


def _labelling_steps(access: CampaignAccess, overview: Overview, user: int) -> Iterator[Step]:
    if access.campaign.state != Campaign.State.OPEN:
        return
    others = [person for person in overview.annotators if person.left and person.user != user]
    mine = sum(person.left for person in overview.annotators if person.user == user)
    if mine:
        text = f"Label {_count(mine, 'document')}."
        yield Step("annotator", text, access.is_annotator, "Label", reverse("annotation:tasks"))
    if others:
        # Several annotators may have the same document.
        text = f"Complete {_count(sum(person.left for person in others), 'annotation task')}."
        yield Step("annotators", text, is_mine=False)
    if overview.to_share:
        yield _assigning_step(access, overview)


def _assigning_step(access: CampaignAccess, overview: Overview) -> Step:
    campaign, mine = access.campaign, access.may_manage
    if unqualified_annotators(campaign) and len(active_annotators(campaign)) < campaign.overlap:
        text = f"Qualify annotators. {_count(overview.to_share, 'document')} cannot be assigned "
        text += f"until {campaign.overlap} have passed the qualification."
        return Step("lead or organiser", text, mine, *_page("View", "qualification", campaign))
    screens = campaign.screening and overview.new_documents
    assign = _page("Add" if screens else "Assign", "campaign-assign", campaign)
    text = _to_assign(overview, screening=campaign.screening)
    return Step("lead or organiser", text, mine, *assign, posts=True)


def _to_assign(overview: Overview, *, screening: bool) -> str:
    new, unassigned = overview.new_documents, overview.unassigned
    if new and screening:
        text = f"Add {_count(new, 'new document')} to screening"
        return f"{text}, and assign {unassigned} without annotators." if unassigned else f"{text}."
    if not unassigned:
        return f"Assign {_count(new, 'new document')}."
    if not new:
        return f"Assign {_count(unassigned, 'document')} without annotators."
    return f"Assign {_count(new, 'new document')}, and {unassigned} without annotators."


def _adjudicating_steps(access: CampaignAccess, user: int) -> Iterator[Step]:
    """The cases that the user may decide, those of other leads, and those that no lead may."""
    campaign = access.campaign
    cases = list(open_cases(campaign).order_by().values_list("campaign_document", flat=True))
    barred = barred_leads(campaign, set(cases))
    leads = Membership.objects.filter(campaign=campaign, role=Role.LEAD)
    number_of_leads = leads.count()
    mine, others, stuck = [], [], []
    for page in cases:
        if access.is_lead and user not in barred[page]:
            mine.append(page)
        elif number_of_leads and len(barred[page]) == number_of_leads:
            stuck.append(page)
        else:
            others.append(page)
    adjudicate = _page("Adjudicate", "adjudication", campaign)
    if mine:
        yield Step("lead", f"Adjudicate {_cases(mine)}.", True, *adjudicate)
    if others:
        who = "another lead" if access.is_lead else "lead"
        yield Step(who, f"Adjudicate {_cases(others)}.", is_mine=False)
    if stuck:
        text = f"Add a lead. All leads annotated the documents of {_cases(stuck)}."
        invite = _page("Invite", "people", campaign)
        yield Step("lead or organiser", text, access.may_manage, *invite)


def _cases(pages: list[int]) -> str:
    return f"{_count(len(pages), 'case')} in {_count(len(set(pages)), 'document')}"


def _deciding_steps(access: CampaignAccess, overview: Overview, user: int) -> Iterator[Step]:
    campaign, stages = access.campaign, overview.stages
    if stages.validation:
        text = f"Validate {_count(stages.validation, 'document')} with errors."
        yield Step("lead", text, access.is_lead, *_page("Validate", "validation", campaign))
    if overview.open_cases:
        yield from _adjudicating_steps(access, user)
    if overview.review_items and lacks_reviewer(campaign):
        text = f"Invite a reviewer: {_count(overview.review_items, 'fact')} must be reviewed."
        invite = _page("Invite", "people", campaign)
        yield Step("lead or organiser", text, access.may_manage, *invite)
    elif overview.review_items:
        text = f"Review {_count(overview.review_items, 'fact')}."
        yield Step("reviewer", text, access.is_reviewer, *_page("Review", "review", campaign))
    all_gold = bool(stages.total) and stages.gold == stages.total
    if all_gold and overview.unreleased and not overview.review_items:
        text = f"Freeze a release of all {_count(stages.total, 'document')}."
        if overview.unreleased < stages.gold:
            text = f"Freeze a release. It adds {_count(overview.unreleased, 'gold document')}."
        yield Step(
            "lead or organiser",
            text,
            access.may_manage,
            *_page("Freeze", "release", campaign),
        )


def _page(action: str, route: str, campaign: Campaign) -> tuple[str, str]:
    """The label and the URL of a button to a page or an action of the campaign."""
    return action, reverse(f"annotation:{route}", args=[campaign.slug])


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


@dataclass(frozen=True)
class StageLine:
    """A stage with its number of documents; `url` lists them if the user may open that page.

    `x` and `width` are its place in the bar of all stages, in percent.
    """

    stage: str
    count: int
    url: str
    x: float
    width: float


def stage_lines(access: CampaignAccess, overview: Overview) -> list[StageLine]:
    """The stages in the order of the workflow; screening only if the campaign uses it."""
    stages = overview.stages
    counts = asdict(stages)
    shown = [name for name in counts if counts[name] or name in _ALWAYS]
    if access.campaign.screening and "screening" not in shown:
        shown.insert(0, "screening")
    total, x = sum(counts.values()) or 1, 0.0
    lines = []
    for name in shown:
        width = 100 * counts[name] / total
        lines.append(StageLine(name, counts[name], _stage_url(name, access), x, width))
        x += width
    return lines


_ALWAYS = ("annotation", "adjudication", "gold")


def _stage_url(stage: str, access: CampaignAccess) -> str:
    page, may = {
        "screening": ("screening", True),
        "annotation": ("assignments", access.may_manage),
        "validation": ("validation", access.is_lead),
        "adjudication": ("adjudication", access.is_lead),
        "gold": ("release", access.may_manage),
        "excluded": ("screening", True),
    }[stage]
    if not may:
        return ""
    url = reverse(f"annotation:{page}", args=[access.campaign.slug])
    return f"{url}?state=excluded" if stage == "excluded" else url


REMIND_EVERY = timedelta(days=1)
Role = Membership.Role
Purpose = CampaignDocument.Purpose
Stage = CampaignDocument.Stage

# Kinds of tasks in the order of the workflow, their names (singular, plural), and their roles.
SCREENING, QUALIFICATION, ANNOTATION = "screening", "qualification", "annotation"
VALIDATION, ADJUDICATION, REVIEW = "validation", "adjudication", "review"
WORDS = {
    SCREENING: ("document to screen", "documents to screen"),
    QUALIFICATION: ("qualification document", "qualification documents"),
    ANNOTATION: ("document to label", "documents to label"),
    VALIDATION: ("document to validate", "documents to validate"),
    ADJUDICATION: ("case to adjudicate", "cases to adjudicate"),
    REVIEW: ("fact to review", "facts to review"),
}
SHARED_BY = {
    SCREENING: Role.LEAD,
    VALIDATION: Role.LEAD,
    ADJUDICATION: Role.LEAD,
    REVIEW: Role.REVIEWER,
}


@dataclass(frozen=True)
class Work:
    """The number of tasks of one kind."""

    kind: str
    count: int
    since: datetime | None
    """When the oldest task was created, or the latest time by which it existed."""

    @property
    def words(self) -> str:
        return f"{self.count} {WORDS[self.kind][self.count != 1]}"


@dataclass(frozen=True)
class PersonWaiting:
    """A member with their open tasks."""

    user: User
    name: str
    roles: tuple[str, ...]
    work: tuple[Work, ...]
    last_activity: date | None
    """The last day of saving, submitting or deciding. Exact times would reveal single saves."""
    reminded_at: datetime | None

    @property
    def total(self) -> int:
        return sum(work.count for work in self.work)

    @property
    def since(self) -> datetime | None:
        return min((work.since for work in self.work if work.since), default=None)

    @property
    def days(self) -> int:
        """The age of the oldest task in whole days."""
        return (timezone.now() - self.since).days if self.since else 0

    @property
    def was_just_reminded(self) -> bool:
        return self.reminded_at is not None and timezone.now() < self.reminded_at + REMIND_EVERY

    @property
    def can_be_reminded(self) -> bool:
        return bool(self.work) and self.user.is_active and not self.was_just_reminded


@dataclass(frozen=True)
class CampaignWaiting:
    """The open tasks of a campaign by person."""

    people: tuple[PersonWaiting, ...]
    """Longest wait first; people without tasks last."""
    nobodys: tuple[Work, ...]
    """Tasks for which no one has the role."""


def campaign_waiting(campaign: Campaign) -> CampaignWaiting:
    """The open tasks of all members. The number of queries is constant."""
    members: dict[int, list[Membership]] = {}
    rows = Membership.objects.filter(campaign=campaign).select_related("user").order_by("id")
    for membership in rows:
        members.setdefault(membership.user_id, []).append(membership)
    shared = _shared_work(campaign)
    own = _own_work(campaign)
    barred = _own_cases(campaign)
    active = _last_activity(campaign)
    reminders = Reminder.objects.filter(campaign=campaign).order_by().values_list("user")
    reminded = dict(reminders.annotate(at=Max("sent_at")))
    people = [
        _person(
            memberships,
            _without(shared, ADJUDICATION, barred.get(pk, 0)),
            own.get(pk, {}),
            active.get(pk),
            reminded.get(pk),
        )
        for pk, memberships in members.items()
    ]
    roles = {membership.role for memberships in members.values() for membership in memberships}
    now = timezone.now()
    people.sort(key=lambda person: (not person.work, person.since or now, person.name))
    return CampaignWaiting(
        people=tuple(people),
        nobodys=tuple(work for work in shared if SHARED_BY[work.kind] not in roles),
    )


def person_waiting(campaign: Campaign, user: int) -> PersonWaiting | None:
    """The open tasks of one member; None for users without a role."""
    people = campaign_waiting(campaign).people
    return next((person for person in people if person.user.pk == user), None)


def _person(
    memberships: list[Membership],
    shared: Iterable[Work],
    own: Mapping[str, Work],
    last_activity: datetime | None,
    reminded_at: datetime | None,
) -> PersonWaiting:
    user = memberships[0].user
    roles = tuple(membership.role for membership in memberships)
    work = [item for item in shared if SHARED_BY[item.kind] in roles]
    work += own.values()
    return PersonWaiting(
        user=user,
        name=display_name(user),
        roles=roles,
        work=tuple(sorted(work, key=lambda item: list(WORDS).index(item.kind))),
        last_activity=last_activity.date() if last_activity else None,
        reminded_at=reminded_at,
    )


def _own_cases(campaign: Campaign) -> dict[int, int]:
    """The number of open cases by annotator of their documents, who may not decide them."""
    documents = CampaignDocument.objects.in_work().filter(campaign=campaign)
    labelled = Assignment.objects.active().filter(campaign_document__in=documents)
    is_open = Q(campaign_document__cases__state=Case.State.OPEN)
    rows = labelled.filter(is_open).order_by().values_list("annotator")
    return dict(rows.annotate(n=Count("campaign_document__cases")))


def _without(shared: Iterable[Work], kind: str, count: int) -> list[Work]:
    """The work with `count` fewer tasks of the kind."""
    left = [replace(work, count=work.count - count * (work.kind == kind)) for work in shared]
    return [work for work in left if work.count > 0]


def _own_work(campaign: Campaign) -> dict[int, dict[str, Work]]:
    """Assigned pages by annotator: qualification pages until they qualify, then all others."""
    rows = (
        Assignment.objects.workable()
        .filter(
            campaign_document__campaign=campaign,
            annotator__memberships__campaign=campaign,
            annotator__memberships__role=Role.ANNOTATOR,
        )
        .order_by()
        .values_list(
            "annotator", "annotator__memberships__qualified_at", "campaign_document__purpose"
        )
        .annotate(n=Count("id"), since=Min("created_at"))
    )
    has_round = has_qualification(campaign)
    by_annotator: dict[int, dict[str, Work]] = {}
    for annotator, qualified_at, purpose, n, since in rows:
        must_qualify = has_round and qualified_at is None
        if must_qualify != (purpose == Purpose.QUALIFICATION):
            continue
        kind = QUALIFICATION if must_qualify else ANNOTATION
        mine = by_annotator.setdefault(annotator, {})
        former = mine.get(kind, Work(kind, 0, since))
        mine[kind] = Work(kind, former.count + n, min(former.since or since, since))
    return by_annotator


def _shared_work(campaign: Campaign) -> list[Work]:
    documents = CampaignDocument.objects.in_work().filter(campaign=campaign)
    stages = {
        stage: (n, since)
        for stage, n, since in documents.filter(stage__in=[Stage.SCREENING, Stage.VALIDATION])
        .order_by()
        .values_list("stage")
        .annotate(n=Count("id"), since=Min("settled_at"))
    }
    cases = Case.objects.filter(campaign_document__in=documents, state=Case.State.OPEN).aggregate(
        n=Count("id"), since=Min("campaign_document__settled_at")
    )
    items = ReviewItem.objects.filter(
        round__campaign=campaign,
        round__state=ReviewRound.State.OPEN,
        verdict=ReviewItem.Verdict.PENDING,
    ).aggregate(n=Count("id"), since=Min("round__opened_at"))
    # Screening starts when the campaign is opened.
    screening = 0 if campaign.state != Campaign.State.OPEN else stages.get(Stage.SCREENING, [0])[0]
    work = [
        Work(SCREENING, screening, _shared_out(campaign) if screening else None),
        Work(VALIDATION, *stages.get(Stage.VALIDATION, (0, None))),
        Work(ADJUDICATION, cases["n"], cases["since"]),
        Work(REVIEW, items["n"], items["since"]),
    ]
    return [item for item in work if item.count]


def _shared_out(campaign: Campaign) -> datetime | None:
    """When documents were last added: those in screening are at least as old. A document does not
    store when it was added.
    """
    joined = Event.objects.filter(
        subject_type=campaign._meta.label_lower,
        subject_id=str(campaign.pk),
        verb__in=["open_campaign", "assign_documents"],
    )
    return joined.order_by("-id").values_list("at", flat=True).first()


def _last_activity(campaign: Campaign) -> dict[int, datetime]:
    """The last activity by user. Reading does not count."""
    inside = {"campaign_document__campaign": campaign}
    saves = Revision.objects.filter(assignment__campaign_document__campaign=campaign)
    reviews = ReviewItem.objects.filter(round__campaign=campaign, reviewer__isnull=False)
    traces: list[tuple[QuerySet[Any], str, str]] = [
        (saves, "author", "saved_at"),
        (Assignment.objects.filter(**inside).submitted(), "annotator", "submitted_at"),
        (Case.objects.filter(**inside, decided_by__isnull=False), "decided_by", "decided_at"),
        (Screening.objects.filter(**inside), "screened_by", "screened_at"),
        (reviews, "reviewer", "decided_at"),
    ]
    last: dict[int, datetime] = {}
    for rows, who, when in traces:
        for user, at in rows.order_by().values_list(who).annotate(at=Max(when)):
            last[user] = max(at, last.get(user, at))
    return last
