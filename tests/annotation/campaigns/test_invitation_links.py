"""Invitation links on sites that send no email."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from annotation.models import Campaign, CampaignInvitation, Membership
from portal.accounts.invitations.selectors import InvitationRefused, find_invitation
from portal.accounts.invitations.services import make_link
from portal.accounts.models import Invitation, User
from portal.accounts.teams.services import make_team
from portal.audit.models import Event
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import ORIGIN
from tests.conftest import PASSWORD
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db
NORA = "nora@example.org"
PEOPLE = "/campaigns/spring-round/people/"
API = "/api/v1/campaigns/spring-round/invitations/"
FORM = {"emails": NORA, "role": "annotator"}


@pytest.fixture
def console(settings: Any) -> None:
    """A site without a mail server."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def link_in(page: str) -> str:
    found = re.search(r'id="invitation-link"[^>]*>http://testserver/invitations/([\w-]+)/<', page)
    assert found is not None
    return found[1]


def test_console_emails_are_not_called_sent(
    campaign: Campaign, lead: User, client_of: ClientOf, console: None
) -> None:
    client = client_of(lead)
    page = client.post(PEOPLE, FORM, follow=True).content.decode()
    assert "This site does not send email" in page
    assert f"Invited as annotator: {NORA}." in page
    run_due_jobs()
    page = client.get(PEOPLE).content.decode()
    assert "not emailed" in page
    row = CampaignInvitation.objects.get()
    answer = client.post(f"/campaigns/spring-round/invitations/{row.pk}/link/")
    secret = link_in(answer.content.decode())
    assert find_invitation(secret) == row.invitation
    assert "no-store" in answer["Cache-Control"]
    assert secret not in client.get(PEOPLE).content.decode()
    assert Event.objects.filter(verb="make_invitation_link", actor=lead).count() == 1


def test_link_is_made_where_sending_failed(campaign: Campaign, lead: User, api_of: ApiOf) -> None:
    api_of(lead).post(API, {"emails": [NORA], "role": "annotator"}, format="json")
    Job.objects.filter(kind="send_invitation").update(state=Job.State.FAILED)
    (row,) = api_of(lead).get(API).json()
    assert row["letter"] == "failed"
    made = api_of(lead).post(f"{API}{row['id']}/link/")
    assert made.status_code == 201
    assert made.json()["link"].startswith("http://testserver/invitations/")


def test_copying_a_link_keeps_the_inviter(
    campaign: Campaign, lead: User, organiser: User, client_of: ClientOf, console: None
) -> None:
    client_of(lead).post(PEOPLE, FORM)
    run_due_jobs()
    invitation = Invitation.objects.get()
    path = f"/campaigns/spring-round/invitations/{invitation.pk}/link/"
    assert client_of(organiser).post(path).status_code == 200
    invitation.refresh_from_db()
    assert invitation.invited_by == lead
    # An inviter who lost the role cannot make the offer any more.
    Membership.objects.filter(user=lead).delete()
    client_of(organiser).post(path)
    invitation.refresh_from_db()
    assert invitation.invited_by == organiser


def test_no_link_is_made_while_the_email_brings_it(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    client.post(PEOPLE, FORM)
    invitation = Invitation.objects.get()
    for _ in range(2):
        with pytest.raises(InvitationRefused, match="The link was emailed"):
            make_link(invitation=invitation, actor=lead, origin=ORIGIN)
        run_due_jobs()
    assert len(mail.outbox) == 1
    assert "Make a link" not in client.get(PEOPLE).content.decode()


def test_organisers_make_links_to_the_site(
    organiser: User, client_of: ClientOf, console: None
) -> None:
    client = client_of(organiser)
    page = client.post("/invitations/", {"emails": NORA}, follow=True).content.decode()
    assert "This site does not send email" in page
    run_due_jobs()
    invitation = Invitation.objects.get()
    page = client.post(f"/invitations/{invitation.pk}/link/").content.decode()
    assert find_invitation(link_in(page)) == invitation


def test_account_made_through_a_link_has_no_confirmed_email(
    organiser: User, client_of: ClientOf, console: None
) -> None:
    owner = client_of(organiser)
    owner.post("/invitations/", {"emails": NORA})
    run_due_jobs()
    invitation = Invitation.objects.get()
    secret = link_in(owner.post(f"/invitations/{invitation.pk}/link/").content.decode())
    body = {"email": NORA, "name": "Nora", "password1": PASSWORD, "password2": PASSWORD}
    visitor = Client()
    visitor.post("/accounts/signup/", body | {"next": f"/invitations/{secret}/"})
    assert not EmailAddress.objects.get(email=NORA).verified
    # The invitation works for the account with the email address.
    visitor.post(f"/invitations/{secret}/accept/")
    invitation.refresh_from_db()
    assert invitation.accepted_by == User.objects.get(email=NORA)


def test_owner_of_a_team_makes_a_link(
    ann: User, client_of: ClientOf, api_of: ApiOf, console: None
) -> None:
    team = make_team(name="Readers", actor=ann)
    client = client_of(ann)
    page = client.post(f"/teams/{team.slug}/people/", {"emails": NORA}, follow=True)
    assert "This site does not send email" in page.content.decode()
    run_due_jobs()
    invitation = Invitation.objects.get()
    place = f"teams/{team.slug}/invitations/{invitation.pk}/link/"
    assert link_in(client.post(f"/{place}").content.decode())
    assert api_of(ann).post(f"/api/v1/{place}").status_code == 201
