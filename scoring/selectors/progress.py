"""How far a grading is."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum

from portal.jobs.leases import HOOK_FAILED, LOST, STOPPED
from portal.jobs.models import Job
from portal.jobs.selectors import QueueStanding, StageLog, queue_standing, stage_log
from scoring.models import Grading

# Errors that were worded for people; all others may quote what they were working on.
OWN_ERROR = "ItemFault"
_OWN_ERRORS = {OWN_ERROR, "JudgeAwaited"}


@dataclass(frozen=True)
class Progress:
    """Items done of all; `trouble` says why the part that waits was interrupted."""

    done: int
    total: int
    trouble: str
    standing: QueueStanding

    @property
    def wait(self) -> str:
        """What one waits for before anything of the grading runs; empty once it does."""
        if self.standing.running:
            return ""
        before = self.standing.jobs_before
        if before is None:
            return "Waiting until the next attempt is due."
        jobs = "Next in the queue" if before == 0 else f"Queue: {before} before it"
        if self.standing.expected_wait is None:
            return f"{jobs}. Waiting for a worker."
        return f"{jobs}, expected to begin in {in_words(self.standing.expected_wait)}."

    @property
    def pace(self) -> str:
        """Items per second and the time left, while it runs and once that is known."""
        rate, left = self.standing.rate, self.standing.time_left
        if rate is None or left is None:
            return ""
        per_second = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{per_second} items/s, about {in_words(left)} left"


def in_words(duration: timedelta) -> str:
    """A duration as an estimate is said: in seconds, minutes or hours, never exacter than it is."""
    seconds = max(duration.total_seconds(), 0)
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def grading_stages(grading: Grading) -> StageLog:
    """What happened to the grading's jobs, in words its owner may read. Two queries."""
    return stage_log(grading.job_group, words=owner_words)


def grading_progress(grading: Grading) -> Progress:
    """Items whose scores are stored and items that workers have just scored, and
    what comes before and after. Nine queries."""
    jobs = Job.objects.filter(group=grading.job_group)
    running = jobs.filter(state=Job.State.RUNNING).aggregate(done=Sum("progress_done"))["done"] or 0
    interrupted = jobs.filter(state=Job.State.QUEUED).exclude(error="").first()
    return Progress(
        # A chunk may be stored between the two counts; it must not be shown twice.
        done=min(grading.item_scores.count() + running, grading.items_total),
        total=grading.items_total,
        trouble=owner_words(interrupted.error) if interrupted else "",
        standing=queue_standing(grading.job_group),
    )


def owner_words(error: str) -> str:
    """What a submission's owner is told of a job's last error.

    Only faults that we worded ourselves are quoted. Of others the type alone is named, since an
    exception may carry a piece of the gold in its message.
    """
    error = error.partition(HOOK_FAILED)[0]
    if error in {LOST, STOPPED}:
        return error
    kind, _, words = error.partition(": ")
    if kind in _OWN_ERRORS:
        return words
    return f"the grader stopped with {kind}" if kind.isidentifier() else "the grader stopped"
