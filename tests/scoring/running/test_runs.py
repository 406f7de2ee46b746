"""A model run as a job: asked once each, interrupted, continued, submitted with its manifest."""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Release
from portal.jobs.handlers import Claim, LeaseLost
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.answering.core import AnswerRecord, EngineAnswer
from scoring.judging.services import endpoint_of, remove_endpoint, spent_this_month
from scoring.models import Board, ModelRun, Phase, RunAnswer, Submission
from scoring.models.judging import Purpose
from scoring.running.runs import DatabaseLog, asked
from scoring.running.services import (
    RunRefused,
    cancel_model_run,
    check_decoding,
    continue_model_run,
    submit_model_run,
)
from tests.scoring.factories import GOLD, PERFECT
from tests.scoring.judge.server import JudgeServer, Reply, serve

from .models import KEY, MODEL, Reader, board_with_images, give_endpoint, start

pytestmark = pytest.mark.django_db(transaction=True)
BUSY = Reply("busy", 503)


@pytest.fixture
def board(board_with_endpoint: Board) -> Board:
    return board_with_endpoint


def ended(run: ModelRun) -> ModelRun:
    run_due_jobs()
    run.refresh_from_db()
    return run


def test_a_run_becomes_a_graded_submission_with_its_manifest(
    board: Board, organiser: User, reader: Reader, server: JudgeServer
) -> None:
    run = ended(start(board, organiser))
    assert (run.state, run.error) == ("done", "")
    assert sorted(reader.asked) == ["page-1", "page-2", "page-3"]
    submission = run.submission
    assert submission is not None
    assert (submission.owner, submission.name) == (organiser, MODEL)
    assert submission.publication == "private"
    grading = submission.gradings.get()
    assert (grading.state, grading.missing) == ("done", 0)
    assert grading.scores["ffa"] == pytest.approx(4 / 6)
    about = submission.manifest.about
    assert about["host"] in server.url
    assert about["release_sha256"] == run.release.sha256
    assert about["repairs"] == [{"name": "code fences removed", "items": 3}]
    assert about["tokens"] == {"input": 300, "output": 150, "uncertain": 0}
    assert about["decoding"] == {"temperature": 0, "max_tokens": 100}
    assert about["prompts"][0]["version"] == "paper-1"
    assert submission.manifest.states == {"answered": 3}
    assert submission.manifest.warnings == []
    assert submission.output_tokens == 150
    assert "--base-url" in about["command"]


def test_the_request_has_the_prompt_and_the_image_and_no_gold(
    board: Board, organiser: User, server: JudgeServer
) -> None:
    start(board, organiser)
    run_due_jobs()
    for call in server.calls:
        image, text = call.body["messages"][0]["content"]
        assert image["image_url"]["url"].startswith("data:image/png;base64,")
        assert "1,200" not in text["text"]
        assert call.body["max_tokens"] == 100
        assert call.headers["authorization"] == f"Bearer {KEY}"
    whole = json.dumps([call.body for call in server.calls])
    assert not any(value in whole for value in ("98,765", "May 27", "3.5%"))


def test_gold_is_never_read(
    board: Board, organiser: User, django_assert_max_num_queries: Any
) -> None:
    run = start(board, organiser)
    log = DatabaseLog(run, nullcontext)
    with django_assert_max_num_queries(10) as queries:
        items = list(asked(run, log))
    assert [item.id for item in items] == list(GOLD)
    read = [query["sql"] for query in queries.captured_queries]
    assert any('"datasets_releaseitem"' in sql for sql in read)
    columns = ('"datasets_releaseitem"."gold"', '"datasets_releaseitem"."facts"')
    assert not any(column in sql for sql in read for column in columns)


def test_a_hidden_phase_is_asked_like_any_other(
    organiser: User, reader: Reader, server: JudgeServer
) -> None:
    board = board_with_images(visibility=Release.Visibility.GOLD_HIDDEN)
    give_endpoint(board, server.url)
    assert ended(start(board, organiser)).state == "done"
    assert len(reader.asked) == 3


def test_items_without_an_answer_are_asked_again_and_no_others(
    board: Board, organiser: User, reader: Reader
) -> None:
    reader.failing = {"page-2": [BUSY]}
    run = ended(start(board, organiser))
    assert (run.state, run.error) == ("failed", "1 item has no answer.")
    assert not Submission.objects.exists()
    continue_model_run(run=run, actor=organiser)
    assert ended(run).state == "done"
    assert sorted(reader.asked) == ["page-1", "page-2", "page-2", "page-3"]
    answer = run.answers.get(item__name="page-2")
    assert (answer.state, answer.usage["attempts"]) == ("answered", 2)
    assert Submission.objects.get().manifest.states == {"answered": 3}


def test_a_run_can_be_submitted_with_the_answers_it_has(
    board: Board, organiser: User, reader: Reader
) -> None:
    reader.failing = {"page-2": [BUSY]}
    run = ended(start(board, organiser))
    submit_model_run(run=run, actor=organiser)
    assert ended(run).state == "done"
    assert len(reader.asked) == 3
    assert run.submission is not None
    assert run.submission.manifest.states == {"answered": 2, "failed": 1}
    assert run.submission.gradings.get().missing == 1


def test_a_phase_that_takes_no_incomplete_files_needs_every_answer(
    board: Board, organiser: User, reader: Reader
) -> None:
    reader.failing = {"page-2": [BUSY]}
    run = ended(start(board, organiser))
    Phase.objects.update(takes_incomplete=False)
    run = ModelRun.objects.select_related("phase").get(pk=run.pk)
    with pytest.raises(RunRefused, match="Continue the run instead"):
        submit_model_run(run=run, actor=organiser)


def test_empty_and_refused_answers_are_outcomes(
    board: Board, organiser: User, reader: Reader
) -> None:
    reader.failing = {
        "page-1": [Reply("  ")],
        "page-2": [Reply("I cannot.", finish_reason="content_filter")],
    }
    run = ended(start(board, organiser))
    assert run.state == "done"
    assert run.submission is not None
    assert run.submission.manifest.states == {"empty": 1, "refused": 1, "answered": 1}


def test_a_refused_key_ends_the_run_and_names_no_key(
    board: Board, organiser: User, reader: Reader
) -> None:
    refusal = Reply(json.dumps({"error": {"message": f"bad key {KEY}"}}), 401)
    reader.failing = {name: [refusal] for name in GOLD}
    run = ended(start(board, organiser))
    assert run.state == "failed"
    assert "the endpoint rejects all calls" in run.error
    rows = [*run.answers.values_list("reason", "text"), run.error, *Job.objects.values_list()]
    assert KEY not in str(rows)
    assert KEY not in str(list(Event.objects.values_list()))


def test_an_echoed_key_is_masked(board: Board, organiser: User, reader: Reader) -> None:
    reader.pages["page-1"] = f"<p>{KEY}</p>"
    run = ended(start(board, organiser))
    assert run.submission is not None
    with run.submission.upload.open() as file:
        content = file.read().decode()
    assert "[key]" in content
    assert KEY not in content + json.dumps(run.submission.manifest.about)
    assert KEY not in str(list(run.answers.values_list("text", "reason")))


def test_a_cancelled_run_keeps_its_answers_and_goes_on(
    board: Board, organiser: User, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(board, organiser, concurrency=1)

    def cancel(claim: Claim, done: int) -> None:
        # In the worker's thread, whose transaction other threads do not see.
        cancel_model_run(run=run, actor=organiser)

    with monkeypatch.context() as patched:
        patched.setattr(Claim, "progress", cancel)
        assert ended(run).state == "cancelled"
    kept = run.answers.count()
    assert 0 < kept < 3
    run.refresh_from_db()
    continue_model_run(run=run, actor=organiser)
    assert ended(run).state == "done"
    assert sorted(reader.asked) == ["page-1", "page-2", "page-3"]


def test_cancelling_a_queued_run_asks_nothing(
    board: Board, organiser: User, reader: Reader
) -> None:
    run = start(board, organiser)
    assert cancel_model_run(run=run, actor=organiser).state == "cancelled"
    assert ended(run).state == "cancelled"
    assert reader.asked == []


def test_a_second_job_finds_the_first_ones_submission(board: Board, organiser: User) -> None:
    """As after a kill between the submission and the end of the job."""
    run = ended(start(board, organiser))
    ModelRun.objects.update(state="failed", submission=None)
    run.refresh_from_db()
    continue_model_run(run=run, actor=organiser)
    run = ended(run)
    assert Submission.objects.count() == 1


class _Lost:
    def __enter__(self) -> None:
        raise LeaseLost

    def __exit__(self, *_: object) -> None:
        pass


def test_a_worker_without_its_lease_stores_nothing(board: Board, organiser: User) -> None:
    run = start(board, organiser)
    record = AnswerRecord("page-1", EngineAnswer("text"), timezone.now())
    with pytest.raises(LeaseLost):
        DatabaseLog(run, _Lost).append([record])
    assert not RunAnswer.objects.exists()


def test_the_budget_is_not_passed(board: Board, organiser: User, server: JudgeServer) -> None:
    # A call costs 0.2 here; its reservation is larger.
    prices = {"price_input": 1_000.0, "price_output": 2_000.0}
    give_endpoint(board, server.url, **prices)
    run = ended(start(board, organiser, budget=1.0, concurrency=1))
    assert run.state == "failed"
    assert "budget" in run.error
    month = spent_this_month(board, endpoint_of(board, Purpose.MODEL), Purpose.MODEL)
    assert month.spent == pytest.approx(server.cost(1_000, 2_000))
    assert month.spent <= 1.0
    judge = spent_this_month(board, None)
    assert judge.spent == 0


def test_the_months_budget_is_not_passed(
    board: Board, organiser: User, server: JudgeServer
) -> None:
    give_endpoint(board, server.url, price_input=1_000.0, price_output=2_000.0, budget=0.001)
    run = ended(start(board, organiser))
    assert (run.state, server.calls) == ("failed", [])
    assert "the board's budget of 0.001" in run.error


def test_a_cost_is_in_the_manifest(board: Board, organiser: User, server: JudgeServer) -> None:
    give_endpoint(board, server.url, price_input=1.0, price_output=2.0)
    run = ended(start(board, organiser, budget=5.0))
    assert run.submission is not None
    assert run.submission.manifest.about["cost"] == pytest.approx(server.cost(1, 2))


def test_another_endpoint_does_not_continue_a_run(
    board: Board, organiser: User, reader: Reader
) -> None:
    reader.failing = {"page-2": [BUSY]}
    run = ended(start(board, organiser))
    give_endpoint(board, "http://127.0.0.1:9/v1")
    with pytest.raises(RunRefused, match="endpoint of the board has changed"):
        continue_model_run(run=run, actor=organiser)
    remove_endpoint(board=board, actor=None, purpose=Purpose.MODEL)
    with pytest.raises(RunRefused, match="Add a model endpoint"):
        continue_model_run(run=run, actor=organiser)


def test_an_endpoint_that_is_removed_stops_a_queued_run(
    board: Board, organiser: User, reader: Reader
) -> None:
    run = start(board, organiser)
    remove_endpoint(board=board, actor=None, purpose=Purpose.MODEL)
    assert ended(run).state == "failed"
    assert "Add a model endpoint" in run.error
    assert reader.asked == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prompt_version": "nothing"}, "The prompt cannot be used"),
        ({"budget": 1.0}, "A budget needs prices"),
    ],
)
def test_runs_that_cannot_start(
    changes: dict[str, Any], words: str, board: Board, organiser: User
) -> None:
    with pytest.raises(RunRefused, match=words):
        start(board, organiser, **changes)


def test_the_same_run_starts_once(board: Board, organiser: User) -> None:
    start(board, organiser)
    with pytest.raises(RunRefused, match="already running"):
        start(board, organiser)
    start(board, organiser, model="another")


def test_a_closed_phase_is_refused_before_money_is_spent(board: Board, organiser: User) -> None:
    Phase.objects.update(closes_at=timezone.now())
    with pytest.raises(RunRefused, match="closed"):
        start(board, organiser)


def test_a_host_that_the_operator_does_not_allow(
    board: Board, organiser: User, settings: Any
) -> None:
    settings.ENDPOINT_HOSTS = ["api.example.org"]
    with pytest.raises(RunRefused, match="ENDPOINT_HOSTS"):
        start(board, organiser)
    settings.ENDPOINT_HOSTS = ["127.0.0.1"]
    start(board, organiser)


@pytest.mark.parametrize(
    "values",
    [
        {"model": "x"},
        {"stream": True},
        {"Temperature": 1},
        {"stop": ["a"]},
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": "9"},
        {"top_p": float("nan")},
        {"stop": "a\x00"},
        {"stop": "x" * 300},
        {f"p{n}": 1 for n in range(30)},
    ],
)
def test_decoding_that_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Use|setting"):
        check_decoding(values)


def test_decoding_has_defaults() -> None:
    assert check_decoding({"top_p": 0.9}) == {
        "temperature": 0,
        "max_tokens": 8192,
        "top_p": 0.9,
    }


def test_a_perfect_reader_is_perfect(organiser: User) -> None:
    with serve(Reader(PERFECT)) as server:
        board = board_with_images()
        give_endpoint(board, server.url)
        run = ended(start(board, organiser))
    assert run.submission is not None
    assert run.submission.gradings.get().scores["ffa"] == 1.0


def test_settings_that_the_endpoint_refuses_are_not_stated(
    board: Board, organiser: User, reader: Reader
) -> None:
    error = {"error": {"message": "no", "param": "temperature"}}
    reader.failing = {"page-1": [Reply(json.dumps(error), 400)]}
    run = ended(start(board, organiser, concurrency=1))
    assert run.state == "done"
    assert run.submission is not None
    assert run.submission.manifest.about["decoding"] == {"max_tokens": 100}
    assert "temperature" not in run.submission.manifest.about["command"]
