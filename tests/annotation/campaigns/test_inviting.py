"""Inviting people: existing accounts join at once, others get an email."""

import re

import pytest
from django.core import mail
from django.test import Client

from annotation.campaigns.people import Invited, invite_people
from annotation.errors import Refused
from annotation.models import Campaign, CampaignInvitation, Membership
from portal.accounts.invitations.selectors import InvitationRefused, find_invitation
from portal.accounts.invitations.services import accept_invitation
from portal.accounts.models import Invitation, User
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import ORIGIN, email_to, expire, secret_for
from tests.annotation.factories import make_campaign
from tests.conftest import make_user
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db
NORA = "nora@example.org"
PEOPLE = "/campaigns/spring-round/people/"
API = "/api/v1/campaigns/spring-round/invitations/"


def invite(campaign: Campaign, *emails: str, role: str = "annotator", actor: User) -> Invited:
    return invite_people(campaign=campaign, emails=emails, role=role, actor=actor, origin=ORIGIN)


def roles(campaign: Campaign, user: User) -> list[str]:
    rows = Membership.objects.filter(campaign=campaign, user=user)
    return list(rows.values_list("role", flat=True))


def test_accounts_join_at_once_and_others_are_invited(
    campaign: Campaign, lead: User, cleo: User
) -> None:
    found = invite(campaign, cleo.email, "ann@example.org", NORA, actor=lead)
    assert found == Invited((cleo.email,), (NORA,), ("ann@example.org",))
    assert roles(campaign, cleo) == ["annotator"]
    run_due_jobs()
    assert sorted(message.to[0] for message in mail.outbox) == [cleo.email, NORA]


def test_emails_name_the_role(campaign: Campaign, lead: User, cleo: User) -> None:
    invite(campaign, cleo.email, NORA, role="reviewer", actor=lead)
    run_due_jobs()
    told, asked = email_to(cleo.email), email_to(NORA)
    assert told.startswith("Hello Cleo,")
    assert "Lea made you a reviewer of the campaign “Spring round”." in told
    assert f"{ORIGIN}/campaigns/spring-round/leave/" in told
    assert "Lea invited you to become a reviewer of the campaign “Spring round”." in asked
    assert "check a random sample of the gold" in asked
    assert "&" not in told + asked, "plain text, nothing escaped"


def test_inviting_again_sends_no_second_email(campaign: Campaign, lead: User) -> None:
    invite(campaign, NORA, actor=lead)
    assert invite(campaign, NORA, actor=lead).known == (NORA,)
    assert invite(campaign, NORA, role="reviewer", actor=lead).invited == (NORA,)
    expire(Invitation.objects.earliest("id"))
    assert invite(campaign, NORA, actor=lead).invited == (NORA,)


def test_switched_off_account_stops_all_of_it(campaign: Campaign, lead: User, cleo: User) -> None:
    cleo.is_active = False
    cleo.save()
    with pytest.raises(Refused, match=r"The account of cleo@example\.org is deactivated"):
        invite(campaign, NORA, cleo.email, actor=lead)
    assert not Invitation.objects.exists()


def test_accepting_gives_the_role(campaign: Campaign, lead: User) -> None:
    invite(campaign, NORA, actor=lead)
    nora = make_user("Nora")
    offer = accept_invitation(invitation=Invitation.objects.get(), user=nora)
    assert roles(campaign, nora) == ["annotator"]
    assert offer.url == "/campaigns/spring-round/"


def test_who_holds_the_role_by_then_keeps_it(campaign: Campaign, lead: User) -> None:
    invite(campaign, NORA, actor=lead)
    nora = make_user("Nora")
    invite(campaign, NORA, actor=lead)
    accept_invitation(invitation=Invitation.objects.get(), user=nora)
    assert roles(campaign, nora) == ["annotator"]


@pytest.mark.parametrize("loss", ["role", "switched off", "account", "only lead gives lead"])
def test_inviter_must_still_be_able_to_give_the_role(
    campaign: Campaign, lead: User, organiser: User, loss: str
) -> None:
    inviter, role = (organiser, "lead") if loss == "only lead gives lead" else (lead, "annotator")
    invite(campaign, NORA, role=role, actor=inviter)
    nora = make_user("Nora")
    if loss == "role":
        Membership.objects.filter(user=lead).delete()
    elif loss == "switched off":
        User.objects.filter(pk=lead.pk).update(is_active=False)
    elif loss == "account":
        lead.delete()
    else:
        User.objects.filter(pk=organiser.pk).update(is_organiser=False)
        Membership.objects.create(campaign=campaign, user=organiser, role="lead")
    invitation = Invitation.objects.get()
    with pytest.raises(InvitationRefused, match="can no longer grant this role"):
        accept_invitation(invitation=invitation, user=nora)
    invitation.refresh_from_db()
    assert invitation.accepted_at is None, "refused is not used up"
    assert roles(campaign, nora) == []


# --- pages -------------------------------------------------------------------------------------


def test_people_page_takes_several_and_lists_who_has_not_answered(
    campaign: Campaign, lead: User, cleo: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    data = {"emails": f"CLEO@example.org\n{NORA}\nann@example.org", "role": "annotator"}
    text = client.post(PEOPLE, data, follow=True).content.decode()
    assert "Added as annotator: cleo@example.org." in text
    assert f"Invited by email as annotator: {NORA}." in text
    assert "Already annotator or invited: ann@example.org." in text
    [row] = client.get(PEOPLE).context["invitations"]
    assert (row.email, row.role, row.email_state, row.invited_by) == (
        NORA, "annotator", "waiting", "Lea",
    )  # fmt: skip


def test_all_faults_of_the_list_are_shown_and_nothing_is_done(
    campaign: Campaign, lead: User, cleo: User, client_of: ClientOf
) -> None:
    data = {"emails": f"{cleo.email}\nx\n{NORA}\ny@", "role": "annotator"}
    errors = client_of(lead).post(PEOPLE, data).context["form"].errors["emails"]
    assert [error[:9] for error in errors] == ["Line 2: “", "Line 4: “"]
    assert roles(campaign, cleo) == []
    assert not Invitation.objects.exists()


def test_accepted_and_withdrawn_ones_leave_the_list(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    invite(campaign, NORA, "second@example.org", actor=lead)
    accept_invitation(invitation=Invitation.objects.get(email=NORA), user=make_user("Nora"))
    second = CampaignInvitation.objects.get(invitation__email="second@example.org")
    client.post(f"/campaigns/spring-round/invitations/{second.pk}/revoke/")
    assert client.get(PEOPLE).context["invitations"] == []
    late = client.post(f"/campaigns/spring-round/invitations/{second.pk}/resend/", follow=True)
    assert "was withdrawn" in late.content.decode()


@pytest.mark.parametrize("act", ["resend", "revoke"])
def test_leads_do_not_touch_what_organisers_gave(
    campaign: Campaign, lead: User, organiser: User, client_of: ClientOf, api_of: ApiOf, act: str
) -> None:
    invite(campaign, NORA, role="lead", actor=organiser)
    pk = CampaignInvitation.objects.get().pk
    address = f"/campaigns/spring-round/invitations/{pk}/{act}/"
    assert client_of(lead).post(address).status_code == 403
    assert "Withdraw" not in client_of(lead).get(PEOPLE).content.decode()
    assert client_of(organiser).post(address).status_code == 302
    assert api_of(lead).delete(f"{API}{pk}/").status_code == 403


def test_invitation_of_another_campaign_is_not_found(
    campaign: Campaign, lead: User, ann: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    other = make_campaign([ann], lead=ann, overlap=1, title="Autumn round")
    invite(other, NORA, actor=ann)
    pk = CampaignInvitation.objects.get().pk
    assert (
        client_of(lead).post(f"/campaigns/spring-round/invitations/{pk}/revoke/").status_code == 404
    )
    assert api_of(lead).delete(f"{API}{pk}/").status_code == 404


# --- API ---------------------------------------------------------------------------------------


def test_api_invites_lists_sends_again_and_withdraws(
    campaign: Campaign, lead: User, cleo: User, api_of: ApiOf
) -> None:
    api = api_of(lead)
    body = {"emails": [cleo.email, NORA, "ann@example.org"], "role": "annotator"}
    made = api.post(API, body, format="json")
    assert made.status_code == 201
    assert made.json() == {
        "added": [cleo.email], "invited": [NORA], "known": ["ann@example.org"],
    }  # fmt: skip
    [row] = api.get(API).json()
    assert (row["email"], row["role"], row["letter"]) == (NORA, "annotator", "waiting")
    again = api.post(f"{API}{row['id']}/resend/")
    assert (again.status_code, again.json()["code"]) == (409, "too_soon")
    assert api.delete(f"{API}{row['id']}/").status_code == 204
    assert api.get(API).json() == []


def test_api_lists_all_faults(campaign: Campaign, lead: User, api_of: ApiOf) -> None:
    body = {"emails": ["x", NORA, "y@"], "role": "annotator"}
    response = api_of(lead).post(API, body, format="json")
    assert response.status_code == 400
    assert len(response.json()["emails"]) == 2
    body = {"emails": [NORA], "role": "lead"}
    assert api_of(lead).post(API, body, format="json").status_code == 403
    assert not Invitation.objects.exists()


def test_no_list_shows_the_secret(
    campaign: Campaign, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    """Only the recipient of the email can accept, not even the inviter."""
    invite(campaign, NORA, actor=lead)
    run_due_jobs()
    secret = secret_for(NORA)
    found = find_invitation(secret)
    assert found is not None
    answers = [client_of(lead).get(PEOPLE).content, api_of(lead).get(API).content]
    for answer in answers:
        assert secret not in answer.decode()
        assert found.digest not in answer.decode()


def test_new_person_signs_up_through_the_email_and_is_annotator(
    campaign: Campaign, lead: User, client_of: ClientOf, client: Client, settings: object
) -> None:
    client_of(lead).post(PEOPLE, {"emails": NORA, "role": "annotator"})
    run_due_jobs()
    link = re.search(r"http://testserver(/invitations/\S+)", email_to(NORA))
    assert link is not None
    settings.SIGN_UP = "invited"  # type: ignore[attr-defined]
    data = {"name": "Nora", "password1": "battery staple 7", "password2": "battery staple 7"}
    client.post("/accounts/signup/", data | {"next": link[1]})
    done = client.post(f"{link[1]}accept/", follow=True)
    assert done.redirect_chain[-1][0] == "/campaigns/spring-round/"
    assert "You are now an annotator of the campaign “Spring round”." in done.content.decode()
    assert roles(campaign, User.objects.get(email=NORA)) == ["annotator"]
