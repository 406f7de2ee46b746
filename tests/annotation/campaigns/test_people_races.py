"""Simultaneous requests: accepting, inviting, reminding and leaving.

As in `test_races`, these need a database with several writers.
"""

import pytest

from annotation.campaigns.people import (
    Invited,
    add_member,
    invite_people,
    leave_campaign,
    remind_person,
)
from annotation.errors import Refused
from annotation.models import Campaign, CampaignInvitation, Membership, Reminder
from portal.accounts.invitations.selectors import InvitationRefused
from portal.accounts.invitations.services import accept_invitation, revoke_invitation
from portal.accounts.models import Invitation, User
from portal.audit.models import Event
from portal.jobs.models import Job
from tests.accounts.invitations.emails import ORIGIN
from tests.annotation.test_races import at_once, kinds
from tests.conftest import make_user

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.race,
]
NORA = "nora@example.org"


def invite(campaign: Campaign, actor: User) -> Invited:
    return invite_people(
        campaign=campaign, emails=[NORA], role="annotator", actor=actor, origin=ORIGIN
    )


@pytest.mark.parametrize("turn", range(3))
def test_of_clicks_on_accept_one_counts(campaign: Campaign, lead: User, turn: int) -> None:
    invite(campaign, lead)
    nora, pk = make_user("Nora"), Invitation.objects.get().pk

    def click() -> object:
        return accept_invitation(invitation=Invitation.objects.get(pk=pk), user=nora)

    assert kinds(at_once(*[click] * 4)) == [InvitationRefused.__name__] * 3 + ["Offer"]
    assert Membership.objects.filter(user=nora).count() == 1
    assert Event.objects.filter(verb="accept_invitation").count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_accepted_or_revoked_but_never_both(campaign: Campaign, lead: User, turn: int) -> None:
    invite(campaign, lead)
    nora, pk = make_user("Nora"), Invitation.objects.get().pk
    results = at_once(
        lambda: accept_invitation(invitation=Invitation.objects.get(pk=pk), user=nora),
        lambda: revoke_invitation(invitation=Invitation.objects.get(pk=pk), actor=lead),
    )
    invitation = Invitation.objects.get(pk=pk)
    assert (invitation.accepted_at is None) != (invitation.revoked_at is None)
    assert sum(isinstance(result, InvitationRefused) for result in results) == 1
    assert Membership.objects.filter(user=nora).exists() == bool(invitation.accepted_at)


def test_leads_inviting_the_same_email_send_one(
    campaign: Campaign, lead: User, organiser: User
) -> None:
    results = at_once(lambda: invite(campaign, lead), lambda: invite(campaign, organiser))
    known = [result.known for result in results if isinstance(result, Invited)]
    assert sorted(known) == [(), (NORA,)]
    assert CampaignInvitation.objects.count() == Job.objects.count() == 1


def test_of_leads_reminding_the_same_person_one_does(
    campaign: Campaign, ann: User, lead: User, organiser: User
) -> None:
    def by(actor: User) -> object:
        return remind_person(campaign=campaign, user=ann, actor=actor, origin=ORIGIN)

    results = at_once(lambda: by(lead), lambda: by(organiser))
    assert kinds(results) == [Refused.__name__, Reminder.__name__]
    assert Reminder.objects.count() == Job.objects.count() == 1


@pytest.mark.parametrize("turn", range(3))
def test_of_two_leads_leaving_at_once_one_stays(
    campaign: Campaign, lead: User, cleo: User, turn: int
) -> None:
    add_member(campaign=campaign, user=cleo, role="lead", actor=None)
    results = at_once(
        lambda: leave_campaign(campaign=campaign, user=lead),
        lambda: leave_campaign(campaign=campaign, user=cleo),
    )
    assert kinds(results) == [Refused.__name__, "int"]
    assert Membership.objects.filter(campaign=campaign, role="lead").count() == 1
