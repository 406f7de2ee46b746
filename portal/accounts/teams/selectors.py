"""Queries on teams."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, QuerySet
from django.urls import reverse

from portal.accounts.invitations.selectors import InvitationRow, email_states, invitation_row
from portal.accounts.models import Invitation, Team, TeamMember, User, display_name

from .access import TeamAccess


def teams_of(user: User) -> QuerySet[Team]:
    """One of the user's teams."""
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


@dataclass(frozen=True)
class OwnTeam:
    name: str
    slug: str
    url: str
    is_owner: bool
    members: int
    joined_at: datetime


def own_teams(user: User) -> list[OwnTeam]:
    """The user's teams, ordered by name. One query."""
    rows = (
        TeamMember.objects.filter(user=user)
        .select_related("team")
        .annotate(size=Count("team__members"))
        .order_by("team__name", "team_id")
    )
    return [
        OwnTeam(
            name=row.team.name,
            slug=row.team.slug,
            url=row.team.get_absolute_url(),
            is_owner=row.is_owner,
            members=row.size,
            joined_at=row.joined_at,
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Person:
    """A member as shown to other members, without the email address."""

    pk: int
    """Primary key of the membership."""
    name: str
    affiliation: str
    is_owner: bool
    is_me: bool
    joined_at: datetime
    may_be_removed: bool
    """By the current user."""
    may_become_owner: bool


def team_people(access: TeamAccess, reader: User) -> list[Person]:
    """Owners first, then by date of joining. One query."""
    rows = access.team.members.select_related("user").order_by(F("role").desc(), "id")
    return [_person(row, access, reader) for row in rows]


def _person(row: TeamMember, access: TeamAccess, reader: User) -> Person:
    is_me = row.user_id == reader.pk
    return Person(
        pk=row.pk,
        name=display_name(row.user),
        affiliation=row.user.affiliation,
        is_owner=row.is_owner,
        is_me=is_me,
        joined_at=row.joined_at,
        may_be_removed=access.may_manage
        and not is_me
        and (not row.is_owner or access.is_organiser),
        may_become_owner=access.may_manage and not row.is_owner,
    )


def team_invitations(access: TeamAccess) -> list[InvitationRow]:
    """Pending and expired invitations, newest first. Two queries."""
    waiting = list(
        Invitation.objects.select_related("invited_by").filter(
            team_invitation__team=access.team, accepted_at=None, revoked_at=None
        )
    )
    states = email_states(waiting)
    slug = access.team.slug
    return [
        invitation_row(
            each,
            email_state=states[each.pk],
            urls=(
                reverse("teams:resend", args=[slug, each.pk]),
                reverse("teams:revoke", args=[slug, each.pk]),
                reverse("teams:link", args=[slug, each.pk]),
            ),
        )
        for each in waiting
    ]
