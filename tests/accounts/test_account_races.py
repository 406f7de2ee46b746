"""Simultaneous requests: owners who leave, organisers who delete their accounts, double requests.

SQLite allows one writer at a time and does not share in-memory databases, so these tests need
PostgreSQL.
"""

import pytest

from portal.accounts.access import TokenRefused, issue_token
from portal.accounts.account_data import AccountKept, delete_account, request_export
from portal.accounts.invitations.selectors import InvitationRefused
from portal.accounts.invitations.services import accept_invitation
from portal.accounts.models import AccountExport, Invitation, Team, User
from portal.accounts.teams.services import (
    TeamRefused,
    add_to_team,
    close_team,
    give_up_ownership,
    invite_to_team,
    make_owner,
    make_team,
    remove_from_team,
)
from tests.accounts.invitations.emails import ORIGIN
from tests.accounts.teams.people import owners, place_of, team_of
from tests.annotation.test_races import at_once, kinds
from tests.conftest import make_user

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]


@pytest.fixture
def shared(ann: User, ben: User) -> Team:
    team = team_of(ann, ben)
    make_owner(member=place_of(ben, team), actor=ann)
    return team


@pytest.mark.parametrize("turn", range(5))
def test_of_two_owners_who_leave_at_once_one_stays(
    shared: Team, ann: User, ben: User, turn: int
) -> None:
    places = [place_of(user, shared) for user in (ann, ben)]
    results = at_once(
        lambda: remove_from_team(member=places[0], actor=ann),
        lambda: remove_from_team(member=places[1], actor=ben),
    )
    assert kinds(results) == ["NoneType", TeamRefused.__name__]
    assert len(owners(shared)) == shared.members.count() == 1


@pytest.mark.parametrize("turn", range(5))
def test_of_two_owners_who_step_down_at_once_one_stays(
    shared: Team, ann: User, ben: User, turn: int
) -> None:
    places = [place_of(user, shared) for user in (ann, ben)]
    at_once(
        lambda: give_up_ownership(member=places[0], actor=ann),
        lambda: give_up_ownership(member=places[1], actor=ben),
    )
    assert len(owners(shared)) == 1
    assert shared.members.count() == 2


@pytest.mark.parametrize("turn", range(5))
def test_an_owner_who_leaves_while_the_other_account_is_deleted(
    shared: Team, ann: User, ben: User, turn: int
) -> None:
    place = place_of(ann, shared)
    at_once(
        lambda: remove_from_team(member=place, actor=ann),
        lambda: delete_account(user=ben),
    )
    left = Team.objects.filter(pk=shared.pk).first()
    assert left is None or len(owners(left)) == 1


@pytest.mark.parametrize("turn", range(5))
def test_of_two_organisers_who_delete_their_accounts_at_once_one_stays(turn: int) -> None:
    people = [make_user(name, is_organiser=True) for name in ("Olga", "Otto")]
    results = at_once(*(lambda user=user: delete_account(user=user) for user in people))
    assert kinds(results) == [AccountKept.__name__, "NoneType"]
    assert User.objects.filter(is_organiser=True, is_active=True).count() == 1


def test_an_account_is_deleted_once(ann: User) -> None:
    results = at_once(*[lambda: delete_account(user=ann)] * 3)
    assert kinds(results) == [AccountKept.__name__] * 2 + ["NoneType"]


@pytest.mark.parametrize("turn", range(5))
def test_closing_and_joining_at_once_leaves_nobody_in_a_closed_team(
    ann: User, ben: User, turn: int
) -> None:
    team = team_of(ann)
    at_once(
        lambda: close_team(team=team, actor=ann),
        lambda: add_to_team(team=team, user=ben, actor=ann),
    )
    assert not Team.objects.exists()


def test_the_last_place_in_a_team_is_given_once(
    ann: User, ben: User, cleo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = team_of(ann)
    invite_to_team(team=team, emails=[ben.email, cleo.email], actor=ann, origin=ORIGIN)
    monkeypatch.setattr("portal.accounts.teams.services.MAX_MEMBERS", 2)
    first, second = Invitation.objects.order_by("pk")
    results = at_once(
        lambda: accept_invitation(invitation=first, user=ben),
        lambda: accept_invitation(invitation=second, user=cleo),
    )
    assert kinds(results) == [InvitationRefused.__name__, "Offer"]
    assert team.members.count() == 2


def test_of_two_teams_with_one_name_made_at_once_one_is_refused(ann: User, ben: User) -> None:
    results = at_once(
        lambda: make_team(name="Same", actor=ann), lambda: make_team(name="same", actor=ben)
    )
    assert kinds(results) == ["Team", TeamRefused.__name__]


def test_letters_are_counted_over_tabs(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.accounts.teams.services.INVITATIONS_PER_DAY", 1)
    one, two = team_of(ann, name="One"), team_of(ann, name="Two")
    results = at_once(
        lambda: invite_to_team(team=one, emails=["a@example.org"], actor=ann, origin=ORIGIN),
        lambda: invite_to_team(team=two, emails=["b@example.org"], actor=ann, origin=ORIGIN),
    )
    assert kinds(results) == ["InvitedToTeam", TeamRefused.__name__]
    assert Invitation.objects.count() == 1


def test_tabs_that_order_an_export_at_once_order_one(ann: User) -> None:
    assert kinds(at_once(*[lambda: request_export(user=ann)] * 3)) == ["AccountExport"] * 3
    assert AccountExport.objects.count() == 1


def test_tabs_do_not_make_more_tokens_than_allowed(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.accounts.access.MAX_TOKENS", 1)
    results = at_once(*[lambda: issue_token(user=ann, name="x")] * 3)
    assert kinds(results) == [TokenRefused.__name__] * 2 + ["tuple"]
