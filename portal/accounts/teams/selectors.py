"""Queries on teams."""

import unicodedata
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, QuerySet

from portal.accounts.invitations.selectors import InvitationRow, unanswered_rows
from portal.accounts.models import Invitation, Team, TeamMember, User

from .access import TeamAccess


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
