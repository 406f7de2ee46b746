"""The progress of a grading, and the current and earlier results of a submission.

Earlier results stay readable after a re-grade.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Sum
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.jobs.leases import HOOK_FAILED, LOST, STOPPED
from portal.jobs.models import Job
from portal.jobs.selectors import QueuePosition, StageLine, StageLog, queue_position, stage_log
from scoring.access import Viewer, full_minute, rights_for, sees_exact_times
from scoring.benchmarks import deciding_column
from scoring.figures import Figure, columns_of, figure
from scoring.leaderboard.disclosure import as_shown
from scoring.models import Entry, Grading, Phase, RankMove, Submission

# Errors with messages for users. All others may quote gold or predictions.
OWN_ERROR = "ItemFault"
_OWN_ERRORS = {OWN_ERROR, "JudgeAwaited"}


@dataclass(frozen=True)
class Progress:
    """Items done of all; `trouble` says why a waiting job was interrupted."""

    done: int
    total: int
    trouble: str
    position: QueuePosition

    @property
    def wait(self) -> str:
        """The reason for waiting; empty while it runs."""
        if self.position.running:
            return ""
        before = self.position.jobs_before
        if before is None:
            return "Waiting for the next attempt."
        jobs = "Next in the queue" if before == 0 else f"Jobs ahead in the queue: {before}"
        if self.position.expected_wait is None:
            return f"{jobs}. Waiting for a worker."
        return f"{jobs}. Estimated start: in {in_words(self.position.expected_wait)}."

    @property
    def pace(self) -> str:
        """Items per second and the time left; empty while unknown."""
        rate, left = self.position.rate, self.position.time_left
        if rate is None or left is None:
            return ""
        per_second = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{per_second} items/s, about {in_words(left)} left"


def in_words(duration: timedelta) -> str:
    """A rounded duration in seconds, minutes or hours, for estimates."""
    seconds = max(duration.total_seconds(), 0)
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def grading_stages(grading: Grading, *, exact: bool = True) -> StageLog:
    """The log of the grading's jobs, in words for its owner. Two queries. `exact` is whether the
    reader `sees_exact_times`."""
    log = stage_log(grading.job_group, words=owner_words)
    if exact:
        return log
    return replace(log, lines=[_to_the_minute(line) for line in log.lines], has_seconds=False)


def _to_the_minute(line: StageLine) -> StageLine:
    return replace(line, at=full_minute(line.at), until=line.until and full_minute(line.until))


def grading_progress(grading: Grading, *, exact: bool = True) -> Progress:
    """Items with stored scores plus items that workers have just scored, and the place in the
    queue. Nine queries. `exact` is whether the reader `sees_exact_times`."""
    position = queue_position(grading.job_group)
    if not exact:
        position = replace(position, rate=None, time_left=None)
    jobs = Job.objects.filter(group=grading.job_group)
    running = jobs.filter(state=Job.State.RUNNING).aggregate(done=Sum("progress_done"))["done"] or 0
    interrupted = jobs.filter(state=Job.State.QUEUED).exclude(error="").first()
    return Progress(
        # A chunk may be stored between the two counts and counted twice.
        done=min(grading.item_scores.count() + running, grading.items_total),
        total=grading.items_total,
        trouble=owner_words(interrupted.error) if interrupted else "",
        position=position,
    )


def owner_words(error: str) -> str:
    """The words for a submission's owner about a job's last error.

    Only messages for users are quoted. For other exceptions only the type is named, because their
    messages may contain gold.
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
    """One result with its main score."""

    grading: Grading
    figure: Figure | None
    """None while scores are not shown."""
    is_current: bool


def gradings_in_force(submission: Submission) -> list[Grading]:
    """All gradings that count or counted, newest first, with their releases. One query."""
    gradings = submission.gradings.in_force().select_related("release__dataset")
    return list(gradings.order_by("-id"))


def readable_results(
    user: Viewer, submission: Submission, gradings: Sequence[Grading]
) -> list[Grading]:
    """The finished gradings that the user may see: all for keepers; for others those that are or
    were on the leaderboard, while the submission is public."""
    done = [grading for grading in gradings if grading.state == Grading.State.DONE]
    if rights_for(user, submission).is_keeper or not done:
        return done
    if submission.publication != Submission.Publication.PUBLIC:
        return []
    moves = RankMove.objects.filter(submission=submission)
    entries = Entry.objects.filter(grading__submission=submission)
    published = {
        *moves.values_list("grading_before", flat=True),
        *entries.values_list("grading", flat=True),
    }
    return [grading for grading in done if grading.pk in published]


def earlier_grading(user: Viewer, submission: Submission, wanted: str) -> Grading:
    """The result with this id; raises Http404 if there is none for this user."""
    for grading in readable_results(user, submission, gradings_in_force(submission)):
        if str(grading.pk) == wanted:
            return grading
    raise Http404("There is no such result.")


def grading_history(
    user: Viewer, submission: Submission, gradings: Sequence[Grading], current: Grading | None
) -> list[HistoryLine]:
    """All results for this user; empty if there is only the current one."""
    if all(grading == current for grading in gradings if grading.state == Grading.State.DONE):
        return []
    results = readable_results(user, submission, gradings)
    return [_line(user, submission, result, is_current=result == current) for result in results]


def _line(
    user: Viewer, submission: Submission, grading: Grading, *, is_current: bool
) -> HistoryLine:
    shown = grading_as_shown(user, submission.phase, grading)
    if not shown.scores:
        return HistoryLine(shown, None, is_current)
    column = deciding_column(columns_of(submission.phase.board.spec, shown.options))
    return HistoryLine(shown, figure(column, shown.scores, shown.counts), is_current)


def grading_as_shown(user: Viewer, phase: Phase, grading: Grading) -> Grading:
    """The grading with the figures and times that this user may see. Do not save it."""
    shown = as_shown(user, phase, grading)
    if not sees_exact_times(user, phase):
        shown.created_at = full_minute(shown.created_at)
        shown.finished_at = shown.finished_at and full_minute(shown.finished_at)
    return shown


def latest_grading(submission: Submission) -> Grading:
    """The newest grading that counts, which excludes those of a running re-grade."""
    in_force = submission.gradings.in_force().select_related("release__dataset")
    return get_object_or_404(in_force.order_by("-id")[:1])


def finished_grading(user: Viewer, submission: Submission, wanted: str = "") -> Grading:
    """The newest grading, or the earlier one that is `wanted`; for other users than keepers the
    published one. Raises Http404 if it is not done."""
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
    """The result to cite: the published one; without one, for keepers, the newest that is done.
    One or two queries."""
    related = submission.gradings.in_force().done().select_related("release__dataset")
    published = related.filter(entry__isnull=False).first()
    if published is None and rights_for(user, submission).is_keeper:
        return related.order_by("-id").first()
    return published
