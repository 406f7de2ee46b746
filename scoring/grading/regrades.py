"""Re-grades: started, joined by new submissions meanwhile, ended without effect or taking over.

Jobs advance a re-grade: one when it starts, one whenever a grading of its batch ends, and one
whenever such a grading was resampled. Each looks at the whole batch, and running one twice changes
nothing. When all of the batch is done it takes over in one transaction: entries, phases, and what
is still being graded.
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
from .regrade_plans import PhasePlan, RegradePlan, RegradeRefused, regrade_plan, scored_submissions
from .services import STRANDED_AFTER, advance, is_outdated, lock_phase, start_grading


class _Moved(NamedTuple):
    """An entry with its new result, and the grading whose result it held."""

    entry: Entry
    submission: int
    before: int
    after: int


def lock_unfinished(phases: Iterable[Phase]) -> list[Grading]:
    """What is being graded in these phases for the submissions themselves, locked: none of it
    becomes done until the transaction ends."""
    live = Grading.objects.live().filter(regrade__isnull=True, submission__phase__in=list(phases))
    return list(live.select_for_update(of=("self",), no_key=True).order_by("pk"))


def take_over(regrade: Regrade, unfinished: Iterable[Grading]) -> None:
    """The batch of a locked re-grade is done: its results count from now on.

    Its phases and `unfinished` are locked. What is still being graded by the former rules begins
    again, so that nothing of them comes in later.
    """
    # Who publishes, withdraws or judges one of them waits, and finds the new result then.
    held = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    list(held.filter(pk__in=regrade.gradings.values("submission")).values_list("pk"))
    for part in regrade.phases.select_related("release_after").order_by("phase"):
        _take_over_phase(regrade, part)
    regrade.state, regrade.finished_at = Regrade.State.DONE, timezone.now()
    regrade.save(update_fields=["state", "finished_at"])
    _begin_again(unfinished)
    for grading in _results(regrade).values():
        queue_notice(grading)
    bump_board(regrade.board_id)
    record_event(verb="finish_regrade", subject=regrade, actor=None, rows=regrade.moves.count())


def _results(regrade: Regrade) -> dict[int, Grading]:
    """The batch by submission; what was withdrawn meanwhile is left out."""
    done = regrade.gradings.done().filter(submission__withdrawn_at__isnull=True)
    return {each.submission_id: each for each in done.select_related("submission").order_by("pk")}


def _take_over_phase(regrade: Regrade, part: RegradedPhase) -> None:
    phase = lock_phase(part.phase_id)
    before = _ranked_by_tests(phase)
    _protect(phase, part.release_after)
    moved = _move_entries(regrade, phase)
    phase.release = part.release_after
    phase.save(update_fields=["release"])
    after = _ranked_by_tests(phase)
    # A ranking that is under way may have read the entries as they were.
    queue_ranking(phase)
    RankMove.objects.bulk_create(
        _move(regrade, phase, each, before[each.entry.pk], after[each.entry.pk]) for each in moved
    )


def _protect(phase: Phase, release: Release) -> None:
    """Before the phase moves to this release: hidden gold is protected, with a line in the log.
    Here no form asks for the settings."""
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
    """Ranked now and not by a later job: ranks by tests and ranks by figures alone must not be
    compared with each other."""
    store_ranks(phase.pk, rank_entries(phase.pk))
    return ranked_scores(phase.board, phase)


def _move_entries(regrade: Regrade, phase: Phase) -> list[_Moved]:
    """Every row of the phase gets the figures of the batch; card, verdict and pin stay."""
    results, moved = _results(regrade), []
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED).select_related("grading")
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


def _begin_again(unfinished: Iterable[Grading]) -> None:
    """A submission keeps its place in the limits meanwhile, and nobody is told of the first try."""
    for grading in unfinished:
        phase = lock_phase(grading.submission.phase_id)
        if not is_outdated(grading, phase):
            continue
        grading.state, grading.finished_at = Grading.State.CANCELLED, timezone.now()
        grading.error = "The phase was graded again meanwhile; this submission began again."
        grading.save(update_fields=["state", "error", "finished_at"])
        start_grading(submission=grading.submission, actor=None)


# Gradings that are begun in one transaction; each brings a job for every chunk of its items.
BEGUN_AT_ONCE = 20
FAULTS_NAMED = 5
SCORER_CHANGED = "The scorer was changed while the batch was graded. Start it again."


def start_regrade(
    *, board: Board, phase: Phase | None = None, release: Release | None = None, actor: User | None
) -> Regrade:
    """Queues a re-grade of a phase, or of the whole board. Raises RegradeRefused.

    Workers begin the gradings. Until all of them are done, nothing changes for anybody.
    """
    plan = regrade_plan(board, phase=phase, release=release)
    with transaction.atomic():
        Board.objects.select_for_update(no_key=True).get(pk=board.pk)
        if board.regrades.filter(state=Regrade.State.RUNNING).exists():
            raise RegradeRefused("This board is being graded again already: wait, or cancel that.")
        regrade = Regrade.objects.create(board=board, started_by=actor)
        RegradedPhase.objects.bulk_create(_covered(regrade, each) for each in plan.phases)
        advance(regrade.pk)
        record_event(verb="start_regrade", subject=regrade, actor=actor, **_told(plan))
    return regrade


def _covered(regrade: Regrade, plan: PhasePlan) -> RegradedPhase:
    """Raises RegradeRefused if another re-grade has moved the phase since the plan was made."""
    if lock_phase(plan.phase.pk).release_id != plan.phase.release_id:
        raise RegradeRefused(f"“{plan.phase.title}” was just graded again: look at it anew.")
    return RegradedPhase(
        regrade=regrade,
        phase=plan.phase,
        release_before_id=plan.phase.release_id,
        release_after=plan.release,
        items_changed=plan.gold.items,
        facts_changed=plan.gold.facts,
    )


def _told(plan: RegradePlan) -> dict[str, object]:
    return {
        "board": plan.board.pk,
        "submissions": plan.submissions,
        "releases": {each.phase.slug: each.release.pk for each in plan.phases},
    }


def lock_regrade(pk: int) -> Regrade:
    return Regrade.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)


@transaction.atomic
def cover(pk: int) -> int:
    """Begins gradings of scored submissions that the batch has not got yet, some at a time; how
    many. There are such at the start, and when others were scored while the batch ran."""
    regrade = lock_regrade(pk)
    begun = 0
    if regrade.is_finished:
        return begun
    for part in regrade.phases.select_related("phase", "release_after").order_by("phase"):
        lacking = scored_submissions(part.phase).exclude(gradings__regrade=regrade)
        for submission in lacking[: BEGUN_AT_ONCE - begun]:
            start_grading(
                submission=submission,
                actor=regrade.started_by,
                regrade=regrade,
                release=part.release_after,
            )
            begun += 1
    return begun


@transaction.atomic
def advance_regrade(pk: int) -> None:
    """Fails the re-grade, lets it go on, or, once all of its batch is done, has it take over.

    A grading of the batch that was cancelled is of an account that is being deleted; what was
    withdrawn meanwhile is left out, too.
    """
    regrade = lock_regrade(pk)
    if regrade.is_finished:
        return
    batch = regrade.gradings.filter(submission__withdrawn_at__isnull=True)
    failed = batch.filter(state=Grading.State.FAILED).select_related("submission").order_by("pk")
    if failed:
        _end(regrade, Regrade.State.FAILED, error=_faults(list(failed)))
        return
    # Without its replicates the batch could not be ranked in the moment in which it takes over.
    if batch.live().exists() or are_being_resampled(batch):
        return
    # From here on nothing is submitted to these phases, and nothing in them gets its score.
    phases = [lock_phase(part.phase_id) for part in regrade.phases.order_by("phase")]
    unfinished = lock_unfinished(phases)
    if cover(pk):
        return
    if any(_has_former_rules(batch, phase) for phase in phases):
        _end(regrade, Regrade.State.FAILED, error=SCORER_CHANGED)
        return
    take_over(regrade, unfinished)


def _has_former_rules(batch: GradingQuerySet, phase: Phase) -> bool:
    """Whether the site got another scorer while the batch was graded."""
    spec = phase.board.spec
    signature = spec.signature(spec.check_options(phase.options))
    return batch.done().filter(submission__phase=phase).exclude(signature=signature).exists()


def _faults(failed: list[Grading]) -> str:
    named = [
        f"“{each.submission.name}” (submission {each.submission_id}): {each.error}"
        for each in failed[:FAULTS_NAMED]
    ]
    more = len(failed) - len(named)
    return " · ".join(named) + (f" · and {more} more" if more else "")


def _end(regrade: Regrade, state: Regrade.State, *, error: str = "") -> None:
    """Ends a locked re-grade that has no effect, and stops what of its batch still runs."""
    regrade.state, regrade.error, regrade.finished_at = state, error, timezone.now()
    regrade.save(update_fields=["state", "error", "finished_at"])
    # Their chunks find them cancelled and leave them.
    regrade.gradings.live().update(state=Grading.State.CANCELLED, finished_at=regrade.finished_at)


@transaction.atomic
def fail_regrade(*, pk: int, reason: str) -> None:
    """Ends it without effect. One that has ended stays as it is."""
    regrade = lock_regrade(pk)
    if not regrade.is_finished:
        _end(regrade, Regrade.State.FAILED, error=reason)
        record_event(verb="fail_regrade", subject=regrade, actor=None, reason=reason)


def cancel_regrade(*, regrade: Regrade, actor: User | None) -> Regrade:
    """Stops it; nothing was changed. Raises RegradeRefused if it has ended already."""
    with transaction.atomic():
        regrade = lock_regrade(regrade.pk)
        if regrade.is_finished:
            raise RegradeRefused(f"This re-grade has ended already: it is {regrade.state}.")
        _end(regrade, Regrade.State.CANCELLED)
        record_event(verb="cancel_regrade", subject=regrade, actor=actor)
    drop_jobs(regrade.pk, actor=actor)
    return regrade


def drop_jobs(pk: int, *, actor: User | None = None) -> None:
    """Takes what is left of an ended re-grade out of the queue. In transactions of its own: a job
    that ends at this moment holds its row and waits for its grading's."""
    regrade = Regrade.objects.get(pk=pk)
    if regrade.state not in {Regrade.State.FAILED, Regrade.State.CANCELLED}:
        return
    groups = {grading.job_group for grading in regrade.gradings.all()}
    jobs = Job.objects.filter(group__in=groups).unfinished().order_by()
    for group in sorted(set(jobs.values_list("group", flat=True))):
        cancel_group(group, actor)


def resume_stranded() -> int:
    """Advances re-grades that nothing is going to advance any more; how many. As when the last of
    the batch was deleted with its account."""
    jobs = Job.objects.unfinished().filter(group=Concat(Value("regrade:"), OuterRef("pk_text")))
    running = Regrade.objects.filter(
        state=Regrade.State.RUNNING, created_at__lt=timezone.now() - STRANDED_AFTER
    ).annotate(pk_text=Cast("pk", CharField()))
    live = Grading.objects.live().filter(regrade=OuterRef("pk"))
    stranded = list(
        running.exclude(Exists(jobs)).exclude(Exists(live)).values_list("pk", flat=True)
    )
    for pk in stranded:
        advance(pk)
    return len(stranded)
