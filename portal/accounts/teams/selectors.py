"""Teams: permissions and queries.

The name, description and link of a team are public. Its members are visible to members and
organisers. Owners manage the team; so may organisers, in case all owners are unavailable.
"""

import unicodedata
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, QuerySet
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.accounts.invitations.selectors import InvitationRow, unanswered_rows
from portal.accounts.models import Invitation, Team, TeamMember, User


@dataclass(frozen=True)
class TeamAccess:
    """A user's role in a team."""

    team: Team
    membership: TeamMember | None
    is_organiser: bool

    @property
    def is_member(self) -> bool:
        return self.membership is not None

    @property
    def is_owner(self) -> bool:
        return self.membership is not None and self.membership.is_owner

    @property
    def may_see_people(self) -> bool:
        return self.is_member or self.is_organiser

    @property
    def may_manage(self) -> bool:
        return self.team.is_open and (self.is_owner or self.is_organiser)


def team_for(user: Any, slug: str) -> TeamAccess:
    """Return the team and the user's role in it. 404 if there is no such team."""
    team = get_object_or_404(Team, slug=slug)
    mine = None
    if user.is_authenticated:
        mine = TeamMember.objects.select_related("team").filter(team=team, user=user).first()
    return TeamAccess(team, mine, is_organiser(user))


def peopled_team(user: Any, slug: str) -> TeamAccess:
    """Require permission to see the members. 403, not 404, because the team itself is public."""
    access = team_for(user, slug)
    if not access.may_see_people:
        raise PermissionDenied("Only members can see who is in a team.")
    return access


def managed_team(user: Any, slug: str) -> TeamAccess:
    access = team_for(user, slug)
    if not access.may_manage:
        raise PermissionDenied("Only owners of an open team can do this.")
    return access


def own_membership(user: Any, slug: str) -> TeamMember:
    """Require membership."""
    membership = team_for(user, slug).membership
    if membership is None:
        raise PermissionDenied("You are not in this team.")
    return membership


def teams_of(user: User) -> QuerySet[Team]:
    """The user's teams, ordered by name."""
    return Team.objects.filter(members__user=user).order_by("name", "pk")


def team_called(name: str) -> Team | None:
    """Return the open team with this name, ignoring case and spacing. One query.

    Compares in Python, because SQLite folds the case of ASCII characters only.
    """
    wanted = _plain(name)
    teams = Team.objects.filter(closed_at__isnull=True) if wanted else Team.objects.none()
    return next((team for team in teams.order_by("pk") if _plain(team.name) == wanted), None)


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def own_teams(user: User) -> "QuerySet[TeamMember, Any]":
    """The user's memberships, ordered by team, with the `size` of each team. One query."""
    return (
        TeamMember.objects.filter(user=user)
        .select_related("team")
        .annotate(size=Count("team__members"))
        .order_by("team__name", "team_id")
    )


@dataclass(frozen=True)
class Person:
    """A member of a team, as another member or an organiser sees them."""

    member: TeamMember
    access: TeamAccess

    @property
    def is_me(self) -> bool:
        return self.member == self.access.membership

    @property
    def may_be_removed(self) -> bool:
        may_remove = not self.member.is_owner or self.access.is_organiser
        return self.access.may_manage and not self.is_me and may_remove

    @property
    def may_become_owner(self) -> bool:
        return self.access.may_manage and not self.member.is_owner


def team_people(access: TeamAccess) -> list[Person]:
    """Owners first, then by date of joining. One query."""
    rows = access.team.members.select_related("user").order_by(F("role").desc(), "id")
    return [Person(row, access) for row in rows]


def team_invitations(access: TeamAccess) -> list[InvitationRow]:
    """Pending and expired invitations, newest first. Two queries."""
    invitations = Invitation.objects.select_related("invited_by")
    return unanswered_rows(
        invitations.filter(team_invitation__team=access.team), "teams", access.team.slug
    )
