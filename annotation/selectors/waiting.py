"""What is waiting for whom in a campaign. Numbers of tasks only, never of labels.

Pages, cases and facts of a review wait for everybody who has the role for them: they are counted
for each of these people, and whoever is first does them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, QuerySet
from django.utils import timezone

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
from portal.accounts.models import User, display_name
from portal.audit.models import Event

REMIND_EVERY = timedelta(days=1)
Role = Membership.Role
Purpose = CampaignDocument.Purpose
Stage = CampaignDocument.Stage

# In the order of the workflow: what it is called for one and for several, and whose it is.
SCREENING, QUALIFICATION, ANNOTATION = "screening", "qualification", "annotation"
VALIDATION, ADJUDICATION, REVIEW = "validation", "adjudication", "review"
WORDS = {
    SCREENING: ("page to screen", "pages to screen"),
    QUALIFICATION: ("qualification page", "qualification pages"),
    ANNOTATION: ("page to label", "pages to label"),
    VALIDATION: ("page with faults to mend", "pages with faults to mend"),
    ADJUDICATION: ("case to decide", "cases to decide"),
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
    """So many tasks of one kind."""

    kind: str
    count: int
    since: datetime | None
    """When the oldest of them came up, or a time by which it surely had."""

    @property
    def words(self) -> str:
        return f"{self.count} {WORDS[self.kind][self.count != 1]}"


@dataclass(frozen=True)
class PersonWaiting:
    """One member with everything that waits for them."""

    user: User
    name: str
    roles: tuple[str, ...]
    work: tuple[Work, ...]
    last_activity: date | None
    """Of saving, submitting or deciding here. A day: the minute would tell of single saves."""
    reminded_at: datetime | None

    @property
    def total(self) -> int:
        return sum(work.count for work in self.work)

    @property
    def since(self) -> datetime | None:
        return min((work.since for work in self.work if work.since), default=None)

    @property
    def days(self) -> int:
        """Whole days that the oldest task has waited."""
        return (timezone.now() - self.since).days if self.since else 0

    @property
    def was_just_reminded(self) -> bool:
        return self.reminded_at is not None and timezone.now() < self.reminded_at + REMIND_EVERY

    @property
    def can_be_reminded(self) -> bool:
        return bool(self.work) and self.user.is_active and not self.was_just_reminded


@dataclass(frozen=True)
class CampaignWaiting:
    people: tuple[PersonWaiting, ...]
    """The longest wait first; those with nothing to do last."""
    nobodys: tuple[Work, ...]
    """Work for which nobody has the role."""


def campaign_waiting(campaign: Campaign) -> CampaignWaiting:
    """The same few queries, however many people and pages there are."""
    members: dict[int, list[Membership]] = {}
    rows = Membership.objects.filter(campaign=campaign).select_related("user").order_by("id")
    for membership in rows:
        members.setdefault(membership.user_id, []).append(membership)
    shared = _shared_work(campaign)
    own = _own_work(campaign)
    active, reminded = _last_activity(campaign), _reminded(campaign)
    people = [
        _person(memberships, shared, own.get(pk, {}), active.get(pk), reminded.get(pk))
        for pk, memberships in members.items()
    ]
    roles = {membership.role for each in members.values() for membership in each}
    return CampaignWaiting(
        people=tuple(sorted(people, key=_longest_wait_first)),
        nobodys=tuple(work for work in shared if SHARED_BY[work.kind] not in roles),
    )


def person_waiting(campaign: Campaign, user: int) -> PersonWaiting | None:
    """One member's; None for who holds no role."""
    people = campaign_waiting(campaign).people
    return next((person for person in people if person.user.pk == user), None)


def _longest_wait_first(person: PersonWaiting) -> tuple[bool, datetime, str]:
    return not person.work, person.since or timezone.now(), person.name


def _person(
    memberships: list[Membership],
    shared: Iterable[Work],
    own: Mapping[str, Work],
    last_activity: datetime | None,
    reminded_at: datetime | None,
) -> PersonWaiting:
    user = memberships[0].user
    roles = tuple(membership.role for membership in memberships)
    work = [each for each in shared if SHARED_BY[each.kind] in roles]
    work += own.values()
    return PersonWaiting(
        user=user,
        name=display_name(user),
        roles=roles,
        work=tuple(sorted(work, key=lambda each: list(WORDS).index(each.kind))),
        last_activity=last_activity.date() if last_activity else None,
        reminded_at=reminded_at,
    )


def _own_work(campaign: Campaign) -> dict[int, dict[str, Work]]:
    """By annotator what was given to them: qualification pages first, then all others."""
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
    has_round = CampaignDocument.objects.filter(
        campaign=campaign, purpose=Purpose.QUALIFICATION
    ).exists()
    found: dict[int, dict[str, Work]] = {}
    for annotator, qualified_at, purpose, n, since in rows:
        must_qualify = has_round and qualified_at is None
        if must_qualify != (purpose == Purpose.QUALIFICATION):
            continue
        kind = QUALIFICATION if must_qualify else ANNOTATION
        mine = found.setdefault(annotator, {})
        former = mine.get(kind, Work(kind, 0, since))
        mine[kind] = Work(kind, former.count + n, min(former.since or since, since))
    return found


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
    # The screening of a draft begins when it is opened.
    screening = 0 if campaign.state != Campaign.State.OPEN else stages.get(Stage.SCREENING, [0])[0]
    work = [
        Work(SCREENING, screening, _shared_out(campaign) if screening else None),
        Work(VALIDATION, *stages.get(Stage.VALIDATION, (0, None))),
        Work(ADJUDICATION, cases["n"], cases["since"]),
        Work(REVIEW, items["n"], items["since"]),
    ]
    return [each for each in work if each.count]


def _shared_out(campaign: Campaign) -> datetime | None:
    """When documents joined the campaign last: those in screening have waited since then at least,
    for a document does not know when it joined.
    """
    joined = Event.objects.filter(
        subject_type=campaign._meta.label_lower,
        subject_id=str(campaign.pk),
        verb__in=["open_campaign", "assign_documents"],
    )
    return joined.order_by("-id").values_list("at", flat=True).first()


def _last_activity(campaign: Campaign) -> dict[int, datetime]:
    """By user; who only reads leaves no trace and is not in it."""
    inside = {"campaign_document__campaign": campaign}
    traces: list[tuple[QuerySet[Any], str, str]] = [
        (
            Revision.objects.filter(assignment__campaign_document__campaign=campaign),
            "author",
            "saved_at",
        ),
        (Assignment.objects.filter(**inside).submitted(), "annotator", "submitted_at"),
        (Case.objects.filter(**inside, decided_by__isnull=False), "decided_by", "decided_at"),
        (Screening.objects.filter(**inside), "screened_by", "screened_at"),
        (
            ReviewItem.objects.filter(round__campaign=campaign, reviewer__isnull=False),
            "reviewer",
            "decided_at",
        ),
    ]
    last: dict[int, datetime] = {}
    for rows, who, when in traces:
        for user, at in rows.order_by().values_list(who).annotate(at=Max(when)):
            last[user] = max(at, last.get(user, at))
    return last


def _reminded(campaign: Campaign) -> dict[int, datetime]:
    rows = Reminder.objects.filter(campaign=campaign).order_by().values_list("user")
    return dict(rows.annotate(at=Max("sent_at")))
