"""Grading from upload to score: in chunks, exactly once, whatever dies on the way."""

import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import Event
from portal.jobs import leases
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs, run_job
from scoring.benchmarks import BENCHMARKS
from scoring.grading.chunks import load_chunk, score_chunk, store_scores
from scoring.grading.selectors import grading_stages
from scoring.grading.services import (
    GradingRefused,
    cancel_grading,
    fail_grading,
    mark_running,
    pieces,
    retry_grading,
    settle_stranded,
)
from scoring.models import Board, Grading, ItemScore, Submission
from tests.fixture_types import RunJobs
from tests.scoring.factories import FLAWED, PERFECT, latest_grading, make_board, make_submission

SECRET = "98,765"


@pytest.fixture(autouse=True)
def _small_chunks(settings: Any) -> None:
    settings.GRADING_CHUNK = 2


@pytest.fixture
def queued(board: Board, researcher: User) -> Submission:
    """Sent in by each test for itself, since its chunks are made then."""
    return make_submission(board, researcher, FLAWED)


def kinds(grading: Grading) -> list[tuple[str, str]]:
    jobs = Job.objects.filter(group=grading.job_group).order_by("id")
    return list(jobs.values_list("kind", "state"))


def due_now(grading: Grading) -> None:
    """Ends the wait before another attempt."""
    Job.objects.filter(group=grading.job_group).update(not_before=timezone.now())


def run_until_done(grading: Grading) -> Grading:
    for _ in range(6):
        run_due_jobs()
        due_now(grading)
    grading.refresh_from_db()
    return grading


def break_items(monkeypatch: pytest.MonkeyPatch, broken: set[str]) -> None:
    """Scoring the items in `broken` raises an error that quotes the gold."""
    spec = BENCHMARKS["fincriticaled"]

    def score(gold: Any, prediction: Any, options: Any) -> Any:
        if gold["id"] in broken:
            raise ValueError(f"no match for {gold['html']} {SECRET}")
        return spec.score_item(gold, prediction, options)

    monkeypatch.setitem(BENCHMARKS, "fincriticaled", replace(spec, score_item=score))


@pytest.mark.django_db
def test_submission_queues_chunks_of_neighbouring_items(queued: Submission) -> None:
    grading = latest_grading(queued)
    payloads = Job.objects.filter(group=grading.job_group).values_list("payload", flat=True)
    assert list(payloads) == [
        {"grading": grading.pk, "first": 0, "last": 1},
        {"grading": grading.pk, "first": 2, "last": 2},
    ]
    assert grading.state == Grading.State.QUEUED


@pytest.mark.django_db
def test_perfect_submission_scores_one(board: Board, researcher: User, run_jobs: RunJobs) -> None:
    submission = make_submission(board, researcher, PERFECT)
    run_jobs()
    grading = latest_grading(submission)
    assert grading.state == Grading.State.DONE
    wanted = {"ffa": 1.0, "n_ffa": 1.0, "t_ffa": 1.0, "r1": 1.0, "edit_distance": 0.0}
    assert {key: grading.scores[key] for key in wanted} == wanted


@pytest.mark.django_db
def test_scores_are_those_of_the_known_flaws(graded: Submission) -> None:
    grading = latest_grading(graded)
    assert grading.scores["ffa"] == pytest.approx(4 / 6)
    assert grading.scores["n_ffa"] == pytest.approx(3 / 4)
    assert grading.scores["t_ffa"] == pytest.approx(1 / 2)
    assert grading.counts["facts"] == 6
    assert (grading.counts["err_sign"], grading.counts["err_date"]) == (1, 1)
    assert grading.signature == (
        "fincriticaled|v6|labels:Number,Date|matcher:aligned|unit:beside|text:visible"
        "|text_rules:factboard|missing:zero|severity:4|answer:shown"
    )


@pytest.mark.django_db
def test_missing_predictions_score_zero_and_are_counted(
    board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    submission = make_submission(board, researcher, {"page-1": PERFECT["page-1"]})
    run_jobs()
    grading = latest_grading(submission)
    assert (grading.missing, grading.counts["err_missing"]) == (2, 3)
    assert grading.scores["ffa"] == pytest.approx(3 / 6)
    assert grading.item_scores.count() == 3


@pytest.mark.django_db
def test_a_chunk_run_twice_changes_nothing(graded: Submission) -> None:
    grading = latest_grading(graded)
    before = list(grading.item_scores.order_by("id").values_list("id", "item_id"))
    Job.objects.filter(group=grading.job_group).update(
        state=Job.State.QUEUED, attempts=0, not_before=timezone.now()
    )
    run_due_jobs()
    assert list(grading.item_scores.order_by("id").values_list("id", "item_id")) == before
    assert Event.objects.filter(verb="finish_grading").count() == 1


@pytest.mark.django_db
def test_scores_of_a_chunk_that_was_stored_by_another_worker_are_kept(
    queued: Submission,
) -> None:
    grading = latest_grading(queued)
    chunks = [load_chunk(grading_id=grading.pk, first=0, last=1) for _ in range(2)]
    for chunk in chunks:
        assert chunk is not None
        found = score_chunk(chunk, go_on=lambda _: True)
        assert found is not None
        with transaction.atomic():
            store_scores(grading_id=grading.pk, scores=found.scores)
    assert grading.item_scores.count() == 2


@pytest.mark.django_db
def test_a_killed_worker_leaves_nothing_half_written(queued: Submission) -> None:
    """The worker dies inside the transaction that stores the chunk."""
    grading = latest_grading(queued)
    chunk = load_chunk(grading_id=grading.pk, first=0, last=1)
    assert chunk is not None
    found = score_chunk(chunk, go_on=lambda _: True)
    assert found is not None
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        store_scores(grading_id=grading.pk, scores=found.scores)
        raise KeyboardInterrupt
    assert grading.item_scores.count() == 0
    assert run_until_done(grading).state == Grading.State.DONE
    assert grading.item_scores.count() == 3


@pytest.mark.django_db
def test_aggregation_is_queued_once_by_the_last_chunk(queued: Submission) -> None:
    grading = latest_grading(queued)
    run_due_jobs()
    assert kinds(grading) == [
        ("grade_chunk", "done"),
        ("grade_chunk", "done"),
        ("aggregate", "done"),
    ]


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_two_chunks_that_end_at_once_queue_one_aggregation(researcher: User) -> None:
    grading = latest_grading(make_submission(make_board(), researcher))
    barrier = threading.Barrier(2)

    def finish(first: int, last: int) -> None:
        chunk = load_chunk(grading_id=grading.pk, first=first, last=last)
        assert chunk is not None
        found = score_chunk(chunk, go_on=lambda _: True)
        assert found is not None
        barrier.wait()
        with transaction.atomic():
            store_scores(grading_id=grading.pk, scores=found.scores)
        connection.close()

    threads = [threading.Thread(target=finish, args=span) for span in ((0, 1), (2, 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Job.objects.filter(group=grading.job_group, kind="aggregate").count() == 1
    assert grading.item_scores.count() == 3


@pytest.mark.django_db
def test_a_chunk_that_fails_for_good_fails_the_grading_and_keeps_the_rest(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_items(monkeypatch, {"page-3"})
    grading = run_until_done(latest_grading(queued))
    assert grading.state == Grading.State.FAILED
    assert grading.error == (
        "1 of 3 items cannot be graded: “page-3” (the scorer stopped with ValueError)"
    )
    assert grading.item_scores.count() == 2


@pytest.mark.django_db
def test_error_of_a_failed_grading_quotes_no_gold(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_items(monkeypatch, {"page-3"})
    grading = run_until_done(latest_grading(queued))
    jobs = Job.objects.filter(group=grading.job_group).values_list("error", flat=True)
    events = Event.objects.values_list("data", flat=True)
    assert SECRET not in grading.error + "".join(jobs) + str(list(events))


@pytest.mark.django_db
def test_an_aggregation_that_fails_says_so_without_its_own_words(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = BENCHMARKS["fincriticaled"]

    def aggregate(results: Any, options: Any) -> Any:
        results = list(results)
        if len(results) > 1:
            raise ArithmeticError(f"sum of {SECRET}")
        return spec.aggregate(results, options)

    monkeypatch.setitem(BENCHMARKS, "fincriticaled", replace(spec, aggregate=aggregate))
    grading = run_until_done(latest_grading(queued))
    assert grading.state == Grading.State.FAILED
    assert grading.error == ("Computing the scores failed: the grader stopped with ArithmeticError")


@pytest.mark.django_db
def test_an_item_whose_own_figures_fail_is_named_without_words_of_the_gold(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = BENCHMARKS["fincriticaled"]

    def aggregate(results: Any, options: Any) -> Any:
        raise ArithmeticError(f"sum of {SECRET}")

    monkeypatch.setitem(BENCHMARKS, "fincriticaled", replace(spec, aggregate=aggregate))
    grading = run_until_done(latest_grading(queued))
    assert grading.state == Grading.State.FAILED
    assert "“page-3” (the scorer stopped with ArithmeticError)" in grading.error
    jobs = Job.objects.filter(group=grading.job_group).values_list("error", flat=True)
    assert SECRET not in grading.error + "".join(jobs)


@pytest.mark.django_db
def test_trying_again_scores_only_what_has_no_score(
    queued: Submission, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        break_items(patch, {"page-3"})
        grading = run_until_done(latest_grading(queued))
    kept = set(grading.item_scores.values_list("id", flat=True))
    retry_grading(grading=grading, actor=researcher)
    queued_now = Job.objects.filter(group=grading.job_group, state=Job.State.QUEUED)
    assert [job.payload["first"] for job in queued_now] == [2]
    assert run_until_done(grading).state == Grading.State.DONE
    assert kept < set(grading.item_scores.values_list("id", flat=True))
    assert grading.error == ""


@pytest.mark.django_db
def test_trying_again_leaves_chunks_alone_that_still_wait(
    queued: Submission, researcher: User
) -> None:
    grading = latest_grading(queued)
    fail_grading(pk=grading.pk, reason="Items 0 to 1: lost")
    Job.objects.filter(payload__first=0).update(state=Job.State.FAILED)
    retry_grading(grading=grading, actor=researcher)
    waiting = Job.objects.filter(group=grading.job_group, state=Job.State.QUEUED)
    assert sorted(job.payload["first"] for job in waiting) == [0, 2]


@pytest.mark.django_db
def test_trying_again_with_every_item_scored_only_aggregates(
    graded: Submission, researcher: User
) -> None:
    grading = latest_grading(graded)
    Grading.objects.filter(pk=grading.pk).update(state=Grading.State.FAILED, scores={})
    retry_grading(grading=grading, actor=researcher)
    assert run_until_done(grading).state == Grading.State.DONE
    assert grading.scores["ffa"] == pytest.approx(4 / 6)


@pytest.mark.django_db
def test_only_failed_and_cancelled_gradings_go_on(graded: Submission, researcher: User) -> None:
    with pytest.raises(GradingRefused, match="it is done"):
        retry_grading(grading=latest_grading(graded), actor=researcher)


@pytest.mark.django_db
def test_cancelling_drops_what_waits(queued: Submission, researcher: User) -> None:
    grading = latest_grading(queued)
    cancel_grading(grading=grading, actor=researcher)
    assert {state for _, state in kinds(grading)} == {"cancelled"}
    assert run_until_done(grading).state == Grading.State.CANCELLED
    assert ItemScore.objects.count() == 0


@pytest.mark.django_db
def test_a_running_chunk_stops_when_the_grading_is_cancelled(
    queued: Submission, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner cancels while the first item is being scored: the second never is."""
    grading, scored = latest_grading(queued), []
    spec = BENCHMARKS["fincriticaled"]

    def score(gold: Any, prediction: Any, options: Any) -> Any:
        scored.append(gold["id"])
        cancel_grading(grading=grading, actor=researcher)
        return spec.score_item(gold, prediction, options)

    monkeypatch.setitem(BENCHMARKS, "fincriticaled", replace(spec, score_item=score))
    run_due_jobs()
    grading.refresh_from_db()
    assert scored == ["page-1"]
    assert grading.state == Grading.State.CANCELLED
    assert {state for _, state in kinds(grading)} == {"cancelled"}


@pytest.mark.django_db
def test_a_cancelled_grading_can_go_on(queued: Submission, researcher: User) -> None:
    grading = latest_grading(queued)
    cancel_grading(grading=grading, actor=researcher)
    retry_grading(grading=grading, actor=researcher)
    assert run_until_done(grading).state == Grading.State.DONE


@pytest.mark.django_db
def test_a_finished_grading_cannot_be_cancelled(graded: Submission, researcher: User) -> None:
    with pytest.raises(GradingRefused, match="it is done"):
        cancel_grading(grading=latest_grading(graded), actor=researcher)


@pytest.mark.django_db
def test_a_late_failure_does_not_touch_a_finished_grading(graded: Submission) -> None:
    grading = latest_grading(graded)
    fail_grading(pk=grading.pk, reason="too late")
    mark_running(grading.pk)
    grading.refresh_from_db()
    assert (grading.state, grading.error) == (Grading.State.DONE, "")


@pytest.mark.django_db
def test_the_same_submission_graded_twice_gives_identical_figures(
    board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    first, second = (make_submission(board, researcher, FLAWED) for _ in range(2))
    run_jobs()
    assert latest_grading(first).scores == latest_grading(second).scores


# --- failing items ----------------------------------------------------------------------------


@pytest.mark.django_db
def test_an_item_that_cannot_be_scored_keeps_no_other_of_its_chunk_from_being_scored(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_items(monkeypatch, {"page-1"})
    grading = latest_grading(queued)
    run_due_jobs()
    grading.refresh_from_db()
    assert grading.state == Grading.State.RUNNING, "other attempts follow"
    assert set(grading.item_scores.values_list("item__name", flat=True)) == {"page-2", "page-3"}
    run_until_done(grading)
    assert grading.error == (
        "1 of 3 items cannot be graded: “page-1” (the scorer stopped with ValueError)"
    )
    assert (grading.scores, grading.counts) == ({}, {})


@pytest.mark.django_db
def test_every_item_that_cannot_be_scored_is_named(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_items(monkeypatch, {"page-1", "page-2"})
    grading = run_until_done(run_until_done(latest_grading(queued)))
    assert grading.error == (
        "2 of 3 items cannot be graded: “page-1” (the scorer stopped with ValueError),"
        " “page-2” (the scorer stopped with ValueError)"
    )
    payloads = Job.objects.filter(kind="grade_chunk").order_by("id").values_list("payload")
    spans = [(payload["first"], payload["last"]) for (payload,) in payloads]
    assert spans == [(0, 1), (2, 2), (0, 0), (1, 1)], "the chunk that failed was cut"
    assert SECRET not in str([line.text for line in grading_stages(grading).lines])


@pytest.mark.django_db
def test_a_chunk_that_kills_its_workers_is_cut_until_the_item_is_found(
    queued: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running job of a dead worker, whose lease has run out."""

    def die_at(job: Job) -> None:
        if job.kind == "grade_chunk" and job.payload["first"] == 0:
            past = timezone.now() - timedelta(seconds=1)
            Job.objects.filter(pk=job.pk).update(lease_until=past)
            leases.reap()
            return
        run_job(job)

    monkeypatch.setattr("portal.jobs.worker.run_job", die_at)
    grading = latest_grading(queued)
    run_until_done(grading)
    assert grading.error == (
        "1 of 3 items cannot be graded: “page-1”"
        " (the worker crashed or ran out of memory each time)"
    )
    assert grading.item_scores.count() == 2
    log = [line.text for line in grading_stages(grading).lines]
    assert log.count("Items 1 to 2: the worker was lost in attempt 3") == 1
    assert "2 chunks queued" in log
    assert "Item 1: failed after 3 attempts (The worker was lost: its lease expired)" in log


@pytest.mark.parametrize(("count", "sizes"), [(2, [1, 1]), (32, [1] * 32), (65, [3] * 21 + [2])])
def test_pieces_cover_every_position_once(count: int, sizes: list[int]) -> None:
    found = pieces(range(count))
    assert [len(piece) for piece in found] == sizes
    assert [place for piece in found for place in piece] == list(range(count))


@pytest.mark.django_db
def test_a_grading_that_nobody_works_on_any_more_is_settled(queued: Submission) -> None:
    grading = latest_grading(queued)
    Job.objects.update(state=Job.State.FAILED, attempts=3, error="KeyError: 'worse'")
    assert settle_stranded() == 0, "so young a grading may just be about to be queued"
    Grading.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert settle_stranded() == 1
    grading.refresh_from_db()
    assert grading.state == Grading.State.FAILED
    assert grading.error.startswith("3 of 3 items cannot be graded: “page-1” (the grader stopped")
    assert settle_stranded() == 0


@pytest.mark.django_db
def test_a_grading_at_work_is_not_stranded(queued: Submission) -> None:
    Grading.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert settle_stranded() == 0


def test_a_finished_submission_gets_its_score_before_others_go_on(
    board: Board, researcher: User, ann: User, ben: User
) -> None:
    """Its last step is taken right after its last chunk, whatever was queued meanwhile."""
    first = make_submission(board, researcher, {"page-1": PERFECT["page-1"]})
    others = [make_submission(board, user, FLAWED) for user in (ann, ben)]
    order: list[str] = []
    while not latest_grading(first).is_finished:
        assert run_due_jobs(should_stop=iter([False, True]).__next__) == 1
        job = Job.objects.filter(state=Job.State.DONE).order_by("-finished_at", "-id").first()
        assert job is not None
        order.append(f"{job.group} {job.kind}")
    mine = latest_grading(first).job_group
    own = [place for place, name in enumerate(order) if name.startswith(f"{mine} ")]
    assert own[-1] == own[-2] + 1
    assert not any(latest_grading(other).is_finished for other in others)
