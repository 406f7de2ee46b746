"""Who may see and do what in a team.

Name, text and link of a team are public. Who is in it is told to its members and to organisers.
Owners manage it; organisers may, too, so that somebody can when all owners are away.
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.accounts.models import Team, TeamMember


@dataclass(frozen=True)
class TeamAccess:
    """What somebody is in a team."""

    team: Team
    membership: TeamMember | None
    is_organiser: bool

    @property
    def is_owner(self) -> bool:
        return self.membership is not None and self.membership.is_owner

    @property
    def may_see_people(self) -> bool:
        return self.membership is not None or self.is_organiser

    @property
    def may_manage(self) -> bool:
        return self.team.is_open and (self.is_owner or self.is_organiser)


def team_for(user: Any, slug: str) -> TeamAccess:
    """The team and what the user is in it; 404 where there is none."""
    team = get_object_or_404(Team, slug=slug)
    mine = None
    if user.is_authenticated:
        mine = TeamMember.objects.filter(team=team, user=user).first()
    return TeamAccess(team, mine, is_organiser(user))


def peopled_team(user: Any, slug: str) -> TeamAccess:
    """For who may know who is in it; others get 403, since the team itself is public."""
    access = team_for(user, slug)
    if not access.may_see_people:
        raise PermissionDenied("Who is in a team is told to its members.")
    return access


def managed_team(user: Any, slug: str) -> TeamAccess:
    access = team_for(user, slug)
    if not access.may_manage:
        raise PermissionDenied("Only the owners of a team may do this, as long as it is open.")
    return access
