"""Grading a board again: all at once or not at all, whatever happens meanwhile."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.handlers import HANDLERS, Retry
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.account_data import SubmissionData
from scoring.benchmarks import BENCHMARKS
from scoring.grading.regrade_changes import RegradeRefused
from scoring.grading.regrades import (
    SCORER_CHANGED,
    advance_regrade,
    cancel_regrade,
    resume_stranded,
    start_regrade,
)
from scoring.grading.services import REGRADE_KIND, fail_grading, retry_grading, start_grading
from scoring.leaderboard.services import RESAMPLE_KIND
from scoring.models import (
    Attempt,
    Board,
    Entry,
    Grading,
    Phase,
    Prediction,
    RankMove,
    Regrade,
    Submission,
)
from scoring.submissions.services import (
    publish_submission,
    unpublish_submission,
    withdraw_submission,
)
from tests.scoring.factories import (
    FLAWED,
    PERFECT,
    first_phase,
    make_board,
    make_release,
    make_submission,
)
from tests.scoring.regrading import Results, next_release, release_of, three_results
from tests.worlds import shared

pytestmark = pytest.mark.django_db


@pytest.fixture
@shared
def release(board: Board, results: Results) -> Release:
    return next_release(release_of(board))


def ffa(board: Board) -> dict[str, float]:
    entries = board.entries.order_by("id")
    return {entry.name: round(entry.scores["ffa"], 9) for entry in entries}


BEFORE = {"Perfect": 1.0, "Slip": round(5 / 6, 9), "Flawed": round(4 / 6, 9)}
AFTER = {"Perfect": 1.0, "Slip": 3 / 4, "Flawed": 1.0}


def run_some(count: int) -> None:
    """As a worker that stops after so many jobs."""
    left = [count]

    def is_enough() -> bool:
        left[0] -= 1
        return left[0] < 0

    run_due_jobs(should_stop=is_enough)


def run_until_gradings_began(regrade: Regrade) -> None:
    while not regrade.gradings.exists():
        run_some(1)


def run_until_graded(regrade: Regrade) -> None:
    """Stops before the results are resampled."""
    run_until_gradings_began(regrade)
    while regrade.gradings.unfinished().exists():
        run_some(1)


def nothing_changed(board: Board, regrade: Regrade, state: str) -> None:
    regrade.refresh_from_db()
    assert regrade.state == state
    assert ffa(board) == BEFORE
    assert release_of(board).version == "1.0.0"
    assert not RankMove.objects.exists()
    assert not Job.objects.unfinished().exists()
    assert not regrade.gradings.unfinished().exists()


def test_all_take_over_at_once_with_hand_computed_moves(
    board: Board, results: Results, release: Release, organiser: User
) -> None:
    assert ffa(board) == BEFORE
    regrade = start_regrade(board=board, release=release, actor=organiser)
    run_due_jobs()
    regrade.refresh_from_db()
    assert (regrade.state, regrade.error) == (Regrade.State.DONE, "")
    assert ffa(board) == AFTER
    assert release_of(board) == release
    moves = {
        move.submission.name: (
            move.rank_before,
            move.rank_after,
            round(move.score_before or 0, 9),
            round(move.score_after or 0, 9),
        )
        for move in regrade.moves.select_related("submission")
    }
    assert moves == {
        # Three pages are too few for ranks, before and after: every rank is 1, as on the board.
        "Perfect": (1, 1, 1.0, 1.0),
        "Flawed": (1, 1, BEFORE["Flawed"], 1.0),
        "Slip": (1, 1, BEFORE["Slip"], 3 / 4),
    }
    part = regrade.phases.get()
    assert (part.items_changed, part.facts_changed) == (2, 2)


def test_former_results_stay_beside_the_new_ones(
    board: Board, results: Results, release: Release
) -> None:
    former = results["Flawed"].gradings.get()
    items = list(former.item_scores.order_by("id").values_list("id", "result"))
    start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    new, old = results["Flawed"].gradings.order_by("-id")
    assert (old.release.version, old.scores) == ("1.0.0", former.scores)
    assert list(old.item_scores.order_by("id").values_list("id", "result")) == items
    assert (new.release, new.counts["facts"], new.missing) == (release, 4, 0)


def test_nothing_changes_before_the_last_grading_is_done(
    board: Board, results: Results, release: Release, researcher: User
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    seen = set()
    while not Regrade.objects.filter(pk=regrade.pk, state="done").exists():
        done = regrade.gradings.done().count()
        seen.add(done)
        assert ffa(board) == BEFORE, f"{done} of 3 done"
        assert release_of(board).version == "1.0.0"
        assert not RankMove.objects.exists()
        run_some(1)
    assert seen == {0, 1, 2, 3}
    assert ffa(board) == AFTER


def test_one_that_is_not_published_is_graded_again_and_not_in_the_log(
    board: Board, results: Results, release: Release
) -> None:
    unpublish_submission(submission=results["Flawed"], actor=None)
    regrade = start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    assert set(regrade.moves.values_list("submission__name", flat=True)) == {"Perfect", "Slip"}
    entry = publish_submission(submission=results["Flawed"], actor=None)
    assert entry.scores["ffa"] == 1.0


def test_who_publishes_while_it_runs_gets_the_former_result_and_then_the_new_one(
    board: Board, results: Results, release: Release
) -> None:
    flawed = results["Flawed"]
    unpublish_submission(submission=flawed, actor=None)
    regrade = start_regrade(board=board, release=release, actor=None)
    while not flawed.gradings.filter(regrade=regrade, state="done").exists():
        run_some(1)
    assert not Regrade.objects.filter(state="done").exists()
    assert publish_submission(submission=flawed, actor=None).scores["ffa"] == pytest.approx(4 / 6)
    run_due_jobs()
    assert ffa(board) == AFTER


def break_gold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scorer cannot take the third page's total any more."""
    spec = BENCHMARKS["fincriticaled"]

    def score(gold: Any, prediction: Any, options: Any) -> Any:
        if gold["id"] == "page-3" and "98,756" in str(prediction):
            raise ValueError(f"cannot read {gold['html']}")
        return spec.score_item(gold, prediction, options)

    monkeypatch.setitem(BENCHMARKS, "fincriticaled", replace(spec, score_item=score))


def run_retries() -> None:
    for _ in range(8):
        run_due_jobs()
        Job.objects.unfinished().update(not_before=timezone.now())


def test_one_that_fails_leaves_everything_as_it_was(
    board: Board, results: Results, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_gold(monkeypatch)
    regrade = start_regrade(board=board, release=release, actor=None)
    run_retries()
    nothing_changed(board, regrade, "failed")
    slip = results["Slip"].pk
    regrade.refresh_from_db()
    assert regrade.error.startswith(f"“Slip” (submission {slip}): 1 of 3 items cannot be graded")
    assert "98,765" not in regrade.error, "no gold in it"
    attempts = Attempt.objects.values_list("state", flat=True)
    assert set(attempts) == {"charged"}, "nobody's limits know of it"


def test_after_a_failure_it_can_be_started_again(
    board: Board, results: Results, release: Release
) -> None:
    first = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(first)
    fail_grading(pk=results["Slip"].gradings.get(regrade=first).pk, reason="Broken")
    run_due_jobs()
    nothing_changed(board, first, "failed")
    start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    assert ffa(board) == AFTER


@pytest.mark.parametrize("jobs", range(0, 10, 2))
def test_cancelled_anywhere_it_leaves_everything_as_it_was(
    board: Board, results: Results, release: Release, organiser: User, jobs: int
) -> None:
    regrade = start_regrade(board=board, release=release, actor=organiser)
    run_some(jobs)
    assert Regrade.objects.get().state == "running"
    cancel_regrade(regrade=regrade, actor=organiser)
    run_due_jobs()
    nothing_changed(board, regrade, "cancelled")
    with pytest.raises(RegradeRefused, match="already ended: it is cancelled"):
        cancel_regrade(regrade=regrade, actor=organiser)


def test_what_gets_its_score_meanwhile_is_taken_along(
    board: Board, results: Results, release: Release, researcher: User
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(regrade)
    late = make_submission(board, researcher, FLAWED, name="Late")
    grading = late.gradings.get()
    assert grading.release.version == "1.0.0", "by the rules that still hold"
    while not Grading.objects.filter(pk=grading.pk, state="done").exists():
        run_some(1)
    assert Regrade.objects.get().state == "running"
    publish_submission(submission=late, actor=None)
    run_due_jobs()
    assert ffa(board) == AFTER | {"Late": 1.0}
    assert regrade.moves.get(submission=late).score_before == pytest.approx(BEFORE["Flawed"])


def test_what_is_being_graded_at_the_takeover_begins_again(
    board: Board, results: Results, release: Release, researcher: User
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(regrade)
    late = make_submission(board, researcher, FLAWED, name="Late")
    Job.objects.filter(group=late.gradings.get().job_group).update(
        not_before=timezone.now() + timedelta(hours=1)
    )
    run_due_jobs()
    assert Regrade.objects.get().state == "done"
    first, second = late.gradings.order_by("id")
    assert (first.state, first.release.version) == ("cancelled", "1.0.0")
    assert "re-graded" in first.error
    assert (second.state, second.release) == ("done", release)
    assert second.scores["ffa"] == 1.0
    assert Attempt.objects.get(submission=late).state == "charged", "once, and not as failed"
    # The remaining jobs of the first try do nothing.
    Job.objects.update(not_before=timezone.now())
    run_due_jobs()
    first.refresh_from_db()
    assert (first.state, first.scores) == ("cancelled", {})


def test_what_was_withdrawn_meanwhile_is_left_out(
    board: Board, results: Results, release: Release
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(regrade)
    withdraw_submission(submission=results["Slip"], actor=None)
    fail_grading(pk=results["Slip"].gradings.get(regrade=regrade).pk, reason="Broken")
    run_due_jobs()
    regrade.refresh_from_db()
    assert regrade.state == "done"
    assert ffa(board) == {"Perfect": 1.0, "Flawed": 1.0}
    assert set(regrade.moves.values_list("submission__name", flat=True)) == {"Perfect", "Flawed"}


def test_one_that_was_withdrawn_before_is_not_graded_again(
    board: Board, results: Results, release: Release
) -> None:
    withdraw_submission(submission=results["Slip"], actor=None)
    regrade = start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    assert not regrade.gradings.filter(submission=results["Slip"]).exists()


def test_one_without_a_score_is_not_graded_again_and_tries_again_on_the_new_release(
    board: Board, results: Results, release: Release, researcher: User
) -> None:
    failed = make_submission(board, researcher, FLAWED, name="Failed")
    fail_grading(pk=failed.gradings.get().pk, reason="Broken")
    run_due_jobs()
    start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    first = failed.gradings.get()
    second = retry_grading(grading=first, actor=researcher)
    run_due_jobs()
    second.refresh_from_db()
    assert second != first, "no figure is made of two releases"
    assert (second.release, second.scores["ffa"]) == (release, 1.0)


def test_limits_are_not_charged(
    results: Results, release: Release, board: Board, researcher: User
) -> None:
    Phase.objects.update(in_total=3, per_day=3)
    charged = list(Attempt.objects.order_by("id").values("state", "settled_at"))
    start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    assert ffa(board) == AFTER
    assert list(Attempt.objects.order_by("id").values("state", "settled_at")) == charged


# --- what is refused --------------------------------------------------------------------------


def test_a_release_with_other_items_is_refused_by_name(board: Board, results: Results) -> None:
    fewer = next_release(release_of(board), items=("page-1", "page-2"))
    with pytest.raises(RegradeRefused, match=r"1\.0\.0 have different items \(removed: page-3\)"):
        start_regrade(board=board, release=fewer, actor=None)
    start_regrade(board=board, actor=None)
    run_due_jobs()
    assert not Regrade.objects.exclude(state="done").exists()
    Phase.objects.update(release=fewer)
    with pytest.raises(RegradeRefused, match=r"1\.1\.0 have different items \(added: page-3\)"):
        start_regrade(board=board, release=Release.objects.get(version="1.0.0"), actor=None)


def test_a_release_of_another_dataset_is_refused(board: Board, results: Results) -> None:
    with pytest.raises(RegradeRefused, match="another dataset"):
        start_regrade(board=board, release=make_release(), actor=None)


def test_a_release_for_another_benchmark_is_refused(
    board: Board, results: Results, release: Release
) -> None:
    release.benchmark = "findoc"
    with pytest.raises(RegradeRefused, match="is for another benchmark"):
        start_regrade(board=board, release=release, actor=None)


def test_a_board_without_scores_is_refused(board: Board, researcher: User) -> None:
    make_submission(board, researcher)
    with pytest.raises(RegradeRefused, match="There are no scored submissions"):
        start_regrade(board=board, actor=None)


def test_one_at_a_time(board: Board, results: Results, release: Release) -> None:
    start_regrade(board=board, actor=None)
    with pytest.raises(RegradeRefused, match="re-grade of this board is already running"):
        start_regrade(board=board, release=release, actor=None)


# --- scorer, phases, hidden gold --------------------------------------------------------------


def new_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an upgrade of the site: the same scorer under another version."""
    spec = replace(BENCHMARKS["fincriticaled"], version="0")
    monkeypatch.setitem(BENCHMARKS, "fincriticaled", spec)


def test_another_version_of_the_scorer_moves_all_rows_to_one_signature(
    board: Board, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = BENCHMARKS["fincriticaled"].version
    new_scorer(monkeypatch)
    regrade = start_regrade(board=board, actor=None)
    run_due_jobs()
    assert {entry.signature.split("|")[1] for entry in Entry.objects.all()} == {"v0"}
    move = regrade.moves.get(submission=results["Slip"])
    assert move.grading_before.signature.split("|")[1] == f"v{version}"
    assert move.grading_after.signature.split("|")[1] == "v0"
    assert (move.rank_before, move.rank_after) == (1, 1)


def test_a_scorer_that_changes_while_it_runs_ends_it(
    board: Board, results: Results, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(regrade)
    new_scorer(monkeypatch)
    run_due_jobs()
    nothing_changed(board, regrade, "failed")
    assert Regrade.objects.get().error == SCORER_CHANGED


def second_phase(board: Board, release: Release) -> Phase:
    first = first_phase(board)
    return Phase.objects.create(
        board=board, slug="dev", title="Dev", release=release, options=first.options
    )


def submit_to(phase: Phase, owner: User, *, name: str) -> Submission:
    """A copy of a result in another phase, with its predictions."""
    submission = Submission.objects.create(phase=phase, owner=owner, name=name, filename="f")
    items = dict(phase.items.values_list("name", "pk"))
    Prediction.objects.bulk_create(
        Prediction(submission=submission, item_id=items[page], payload={"id": page, "html": html})
        for page, html in PERFECT.items()
    )
    start_grading(submission=submission, actor=None)
    run_due_jobs()
    publish_submission(submission=submission, actor=None)
    return submission


def test_the_whole_board_takes_over_in_one_moment_each_phase_on_its_gold(
    board: Board, results: Results, release: Release, researcher: User
) -> None:
    other = second_phase(board, make_release())
    dev = submit_to(other, researcher, name="Dev reader")
    regrade = start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    parts = {part.phase.slug: part for part in regrade.phases.select_related("phase")}
    assert parts["test"].changes_release
    assert not parts["dev"].changes_release
    assert regrade.gradings.get(submission=dev).release == other.release
    assert set(regrade.moves.values_list("phase__slug", flat=True)) == {"test", "dev"}


def test_one_phase_alone(
    board: Board, results: Results, release: Release, researcher: User
) -> None:
    other = second_phase(board, release_of(board))
    dev = submit_to(other, researcher, name="Dev reader")
    regrade = start_regrade(board=board, phase=other, release=release, actor=None)
    run_due_jobs()
    assert list(regrade.gradings.values_list("submission", flat=True)) == [dev.pk]
    assert {phase.slug: phase.release.version for phase in board.phases.all()} == {
        "test": "1.0.0",
        "dev": "1.1.0",
    }


def test_rounded_scores_stay_rounded_and_are_ranked_so(
    researcher: User,
) -> None:
    board = make_board(diagnostics="aggregates", score_decimals=0)
    three_results(board, researcher)
    regrade = start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    run_due_jobs()
    moves = regrade.moves.values_list("rank_before", "rank_after", "score_before", "score_after")
    assert set(moves) == {(1, 1, 1.0, 1.0), (2, 3, 0.83, 0.75), (3, 1, 0.67, 1.0)}


def test_it_waits_until_its_results_are_resampled(
    board: Board, results: Results, release: Release
) -> None:
    """It ranks them at its end. A grading that cannot be resampled does not block it."""
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_graded(regrade)
    waiting = Job.objects.unfinished().filter(kind=RESAMPLE_KIND)
    assert waiting.exists()
    advance_regrade(regrade.pk)
    regrade.refresh_from_db()
    assert regrade.state == Regrade.State.RUNNING
    waiting.update(state=Job.State.FAILED)
    run_due_jobs()
    advance_regrade(regrade.pk)
    regrade.refresh_from_db()
    assert regrade.state == Regrade.State.DONE
    assert ffa(board) == AFTER


@pytest.mark.parametrize("end", ["on_failed", "on_cancelled"])
def test_a_resampling_that_ends_otherwise_has_its_batch_go_on(
    board: Board, results: Results, release: Release, end: str
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(regrade)
    before = Job.objects.filter(kind=REGRADE_KIND).count()
    hook = getattr(HANDLERS[RESAMPLE_KIND], end)
    payload = {"grading": regrade.gradings.values_list("pk", flat=True)[0]}
    hook(payload, "error") if end == "on_failed" else hook(payload)
    assert Job.objects.filter(kind=REGRADE_KIND).count() == before + 1


# --- what dies on the way ---------------------------------------------------------------------


def test_a_step_that_is_run_twice_changes_nothing(
    board: Board, results: Results, release: Release
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    before = (list(Grading.objects.values()), list(RankMove.objects.values()))
    Job.objects.filter(kind=REGRADE_KIND).update(
        state="queued", attempts=0, not_before=timezone.now()
    )
    run_due_jobs()
    advance_regrade(regrade.pk)
    assert (list(Grading.objects.values()), list(RankMove.objects.values())) == before


@pytest.mark.parametrize("where", ["queue_notice", "ranked_scores", "record_event"])
def test_killed_inside_the_takeover_it_is_as_if_it_had_not_begun(
    board: Board,
    results: Results,
    release: Release,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"scoring.grading.regrades.{where}", die)
        with pytest.raises(KeyboardInterrupt):
            run_due_jobs()
        assert regrade.gradings.done().count() == 3
        assert ffa(board) == BEFORE
        assert release_of(board).version == "1.0.0"
        assert Regrade.objects.get().state == "running"
    run_due_jobs()
    assert ffa(board) == AFTER
    assert Regrade.objects.get().state == "done"


def test_a_takeover_that_always_fails_says_so_and_changes_nothing(
    board: Board, results: Results, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)

    def fail(*_: object, **__: object) -> None:
        raise ValueError("gold 98,765")

    monkeypatch.setattr("scoring.grading.regrades.ranked_scores", fail)
    run_retries()
    nothing_changed(board, regrade, "failed")
    assert Regrade.objects.get().error == (
        "The last step failed: the grader stopped with ValueError."
    )


def test_one_whose_last_step_was_lost_goes_on(
    board: Board, results: Results, release: Release
) -> None:
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_graded(regrade)
    Job.objects.filter(kind=REGRADE_KIND).delete()
    assert resume_stranded() == 0, "not yet: it may have begun just now"
    Regrade.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert resume_stranded() == 1
    run_due_jobs()
    assert ffa(board) == AFTER


def test_a_deleted_account_does_not_stop_it(
    board: Board, results: Results, release: Release, stranger: User
) -> None:
    make_submission(board, stranger, name="Private")
    run_due_jobs()
    regrade = start_regrade(board=board, release=release, actor=None)
    run_until_gradings_began(regrade)
    Job.objects.filter(group__startswith="grading:").update(
        not_before=timezone.now() + timedelta(hours=1)
    )
    # A first try finds the worker's jobs still there, the second finds them stopped.
    with suppress(Retry):
        SubmissionData().erase(stranger)
    Job.objects.update(not_before=timezone.now())
    run_due_jobs()
    SubmissionData().erase(stranger)
    assert not Submission.objects.filter(owner=stranger).exists()
    assert Regrade.objects.get().state == "done"
    assert ffa(board) == AFTER
