"""Who publishes has a confirmed email address, and speaks for no team that is not theirs."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from rest_framework.test import APIClient

from portal.accounts.models import Team, User
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import PublicationRefused, publish_submission
from tests.accounts.teams.people import team_of
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import PERFECT, lines_of, make_submission, upload

pytestmark = pytest.mark.django_db
UNVERIFIED = '<span class="muted">unverified</span>'


@pytest.fixture
def unconfirmed(researcher: User) -> User:
    cache.clear()
    EmailAddress.objects.filter(user=researcher).update(verified=False)
    return researcher


def confirm(user: User) -> None:
    EmailAddress.objects.filter(user=user).update(verified=True)


def send(api: APIClient, **card: str) -> Any:
    data = {"name": "Reader", "file": upload(lines_of(PERFECT)), **card}
    return api.post("/api/v1/boards/board/submissions/", data, format="multipart")


def test_an_unconfirmed_account_submits_and_publishes_once_it_is_confirmed(
    board: Board, unconfirmed: User, run_jobs: RunJobs, api_of: ApiOf
) -> None:
    api = api_of(unconfirmed)
    sent = send(api)
    assert sent.status_code == 201
    run_jobs()
    publish = f"/api/v1/submissions/{sent.json()['id']}/publish/"
    refused = api.post(publish)
    assert refused.status_code == 409
    assert "Confirm your email address" in refused.json()["detail"]
    assert "/api/v1/account/confirmation/" in refused.json()["detail"]
    assert not Entry.objects.filter(kind="graded").exists()
    confirm(unconfirmed)
    assert api.post(publish).status_code == 200
    assert Entry.objects.filter(kind="graded").exists()


def test_the_page_offers_the_email_in_place_of_publishing(
    graded: Submission, unconfirmed: User, client_of: ClientOf
) -> None:
    client = client_of(unconfirmed)
    page = client.get(graded.get_absolute_url()).content.decode()
    publish = f"/submissions/{graded.pk}/publish/"
    assert "Confirm your email address to publish this result." in page
    assert "Resend email" in page
    assert publish not in page
    answer = client.post(publish, follow=True).content.decode()
    assert "Confirm your email address before you publish" in answer
    assert not Entry.objects.filter(kind="graded").exists()
    client.post("/accounts/email/", {"email": unconfirmed.email, "action_send": ""})
    [message] = mail.outbox
    assert message.to == [unconfirmed.email]
    confirm(unconfirmed)
    page = client.get(graded.get_absolute_url()).content.decode()
    assert publish in page
    assert "Confirm your email" not in page


def test_an_account_that_never_had_an_address_to_confirm_can_get_the_email(
    graded: Submission, unconfirmed: User, client_of: ClientOf
) -> None:
    """Such as one that an administrator made."""
    EmailAddress.objects.all().delete()
    client = client_of(unconfirmed)
    assert "Resend email" in client.get(graded.get_absolute_url()).content.decode()
    client.post("/accounts/email/", {"email": unconfirmed.email, "action_send": ""})
    assert len(mail.outbox) == 1


def test_a_program_asks_for_the_email(unconfirmed: User, api_of: ApiOf) -> None:
    api = api_of(unconfirmed)
    assert api.get("/api/v1/account/").json()["is_email_confirmed"] is False
    assert api.post("/api/v1/account/confirmation/").status_code == 202
    assert [message.to for message in mail.outbox] == [[unconfirmed.email]]
    assert api.post("/api/v1/account/confirmation/").json()["code"] == "too_soon"
    assert len(mail.outbox) == 1
    confirm(unconfirmed)
    assert api.post("/api/v1/account/confirmation/").status_code == 409
    assert api.get("/api/v1/account/").json()["is_email_confirmed"] is True
    assert api_of(None).post("/api/v1/account/confirmation/").status_code in {401, 403}


def test_organisers_and_members_of_the_team_publish_for_an_unconfirmed_submitter(
    board: Board, unconfirmed: User, ann: User, organiser: User, run_jobs: RunJobs
) -> None:
    EmailAddress.objects.filter(user=organiser).update(verified=False)
    mine = make_submission(board, unconfirmed)
    ours = make_submission(board, unconfirmed, team=team_of(ann, unconfirmed))
    run_jobs()
    with pytest.raises(PublicationRefused):
        publish_submission(submission=ours, actor=unconfirmed)
    publish_submission(submission=ours, actor=ann)
    publish_submission(submission=mine, actor=organiser)
    assert Entry.objects.filter(kind="graded").count() == 2


def test_where_nobody_is_asked_to_confirm_every_address_counts(
    graded: Submission, unconfirmed: User, settings: Any
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    publish_submission(submission=graded, actor=unconfirmed)
    assert Entry.objects.filter(kind="graded").exists()


@pytest.mark.parametrize("name", ["Ärzte Lab", "ÄRZTE  lab", " ärzte lab", "Ａ\u0308rzte Lab"])
def test_the_name_of_a_team_belongs_to_its_members(
    name: str, board: Board, researcher: User, ann: User, api_of: ApiOf
) -> None:
    team = team_of(ann)
    Team.objects.filter(pk=team.pk).update(name="Ärzte Lab")
    refused = send(api_of(researcher), organisation=name)
    assert refused.status_code == 409
    assert "is the name of a team that you are not in" in refused.json()["detail"]
    assert not Submission.objects.exists()
    assert send(api_of(researcher), organisation="Ärzte Lab of Hamburg").status_code == 201
    assert send(api_of(ann), organisation=name).status_code == 201


def test_an_organisation_is_the_submitters_word_until_it_is_verified(
    board: Board, researcher: User, run_jobs: RunJobs, client_of: ClientOf
) -> None:
    submission = make_submission(board, researcher, organisation="World Bank")
    run_jobs()
    publish_submission(submission=submission, actor=researcher)
    url = submission.get_absolute_url()
    assert UNVERIFIED in client_of(None).get(url).content.decode()
    table = client_of(None).get("/boards/board/").content.decode()
    assert "stated by submitters and unverified unless" in table
    Submission.objects.update(verdict="verified")
    assert UNVERIFIED not in client_of(None).get(url).content.decode()
