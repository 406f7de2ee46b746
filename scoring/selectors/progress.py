"""How far a grading is."""

from dataclasses import dataclass

from django.db.models import Sum

from portal.jobs.models import Job
from scoring.models import Grading

# Errors that were worded for people; all others may quote what they were working on.
OWN_ERROR = "ItemFault"
LOST_WORKER = "The worker was lost"


@dataclass(frozen=True)
class Progress:
    """Items done of all; `trouble` says why the part that waits was interrupted."""

    done: int
    total: int
    trouble: str


def grading_progress(grading: Grading) -> Progress:
    """Items whose scores are stored and items that workers have just scored. Three queries."""
    jobs = Job.objects.filter(group=grading.job_group)
    running = jobs.filter(state=Job.State.RUNNING).aggregate(done=Sum("progress_done"))["done"] or 0
    interrupted = jobs.filter(state=Job.State.QUEUED).exclude(error="").first()
    return Progress(
        # A chunk may be stored between the two counts; it must not be shown twice.
        done=min(grading.item_scores.count() + running, grading.items_total),
        total=grading.items_total,
        trouble=owner_words(interrupted.error) if interrupted else "",
    )


def owner_words(error: str) -> str:
    """What a submission's owner is told of a job's last error.

    Only faults that we worded ourselves are quoted. Of others the type alone is named, since an
    exception may carry a piece of the gold in its message.
    """
    kind, _, words = error.partition(": ")
    if kind == OWN_ERROR or error.startswith(LOST_WORKER):
        return words if kind == OWN_ERROR else error
    return f"the grader stopped with {kind}"
