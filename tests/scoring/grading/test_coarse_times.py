"""How long a grading took on hidden gold is shown to the minute, except to organisers."""

import re

import pytest

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from scoring.grading.notices import message
from scoring.models import Submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import latest_grading, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def hidden(researcher: User) -> Submission:
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    submission = make_submission(make_board(release, diagnostics="aggregates"), researcher)
    run_due_jobs()
    return submission


def times_of(api_of: ApiOf, user: User, submission: Submission) -> list[str]:
    grading = api_of(user).get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    stages = [stage[name] for stage in grading["stages"] for name in ("at", "until") if stage[name]]
    return [grading["created_at"], grading["finished_at"], *stages]


def test_the_api_shows_full_minutes(
    hidden: Submission, researcher: User, organiser: User, api_of: ApiOf
) -> None:
    assert all(time.endswith(":00Z") for time in times_of(api_of, researcher, hidden))
    assert not all(time.endswith(":00Z") for time in times_of(api_of, organiser, hidden))


def test_the_page_shows_no_seconds(
    hidden: Submission, researcher: User, client_of: ClientOf
) -> None:
    grading, page = latest_grading(hidden), f"/submissions/{hidden.pk}/"
    assert grading.finished_at is not None
    text = client_of(researcher).get(page).content.decode()
    assert f"{grading.finished_at:%H:%M}" in text
    assert not re.search(r"\d\d:\d\d:(?!00)\d\d", text)


def test_webhooks_send_full_minutes(hidden: Submission) -> None:
    assert str(message(latest_grading(hidden))["finished_at"]).endswith(":00+00:00")


def test_public_gold_keeps_the_seconds(graded: Submission, researcher: User, api_of: ApiOf) -> None:
    assert not all(time.endswith(":00Z") for time in times_of(api_of, researcher, graded))
