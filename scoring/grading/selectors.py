"""How far a grading is, which grading of a submission is read, and all results that it has had.

A result stays readable after the submission was graded again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.jobs.leases import HOOK_FAILED, LOST, STOPPED
from portal.jobs.models import Job
from portal.jobs.selectors import QueuePosition, StageLog, queue_position, stage_log
from scoring.access import Viewer, rights_for
from scoring.benchmarks import deciding_column
from scoring.leaderboard.disclosure import as_shown
from scoring.leaderboard.figures import Figure, columns_of, figure
from scoring.models import Entry, Grading, RankMove, Submission

# Errors that were worded for people; all others may quote what they were working on.
OWN_ERROR = "ItemFault"
_OWN_ERRORS = {OWN_ERROR, "JudgeAwaited"}


@dataclass(frozen=True)
class Progress:
    """Items done of all; `trouble` says why the part that waits was interrupted."""

    done: int
    total: int
    trouble: str
    position: QueuePosition

    @property
    def wait(self) -> str:
        """What one waits for before anything of the grading runs; empty once it does."""
        if self.position.running:
            return ""
        before = self.position.jobs_before
        if before is None:
            return "Waiting until the next attempt is due."
        jobs = "Next in the queue" if before == 0 else f"Queue: {before} before it"
        if self.position.expected_wait is None:
            return f"{jobs}. Waiting for a worker."
        return f"{jobs}, expected to begin in {in_words(self.position.expected_wait)}."

    @property
    def pace(self) -> str:
        """Items per second and the time left, while it runs and once that is known."""
        rate, left = self.position.rate, self.position.time_left
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
        position=queue_position(grading.job_group),
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


@dataclass(frozen=True)
class HistoryLine:
    """One result: when, on which gold, by which rules, and the figure its board is ordered by."""

    grading: Grading
    figure: Figure | None
    """None where the reader is told no scores yet."""
    is_current: bool


def gradings_in_force(submission: Submission) -> list[Grading]:
    """All that count or counted, newest first, with their releases. One query."""
    gradings = submission.gradings.in_force().select_related("release__dataset")
    return list(gradings.order_by("-id"))


def readable_results(
    user: Viewer, submission: Submission, gradings: Sequence[Grading]
) -> list[Grading]:
    """Of the submission's gradings in force those that are done; for others than its keepers those
    that stand or stood on the leaderboard, as long as the submission is public."""
    done = [each for each in gradings if each.state == Grading.State.DONE]
    if rights_for(user, submission).is_keeper or not done:
        return done
    if submission.publication != Submission.Publication.PUBLIC:
        return []
    moves = RankMove.objects.filter(submission=submission)
    entries = Entry.objects.filter(grading__submission=submission)
    stood = {
        *moves.values_list("grading_before", flat=True),
        *entries.values_list("grading", flat=True),
    }
    return [each for each in done if each.pk in stood]


def earlier_grading(user: Viewer, submission: Submission, wanted: str) -> Grading:
    """The result of this number; 404 for what is none, or not for this reader."""
    for grading in readable_results(user, submission, gradings_in_force(submission)):
        if str(grading.pk) == wanted:
            return grading
    raise Http404("There is no such result.")


def grading_history(
    user: Viewer, submission: Submission, gradings: Sequence[Grading], current: Grading | None
) -> list[HistoryLine]:
    """Empty where there is no result but the one that counts."""
    if all(each == current for each in gradings if each.state == Grading.State.DONE):
        return []
    results = readable_results(user, submission, gradings)
    return [_line(user, submission, each, is_current=each == current) for each in results]


def _line(
    user: Viewer, submission: Submission, grading: Grading, *, is_current: bool
) -> HistoryLine:
    told = as_shown(user, submission.phase, grading)
    if not told.scores:
        return HistoryLine(grading, None, is_current)
    column = deciding_column(columns_of(submission.phase.board.spec, told.options))
    return HistoryLine(grading, figure(column, told.scores, told.counts), is_current)


def latest_grading(submission: Submission) -> Grading:
    """The newest that counts: what one of a running re-grade says counts when all of it does."""
    in_force = submission.gradings.in_force().select_related("release__dataset")
    return get_object_or_404(in_force.order_by("-id")[:1])


def finished_grading(user: Viewer, submission: Submission, wanted: str = "") -> Grading:
    """The newest grading if it is done, or an earlier one; for others than its keepers the one
    that is published. 404 before."""
    if wanted:
        return earlier_grading(user, submission, wanted)
    if not rights_for(user, submission).is_keeper:
        published = Grading.objects.filter(submission=submission, entry__isnull=False)
        return get_object_or_404(published.select_related("release__dataset"))
    grading = latest_grading(submission)
    if grading.state != Grading.State.DONE:
        raise Http404("The grading is not done.")
    return grading


def cited_grading(user: Viewer, submission: Submission) -> Grading | None:
    """The result to cite: the one that is published; before that, to its keepers, the newest that
    is done. One or two queries."""
    related = submission.gradings.in_force().done().select_related("release__dataset")
    published = related.filter(entry__isnull=False).first()
    if published is None and rights_for(user, submission).is_keeper:
        return related.order_by("-id").first()
    return published
