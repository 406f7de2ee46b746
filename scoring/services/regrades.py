"""Re-grades: started, joined by what is scored meanwhile, ended without effect or taking over.

A re-grade is advanced by jobs: one when it starts, one whenever a grading of its batch ends, and
one whenever such a grading was resampled. Each looks at the whole batch, and running one twice
changes nothing. What takes over is in `takeover`.
"""

from django.db import transaction
from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from portal.jobs.models import Job
from portal.jobs.services import cancel_group
from scoring.models import Board, Grading, Phase, Regrade, RegradedPhase
from scoring.models.gradings import GradingQuerySet
from scoring.selectors.regrade_plans import (
    PhasePlan,
    RegradePlan,
    RegradeRefused,
    regrade_plan,
    scored_submissions,
)

from .gradings import STRANDED_AFTER, advance, lock_phase, start_grading
from .replicates import are_being_resampled
from .takeover import lock_unfinished, take_over

__all__ = [
    "RegradeRefused",
    "advance_regrade",
    "cancel_regrade",
    "cover",
    "drop_jobs",
    "fail_regrade",
    "resume_stranded",
    "start_regrade",
]

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
