"""Create, change and close teams; manage members and invitations.

Every change of membership locks the team's row first, so that an open team always has an owner.
Users join only by accepting an invitation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import slugify

from portal.accounts.invitations.selectors import InvitationRefused, Offer, pending, unanswered
from portal.accounts.invitations.services import make_invitation
from portal.accounts.models import (
    Invitation,
    Team,
    TeamInvitation,
    TeamMember,
    User,
)
from portal.audit.models import record_event
from portal.web.refusals import Refused

Role = TeamMember.Role
MAX_MEMBERS = 50
MAX_OWN_TEAMS = 20
_SLUG = 70
# Path segments used by other team URLs.
_TAKEN_SLUGS = {"new"}


class TeamRefused(Refused):
    """The state of the team, or a limit, does not allow this."""


@transaction.atomic
def make_team(*, name: str, about: str = "", link: str = "", actor: User) -> Team:
    """Create a team owned by `actor`.

    Raises TeamRefused if the name is taken or `actor` owns MAX_OWN_TEAMS teams.
    """
    # The lock prevents simultaneous requests from exceeding the limit.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    owned = TeamMember.objects.filter(user=actor, role=Role.OWNER, team__closed_at=None)
    if owned.count() >= MAX_OWN_TEAMS:
        raise TeamRefused(
            f"You already own {MAX_OWN_TEAMS} teams. Close one first.", code="too_many"
        )
    team = Team(name=_one_line(name), about=about, link=link, created_by=actor)
    team.slug = _free_slug(team.name)
    _save(team)
    TeamMember.objects.create(team=team, user=actor, role=Role.OWNER)
    record_event(verb="make_team", subject=team, actor=actor)
    return team


def _one_line(name: str) -> str:
    """The name is used in tables and in the subject of emails."""
    return " ".join(name.split())


def _free_slug(name: str) -> str:
    base = slugify(name)[:_SLUG].strip("-") or "team"
    taken = set(Team.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    taken |= _TAKEN_SLUGS
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _save(team: Team) -> None:
    """Raises TeamRefused if another team has the name, by the database constraint."""
    try:
        with transaction.atomic():
            team.save()
    except IntegrityError as error:
        raise TeamRefused("A team with this name already exists.", code="name_taken") from error


@transaction.atomic
def change_team(*, team: Team, name: str, about: str, link: str, actor: User) -> Team:
    """Change the team but not its slug, so that links keep working. Raises TeamRefused."""
    locked = lock_team(team)
    locked.name, locked.about, locked.link = _one_line(name), about, link
    _save(locked)
    record_event(verb="change_team", subject=locked, actor=actor)
    return locked


def lock_team(team: Team) -> Team:
    """Lock the team until the transaction ends. Raises TeamRefused if it is closed."""
    locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if not locked.is_open:
        raise TeamRefused("This team is closed.", code="closed")
    return locked


@transaction.atomic
def add_to_team(*, team: Team, user: User, actor: User | None) -> TeamMember:
    """Add a member; existing members keep their role. Raises TeamRefused if full or closed."""
    locked = lock_team(team)
    found = TeamMember.objects.filter(team=locked, user=user).first()
    if found is not None:
        return found
    if locked.members.count() >= MAX_MEMBERS:
        raise TeamRefused(f"A team can have at most {MAX_MEMBERS} members.", code="full")
    record_event(verb="join_team", subject=locked, actor=actor, user=user.pk)
    return TeamMember.objects.create(team=locked, user=user)


@transaction.atomic
def make_owner(*, member: TeamMember, actor: User) -> TeamMember:
    """Idempotent."""
    return _give_role(member, Role.OWNER, "make_team_owner", actor)


@transaction.atomic
def give_up_ownership(*, member: TeamMember, actor: User) -> TeamMember:
    """Make an owner a plain member. Raises TeamRefused for the only owner."""
    return _give_role(member, Role.MEMBER, "give_up_team", actor)


def _give_role(member: TeamMember, role: TeamMember.Role, verb: str, actor: User) -> TeamMember:
    team = lock_team(member.team)
    now = TeamMember.objects.filter(pk=member.pk).first()
    if now is None:
        raise TeamRefused("This member has already left the team.", code="left")
    if now.role != role:
        if role == Role.MEMBER:
            _refuse_only_owner(team, now)
        now.role = role
        now.save(update_fields=["role"])
        record_event(verb=verb, subject=team, actor=actor, user=now.user_id)
    return now


@transaction.atomic
def remove_from_team(*, member: TeamMember, actor: User) -> None:
    """Remove a member, by themselves or by a manager.

    Raises TeamRefused for the only owner, and if another owner removes an owner.
    """
    team = lock_team(member.team)
    now = TeamMember.objects.filter(pk=member.pk).first()
    if now is None:
        return
    if now.is_owner and now.user_id != actor.pk and not actor.is_organiser:
        raise TeamRefused(
            "Owners cannot be removed by other owners. They can leave the team.", code="owner"
        )
    if now.is_owner:
        _refuse_only_owner(team, now)
    record_event(verb="leave_team", subject=team, actor=actor, user=now.user_id)
    now.delete()


def _refuse_only_owner(team: Team, member: TeamMember) -> None:
    if not team.members.filter(role=Role.OWNER).exclude(pk=member.pk).exists():
        raise TeamRefused(
            "A team needs an owner. Make another member an owner first, or close the team.",
            code="only_owner",
        )


@transaction.atomic
def close_team(*, team: Team, actor: User) -> None:
    """End memberships and invitations, and delete the team unless other rows refer to it.

    Idempotent.
    """
    locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if not locked.is_open:
        return
    unanswered().filter(team_invitation__team=locked).update(revoked_at=timezone.now())
    locked.members.all().delete()
    record_event(verb="close_team", subject=locked, actor=actor)
    if is_referred_to(locked):
        locked.closed_at = timezone.now()
        locked.save(update_fields=["closed_at"])
    else:
        locked.delete()


def is_referred_to(team: Team) -> bool:
    """Whether a row of another app refers to the team, with any `on_delete` rule."""
    own = {TeamMember, TeamInvitation}
    return any(
        relation.related_model._default_manager.filter(**{relation.field.name: team}).exists()
        for relation in Team._meta.related_objects
        if relation.related_model not in own
    )


# Limits unsolicited email: any user can create a team and invite strangers.
INVITATIONS_PER_DAY = 20


@dataclass(frozen=True)
class InvitedToTeam:
    """The result of inviting email addresses to a team."""

    invited: tuple[str, ...]
    known: tuple[str, ...]
    """Already members or invited; skipped."""


@transaction.atomic
def invite_to_team(*, team: Team, emails: Sequence[str], actor: User, origin: str) -> InvitedToTeam:
    """Invite distinct lower-case email addresses. Links in the emails start with `origin`.

    Raises TeamRefused without sending anything if the team is closed or would become too large,
    or if `actor` exceeds INVITATIONS_PER_DAY.
    """
    locked = lock_team(team)
    members = {email.lower() for email in locked.members.values_list("user__email", flat=True)}
    waiting = set(_waiting(locked).values_list("email", flat=True))
    new = [email for email in emails if email not in members | waiting]
    _refuse_crowd(locked, len(new), len(waiting))
    _refuse_many_emails(actor, len(new))
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
            f"A team can have at most {MAX_MEMBERS} members, including pending invitations.",
            code="full",
        )


def _refuse_many_emails(actor: User, new: int) -> None:
    # The lock serialises simultaneous requests of the same user.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    today = Invitation.objects.filter(
        invited_by=actor,
        team_invitation__isnull=False,
        created_at__gt=timezone.now() - timedelta(days=1),
    )
    left = INVITATIONS_PER_DAY - today.count()
    if new > left:
        raise TeamRefused(
            f"You can invite {INVITATIONS_PER_DAY} people a day to teams. You have {max(left, 0)} "
            "invitations left.",
            code="too_many_emails",
        )


class TeamOffers:
    """The source of team membership offers."""

    relation = "team_invitation"

    def describe(self, invitation: Invitation) -> Offer | None:
        row = _row(invitation)
        if row is None:
            return None
        # Leaves out the team's description: emails must not contain text written by users.
        return Offer(
            what=f"a member of the team “{row.team.name}”",
            about="Members share the team’s submissions and see each other’s names.",
            url=row.team.get_absolute_url(),
        )

    def may_give(self, invitation: Invitation) -> bool:
        row, inviter = _row(invitation), invitation.invited_by
        return row is None or bool(inviter and _may_still_invite(inviter, row.team))

    def give(self, invitation: Invitation, user: User) -> None:
        """Raises InvitationRefused if the inviter may no longer invite."""
        row = _row(invitation)
        if row is None:
            return
        inviter = invitation.invited_by
        if inviter is None or not _may_still_invite(inviter, row.team):
            raise InvitationRefused(
                "The person who invited you no longer manages this team. Ask an owner of the team "
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
    """Whether the invitation allows sign-up on a site with sign-up by invitation.

    Any user can own a team, so team invitations count only if an organiser sent them.
    """
    inviter = invitation.invited_by
    if not TeamInvitation.objects.filter(invitation=invitation).exists():
        return True
    return inviter is not None and inviter.is_active and inviter.is_organiser
