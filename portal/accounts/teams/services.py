"""Teams: make, change, leave, hand over, close.

Whatever changes who is in a team locks the team's row first. So of two owners who leave at the same
moment one stays, and an open team always has an owner.
"""

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from portal.accounts.invitations import unanswered
from portal.accounts.models import Team, TeamInvitation, TeamMember, User
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
