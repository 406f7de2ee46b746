"""Who belongs to a campaign, in which roles, and who is invited to it."""

from dataclasses import dataclass

from django.db.models import Count, Q
from django.urls import reverse

from annotation.access import Standing
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    CampaignInvitation,
    Membership,
)
from portal.accounts.invitations.selectors import (
    InvitationRow,
    invitation_row,
    letter_states,
    unanswered,
)
from portal.accounts.models import User, display_name


@dataclass(frozen=True)
class Person:
    """One membership as the people page lists it."""

    pk: int
    name: str
    email: str
    role: str
    removable: bool


def campaign_people(standing: Standing) -> list[Person]:
    """Leads first, then annotators and reviewers, each in the order of joining."""
    order = [Membership.Role.LEAD, Membership.Role.ANNOTATOR, Membership.Role.REVIEWER]
    memberships = (
        Membership.objects.filter(campaign=standing.campaign).select_related("user").order_by("id")
    )
    people = [
        Person(
            pk=membership.pk,
            name=display_name(membership.user),
            email=membership.user.email,
            role=membership.role,
            removable=standing.may_give(membership.role),
        )
        for membership in memberships
    ]
    return sorted(people, key=lambda person: order.index(Membership.Role(person.role)))


@dataclass(frozen=True)
class LeavingWork:
    """What somebody would leave behind: numbers of their own pages."""

    untouched: int
    begun: int
    submitted: int


def leaving_work(campaign: Campaign, user: User) -> LeavingWork:
    state = Assignment.State
    mine = Assignment.objects.of(user).filter(campaign_document__campaign=campaign)
    work = mine.exclude(campaign_document__purpose=CampaignDocument.Purpose.QUALIFICATION)
    counts = work.aggregate(
        untouched=Count("pk", filter=Q(state=state.ASSIGNED)),
        begun=Count("pk", filter=Q(state=state.IN_PROGRESS)),
        submitted=Count("pk", filter=Q(state=state.SUBMITTED)),
    )
    return LeavingWork(**counts)


def campaign_invitations(standing: Standing) -> list[InvitationRow]:
    """Invitations to the campaign without an answer, the newest first. Two queries."""
    rows = list(
        CampaignInvitation.objects.filter(campaign=standing.campaign, invitation__in=unanswered())
        .select_related("invitation__invited_by")
        .order_by("-invitation")
    )
    letters = letter_states([row.invitation for row in rows])
    return [
        invitation_row(
            row.invitation,
            role=row.role,
            letter=letters[row.pk],
            urls=_urls(standing, row) if standing.may_give(row.role) else ("", "", ""),
        )
        for row in rows
    ]


def _urls(standing: Standing, row: CampaignInvitation) -> tuple[str, str, str]:
    place = [standing.campaign.slug, row.pk]
    return (
        reverse("annotation:invitation-resend", args=place),
        reverse("annotation:invitation-revoke", args=place),
        reverse("annotation:invitation-link", args=place),
    )
