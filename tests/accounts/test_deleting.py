"""Deleting an account: personal data is removed, and work that others depend on is kept."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client

from annotation.models import Assignment, Campaign, CampaignImport, Membership
from portal.accounts.access import issue_token
from portal.accounts.account_data import (
    AccountKept,
    delete_account,
    erase_rest,
    fate_of,
    request_export,
)
from portal.accounts.models import (
    ApiToken,
    Invitation,
    Team,
    User,
    display_name,
    is_former,
)
from portal.accounts.teams.services import make_owner
from portal.audit.models import Event
from portal.jobs.models import Job
from portal.jobs.services import enqueue
from portal.jobs.worker import run_due_jobs
from scoring.grading.notices import DELIVERY_KIND, add_webhook
from scoring.models import Attempt, Delivery, Submission, Webhook
from scoring.submissions.services import publish_submission
from tests.accounts.invitations.emails import invite
from tests.accounts.teams.people import owners, place_of, team_of
from tests.annotation.factories import comment, make_campaign, save, submit, work_of
from tests.conftest import PASSWORD
from tests.fixture_types import ClientOf
from tests.scoring.factories import make_board, make_submission
from tests.worlds import shared

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESSES = ("ann@example.org", "second@example.org")


def whole_database() -> dict[str, str]:
    """All rows as text, by table; sessions are decoded."""
    with connection.cursor() as cursor:
        found = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            found[table] = repr(cursor.fetchall())
    found["django_session"] += repr([session.get_decoded() for session in Session.objects.all()])
    return found


def gone(ann: User) -> User:
    delete_account(user=ann)
    run_due_jobs()
    return User.objects.get(pk=ann.pk)


@pytest.fixture
def busy(ann: User, ben: User, cleo: User, organiser: User, client_of: ClientOf) -> Campaign:
    """Ann has data wherever an email address or a name can be stored."""
    EmailAddress.objects.filter(user=ann).update(email=ADDRESSES[0])
    EmailAddress.objects.create(user=ann, email=ADDRESSES[1], verified=True)
    User.objects.filter(pk=ann.pk).update(name="Annabel Leigh", affiliation="Leigh University")
    ann.refresh_from_db()
    client = client_of(ann)
    Authenticator.objects.create(user=ann, type="totp", data={"secret": "x"})
    client.get("/account/")
    session = client.session
    session["noted"] = ann.email
    session.save()
    campaign = make_campaign([ann, ben, cleo], documents=3)
    CampaignImport.objects.create(
        campaign=campaign, source_name="f", form="jsonl", annotator=ann,
        faults=[f"no work of Annabel Leigh ({ann.email})"], fault_count=1,
    )  # fmt: skip
    invite(ADDRESSES[0], organiser)
    invite(ADDRESSES[1].upper(), organiser)
    invite("guest@example.org", ann)
    issue_token(user=ann, name="script")
    request_export(user=ann)
    run_due_jobs()
    Job.objects.filter(kind="send_invitation").update(
        error=f"SMTPRecipientsRefused: {{'{ADDRESSES[0].upper()}': 550}}"
    )
    team_of(ann, name="Alone")
    return campaign


@pytest.mark.parametrize("works", [True, False])
def test_no_address_and_no_name_is_left_in_the_database(
    busy: Campaign, ann: User, works: bool
) -> None:
    if works:
        submit(Assignment.objects.of(ann)[0], ("Number", "1,200"))
    before = "".join(whole_database().values()).lower()
    assert all(address in before for address in ADDRESSES)
    delete_account(user=ann)
    run_due_jobs()
    for table, rows in whole_database().items():
        for word in (*ADDRESSES, "annabel", "leigh"):
            assert word not in rows.lower(), (word, table)
    assert not default_storage.listdir("account-exports")[1]


def test_an_account_that_nothing_rests_on_is_deleted_outright(ann: User) -> None:
    issue_token(user=ann, name="script")
    delete_account(user=ann)
    assert is_former(User.objects.get(pk=ann.pk))
    run_due_jobs()
    assert not User.objects.exists()
    event = Event.objects.get(verb="delete_account")
    assert (event.subject_id, event.actor, event.data) == (str(ann.pk), None, {})


def test_labels_stay_as_a_former_members(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben], documents=1)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    former = gone(ann)
    assert display_name(former) == str(former) == "former member"
    assert former.email == f"former-member-{ann.pk}@deleted.invalid"
    assert (former.is_active, former.has_usable_password()) == (False, False)
    assert work_of(former, campaign).spans.count() == 1
    assert not Membership.objects.filter(user=former).exists()


def test_unfinished_work_goes_to_others(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben, cleo], documents=3)
    begun = Assignment.objects.of(ann)[0]
    save(begun, ("Number", "1,200"))
    gone(ann)
    open_ = Assignment.objects.filter(state__in=["assigned", "in_progress"])
    assert not open_.filter(annotator=ann).exists()
    assert open_.count() == 6
    begun.refresh_from_db()
    assert begun.state == "withdrawn"
    assert campaign.documents.count() == 3


def test_where_nobody_can_take_over_the_account_goes_all_the_same(ann: User, ben: User) -> None:
    campaign = make_campaign([ann, ben], documents=1)
    former = gone(ann)
    assert work_of(former, campaign).state == "assigned"
    assert not Membership.objects.filter(user=former).exists()


def test_published_results_stay_and_private_ones_go_with_their_files(
    ann: User, client_of: ClientOf
) -> None:
    board = make_board()
    private, public = make_submission(board, ann, name="Draft"), make_submission(board, ann)
    run_due_jobs()
    entry = publish_submission(submission=public, actor=ann)
    path, kept_path = str(private.upload.name), str(public.upload.name)
    former = gone(ann)
    [left] = Submission.objects.all()
    assert (left.pk, left.owner) == (public.pk, former)
    assert not default_storage.exists(path)
    assert default_storage.exists(kept_path)
    entry.refresh_from_db()
    page = client_of(None).get(board.get_absolute_url()).content.decode()
    assert "Reader" in page
    assert "Draft" not in page


def test_a_grading_under_way_is_stopped_before_its_rows_go(ann: User) -> None:
    make_submission(make_board(), ann)
    delete_account(user=ann)
    run_due_jobs()
    assert not Submission.objects.exists()
    assert not User.objects.exists()
    assert not Job.objects.filter(state="failed").exists()


def test_a_teams_submissions_stay_with_it_and_its_members_go_on(
    ann: User, ben: User, client_of: ClientOf
) -> None:
    team = team_of(ben, ann)
    submission = make_submission(make_board(), ann, team=team)
    stays = fate_of(ann).stays
    assert any(line.startswith("1 unpublished submission of your teams") for line in stays)
    assert not any("submission" in line for line in fate_of(ann).goes)
    former = gone(ann)
    submission.refresh_from_db()
    assert (submission.owner, submission.team) == (former, team)
    page = client_of(ben).get(submission.get_absolute_url()).content.decode()
    assert "former member" in page
    client_of(ben).post(f"{submission.get_absolute_url()}publish/")
    submission.refresh_from_db()
    assert submission.publication == "public"
    # The team's limits stay used.
    assert Attempt.objects.get().team == team


def test_submissions_of_a_team_without_anybody_else_go(ann: User) -> None:
    make_submission(make_board(), ann, team=team_of(ann))
    assert any("1 unpublished submission" in line for line in fate_of(ann).goes)
    delete_account(user=ann)
    run_due_jobs()
    assert not Submission.objects.exists()
    assert not User.objects.exists()


def test_webhooks_receive_nothing_more_and_are_deleted(
    ann: User, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[str] = []

    def post(url: str, *_: object) -> int:
        received.append(url)
        return 200

    monkeypatch.setattr("scoring.grading.notices.post", post)
    webhook = add_webhook(user=ann, url="https://93.184.216.34/of-annabel")
    submission = make_submission(make_board(), ann, team=team_of(ben, ann))
    waiting = Delivery.objects.create(webhook=webhook, submission=submission, body="{}")
    enqueue(kind=DELIVERY_KIND, payload={"delivery": waiting.pk})
    assert any("1 webhook" in line for line in fate_of(ann).goes)
    gone(ann)
    assert received == []
    assert not Webhook.objects.exists()
    assert "of-annabel" not in str(whole_database())


def test_an_account_that_was_not_deleted_is_never_erased(ann: User) -> None:
    make_submission(make_board(), ann)
    erase_rest(ann)
    assert Submission.objects.count() == 1
    assert User.objects.filter(pk=ann.pk).exists()


def test_the_second_step_may_run_again(ann: User, ben: User) -> None:
    campaign = make_campaign([ann, ben])
    submit(work_of(ann, campaign), ("Number", "1,200"))
    former = gone(ann)
    erase_rest(former)
    assert User.objects.get(pk=ann.pk) == former
    with pytest.raises(AccountKept):
        delete_account(user=former)


def test_nothing_opens_the_account_any_more(ann: User, client_of: ClientOf) -> None:
    _, secret = issue_token(user=ann, name="script")
    elsewhere = client_of(ann)
    delete_account(user=ann)
    assert elsewhere.get("/account/").status_code == 302
    bearer = {"authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/account/", headers=bearer).status_code == 401
    login = {"login": "ann@example.org", "password": PASSWORD}
    assert Client().post("/accounts/login/", login).status_code == 200
    run_due_jobs()
    keys = [session.get_decoded().get(SESSION_KEY) for session in Session.objects.all()]
    assert str(ann.pk) not in keys


def test_the_address_is_free_again(ann: User, client: Client) -> None:
    delete_account(user=ann)
    new = {"name": "Ann", "email": "ann@example.org", "password1": "battery staple 7",
           "password2": "battery staple 7"}  # fmt: skip
    client.post("/accounts/signup/", new)
    fresh = User.objects.get(email="ann@example.org")
    assert fresh.pk != ann.pk
    assert fresh.terms_accepted_at is not None


def test_nobody_passes_for_a_former_member(client: Client, ann: User, client_of: ClientOf) -> None:
    taken = "former-member-1@Deleted.Invalid"
    new = {"name": "Eve", "email": taken, "password1": "battery staple 7",
           "password2": "battery staple 7"}  # fmt: skip
    page = client.post("/accounts/signup/", new).content.decode()
    assert "This email address cannot receive email" in page
    client_of(ann).post("/accounts/email/", {"email": taken, "action_add": ""})
    assert not EmailAddress.objects.filter(email__iexact=taken).exists()
    assert User.objects.count() == 1


def test_invitations_to_the_address_end(ann: User, organiser: User) -> None:
    invitation, _ = invite(ann.email, organiser)
    delete_account(user=ann)
    invitation.refresh_from_db()
    assert invitation.revoked_at is not None
    assert not Invitation.objects.filter(email__iexact="ann@example.org").exists()


# --- reasons against deletion -------------------------------------------------------------------


def kept(user: User) -> str:
    before = whole_database()
    with pytest.raises(AccountKept) as caught:
        delete_account(user=user)
    assert whole_database() == before
    return str(caught.value)


def test_the_only_organiser_stays(organiser: User, ann: User) -> None:
    assert "only organiser" in kept(organiser)
    User.objects.filter(pk=ann.pk).update(is_organiser=True, is_active=False)
    assert "only organiser" in kept(organiser)
    User.objects.filter(pk=ann.pk).update(is_active=True)
    delete_account(user=organiser)


def test_the_only_owner_hands_over_first(ann: User, ben: User) -> None:
    team = team_of(ann, ben)
    issue_token(user=ann, name="script")
    assert "only owner of the team “Fact finders”" in kept(ann)
    assert ApiToken.objects.count() == 1
    make_owner(member=place_of(ben, team), actor=ann)
    delete_account(user=ann)
    assert owners(team) == {"Ben"}


def test_a_team_without_anybody_else_is_closed(ann: User) -> None:
    team_of(ann)
    assert any("“Fact finders”" in line for line in fate_of(ann).goes)
    delete_account(user=ann)
    assert not Team.objects.exists()


# --- the page -----------------------------------------------------------------------------------


@pytest.fixture
@shared
def leaving(ann: User, ben: User) -> User:
    campaign = make_campaign([ann, ben], documents=1)
    comment(work_of(ann, campaign))
    submit(work_of(ann, campaign), ("Number", "1,200"))
    board = make_board()
    make_submission(board, ann, name="Draft")
    submission = make_submission(board, ann)
    run_due_jobs()
    publish_submission(submission=submission, actor=ann)
    return ann


def test_the_page_says_before_what_goes_and_what_stays(leaving: User, client_of: ClientOf) -> None:
    page = client_of(leaving).get("/account/delete/").content.decode()
    for words in (
        "1 unpublished submission",
        "1 published result, including the model card",
        "Your labels of 1 document",
        "Your roles in 1 campaign",
        "without your name",
    ):
        assert words in page, words


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"password": "wrong", "email": "ann@example.org"}, "The password is incorrect."),
        (
            {"password": PASSWORD, "email": "ben@example.org"},
            "not the email address of this account",
        ),
        ({"password": "", "email": ""}, "This field is required."),
    ],
)
def test_without_password_and_address_nothing_happens(
    ann: User, client_of: ClientOf, data: dict[str, str], words: str
) -> None:
    assert words in client_of(ann).post("/account/delete/", data).content.decode()
    ann.refresh_from_db()
    assert not is_former(ann)


def test_the_password_cannot_be_guessed(ann: User, client_of: ClientOf) -> None:
    client = client_of(ann)
    answers = [
        client.post("/account/delete/", {"password": f"w{n}", "email": ann.email}).status_code
        for n in range(12)
    ]
    assert answers[0] == 200
    assert answers[-1] == 429
    right = {"password": PASSWORD, "email": ann.email}
    assert client.post("/account/delete/", right).status_code == 429
    ann.refresh_from_db()
    assert not is_former(ann)


def test_deleting_by_hand_logs_out_and_says_so(ann: User, client_of: ClientOf) -> None:
    client = client_of(ann)
    right = {"password": PASSWORD, "email": "ANN@example.org"}
    page = client.post("/account/delete/", right, follow=True)
    assert page.redirect_chain[-1][0] == "/"
    assert "Account deleted." in page.content.decode()
    assert SESSION_KEY not in client.session


def test_what_prevents_it_is_told_and_no_form_is_shown(
    ann: User, ben: User, client_of: ClientOf
) -> None:
    team_of(ann, ben)
    client = client_of(ann)
    page = client.get("/account/delete/").content.decode()
    assert "Make another member an owner" in page
    assert 'name="password"' not in page
    client.post("/account/delete/", {"password": PASSWORD, "email": ann.email})
    ann.refresh_from_db()
    assert not is_former(ann)


def test_an_account_without_a_password_gets_one_first(ann: User, client_of: ClientOf) -> None:
    ann.set_unusable_password()
    ann.save()
    client = client_of(ann)
    page = client.get("/account/delete/").content.decode()
    assert "/accounts/password/set/" in page
    client.post("/account/delete/", {"password": "", "email": ann.email})
    ann.refresh_from_db()
    assert not is_former(ann)


def test_pages_ask_for_a_log_in_and_posts(client: Client, ann: User, client_of: ClientOf) -> None:
    for path in ("delete/", "exports/", "exports/new/", "sessions/end/"):
        assert client.post(f"/account/{path}").status_code in {302, 405}
    for path in ("exports/new/", "sessions/end/"):
        assert client_of(ann).get(f"/account/{path}").status_code == 405


def test_no_token_deletes_the_account(ann: User) -> None:
    _, secret = issue_token(user=ann, name="script")
    bearer: dict[str, Any] = {"authorization": f"Bearer {secret}"}
    assert Client().delete("/api/v1/account/", headers=bearer).status_code == 405
    assert Client().get("/account/delete/", headers=bearer).status_code == 302
