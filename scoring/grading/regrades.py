"""Runs re-grades: starts their gradings, adds new submissions, and finishes, fails or cancels them.

Jobs advance a re-grade: one when it starts, and one whenever a grading of its batch has ended or
was resampled. Each job checks the whole batch, and running one twice changes nothing. When all of
the batch is done, one transaction updates entries and phases, and restarts unfinished gradings.
"""

from collections.abc import Iterable
from typing import NamedTuple

from django.db import transaction
from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from portal.jobs.models import Job
from portal.jobs.services import cancel_group
from scoring.boards.ledger import learnt_from
from scoring.boards.limits import add_learnt
from scoring.boards.protection import outgrown_settings
from scoring.leaderboard.selectors import RankedScore, ranked_scores
from scoring.leaderboard.services import (
    FIGURES,
    are_being_resampled,
    bump_board,
    queue_ranking,
    rank_entries,
    set_figures,
    store_ranks,
)
from scoring.models import (
    Board,
    Entry,
    Grading,
    Phase,
    RankMove,
    Regrade,
    RegradedPhase,
    Submission,
)
from scoring.models.gradings import GradingQuerySet

from .notices import queue_notice
from .regrade_changes import (
    PhasePlan,
    RegradePlan,
    RegradeRefused,
    regrade_plan,
    scored_submissions,
)
from .services import STRANDED_AFTER, advance, is_outdated, lock_phase, start_grading


class _Moved(NamedTuple):
    """An entry with its new result, and the ids of its gradings before and after."""

    entry: Entry
    submission: int
    before: int
    after: int


def lock_unfinished(phases: Iterable[Phase]) -> list[Grading]:
    """Locks the unfinished gradings of these phases that do not belong to a re-grade, so that none
    of them ends before the transaction does."""
    live = Grading.objects.unfinished().filter(
        regrade__isnull=True, submission__phase__in=list(phases)
    )
    return list(live.select_for_update(of=("self",), no_key=True).order_by("pk"))


def finish_regrade(regrade: Regrade, unfinished: Iterable[Grading]) -> None:
    """Makes the results of a finished batch count.

    The re-grade, its phases and `unfinished` must be locked. Unfinished gradings with former rules
    are restarted.
    """
    # Lock the submissions: publishing, withdrawing or judging one waits for the new result.
    held = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    list(held.filter(pk__in=regrade.gradings.values("submission")).values_list("pk"))
    for part in regrade.phases.select_related("release_after").order_by("phase"):
        _update_phase(regrade, part)
    regrade.state, regrade.finished_at = Regrade.State.DONE, timezone.now()
    regrade.save(update_fields=["state", "finished_at"])
    _restart(unfinished)
    for grading in _results(regrade).values():
        learnt = learnt_from(grading.submission.phase, grading)
        add_learnt(submission_id=grading.submission_id, learnt=learnt)
        queue_notice(grading)
    bump_board(regrade.board_id)
    record_event(verb="finish_regrade", subject=regrade, actor=None, rows=regrade.moves.count())


_OF_RESULTS = ("release", "submission__phase__board", "submission__phase__release")


def _results(regrade: Regrade) -> dict[int, Grading]:
    """The batch by submission, without withdrawn submissions."""
    done = regrade.gradings.done().filter(submission__withdrawn_at__isnull=True)
    return {
        grading.submission_id: grading
        for grading in done.select_related(*_OF_RESULTS).order_by("pk")
    }


def _update_phase(regrade: Regrade, part: RegradedPhase) -> None:
    phase = lock_phase(part.phase_id)
    before = _ranked_by_tests(phase)
    _protect(phase, part.release_after)
    phase.release = part.release_after
    phase.save(update_fields=["release"])
    moved = _move_entries(regrade, phase)
    after = _ranked_by_tests(phase)
    # A running ranking job may have read the former entries.
    queue_ranking(phase)
    RankMove.objects.bulk_create(
        _move(regrade, phase, change, before[change.entry.pk], after[change.entry.pk])
        for change in moved
        if change.entry.kind == Entry.Kind.GRADED
    )


def _protect(phase: Phase, release: Release) -> None:
    """Protects hidden gold before the phase moves to this release, and logs the changes."""
    changes = outgrown_settings(phase, release, phase.split)
    if not changes:
        return
    before = {name: str(getattr(phase, name)) for name in changes}
    for name, value in changes.items():
        setattr(phase, name, value)
    phase.save(update_fields=list(changes))
    record_event(
        verb="protect_phase", subject=phase.board, actor=None, phase=phase.slug, before=before
    )


def _ranked_by_tests(phase: Phase) -> dict[int, RankedScore]:
    """The ranks by significance tests, computed now: ranks by figures alone, before the ranking
    job, could not be compared with them."""
    store_ranks(phase.pk, rank_entries(phase.pk))
    return ranked_scores(phase.board, phase)


def _move_entries(regrade: Regrade, phase: Phase) -> list[_Moved]:
    """Updates the figures of every row in the phase; card, verdict and pin stay."""
    results, moved = _results(regrade), []
    entries = Entry.objects.filter(phase=phase, grading__isnull=False).select_related("grading")
    for entry in entries.order_by("pk"):
        assert entry.grading is not None
        former, grading = entry.grading, results.get(entry.grading.submission_id)
        if grading is None:
            continue
        set_figures(entry, phase, grading)
        entry.signature = grading.signature
        entry.save(update_fields=["grading", "signature", *FIGURES])
        moved.append(_Moved(entry, grading.submission_id, former.pk, grading.pk))
    return moved


def _move(
    regrade: Regrade, phase: Phase, moved: _Moved, before: RankedScore, after: RankedScore
) -> RankMove:
    return RankMove(
        regrade=regrade,
        phase=phase,
        submission_id=moved.submission,
        grading_before_id=moved.before,
        grading_after_id=moved.after,
        rank_before=before.rank,
        rank_after=after.rank,
        score_before=before.score,
        score_after=after.score,
    )


def _restart(unfinished: Iterable[Grading]) -> None:
    """Restarts outdated gradings. Their attempts stay held, and no notice is sent."""
    for grading in unfinished:
        phase = lock_phase(grading.submission.phase_id)
        if not is_outdated(grading, phase):
            continue
        grading.state, grading.finished_at = Grading.State.CANCELLED, timezone.now()
        grading.error = "Restarted because the phase was re-graded."
        grading.save(update_fields=["state", "error", "finished_at"])
        start_grading(submission=grading.submission, actor=None)


# Gradings that are started in one transaction; each queues a job for every chunk of its items.
STARTED_AT_ONCE = 20
FAULTS_NAMED = 5
SCORER_CHANGED = "The metric version changed during the re-grade. Start the re-grade again."


def start_regrade(
    *, board: Board, phase: Phase | None = None, release: Release | None = None, actor: User | None
) -> Regrade:
    """Queues a re-grade of a phase, or of the whole board. Raises RegradeRefused.

    Workers start the gradings. The leaderboard does not change until all of them are done.
    """
    plan = regrade_plan(board, phase=phase, release=release)
    with transaction.atomic():
        Board.objects.select_for_update(no_key=True).get(pk=board.pk)
        if board.regrades.filter(state=Regrade.State.RUNNING).exists():
            raise RegradeRefused(
                "A re-grade of this board is already running. Wait until it ends, or cancel it."
            )
        regrade = Regrade.objects.create(board=board, started_by=actor)
        RegradedPhase.objects.bulk_create(_covered(regrade, part) for part in plan.phases)
        advance(regrade.pk)
        record_event(verb="start_regrade", subject=regrade, actor=actor, **_event_data(plan))
    return regrade


def _covered(regrade: Regrade, plan: PhasePlan) -> RegradedPhase:
    """Raises RegradeRefused if another re-grade has moved the phase since the plan was made."""
    if lock_phase(plan.phase.pk).release_id != plan.phase.release_id:
        raise RegradeRefused(
            f"“{plan.phase.title}” was re-graded in the meantime. Preview the changes again."
        )
    return RegradedPhase(
        regrade=regrade,
        phase=plan.phase,
        release_before_id=plan.phase.release_id,
        release_after=plan.release,
        items_changed=plan.gold.items,
        facts_changed=plan.gold.facts,
    )


def _event_data(plan: RegradePlan) -> dict[str, object]:
    return {
        "board": plan.board.pk,
        "submissions": plan.submissions,
        "releases": {part.phase.slug: part.release.pk for part in plan.phases},
    }


def lock_regrade(pk: int) -> Regrade:
    return Regrade.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)


@transaction.atomic
def start_missing(pk: int) -> int:
    """Starts gradings of scored submissions that are not in the batch, some at a time, and returns
    their number. Submissions are missing at the start, and if they were scored meanwhile."""
    regrade = lock_regrade(pk)
    started = 0
    if regrade.is_finished:
        return started
    for part in regrade.phases.select_related("phase", "release_after").order_by("phase"):
        lacking = scored_submissions(part.phase).exclude(gradings__regrade=regrade)
        for submission in lacking[: STARTED_AT_ONCE - started]:
            start_grading(
                submission=submission,
                actor=regrade.started_by,
                regrade=regrade,
                release=part.release_after,
            )
            started += 1
    return started


@transaction.atomic
def advance_regrade(pk: int) -> None:
    """Fails the re-grade, lets it continue, or finishes it once all of its batch is done.

    Withdrawn submissions are left out, and so are cancelled gradings, which belong to accounts that
    are being deleted.
    """
    regrade = lock_regrade(pk)
    if regrade.is_finished:
        return
    batch = regrade.gradings.filter(submission__withdrawn_at__isnull=True)
    failed = batch.filter(state=Grading.State.FAILED).select_related("submission").order_by("pk")
    if failed:
        _end(regrade, Regrade.State.FAILED, error=_faults(list(failed)))
        return
    # The ranks at the end need the replicates of the batch.
    if batch.unfinished().exists() or are_being_resampled(batch):
        return
    # From here on nothing can be submitted to these phases or scored in them.
    phases = [lock_phase(part.phase_id) for part in regrade.phases.order_by("phase")]
    unfinished = lock_unfinished(phases)
    if start_missing(pk):
        return
    if any(_has_former_rules(batch, phase) for phase in phases):
        _end(regrade, Regrade.State.FAILED, error=SCORER_CHANGED)
        return
    finish_regrade(regrade, unfinished)


def _has_former_rules(batch: GradingQuerySet, phase: Phase) -> bool:
    """Whether the scorer changed while the batch was graded."""
    spec = phase.board.spec
    signature = spec.signature(spec.check_options(phase.options))
    return batch.done().filter(submission__phase=phase).exclude(signature=signature).exists()


def _faults(failed: list[Grading]) -> str:
    named = [
        f"“{grading.submission.name}” (submission {grading.submission_id}): {grading.error}"
        for grading in failed[:FAULTS_NAMED]
    ]
    more = len(failed) - len(named)
    return " · ".join(named) + (f" · and {more} more" if more else "")


def _end(regrade: Regrade, state: Regrade.State, *, error: str = "") -> None:
    """Ends a locked re-grade without effect, and cancels the rest of its batch."""
    regrade.state, regrade.error, regrade.finished_at = state, error, timezone.now()
    regrade.save(update_fields=["state", "error", "finished_at"])
    # Chunks check the state and stop.
    regrade.gradings.unfinished().update(
        state=Grading.State.CANCELLED, finished_at=regrade.finished_at
    )


@transaction.atomic
def fail_regrade(*, pk: int, reason: str) -> None:
    """Ends the re-grade without effect, unless it has already ended."""
    regrade = lock_regrade(pk)
    if not regrade.is_finished:
        _end(regrade, Regrade.State.FAILED, error=reason)
        record_event(verb="fail_regrade", subject=regrade, actor=None, reason=reason)


def cancel_regrade(*, regrade: Regrade, actor: User | None) -> Regrade:
    """Cancels the re-grade without effect. Raises RegradeRefused if it has already ended."""
    with transaction.atomic():
        regrade = lock_regrade(regrade.pk)
        if regrade.is_finished:
            raise RegradeRefused(f"This re-grade has already ended: it is {regrade.state}.")
        _end(regrade, Regrade.State.CANCELLED)
        record_event(verb="cancel_regrade", subject=regrade, actor=actor)
    drop_jobs(regrade.pk, actor=actor)
    return regrade


def drop_jobs(pk: int, *, actor: User | None = None) -> None:
    """Cancels the remaining jobs of a failed or cancelled re-grade. Uses its own transactions: a
    job that ends now locks its row and waits for its grading's."""
    regrade = Regrade.objects.get(pk=pk)
    if regrade.state not in {Regrade.State.FAILED, Regrade.State.CANCELLED}:
        return
    groups = {grading.job_group for grading in regrade.gradings.all()}
    jobs = Job.objects.filter(group__in=groups).unfinished().order_by()
    for group in sorted(set(jobs.values_list("group", flat=True))):
        cancel_group(group, actor)


def resume_stranded() -> int:
    """Advances running re-grades without jobs and live gradings, and returns their number. This
    happens if the last grading of the batch was deleted with its account."""
    jobs = Job.objects.unfinished().filter(group=Concat(Value("regrade:"), OuterRef("pk_text")))
    running = Regrade.objects.filter(
        state=Regrade.State.RUNNING, created_at__lt=timezone.now() - STRANDED_AFTER
    ).annotate(pk_text=Cast("pk", CharField()))
    live = Grading.objects.unfinished().filter(regrade=OuterRef("pk"))
    stranded = list(
        running.exclude(Exists(jobs)).exclude(Exists(live)).values_list("pk", flat=True)
    )
    for pk in stranded:
        advance(pk)
    return len(stranded)
