"""Teams: make, change, leave, hand over, close; and bring people in, always by invitation.

Whatever changes who is in a team locks the team's row first. So of two owners who leave at the same
moment one stays, and an open team always has an owner. Nobody joins without saying yes.
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
from portal.accounts.models import Invitation, Team, TeamInvitation, TeamMember, User
from portal.audit.models import record_event

Role = TeamMember.Role
MAX_MEMBERS = 50
MAX_OWN_TEAMS = 20
_SLUG = 70
# Words that stand in addresses beside slugs.
_TAKEN_SLUGS = {"new"}


class TeamRefused(Exception):
    """Why something cannot be done with a team. The message is for people."""

    def __init__(self, message: str, *, code: str = "refused") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@transaction.atomic
def make_team(*, name: str, about: str = "", link: str = "", actor: User) -> Team:
    """Makes a team that `actor` owns. Raises TeamRefused when the name is taken or there are too
    many."""
    # Two tabs at once shall not get past the limit together.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    owned = TeamMember.objects.filter(user=actor, role=Role.OWNER, team__closed_at=None)
    if owned.count() >= MAX_OWN_TEAMS:
        raise TeamRefused(f"You own {MAX_OWN_TEAMS} teams: close one first.", code="too_many")
    team = Team(name=name.strip(), about=about, link=link, created_by=actor)
    team.slug = _free_slug(team.name)
    _save(team)
    TeamMember.objects.create(team=team, user=actor, role=Role.OWNER)
    record_event(verb="make_team", subject=team, actor=actor)
    return team


def _free_slug(name: str) -> str:
    base = slugify(name)[:_SLUG].strip("-") or "team"
    taken = set(Team.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    taken |= _TAKEN_SLUGS
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _save(team: Team) -> None:
    """Raises TeamRefused when another team has the name. The constraint decides, so that of two
    requests at once one is refused."""
    try:
        with transaction.atomic():
            team.save()
    except IntegrityError as error:
        raise TeamRefused("There is a team with this name already.", code="name_taken") from error


@transaction.atomic
def change_team(*, team: Team, name: str, about: str, link: str, actor: User) -> Team:
    """The address stays as it is, so that links go on working. Raises TeamRefused."""
    locked = lock_team(team)
    locked.name, locked.about, locked.link = name.strip(), about, link
    _save(locked)
    record_event(verb="change_team", subject=locked, actor=actor)
    return locked


def lock_team(team: Team) -> Team:
    """The open team, locked until the transaction ends. Raises TeamRefused when it is closed."""
    locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if not locked.is_open:
        raise TeamRefused("This team is closed.", code="closed")
    return locked


@transaction.atomic
def add_to_team(*, team: Team, user: User, actor: User | None) -> TeamMember:
    """Makes somebody a member; who is one stays what they are. Raises TeamRefused when it is full
    or closed."""
    locked = lock_team(team)
    found = TeamMember.objects.filter(team=locked, user=user).first()
    if found is not None:
        return found
    if locked.members.count() >= MAX_MEMBERS:
        raise TeamRefused(f"A team has {MAX_MEMBERS} members at most.", code="full")
    record_event(verb="join_team", subject=locked, actor=actor, user=user.pk)
    return TeamMember.objects.create(team=locked, user=user)


@transaction.atomic
def make_owner(*, member: TeamMember, actor: User) -> TeamMember:
    """Twice is once."""
    team = lock_team(member.team)
    now = _still_there(member)
    if not now.is_owner:
        now.role = Role.OWNER
        now.save(update_fields=["role"])
        record_event(verb="make_team_owner", subject=team, actor=actor, user=now.user_id)
    return now


@transaction.atomic
def give_up_ownership(*, member: TeamMember, actor: User) -> TeamMember:
    """Stays a member. Raises TeamRefused for the only owner."""
    team = lock_team(member.team)
    now = _still_there(member)
    if now.is_owner:
        _refuse_only_owner(team, now)
        now.role = Role.MEMBER
        now.save(update_fields=["role"])
        record_event(verb="give_up_team", subject=team, actor=actor, user=now.user_id)
    return now


@transaction.atomic
def remove_from_team(*, member: TeamMember, actor: User) -> None:
    """Leaving, or being removed. Raises TeamRefused for the only owner, and for an owner whom
    somebody else than an organiser would remove."""
    team = lock_team(member.team)
    now = TeamMember.objects.filter(pk=member.pk).first()
    if now is None:
        return
    if now.is_owner and now.user_id != actor.pk and not actor.is_organiser:
        raise TeamRefused(
            "Owners leave by themselves: nobody can take the team from them.", code="owner"
        )
    if now.is_owner:
        _refuse_only_owner(team, now)
    record_event(verb="leave_team", subject=team, actor=actor, user=now.user_id)
    now.delete()


def _still_there(member: TeamMember) -> TeamMember:
    found = TeamMember.objects.filter(pk=member.pk).first()
    if found is None:
        raise TeamRefused("That person has left the team.", code="left")
    return found


def _refuse_only_owner(team: Team, member: TeamMember) -> None:
    if not team.members.filter(role=Role.OWNER).exclude(pk=member.pk).exists():
        raise TeamRefused(
            "A team needs an owner: make another member owner first, or close the team.",
            code="only_owner",
        )


@transaction.atomic
def close_team(*, team: Team, actor: User) -> None:
    """Ends memberships and invitations. The team's row goes, too, unless work refers to it: then
    its name and text stay. Twice is once."""
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
    """Whether a row of another app points at the team, whatever its key would do on deletion."""
    own = {TeamMember, TeamInvitation}
    return any(
        relation.related_model._default_manager.filter(**{relation.field.name: team}).exists()
        for relation in Team._meta.related_objects
        if relation.related_model not in own
    )


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
            f"A team has {MAX_MEMBERS} members at most, those who are invited included.",
            code="full",
        )


def _refuse_many_emails(actor: User, new: int) -> None:
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
            code="too_many_emails",
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
