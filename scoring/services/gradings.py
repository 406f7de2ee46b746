"""The life of a grading: started, tried again, cancelled, finished, failed.

The grading's row is locked before anything is written that belongs to it. So two chunks that finish
at the same moment see each other's item scores, and exactly one of them finds that it was the last.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import ReleaseItem
from portal.jobs.models import Job
from portal.jobs.services import cancel_group, enqueue, enqueue_many
from scoring.benchmarks import Scores
from scoring.models import Grading, Submission

CHUNK_KIND = "grade_chunk"
AGGREGATE_KIND = "aggregate"


class GradingRefused(Exception):
    """The grading is not in a state in which this could be done. The message says why."""


@transaction.atomic
def start_grading(*, submission: Submission, actor: User | None) -> Grading:
    """Queues the grading of a stored submission under the options of its phase."""
    phase = submission.phase
    items = ReleaseItem.objects.filter(release_id=phase.release_id)
    positions = list(items.order_by("position").values_list("position", flat=True))
    spec = phase.board.spec
    options = spec.check_options(phase.options)
    grading = Grading.objects.create(
        submission=submission,
        signature=spec.signature(options),
        options=options,
        items_total=len(positions),
        missing=len(positions) - submission.predictions.count(),
    )
    _enqueue_chunks(grading, positions)
    record_event(verb="start_grading", subject=grading, actor=actor, signature=grading.signature)
    return grading


def _enqueue_chunks(grading: Grading, positions: Sequence[int]) -> None:
    """One job per chunk of neighbouring positions, all in the grading's group."""
    size = settings.GRADING_CHUNK
    chunks = [positions[start : start + size] for start in range(0, len(positions), size)]
    enqueue_many(
        kind=CHUNK_KIND,
        payloads=[
            {"grading": grading.pk, "first": chunk[0], "last": chunk[-1]} for chunk in chunks
        ],
        group=grading.job_group,
        totals=[len(chunk) for chunk in chunks],
    )


def lock_grading(pk: int) -> Grading:
    """The row, locked until the transaction ends. It must be the first lock that is taken."""
    # no_key: item scores that refer to the row take a weaker lock, which must not collide with it.
    return Grading.objects.select_for_update(no_key=True).get(pk=pk)


def mark_running(pk: int) -> None:
    Grading.objects.filter(pk=pk, state=Grading.State.QUEUED).update(state=Grading.State.RUNNING)


def aggregate_when_complete(grading: Grading) -> None:
    """Queues the last step once every item has its score. The grading must be locked."""
    if grading.is_finished or grading.item_scores.count() < grading.items_total:
        return
    jobs = Job.objects.filter(group=grading.job_group, kind=AGGREGATE_KIND)
    if not jobs.unfinished().exists():
        enqueue(
            kind=AGGREGATE_KIND, payload={"grading": grading.pk}, group=grading.job_group, total=0
        )


def finish_grading(*, grading: Grading, scores: Scores) -> None:
    """Writes the scores of a locked grading that is still running."""
    if grading.is_finished:
        return
    grading.scores, grading.counts, grading.subsets = scores.scores, scores.counts, scores.subsets
    grading.state, grading.error, grading.finished_at = Grading.State.DONE, "", timezone.now()
    grading.save()
    record_event(verb="finish_grading", subject=grading, actor=None)


@transaction.atomic
def fail_grading(*, pk: int, reason: str) -> None:
    """Marks it failed and keeps every item score there is. A finished grading stays as it is."""
    grading = lock_grading(pk)
    if grading.is_finished:
        return
    grading.state, grading.error, grading.finished_at = Grading.State.FAILED, reason, timezone.now()
    grading.save(update_fields=["state", "error", "finished_at"])
    record_event(verb="fail_grading", subject=grading, actor=None, reason=reason)


def cancel_grading(*, grading: Grading, actor: User | None) -> Grading:
    """Stops a grading: waiting chunks are dropped, running ones stop after the item they are at.

    Raises GradingRefused if it has ended already.
    """
    with transaction.atomic():
        grading = lock_grading(grading.pk)
        if grading.is_finished:
            raise GradingRefused(f"This grading has ended already: it is {grading.state}.")
        grading.state, grading.finished_at = Grading.State.CANCELLED, timezone.now()
        grading.save(update_fields=["state", "finished_at"])
        record_event(verb="cancel_grading", subject=grading, actor=actor)
    # In a transaction of its own: a job that fails at this moment holds its row and waits for the
    # grading's. Should the process die before this line, the chunks find the grading cancelled.
    cancel_group(grading.job_group, actor)
    return grading


@transaction.atomic
def retry_grading(*, grading: Grading, actor: User | None) -> Grading:
    """Goes on with a failed or cancelled grading: new jobs for the items that have no score.

    Chunks that are still waiting or running are left to do their part. Raises GradingRefused if the
    grading runs or is done.
    """
    grading = lock_grading(grading.pk)
    if grading.state not in {Grading.State.FAILED, Grading.State.CANCELLED}:
        raise GradingRefused(
            f"Only a failed or cancelled grading can go on: it is {grading.state}."
        )
    grading.state, grading.error, grading.finished_at = Grading.State.QUEUED, "", None
    grading.save(update_fields=["state", "error", "finished_at"])
    _enqueue_chunks(grading, _open_positions(grading))
    aggregate_when_complete(grading)
    record_event(verb="retry_grading", subject=grading, actor=actor)
    return grading


def _open_positions(grading: Grading) -> list[int]:
    """Positions, in order, of the items that have no score and that no job is going to score."""
    items = ReleaseItem.objects.filter(release_id=grading.submission.phase.release_id)
    scored = grading.item_scores.values("item_id")
    positions = items.exclude(pk__in=scored).order_by("position").values_list("position", flat=True)
    jobs = Job.objects.filter(group=grading.job_group, kind=CHUNK_KIND, cancel_requested=False)
    taken = list(jobs.unfinished().values_list("payload", flat=True))
    return [
        position
        for position in positions
        if not any(chunk["first"] <= position <= chunk["last"] for chunk in taken)
    ]
