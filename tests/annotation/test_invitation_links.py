"""Where no email arrives, an inviter is told so and makes a link to hand over."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Campaign, CampaignInvitation
from portal.accounts.invitations import find_invitation
from portal.accounts.inviting import make_link
from portal.accounts.models import Invitation, User
from portal.accounts.offers import InvitationRefused
from portal.audit.models import Event
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations import ORIGIN

pytestmark = pytest.mark.django_db
ApiOf = Callable[[User | None], APIClient]
ClientOf = Callable[[User | None], Client]
NORA = "nora@example.org"
PEOPLE = "/campaigns/spring-round/people/"
API = "/api/v1/campaigns/spring-round/invitations/"
FORM = {"emails": NORA, "role": "annotator"}


@pytest.fixture
def console(settings: Any) -> None:
    """As on a site without a mail server."""
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
    assert "This site sends no emails" in page
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


def test_no_link_is_made_while_the_email_brings_it(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    client.post(PEOPLE, FORM)
    invitation = Invitation.objects.get()
    for _ in range(2):
        with pytest.raises(InvitationRefused, match="brings the link"):
            make_link(invitation=invitation, actor=lead, origin=ORIGIN)
        run_due_jobs()
    assert len(mail.outbox) == 1
    assert "Make a link" not in client.get(PEOPLE).content.decode()


def test_organisers_make_links_to_the_site(
    organiser: User, client_of: ClientOf, console: None
) -> None:
    client = client_of(organiser)
    page = client.post("/invitations/", {"emails": NORA}, follow=True).content.decode()
    assert "This site sends no emails" in page
    run_due_jobs()
    invitation = Invitation.objects.get()
    page = client.post(f"/invitations/{invitation.pk}/link/").content.decode()
    assert find_invitation(link_in(page)) == invitation
