"""Limits of a phase: charging and releasing attempts, and the messages."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from portal.accounts.models import User
from scoring.boards.limits import DAY, hold_place, phase_quotas, quota
from scoring.grading.services import (
    GradingRefused,
    cancel_grading,
    fail_grading,
    retry_grading,
    start_grading,
)
from scoring.models import Attempt, Board, Grading, Phase, Submission
from scoring.models.boards import moment
from scoring.submissions.uploads import SubmissionRefused
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    latest_grading,
    lines_of,
    make_board,
    make_submission,
    places_taken,
    upload,
    waiting,
)

pytestmark = pytest.mark.django_db


def limited(**limits: Any) -> Board:
    return make_board(**limits)


def attempts_before(phase: Phase, user: User, *ages: timedelta, state: str = "charged") -> None:
    """Attempts that were settled so long ago."""
    for age in ages:
        submission = Submission.objects.create(phase=phase, owner=user, name="Earlier")
        Attempt.objects.create(
            submission=submission,
            phase=phase,
            user=user,
            state=state,
            settled_at=timezone.now() - age,
        )


def test_a_score_uses_a_place_up(researcher: User, run_jobs: RunJobs) -> None:
    board = limited(in_total=2)
    make_submission(board, researcher)
    held = quota(first_phase(board), researcher).total
    assert held is not None
    assert (held.used, held.held, held.left) == (0, 1, 1)
    run_jobs()
    charged = quota(first_phase(board), researcher).total
    assert charged is not None
    assert (charged.used, charged.held, charged.left) == (1, 0, 1)


def test_without_a_place_nothing_is_stored(researcher: User, run_jobs: RunJobs) -> None:
    board = limited(in_total=1)
    make_submission(board, researcher)
    run_jobs()
    with pytest.raises(
        SubmissionRefused, match="reached your limit of 1 scored submission in “Test”"
    ):
        make_submission(board, researcher)
    assert Submission.objects.count() == 1


def test_one_that_is_being_graded_holds_its_place(researcher: User) -> None:
    board = limited(per_day=1)
    make_submission(board, researcher)
    with pytest.raises(SubmissionRefused, match="if a submission that is being graded fails"):
        make_submission(board, researcher)


def test_a_cancelled_attempt_gives_its_place_back_and_counts_as_failed(researcher: User) -> None:
    board = limited(in_total=1, failed_per_day=2)
    submission = make_submission(board, researcher)
    cancel_grading(grading=latest_grading(submission), actor=researcher)
    found = quota(first_phase(board), researcher)
    assert found.total is not None
    assert found.total.left == 1
    assert found.failed is not None
    assert (found.failed.used, found.failed.left) == (1, 1)


def test_failed_attempts_have_a_limit_of_their_own(researcher: User) -> None:
    board = limited(failed_per_day=1)
    fail_grading(pk=latest_grading(make_submission(board, researcher)).pk, reason="broken")
    with pytest.raises(SubmissionRefused, match="1 failed attempt"):
        make_submission(board, researcher)


def test_only_failed_attempts_of_the_last_day_count_as_failed(researcher: User) -> None:
    phase = first_phase(limited(failed_per_day=3))
    attempts_before(phase, researcher, timedelta(hours=1))
    attempts_before(phase, researcher, timedelta(hours=2), timedelta(hours=25), state="failed")
    failed = quota(phase, researcher).failed
    assert failed is not None
    assert failed.used == 1


@pytest.mark.parametrize(
    ("charged", "ending"),
    [(2, "scored submissions in “Test”."), (1, "if a submission that is being graded fails.")],
)
def test_a_spent_total_says_whether_a_place_may_come_back(
    researcher: User, charged: int, ending: str
) -> None:
    board = limited(in_total=2)
    attempts_before(first_phase(board), researcher, *[timedelta(hours=1)] * charged)
    for _ in range(2 - charged):
        make_submission(board, researcher)
    assert quota(first_phase(board), researcher).refusal.endswith(ending)


def test_a_submission_holds_one_place(researcher: User) -> None:
    submission = make_submission(limited(in_total=1), researcher)
    held = hold_place(submission=submission, actor=researcher)
    assert held == Attempt.objects.get()
    assert hold_place(submission=submission, actor=researcher) == held


def test_going_on_with_a_failed_one_takes_a_place_again(researcher: User, organiser: User) -> None:
    board = limited(in_total=1)
    first = make_submission(board, researcher)
    cancel_grading(grading=latest_grading(first), actor=researcher)
    make_submission(board, researcher)
    with pytest.raises(GradingRefused, match="reached"):
        retry_grading(grading=latest_grading(first), actor=researcher)
    assert latest_grading(first).state == Grading.State.CANCELLED
    retry_grading(grading=latest_grading(first), actor=organiser)
    assert Attempt.objects.get(submission=first).state == Attempt.State.HELD


def test_grading_anew_takes_nothing(researcher: User, organiser: User, run_jobs: RunJobs) -> None:
    board = limited(in_total=3)
    submission = make_submission(board, researcher)
    run_jobs()
    start_grading(submission=submission, actor=organiser)
    run_jobs()
    found = quota(first_phase(board), researcher).total
    assert found is not None
    assert found.used == 1


def test_a_day_is_the_last_24_hours_to_the_second(researcher: User) -> None:
    board = limited(per_day=2)
    phase, second = first_phase(board), timedelta(seconds=1)
    attempts_before(phase, researcher, DAY + second, DAY - 60 * second)
    day = quota(phase, researcher).day
    assert day is not None
    assert (day.used, day.left, day.free_at) == (1, 1, None)
    attempts_before(phase, researcher, timedelta(hours=1))
    found = quota(phase, researcher)
    assert found.day is not None
    assert found.day.left == 0
    oldest = Attempt.objects.order_by("settled_at")[1].settled_at
    assert oldest is not None
    # The exact second would show how long a grading took.
    free_at = found.day.free_at
    assert free_at is not None
    assert (free_at.second, free_at.microsecond) == (0, 0)
    assert timedelta(0) <= free_at - oldest - DAY < timedelta(minutes=1)
    assert "You can submit again on" in found.refusal


def test_limits_are_each_accounts_own(researcher: User, stranger: User) -> None:
    board = limited(in_total=1)
    attempts_before(first_phase(board), researcher, timedelta(days=9))
    assert quota(first_phase(board), researcher).refusal
    assert not quota(first_phase(board), stranger).refusal


def test_organisers_have_no_limits(organiser: User) -> None:
    board = limited(in_total=1)
    make_submission(board, organiser)
    make_submission(board, organiser)
    assert Submission.objects.count() == 2


def test_without_limits_nothing_is_asked(
    board: Board, researcher: User, django_assert_num_queries: Any
) -> None:
    phase = first_phase(board)
    with django_assert_num_queries(0):
        assert quota(phase, researcher).allowances == []


def test_the_standings_of_many_phases_are_one_query(
    researcher: User, django_assert_num_queries: Any
) -> None:
    phases = [first_phase(make_board(slug=f"board-{n}", per_day=n)) for n in range(1, 5)]
    with django_assert_num_queries(1):
        found = phase_quotas(researcher, phases)
    assert [each.day.limit for each in found if each.day] == [1, 2, 3, 4]


def test_the_page_says_what_is_left(client_of: ClientOf, researcher: User) -> None:
    board = limited(per_day=5)
    attempts_before(first_phase(board), researcher, timedelta(hours=1), timedelta(hours=2))
    page = client_of(researcher).get(f"/boards/{board.slug}/submit/").content.decode()
    assert "Submissions left: 3 of 5 in 24 hours" in page


def test_a_spent_limit_is_told_by_page_and_api(
    client_of: ClientOf, api_of: ApiOf, researcher: User
) -> None:
    board = limited(per_day=1)
    attempts_before(first_phase(board), researcher, timedelta(hours=1))
    card = {"name": "Reader", "category": "other", "phase": first_phase(board).pk}
    answer = client_of(researcher).post(
        f"/boards/{board.slug}/submit/",
        card | {"form_key": "k", "file": upload(lines_of(PERFECT))},
    )
    assert answer.status_code == 409
    assert "You can submit again on" in answer.content.decode()
    told = api_of(researcher).get(f"/api/v1/boards/{board.slug}/phases/test/limits/").json()
    assert (told["day"]["left"], told["total"]) == (0, None)
    assert told["day"]["free_at"].endswith("Z")
    assert told["refusal"]


def test_checking_a_file_uses_nothing_up(api_of: ApiOf, researcher: User) -> None:
    board = limited(per_day=1)
    url = f"/api/v1/boards/{board.slug}/check/"
    for _ in range(2):
        answer = api_of(researcher).post(
            url, {"file": upload(lines_of(PERFECT))}, format="multipart"
        )
        assert (answer.status_code, answer.json()["detail"]) == (200, "")
        assert answer.json()["predictions"] == 3
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ("UTC", "21 November 2026, 14:05 UTC"),
        ("Asia/Kathmandu", "21 November 2026, 19:50 Asia/Kathmandu"),
        ("America/New_York", "21 November 2026, 09:05 America/New_York"),
    ],
)
def test_times_are_told_in_the_phases_zone(zone: str, told: str) -> None:
    when = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
    assert moment(Phase(time_zone=zone), when) == told


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_two_tabs_cannot_both_take_the_last_place(researcher: User) -> None:
    phase = first_phase(limited(in_total=1))
    assert places_taken([waiting(phase, researcher) for _ in range(8)]) == 1


def test_limits_of_zero_that_were_stored_are_replaced() -> None:
    """Phases of earlier versions refused everything, and their forms could not be saved."""
    phase = first_phase(limited())
    Phase.objects.filter(pk=phase.pk).update(failed_per_day=0, per_day=0, in_total=0)
    other = first_phase(make_board(slug="other"))
    Phase.objects.filter(pk=other.pk).update(failed_per_day=3, per_day=None, in_total=2)
    import_module("scoring.migrations.0008_limits_without_zero").replace_zeros(apps, None)
    limits = Phase.objects.order_by("pk").values_list("failed_per_day", "per_day", "in_total")
    assert list(limits) == [(None, 1, 1), (3, None, 2)]
