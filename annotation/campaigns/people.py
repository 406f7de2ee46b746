"""The people of a campaign: members, invitations, leaving, and reminders."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q
from django.http import Http404
from django.urls import reverse

from annotation.access import CampaignAccess, campaign_for
from annotation.assignments.handing_over import hand_over_all
from annotation.assignments.selectors import UNFINISHED
from annotation.assignments.sharing import calibrate_newcomer, lock_calibration
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    CampaignInvitation,
    Membership,
    Reminder,
)
from annotation.qualification.services import assign_qualification
from portal.accounts.invitations.selectors import (
    InvitationRefused,
    InvitationRow,
    Offer,
    accounts_of,
    email_states,
    invitation_row,
    pending,
    unanswered,
)
from portal.accounts.invitations.services import EMAIL_ATTEMPTS, make_invitation
from portal.accounts.models import Invitation, User
from portal.audit.models import record_event
from portal.jobs.services import enqueue

from .waiting import PersonWaiting, campaign_waiting, person_waiting

MAX_DAYS = 365


def campaign_people(campaign: Campaign) -> list[Membership]:
    """The members: leads, annotators, reviewers, each in the order of joining."""
    order = [Membership.Role.LEAD, Membership.Role.ANNOTATOR, Membership.Role.REVIEWER]
    members = campaign.memberships.select_related("user").order_by("id")
    return sorted(members, key=lambda member: order.index(Membership.Role(member.role)))


def leaving_work(campaign: Campaign, user: User) -> dict[str, int]:
    """The number of pages in each state that a member would leave behind."""
    state = Assignment.State
    mine = Assignment.objects.of(user).filter(campaign_document__campaign=campaign)
    work = mine.exclude(campaign_document__purpose=CampaignDocument.Purpose.QUALIFICATION)
    return work.aggregate(
        untouched=Count("pk", filter=Q(state=state.ASSIGNED)),
        begun=Count("pk", filter=Q(state=state.IN_PROGRESS)),
        submitted=Count("pk", filter=Q(state=state.SUBMITTED)),
    )


def campaign_invitations(access: CampaignAccess) -> list[InvitationRow]:
    """Open invitations to the campaign, newest first. Two queries."""
    rows = list(
        CampaignInvitation.objects.filter(campaign=access.campaign, invitation__in=unanswered())
        .select_related("invitation__invited_by")
        .order_by("-invitation")
    )
    emails = email_states([row.invitation for row in rows])
    return [
        invitation_row(
            row.invitation,
            role=row.role,
            email_state=emails[row.pk],
            urls=_urls(access, row) if access.may_give(row.role) else ("", "", ""),
        )
        for row in rows
    ]


def _urls(access: CampaignAccess, row: CampaignInvitation) -> tuple[str, str, str]:
    place = [access.campaign.slug, row.pk]
    return (
        reverse("annotation:invitation-resend", args=place),
        reverse("annotation:invitation-revoke", args=place),
        reverse("annotation:invitation-link", args=place),
    )


@transaction.atomic
def add_member(*, campaign: Campaign, user: User, role: str, actor: User | None) -> Membership:
    """Gives `user` a role. Does nothing if they already have it."""
    membership, created = Membership.objects.get_or_create(campaign=campaign, user=user, role=role)
    if created:
        record_event(verb="add_member", subject=campaign, actor=actor, user=user.pk, role=str(role))
        if role == Membership.Role.ANNOTATOR:
            assign_qualification(campaign=campaign, user=user)
            calibrate_newcomer(campaign=campaign)
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, actor: User, begun: bool = False) -> int:
    """Removes a role; returns how many documents went to other annotators.

    Submitted work stays and counts. Documents not yet started go to other annotators, started ones
    only with `begun`. Raises Refused for started work without `begun`, and if no one can take over.
    """
    handed_over = 0
    if membership.role == Membership.Role.ANNOTATOR:
        handed_over = hand_over_all(
            campaign=membership.campaign, leaving=membership.user, actor=actor, begun=begun
        )
    # Work is assigned under this lock. Lock order: pages before their campaign.
    campaign = Campaign.objects.select_for_update().get(pk=membership.campaign_id)
    _refuse_new_work(membership)
    record_event(
        verb="remove_member",
        subject=campaign,
        actor=actor,
        user=membership.user_id,
        role=membership.role,
        handed_over=handed_over,
    )
    membership.delete()
    return handed_over


def _refuse_new_work(membership: Membership) -> None:
    left = Assignment.objects.filter(
        campaign_document__campaign=membership.campaign_id,
        annotator=membership.user_id,
        state__in=UNFINISHED,
    )
    if membership.role == Membership.Role.ANNOTATOR and left.exists():
        raise Refused(
            f"{membership.user} was just assigned another document. Try again.", code="new_work"
        )


@transaction.atomic
def leave_campaign(*, campaign: Campaign, user: User) -> int:
    """Removes all roles of the user; returns how many documents went to other annotators.

    Raises Refused for started work that is not submitted, if no one can take over the rest, and for
    the only lead. Does nothing for a user without roles.
    """
    mine = Membership.objects.filter(campaign=campaign, user=user)
    memberships = list(mine.select_related("campaign", "user").order_by("id"))
    # Lock order: pages before their campaign, so the role with pages comes first.
    memberships.sort(key=lambda each: each.role != Membership.Role.ANNOTATOR)
    try:
        handed_over = sum(remove_member(membership=each, actor=user) for each in memberships)
    except Refused as refusal:
        if refusal.code != "holds_work":
            raise
        raise Refused(
            "You have unfinished documents. Submit them first, or ask the campaign’s lead to "
            "reassign them.",
            code="holds_work",
        ) from refusal
    # Checked last, under the campaign's lock: if two leads leave at once, one stays.
    if any(membership.role == Membership.Role.LEAD for membership in memberships):
        _refuse_last_lead(campaign)
    return handed_over


def _refuse_last_lead(campaign: Campaign) -> None:
    if not Membership.objects.filter(campaign=campaign, role=Membership.Role.LEAD).exists():
        raise Refused(
            "You are the only lead of this campaign. Ask an organiser to appoint another lead.",
            code="only_lead",
        )


Role = Membership.Role
_WHAT = {Role.ANNOTATOR: "an annotator", Role.LEAD: "a lead", Role.REVIEWER: "a reviewer"}
_ABOUT = {
    Role.ANNOTATOR: "You label facts in documents, following written guidelines. You do not see "
    "other annotators' labels.",
    Role.LEAD: "You manage the campaign and adjudicate differences between annotators.",
    Role.REVIEWER: "You check a random sample of the gold as a domain expert.",
}


@dataclass(frozen=True)
class Invited:
    """The submitted email addresses by result."""

    added: tuple[str, ...]
    """Existing accounts that got the role and an email."""
    invited: tuple[str, ...]
    known: tuple[str, ...]
    """People who already have the role or an invitation to it."""


def role_in_words(role: str, campaign: Campaign) -> str:
    """The role as a phrase, such as “an annotator of the campaign “Spring round””."""
    return f"{_WHAT[Role(role)]} of the campaign “{campaign.title}”"


@transaction.atomic
def invite_people(
    *, campaign: Campaign, emails: Sequence[str], role: str, actor: User, origin: str
) -> Invited:
    """Gives the role to people with an account, and invites the others.

    `emails` must be distinct and in lower case; `origin` is the base URL for links in emails.
    Raises Refused, without any change, if an account is switched off.
    """
    # Takes the locks of `add_member` in its order before the first person is added.
    lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    accounts = accounts_of(emails)
    _refuse_switched_off(accounts)
    members = set(
        Membership.objects.filter(campaign=locked, role=role).values_list("user", flat=True)
    )
    waiting = _waiting_for(locked, role)
    known = [
        email
        for email in emails
        if (email in accounts and accounts[email].pk in members)
        or (email not in accounts and email in waiting)
    ]
    new = [email for email in emails if email not in known]
    added = [email for email in new if email in accounts]
    for email in added:
        _add(locked, accounts[email], role, actor, origin)
    invited = [email for email in new if email not in accounts]
    for email in invited:
        _invite(locked, email, role, actor, origin)
    return Invited(tuple(added), tuple(invited), tuple(known))


def _refuse_switched_off(accounts: dict[str, User]) -> None:
    off = [email for email, user in accounts.items() if not user.is_active]
    if off:
        raise Refused(
            f"The account of {', '.join(sorted(off))} is deactivated. Ask an organiser to "
            "reactivate it.",
            code="switched_off",
        )


def _waiting_for(campaign: Campaign, role: str) -> set[str]:
    rows = CampaignInvitation.objects.filter(campaign=campaign, role=role, invitation__in=pending())
    return set(rows.values_list("invitation__email", flat=True))


def _add(campaign: Campaign, user: User, role: str, actor: User, origin: str) -> None:
    membership = add_member(campaign=campaign, user=user, role=role, actor=actor)
    if user.pk != actor.pk:
        enqueue(
            kind="email_new_member",
            payload={"membership": membership.pk, "actor": actor.pk, "origin": origin},
            max_attempts=EMAIL_ATTEMPTS,
        )


def _invite(campaign: Campaign, email: str, role: str, actor: User, origin: str) -> None:
    invitation = make_invitation(email=email, actor=actor, origin=origin)
    CampaignInvitation.objects.create(invitation=invitation, campaign=campaign, role=role)
    record_event(
        verb="invite_member", subject=campaign, actor=actor, invitation=invitation.pk,
        role=str(role),
    )  # fmt: skip


class CampaignOffers:
    """The campaign roles that invitations grant, for `register_offers`."""

    relation = "campaign_invitation"

    def describe(self, invitation: Invitation) -> Offer | None:
        row = _row(invitation)
        if row is None:
            return None
        return Offer(
            what=role_in_words(row.role, row.campaign),
            about=_ABOUT[Role(row.role)],
            url=row.campaign.get_absolute_url(),
        )

    def may_give(self, invitation: Invitation) -> bool:
        row, inviter = _row(invitation), invitation.invited_by
        return row is None or bool(inviter and _may_still_give(inviter, row))

    def give(self, invitation: Invitation, user: User) -> None:
        """Grants the role. Raises InvitationRefused if the inviter may no longer grant it."""
        row = _row(invitation)
        if row is None:
            return
        inviter = invitation.invited_by
        if inviter is None or not _may_still_give(inviter, row):
            raise InvitationRefused(
                "The person who invited you can no longer grant this role. Ask the campaign’s lead "
                "or an organiser for a new invitation.",
                code="inviter",
            )
        add_member(campaign=row.campaign, user=user, role=row.role, actor=inviter)


def _row(invitation: Invitation) -> CampaignInvitation | None:
    rows = CampaignInvitation.objects.select_related("campaign")
    return rows.filter(invitation=invitation).first()


def _may_still_give(inviter: User, row: CampaignInvitation) -> bool:
    if not inviter.is_active:
        return False
    try:
        return campaign_for(inviter, row.campaign.slug).may_give(row.role)
    except Http404:
        return False


@dataclass(frozen=True)
class Reminded:
    """The names of people who get a reminder, and of those reminded in the last 24 hours."""

    sent: tuple[str, ...]
    lately: tuple[str, ...]


@transaction.atomic
def remind_person(*, campaign: Campaign, user: User, actor: User, origin: str) -> Reminder:
    """Queues a reminder to one member; `origin` is the base URL for its links.

    Raises Refused if they have no open tasks, were reminded in the last 24 hours, or are the actor.
    """
    # The lock lets the second of two simultaneous requests see the first reminder.
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    person = person_waiting(locked, user.pk)
    if person is None or not person.work:
        raise Refused(f"{user} has no open tasks.", code="nothing")
    if user.pk == actor.pk:
        raise Refused("You cannot remind yourself.", code="oneself")
    if not user.is_active:
        raise Refused(f"The account of {user} is deactivated.", code="switched_off")
    if person.reminded_at and person.was_just_reminded:
        raise Refused(
            f"{user} was reminded on {person.reminded_at:%Y-%m-%d at %H:%M} UTC. You can send one "
            "reminder a day.",
            code="reminded",
        )
    return _remind(locked, person, actor, origin)


@transaction.atomic
def remind_waiting(*, campaign: Campaign, days: int, actor: User, origin: str) -> Reminded:
    """Queues reminders to everyone with a task that is at least `days` whole days old."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    late = [
        person
        for person in campaign_waiting(locked).people
        if person.work
        and person.days >= days
        and person.user.is_active
        and person.user.pk != actor.pk
    ]
    now = [person for person in late if person.can_be_reminded]
    for person in now:
        _remind(locked, person, actor, origin)
    return Reminded(
        sent=tuple(person.name for person in now),
        lately=tuple(person.name for person in late if person.was_just_reminded),
    )


def _remind(campaign: Campaign, person: PersonWaiting, actor: User, origin: str) -> Reminder:
    reminder = Reminder.objects.create(
        campaign=campaign, user=person.user, waiting=person.total, sent_by=actor
    )
    record_event(
        verb="remind_member", subject=campaign, actor=actor, user=person.user.pk,
        waiting=person.total,
    )  # fmt: skip
    enqueue(
        kind="send_reminder",
        payload={"reminder": reminder.pk, "origin": origin},
        max_attempts=EMAIL_ATTEMPTS,
    )
    return reminder
