"""The first submission of a person to hidden gold waits for an organiser."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from portal.accounts.account_data import delete_account
from portal.accounts.emails import mark_confirmed
from portal.accounts.models import User
from portal.datasets.models import Release
from scoring.boards.limits import quota
from scoring.models import Approval, Attempt, Board, Grading, Phase, Submission
from scoring.submissions.approvals import (
    ApprovalRefused,
    approve_account,
    approve_submission,
    refuse_submission,
)
from scoring.submissions.services import withdraw_submission
from scoring.submissions.uploads import SubmissionRefused
from tests.accounts.teams.people import team_of
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import first_phase, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db
TOTALS = Phase.Diagnostics.AGGREGATES
HIDDEN = Release.Visibility.GOLD_HIDDEN
ORIGIN = "https://facts.example.org"


def make_asking_board(release: Release | None = None, **phase: Any) -> Board:
    settings: dict[str, Any] = {"approves_first": True, "diagnostics": TOTALS} | phase
    return make_board(release or make_release(visibility=HIDDEN), **settings)


@pytest.fixture
def asking() -> Board:
    return make_asking_board()


@pytest.fixture
def waiting(asking: Board, researcher: User) -> Submission:
    return make_submission(asking, researcher)


def approve(submission: Submission, organiser: User) -> None:
    approve_submission(submission=submission, actor=organiser, origin=ORIGIN)


def refuse(submission: Submission, organiser: User, reason: str = "Who are you?") -> None:
    refuse_submission(submission=submission, reason=reason, actor=organiser, origin=ORIGIN)


def test_the_first_submission_is_graded_once_it_is_approved(
    waiting: Submission, asking: Board, researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    run_jobs()
    assert not Grading.objects.exists()
    assert Attempt.objects.get().state == Attempt.State.HELD
    approve(waiting, organiser)
    approve(waiting, organiser)
    run_jobs()
    assert waiting.gradings.get().state == Grading.State.DONE
    assert Attempt.objects.get().state == Attempt.State.CHARGED
    assert [(message.to, "approved" in message.subject) for message in mail.outbox] == [
        ([researcher.email], True)
    ]
    assert f"{ORIGIN}{waiting.get_absolute_url()}" in mail.outbox[0].body
    make_submission(asking, researcher, name="Second")
    run_jobs()
    assert Grading.objects.count() == 2
    with pytest.raises(ApprovalRefused, match="already approved"):
        refuse(waiting, organiser)


def test_a_person_has_one_request_at_a_time_over_all_boards_of_the_gold(
    waiting: Submission, researcher: User
) -> None:
    other = make_asking_board(waiting.phase.release, slug="other")
    for board in (waiting.phase.board, other):
        with pytest.raises(SubmissionRefused, match="waits for approval by an organiser"):
            make_submission(board, researcher)
    assert Submission.objects.count() == 1


def test_a_rejected_submission_is_never_graded(
    waiting: Submission, asking: Board, researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    with pytest.raises(ApprovalRefused, match="Enter a reason"):
        refuse(waiting, organiser, "  ")
    refuse(waiting, organiser)
    refuse(waiting, organiser)
    run_jobs()
    assert not Grading.objects.exists()
    assert Attempt.objects.get().state == Attempt.State.FAILED
    assert "Who are you?" in mail.outbox[0].body
    assert len(mail.outbox) == 1
    with pytest.raises(ApprovalRefused, match="already rejected"):
        approve(waiting, organiser)
    again = make_submission(asking, researcher)
    assert again.approval.state == Approval.State.WAITING


def test_a_withdrawn_submission_cannot_be_approved(
    waiting: Submission, asking: Board, researcher: User, organiser: User, run_jobs: RunJobs
) -> None:
    withdraw_submission(submission=waiting, actor=researcher)
    for decide in (approve, refuse):
        with pytest.raises(ApprovalRefused, match="withdrawn"):
            decide(waiting, organiser)
    run_jobs()
    assert not Grading.objects.exists()
    assert Attempt.objects.get().state == Attempt.State.FAILED
    make_submission(asking, researcher)


def test_a_submission_in_time_is_graded_after_the_phase_closed(
    waiting: Submission, organiser: User, run_jobs: RunJobs
) -> None:
    Phase.objects.update(closes_at=timezone.now())
    approve(waiting, organiser)
    run_jobs()
    assert waiting.gradings.get().state == Grading.State.DONE


def test_who_has_scores_on_this_gold_does_not_wait(researcher: User, run_jobs: RunJobs) -> None:
    release = make_release(visibility=HIDDEN)
    make_submission(make_asking_board(release, slug="first", approves_first=False), researcher)
    run_jobs()
    make_submission(make_asking_board(release, slug="second"), researcher)
    assert Grading.objects.count() == 2


def test_only_first_submissions_to_hidden_gold_wait(organiser: User, researcher: User) -> None:
    make_submission(make_asking_board(make_release(), slug="public"), researcher)
    make_submission(make_asking_board(slug="hidden"), organiser)
    assert Grading.objects.count() == 2
    assert not Approval.objects.exists()


def test_a_second_account_of_an_approved_mailbox_does_not_wait(
    waiting: Submission, asking: Board, organiser: User
) -> None:
    approve(waiting, organiser)
    name, _, domain = waiting.owner.email.partition("@")
    twin = User.objects.create_user(email=f"{name}+2@{domain}", password=None)
    mark_confirmed(twin)
    make_submission(asking, twin)
    assert Grading.objects.count() == 2


def test_nobody_decides_about_a_submission_of_their_team(
    asking: Board, researcher: User, organiser: User
) -> None:
    ours = make_submission(asking, researcher, team=team_of(researcher, organiser))
    for decide in (approve, refuse):
        with pytest.raises(ApprovalRefused, match="your own submission or your team’s"):
            decide(ours, organiser)


def test_a_waiting_submission_goes_with_its_account(
    waiting: Submission, researcher: User, run_jobs: RunJobs
) -> None:
    delete_account(user=researcher)
    run_jobs()
    assert not Approval.objects.exists()
    attempt = Attempt.objects.get()
    assert (attempt.state, attempt.submission) == (Attempt.State.FAILED, None)


@pytest.mark.parametrize("asks", [False, True])
def test_an_organiser_approves_an_account_without_a_confirmed_email_address(
    asks: bool, researcher: User, organiser: User
) -> None:
    board = make_asking_board(approves_first=asks)
    EmailAddress.objects.filter(user=researcher).update(verified=False)
    with pytest.raises(SubmissionRefused, match="Organisers can also approve your account"):
        make_submission(board, researcher)
    for _ in range(2):
        approve_account(phase=first_phase(board), email=researcher.email, actor=organiser)
    assert Approval.objects.count() == 1
    make_submission(board, researcher)
    assert Grading.objects.count() == 1
    elsewhere = make_asking_board(make_release(visibility=HIDDEN), slug="other")
    with pytest.raises(SubmissionRefused, match="confirmed email address"):
        make_submission(elsewhere, researcher)


def test_approvals_of_accounts_that_cannot_be(waiting: Submission, organiser: User) -> None:
    public = first_phase(make_board(slug="public"))
    for phase, email, words in (
        (waiting.phase, "no-one@example.org", "no active account"),
        (public, waiting.owner.email, "is public"),
        (waiting.phase, waiting.owner.email, f"Submission {waiting.pk} of this account waits"),
    ):
        with pytest.raises(ApprovalRefused, match=words):
            approve_account(phase=phase, email=email, actor=organiser)


def test_the_attempt_of_a_waiting_submission_is_held(waiting: Submission) -> None:
    Phase.objects.update(per_day=1)
    waiting.phase.refresh_from_db()
    day = quota(waiting.phase, waiting.owner).day
    assert day is not None
    assert (day.held, day.left) == (1, 0)


# --- pages and API ---------------------------------------------------------------------------


def test_pages_show_what_waits_to_the_submitter_and_the_organiser(
    waiting: Submission, client_of: ClientOf, researcher: User, organiser: User
) -> None:
    url, board = waiting.get_absolute_url(), waiting.phase.board
    mine, theirs = client_of(researcher).get(url).text, client_of(organiser).get(url).text
    assert "Waiting for approval." in mine
    assert f"{url}approve/" not in mine
    assert f"{url}approve/" in theirs
    assert f"{url}refuse/" in theirs
    form = client_of(researcher).get(f"{board.get_absolute_url()}submit/").text
    assert "Organisers approve your first submission" in form
    manage = client_of(organiser).get(f"{board.get_absolute_url()}manage/").text
    assert f"{url}#approval" in manage
    assert "Approve or reject 1 submission" in client_of(organiser).get("/start/").text
    assert "First submissions" not in client_of(researcher).get("/start/").text
    done = client_of(organiser).post(f"{url}refuse/", {"reason": "A test."}, follow=True).text
    assert "Submission rejected." in done
    assert "so that it was not graded: A test." in client_of(researcher).get(url).text


def test_an_organiser_approves_on_the_page(
    waiting: Submission, client_of: ClientOf, organiser: User, ann: User
) -> None:
    client, url = client_of(organiser), waiting.get_absolute_url()
    assert "is being graded" in client.post(f"{url}approve/", follow=True).text
    assert Grading.objects.count() == 1
    board = waiting.phase.board.get_absolute_url()
    data = {"phase": waiting.phase.pk, "email": ann.email}
    done = client.post(f"{board}approvals/", data, follow=True).text
    assert "is approved for the hidden gold of this phase" in done
    wrong = client.post(f"{board}approvals/", data | {"email": "x@example.org"}, follow=True).text
    assert "There is no active account with the email address x@example.org." in wrong
    assert Approval.objects.filter(state="approved").count() == 2


def test_the_api_lists_and_decides(
    waiting: Submission, api_of: ApiOf, researcher: User, organiser: User, ann: User
) -> None:
    listing = f"/api/v1/boards/{waiting.phase.board.slug}/approvals/"
    [line] = api_of(organiser).get(listing).json()["results"]
    assert (line["submission"], line["state"]) == (waiting.pk, "waiting")
    own = api_of(researcher).get(f"/api/v1/submissions/{waiting.pk}/").json()
    assert (own["grading"], own["approval"]["state"]) == (None, "waiting")
    root = f"/api/v1/submissions/{waiting.pk}"
    assert api_of(organiser).post(f"{root}/refuse/", {}).status_code == 400
    assert api_of(organiser).post(f"{root}/refuse/", {"reason": "No."}).status_code == 200
    refused = api_of(organiser).post(f"{root}/approve/")
    assert (refused.status_code, "already rejected" in refused.json()["detail"]) == (409, True)
    data = {"phase": waiting.phase.slug, "email": ann.email}
    assert api_of(organiser).post(listing, data).status_code == 201
    assert api_of(organiser).post(listing, data | {"phase": "none"}).status_code == 400
    assert api_of(organiser).post(listing, data | {"email": "x@y.org"}).status_code == 409


@pytest.mark.parametrize("role", ["submitter", "other", "anonymous"])
def test_only_organisers_list_and_decide(
    role: str, waiting: Submission, client_of: ClientOf, api_of: ApiOf, ann: User
) -> None:
    user = {"submitter": waiting.owner, "other": ann, "anonymous": None}[role]
    board, url = waiting.phase.board, waiting.get_absolute_url()
    api, client = api_of(user), client_of(user)
    expected = 401 if user is None else 403
    assert api.get(f"/api/v1/boards/{board.slug}/approvals/").status_code == expected
    for path in (
        f"/api/v1/boards/{board.slug}/approvals/",
        f"/api/v1/submissions/{waiting.pk}/approve/",
        f"/api/v1/submissions/{waiting.pk}/refuse/",
    ):
        assert api.post(path, {"reason": "No."}).status_code == expected
    for path in (f"{board.get_absolute_url()}approvals/", f"{url}approve/", f"{url}refuse/"):
        assert client.post(path).status_code == (302 if user is None else 403)
    assert not Grading.objects.exists()
    assert Approval.objects.get().state == "waiting"


def test_the_setting_is_a_setting_of_a_phase(api_of: ApiOf, organiser: User) -> None:
    board = make_asking_board(approves_first=False)
    url = f"/api/v1/boards/{board.slug}/phases/{first_phase(board).slug}/"
    assert api_of(organiser).get(url).json()["approves_first"] is False
    changed = api_of(organiser).patch(url, {"approves_first": True}, format="json")
    assert changed.json()["approves_first"] is True
    assert first_phase(board).approves_first
