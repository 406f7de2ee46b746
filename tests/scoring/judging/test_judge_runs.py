"""A judge's pass over a submission, by the site's own job and a real client on loopback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from portal.accounts.models import User
from portal.jobs.models import Job
from scoring.judging.runs import cancel_run, start_judge_run, store_verdicts
from scoring.judging.services import JudgingRefused
from scoring.models import JudgeRun, Submission
from tests.fixture_types import ClientOf, RunJobs
from tests.scoring.judge.server import MODEL, JudgeServer, in_turn, lying, perfect, serve, status

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(settings: Any, tmp_path: Path) -> Iterator[JudgeServer]:
    with serve() as judge:
        settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = judge.url, MODEL
        settings.JUDGE_CACHE, settings.JUDGE_CONCURRENCY = tmp_path / "answers", 2
        settings.JUDGE_PRICE_INPUT, settings.JUDGE_PRICE_OUTPUT = 1.0, 2.0
        settings.JUDGE_ATTEMPTS = 1
        yield judge


def begin(submission: Submission, budget: float | None = None) -> JudgeRun:
    return start_judge_run(submission=submission, budget=budget, actor=None)


def test_a_run_from_the_question_to_the_figures(
    server: JudgeServer, published: Submission, run_jobs: RunJobs
) -> None:
    """Four of six facts are right; the script misses the date before the full stop."""
    run = begin(published)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, run.error, run.unscored) == ("done", "", {})
    assert run.verdicts.count() == run.items_total == 3
    assert (run.summary["correct_entities"], run.summary["total_entities"]) == (3, 6)
    assert (run.usage["calls"], len(server.calls)) == (3, 3)
    assert run.usage["cost"] == pytest.approx(server.cost(1.0, 2.0))


def test_another_run_of_the_same_version_asks_nothing(
    server: JudgeServer, published: Submission, run_jobs: RunJobs
) -> None:
    begin(published)
    run_jobs()
    again = begin(published)
    run_jobs()
    again.refresh_from_db()
    assert (again.state, again.usage["calls"], len(server.calls)) == ("done", 0, 3)


def test_what_a_lying_judge_claims_is_overruled(
    server: JudgeServer, published: Submission, run_jobs: RunJobs
) -> None:
    server.script = lying
    run = begin(published)
    run_jobs()
    run.refresh_from_db()
    assert run.summary["correct_entities"] == 4
    overruled = [v.result["judge"]["overruled"] for v in run.verdicts.all()]
    assert sum(map(len, overruled)) == 2


def test_pages_the_judge_fails_on_are_unscored_and_count_nowhere(
    server: JudgeServer, published: Submission, run_jobs: RunJobs
) -> None:
    server.script = in_turn(status(500), perfect)
    run = begin(published)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, len(run.unscored), run.verdicts.count()) == ("done", 1, 2)
    counted = sum(len(verdict.result["facts"]) for verdict in run.verdicts.all())
    assert run.summary["total_entities"] == counted < 6


def test_a_budget_of_nothing_asks_nothing(
    server: JudgeServer, published: Submission, run_jobs: RunJobs
) -> None:
    run = begin(published, budget=0)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, server.calls, len(run.unscored)) == ("done", [], 3)
    assert run.summary["entity_accuracy"] is None


def test_a_run_that_waits_is_cancelled_without_a_question(
    server: JudgeServer, published: Submission, run_jobs: RunJobs
) -> None:
    run = begin(published)
    cancel_run(run=run, actor=None)
    cancel_run(run=run, actor=None)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, server.calls) == ("cancelled", [])


def test_a_run_that_is_cancelled_keeps_what_was_judged(
    server: JudgeServer, published: Submission, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.judging.runs._AT_ONCE", 1)
    run = begin(published)

    def store(*args: Any) -> None:
        store_verdicts(*args)
        Job.objects.filter(group=run.job_group).update(cancel_requested=True)

    monkeypatch.setattr("scoring.judging.runs.store_verdicts", store)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, run.verdicts.count(), len(server.calls)) == ("cancelled", 1, 1)


def test_one_run_at_a_time(server: JudgeServer, published: Submission) -> None:
    begin(published)
    with pytest.raises(JudgingRefused, match="already being judged"):
        begin(published)


def test_a_run_has_one_judge(
    server: JudgeServer, published: Submission, run_jobs: RunJobs, settings: Any
) -> None:
    run = begin(published)
    settings.JUDGE_MODEL = "another"
    Job.objects.filter(group=run.job_group).update(max_attempts=1)
    run_jobs()
    run.refresh_from_db()
    assert run.state == "failed"
    assert f"JUDGE_MODEL is another, but {MODEL} is required" in run.error


def test_without_settings_the_page_says_which_is_missing(
    client_of: ClientOf, published: Submission, organiser: User, settings: Any
) -> None:
    settings.JUDGE_MODEL = ""
    url = "/boards/board/judge/runs/new/"
    page = client_of(organiser).post(url, {"submission": published.pk}, follow=True)
    assert "JUDGE_MODEL is not set" in page.content.decode()
    assert not JudgeRun.objects.exists()


def test_organisers_begin_and_watch_a_run(
    server: JudgeServer,
    client_of: ClientOf,
    published: Submission,
    organiser: User,
    run_jobs: RunJobs,
) -> None:
    client = client_of(organiser)
    begun = client.post(
        "/boards/board/judge/runs/new/", {"submission": published.pk, "budget": "5"}, follow=True
    )
    assert "Run of" in begun.content.decode()
    assert "0 of 3" in begun.content.decode()
    run_jobs()
    page = client.get("/boards/board/judge/manage/").content.decode()
    assert "3 of 3" in page
    assert "secret" not in page
