"""Teams for tests."""

from portal.accounts.models import Team, TeamMember, User
from portal.accounts.teams.services import add_to_team, make_team, remove_from_team


def team_of(owner: User, *members: User, name: str = "Fact finders") -> Team:
    team = make_team(name=name, actor=owner)
    for member in members:
        add_to_team(team=team, user=member, actor=owner)
    return team


def place_of(user: User, team: Team) -> TeamMember:
    return TeamMember.objects.select_related("team", "user").get(team=team, user=user)


def owners(team: Team) -> set[str]:
    rows = team.members.filter(role=TeamMember.Role.OWNER)
    return set(rows.values_list("user__name", flat=True))


def leave(user: User, team: Team) -> None:
    remove_from_team(member=place_of(user, team), actor=user)
