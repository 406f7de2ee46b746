"""Teams: an open team always has an owner, and users join only by accepting an invitation."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from pytest_django import DjangoAssertNumQueries

from portal.accounts.invitations.selectors import InvitationRefused, offer_of
from portal.accounts.invitations.services import accept_invitation
from portal.accounts.models import Invitation, Team, TeamMember, User
from portal.accounts.teams.selectors import own_teams, team_for, team_people
from portal.accounts.teams.services import (
    TeamRefused,
    add_to_team,
    change_team,
    close_team,
    give_up_ownership,
    invite_to_team,
    is_referred_to,
    make_owner,
    make_team,
    remove_from_team,
)
from portal.audit.models import Event
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import ORIGIN, email_to

from .people import owners, place_of, team_of

pytestmark = pytest.mark.django_db


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(TeamRefused) as caught:
        call()
    return caught.value.code


# --- created and changed ------------------------------------------------------------------------


def test_who_makes_a_team_owns_it(ann: User) -> None:
    team = make_team(name="  Fact finders ", about="We *read*.", actor=ann)
    assert (team.name, team.slug, team.created_by) == ("Fact finders", "fact-finders", ann)
    assert owners(team) == {"Ann"}
    assert Event.objects.get(verb="make_team").actor == ann


@pytest.mark.parametrize(
    ("name", "slug"),
    [("New", "new-2"), ("数据团队", "team"), ("-- A/B --", "ab"), ("x" * 80, "x" * 70)],
)
def test_addresses_are_made_of_names(ann: User, name: str, slug: str) -> None:
    assert make_team(name=name, actor=ann).slug == slug


def test_two_names_with_one_slug_get_two_addresses(ann: User) -> None:
    slugs = [make_team(name=name, actor=ann).slug for name in ("A B", "A-B", "A.B")]
    assert slugs == ["a-b", "a-b-2", "ab"]


def test_a_name_is_given_once_in_any_case_while_its_team_is_open(ann: User, ben: User) -> None:
    team = team_of(ann, name="Fact finders")
    assert refused(lambda: make_team(name="FACT FINDERS", actor=ben)) == "name_taken"
    close_team(team=team, actor=ann)
    assert owners(make_team(name="fact finders", actor=ben)) == {"Ben"}


def test_changing_keeps_the_address(ann: User, ben: User) -> None:
    team, other = team_of(ann), team_of(ben, name="Others")
    changed = change_team(team=team, name="Readers", about="b", link="https://a.example", actor=ann)
    assert (changed.name, changed.slug) == ("Readers", "fact-finders")
    taken = {"name": "readers", "about": "", "link": ""}
    assert refused(lambda: change_team(team=other, **taken, actor=ben)) == "name_taken"
    other.refresh_from_db()
    assert other.name == "Others"


def test_nobody_owns_more_teams_than_allowed(ann: User, monkeypatch: Any) -> None:
    monkeypatch.setattr("portal.accounts.teams.services.MAX_OWN_TEAMS", 2)
    first = make_team(name="1", actor=ann)
    make_team(name="2", actor=ann)
    assert refused(lambda: make_team(name="3", actor=ann)) == "too_many"
    close_team(team=first, actor=ann)
    make_team(name="3", actor=ann)


# --- owners -------------------------------------------------------------------------------------


def test_the_only_owner_can_neither_leave_nor_step_down(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    mine = place_of(ann, team)
    assert refused(lambda: remove_from_team(member=mine, actor=ann)) == "only_owner"
    assert refused(lambda: give_up_ownership(member=mine, actor=ann)) == "only_owner"
    assert owners(team) == {"Ann"}


def test_handing_over_and_leaving(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    make_owner(member=place_of(ben, team), actor=ann)
    make_owner(member=place_of(ben, team), actor=ann)
    assert owners(team) == {"Ann", "Ben"}
    assert Event.objects.filter(verb="make_team_owner").count() == 1
    remove_from_team(member=place_of(ann, team), actor=ann)
    assert owners(team) == {"Ben"}
    assert not own_teams(ann)


def test_stepping_down_leaves_a_member(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    make_owner(member=place_of(ben, team), actor=ann)
    assert not give_up_ownership(member=place_of(ann, team), actor=ann).is_owner
    assert owners(team) == {"Ben"}
    assert team.members.count() == 2


def test_owners_take_the_team_from_nobody_but_organisers_may(
    ann: User, ben: User, organiser: User
) -> None:
    team = team_of(ann, ben)
    make_owner(member=place_of(ben, team), actor=ann)
    taking = place_of(ann, team)
    assert refused(lambda: remove_from_team(member=taking, actor=ben)) == "owner"
    remove_from_team(member=taking, actor=organiser)
    assert owners(team) == {"Ben"}
    last = place_of(ben, team)
    assert refused(lambda: remove_from_team(member=last, actor=organiser)) == "only_owner"


def test_removing_twice_is_once(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    member = place_of(ben, team)
    remove_from_team(member=member, actor=ann)
    remove_from_team(member=member, actor=ann)
    assert Event.objects.filter(verb="leave_team").count() == 1
    assert refused(lambda: make_owner(member=member, actor=ann)) == "left"


# --- closing ------------------------------------------------------------------------------------


def test_closing_a_team_nothing_refers_to_leaves_nothing(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    invite_to_team(team=team, emails=["nora@example.org"], actor=ann, origin=ORIGIN)
    close_team(team=team, actor=ann)
    assert not Team.objects.exists()
    assert Invitation.objects.get().revoked_at is not None
    assert Event.objects.get(verb="close_team").subject_id


def test_a_team_that_work_refers_to_keeps_its_name(ann: User, ben: User, monkeypatch: Any) -> None:
    monkeypatch.setattr("portal.accounts.teams.services.is_referred_to", lambda team: True)
    team = team_of(ann, ben)
    close_team(team=team, actor=ann)
    close_team(team=team, actor=ann)
    team.refresh_from_db()
    assert not team.is_open
    assert not team.members.exists()
    assert refused(lambda: add_to_team(team=team, user=ben, actor=ann)) == "closed"
    assert not team_for(ann, team.slug).may_manage
    assert Event.objects.filter(verb="close_team").count() == 1


def test_members_and_invitations_alone_are_no_reference(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    invite_to_team(team=team, emails=["nora@example.org"], actor=ann, origin=ORIGIN)
    assert not is_referred_to(team)


# --- invitations --------------------------------------------------------------------------------


def invited(team: Team, address: str, actor: User) -> Invitation:
    invite_to_team(team=team, emails=[address], actor=actor, origin=ORIGIN)
    run_due_jobs()
    return Invitation.objects.get(email=address)


def test_all_are_asked_whether_they_have_an_account_or_not(ann: User, ben: User) -> None:
    team = team_of(ann)
    emails = [ben.email, "nora@example.org"]
    done = invite_to_team(team=team, emails=emails, actor=ann, origin=ORIGIN)
    assert done.invited == tuple(emails)
    assert not TeamMember.objects.filter(user=ben).exists()
    run_due_jobs()
    assert sorted(message.to[0] for message in mail.outbox) == sorted(emails)
    assert "Ann invited you to become a member of the team “Fact finders”" in email_to(ben.email)


def test_members_and_invited_people_get_no_second_email(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    invited(team, "nora@example.org", ann)
    emails = [ben.email, "nora@example.org"]
    done = invite_to_team(team=team, emails=emails, actor=ann, origin=ORIGIN)
    assert (done.invited, done.known) == ((), tuple(emails))
    assert Invitation.objects.count() == 1


def test_accepting_makes_a_member(ann: User, ben: User) -> None:
    team = team_of(ann)
    invitation = invited(team, ben.email, ann)
    offer = accept_invitation(invitation=invitation, user=ben)
    assert offer.url == team.get_absolute_url()
    assert not place_of(ben, team).is_owner


def test_the_letter_says_nothing_that_the_team_wrote_about_itself(ann: User) -> None:
    team = make_team(name="Fact finders", about="Buy now at https://spam.example", actor=ann)
    invitation = invited(team, "nora@example.org", ann)
    assert "spam" not in offer_of(invitation).about + email_to("nora@example.org")


@pytest.mark.parametrize("end", ["left", "demoted", "switched_off", "closed"])
def test_an_invitation_ends_with_the_right_of_whoever_sent_it(
    ann: User, ben: User, cleo: User, end: str, monkeypatch: Any
) -> None:
    team = team_of(ann, ben)
    invitation = invited(team, cleo.email, ann)
    make_owner(member=place_of(ben, team), actor=ann)
    if end == "left":
        remove_from_team(member=place_of(ann, team), actor=ann)
    elif end == "demoted":
        give_up_ownership(member=place_of(ann, team), actor=ann)
    elif end == "switched_off":
        User.objects.filter(pk=ann.pk).update(is_active=False)
    else:
        monkeypatch.setattr("portal.accounts.teams.services.is_referred_to", lambda team: True)
        close_team(team=team, actor=ben)
    with pytest.raises(InvitationRefused) as caught:
        accept_invitation(invitation=invitation, user=cleo)
    assert caught.value.code == ("revoked" if end == "closed" else "inviter")
    assert not TeamMember.objects.filter(user=cleo).exists()


def test_a_full_team_takes_nobody(ann: User, ben: User, cleo: User, monkeypatch: Any) -> None:
    team = team_of(ann)
    first, second = invited(team, ben.email, ann), invited(team, cleo.email, ann)
    monkeypatch.setattr("portal.accounts.teams.services.MAX_MEMBERS", 2)
    accept_invitation(invitation=first, user=ben)
    with pytest.raises(InvitationRefused) as caught:
        accept_invitation(invitation=second, user=cleo)
    assert caught.value.code == "full"


def test_those_who_are_invited_count_as_members(ann: User, monkeypatch: Any) -> None:
    monkeypatch.setattr("portal.accounts.teams.services.MAX_MEMBERS", 3)
    team = team_of(ann)

    def ask(*emails: str) -> object:
        return invite_to_team(team=team, emails=emails, actor=ann, origin=ORIGIN)

    assert refused(lambda: ask("a@example.org", "b@example.org", "c@example.org")) == "full"
    assert not Invitation.objects.exists()
    ask("a@example.org", "b@example.org")
    assert refused(lambda: ask("c@example.org")) == "full"


def test_letters_a_day_are_counted_by_person_over_all_teams(ann: User, monkeypatch: Any) -> None:
    monkeypatch.setattr("portal.accounts.teams.services.INVITATIONS_PER_DAY", 2)
    one, two = team_of(ann, name="One"), team_of(ann, name="Two")
    invited(one, "a@example.org", ann)
    invited(two, "b@example.org", ann)
    assert refused(lambda: invited(one, "c@example.org", ann)) == "too_many_emails"
    assert Invitation.objects.count() == 2


# --- reading ------------------------------------------------------------------------------------


def test_lists_ask_the_database_once_however_long_they_are(
    ann: User, ben: User, cleo: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    team = team_of(ann)
    access = team_for(ann, team.slug)
    for joining in (ben, cleo):
        add_to_team(team=team, user=joining, actor=ann)
        with django_assert_num_queries(1):
            people = team_people(access)
        with django_assert_num_queries(1):
            [mine] = own_teams(ann)
        assert mine.size == len(people)
    assert [(str(row.member.user), row.member.is_owner) for row in people] == [
        ("Ann", True), ("Ben", False), ("Cleo", False)
    ]  # fmt: skip


def test_a_member_is_in_a_team_once(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    assert add_to_team(team=team, user=ben, actor=ann).pk == place_of(ben, team).pk
    assert team.members.count() == 2
