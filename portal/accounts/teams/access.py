"""Team permissions.

The name, description and link of a team are public. Its members are visible to members and
organisers. Owners manage the team; so may organisers, in case all owners are unavailable.
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.accounts.models import Team, TeamMember


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
        raise PermissionDenied("Only owners of an open team may do this.")
    return access


def own_membership(user: Any, slug: str) -> TeamMember:
    """Require membership."""
    membership = team_for(user, slug).membership
    if membership is None:
        raise PermissionDenied("You are not in this team.")
    return membership
