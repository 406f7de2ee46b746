"""Bringing people into a campaign: who has an account at once, others by invitation."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.http import Http404

from annotation.access import campaign_for
from annotation.models import Campaign, CampaignInvitation, Membership
from portal.accounts.invitations.selectors import InvitationRefused, Offer, accounts_of, pending
from portal.accounts.invitations.services import LETTER_ATTEMPTS, make_invitation
from portal.accounts.models import Invitation, User
from portal.audit.models import record_event
from portal.jobs.services import enqueue

from .assigning import lock_calibration
from .errors import Refused
from .members import add_member

Role = Membership.Role
_WHAT = {Role.ANNOTATOR: "an annotator", Role.LEAD: "a lead", Role.REVIEWER: "a reviewer"}
_ABOUT = {
    Role.ANNOTATOR: "You mark facts on pages of documents, in the browser, without seeing what "
    "others mark. Written guidelines say what to mark.",
    Role.LEAD: "You look after the campaign: its people, its pages, and what annotators differ on.",
    Role.REVIEWER: "As an expert in the field you check a sample of the facts that annotators and "
    "leads have settled.",
}


@dataclass(frozen=True)
class Invited:
    """The addresses that were given, by what became of them."""

    added: tuple[str, ...]
    """Have an account: they hold the role now and are told by a letter."""
    invited: tuple[str, ...]
    known: tuple[str, ...]
    """Hold the role, or an invitation to it, already: nothing was done."""


def role_in_words(role: str, campaign: Campaign) -> str:
    """Such as “an annotator of the campaign “Spring round””."""
    return f"{_WHAT[Role(role)]} of the campaign “{campaign.title}”"


@transaction.atomic
def invite_people(
    *, campaign: Campaign, emails: Sequence[str], role: str, actor: User, origin: str
) -> Invited:
    """Gives the role to those who have an account, and invites the others.

    `emails` in lower case, each once; `origin` is the address of the site for the letters' links.
    Raises Refused when an account is switched off; then nothing is done.
    """
    # The locks of somebody joining, in their order, before the first one joins.
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
            f"Switched off: the account of {', '.join(sorted(off))}. Only an organiser can switch "
            "it on again.",
            code="switched_off",
        )


def _waiting_for(campaign: Campaign, role: str) -> set[str]:
    rows = CampaignInvitation.objects.filter(campaign=campaign, role=role, invitation__in=pending())
    return set(rows.values_list("invitation__email", flat=True))


def _add(campaign: Campaign, user: User, role: str, actor: User, origin: str) -> None:
    membership = add_member(campaign=campaign, user=user, role=role, actor=actor)
    if user.pk != actor.pk:
        enqueue(
            kind="tell_new_member",
            payload={"membership": membership.pk, "actor": actor.pk, "origin": origin},
            max_attempts=LETTER_ATTEMPTS,
        )


def _invite(campaign: Campaign, email: str, role: str, actor: User, origin: str) -> None:
    invitation = make_invitation(email=email, actor=actor, origin=origin)
    CampaignInvitation.objects.create(invitation=invitation, campaign=campaign, role=role)
    record_event(
        verb="invite_member", subject=campaign, actor=actor, invitation=invitation.pk,
        role=str(role),
    )  # fmt: skip


class CampaignOffers:
    """What accounts ask when an invitation is shown, sent or accepted."""

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

    def give(self, invitation: Invitation, user: User) -> None:
        """Raises InvitationRefused where the inviter could not give the role today."""
        row = _row(invitation)
        if row is None:
            return
        inviter = invitation.invited_by
        if inviter is None or not _may_still_give(inviter, row):
            raise InvitationRefused(
                "Whoever invited you may not give this role any more. Ask the campaign’s lead or "
                "an organiser for a new invitation.",
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
