"""Bringing people into a team: always by invitation, since nobody joins without saying yes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from portal.accounts.invitations import pending
from portal.accounts.inviting import make_invitation
from portal.accounts.models import Invitation, Team, TeamInvitation, TeamMember, User
from portal.accounts.offers import InvitationRefused, Offer
from portal.audit.models import record_event

from .services import MAX_MEMBERS, TeamRefused, add_to_team, lock_team

# Letters go to people whom the site does not know, in the name of people it hardly knows.
INVITATIONS_PER_DAY = 20


@dataclass(frozen=True)
class InvitedToTeam:
    """The addresses that were given, by what became of them."""

    invited: tuple[str, ...]
    known: tuple[str, ...]
    """Are members, or hold an invitation already: nothing was done."""


@transaction.atomic
def invite_to_team(*, team: Team, emails: Sequence[str], actor: User, origin: str) -> InvitedToTeam:
    """Sends a letter to each address. `emails` in lower case, each once; `origin` heads the links.

    Raises TeamRefused when the team is closed or would become too large, or `actor` has sent too
    many today; then no letter goes out.
    """
    locked = lock_team(team)
    members = {email.lower() for email in locked.members.values_list("user__email", flat=True)}
    waiting = set(_waiting(locked).values_list("email", flat=True))
    new = [email for email in emails if email not in members | waiting]
    _refuse_crowd(locked, len(new), len(waiting))
    _refuse_many_letters(actor, len(new))
    for email in new:
        invitation = make_invitation(email=email, actor=actor, origin=origin)
        TeamInvitation.objects.create(invitation=invitation, team=locked)
        record_event(verb="invite_to_team", subject=locked, actor=actor, invitation=invitation.pk)
    known = tuple(email for email in emails if email not in new)
    return InvitedToTeam(invited=tuple(new), known=known)


def _waiting(team: Team) -> QuerySet[Invitation]:
    return pending().filter(team_invitation__team=team)


def _refuse_crowd(team: Team, new: int, waiting: int) -> None:
    if new and team.members.count() + waiting + new > MAX_MEMBERS:
        raise TeamRefused(
            f"A team has {MAX_MEMBERS} members at most, those who are invited included.",
            code="full",
        )


def _refuse_many_letters(actor: User, new: int) -> None:
    # Two requests at once of one person wait for each other here.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    today = Invitation.objects.filter(
        invited_by=actor,
        team_invitation__isnull=False,
        created_at__gt=timezone.now() - timedelta(days=1),
    )
    left = INVITATIONS_PER_DAY - today.count()
    if new > left:
        raise TeamRefused(
            f"You can invite {INVITATIONS_PER_DAY} people a day to teams, and {max(left, 0)} more "
            "now.",
            code="too_many_letters",
        )


class TeamOffers:
    """What accounts ask when an invitation is shown, sent or accepted."""

    relation = "team_invitation"

    def describe(self, invitation: Invitation) -> Offer | None:
        row = _row(invitation)
        if row is None:
            return None
        # Not the team's own text: letters of this site say nothing that strangers wrote.
        return Offer(
            what=f"a member of the team “{row.team.name}”",
            about="Teams submit the predictions of their models together. Members see each "
            "other’s names.",
            url=row.team.get_absolute_url(),
        )

    def give(self, invitation: Invitation, user: User) -> None:
        """Raises InvitationRefused where the inviter could not invite today."""
        row = _row(invitation)
        if row is None:
            return
        inviter = invitation.invited_by
        if inviter is None or not _may_still_invite(inviter, row.team):
            raise InvitationRefused(
                "Whoever invited you does not manage this team any more. Ask one of its owners "
                "for a new invitation.",
                code="inviter",
            )
        try:
            add_to_team(team=row.team, user=user, actor=inviter)
        except TeamRefused as refusal:
            raise InvitationRefused(refusal.message, code=refusal.code) from refusal


def _row(invitation: Invitation) -> TeamInvitation | None:
    rows = TeamInvitation.objects.select_related("team")
    return rows.filter(invitation=invitation).first()


def _may_still_invite(inviter: User, team: Team) -> bool:
    owns = TeamMember.objects.filter(team=team, user=inviter, role=TeamMember.Role.OWNER)
    return inviter.is_active and (inviter.is_organiser or owns.exists())


def opens_sign_up(invitation: Invitation) -> bool:
    """Whether it lets somebody sign up where the site makes accounts by invitation only.

    Anybody may own a team, so that an invitation to one counts only if an organiser sent it.
    """
    inviter = invitation.invited_by
    if not TeamInvitation.objects.filter(invitation=invitation).exists():
        return True
    return inviter is not None and inviter.is_active and inviter.is_organiser
