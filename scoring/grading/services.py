"""Starts, retries, cancels, finishes and fails gradings.

A grading's row is locked before its data is written. Two chunks that finish at the same time see
each other's item scores, so that exactly one of them is the last. Rows are locked in this order:
job, re-grade, phase, submission, grading, account. Starting a grading locks the phase, so that no
re-grade finishes at the same time.

A chunk that failed for good is split, down to single items. An item that fails alone is a failing
item; all other items are graded. A failing item is not a missing prediction: it counts neither as
zero nor as left out, so that the grading ends without figures (docs/decisions/015).
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from portal.jobs.leases import HOOK_FAILED, LOST
from portal.jobs.models import Job
from portal.jobs.services import cancel_group, enqueue, enqueue_many
from scoring.access import is_release_open
from scoring.benchmarks import Scores
from scoring.benchmarks.items import Share, largest_shares
from scoring.boards.ledger import learnt_from
from scoring.boards.limits import LimitReached, charge, give_back, hold_place
from scoring.leaderboard.disclosure import ALL, PRIVATE, PUBLIC, public_items
from scoring.leaderboard.services import queue_resampling, refresh_shown_scores
from scoring.models import Grading, Phase, Regrade, Submission

from .notices import queue_notice
from .selectors import OWN_ERROR, owner_words
from .similarity import queue_comparison

logger = logging.getLogger(__name__)

# The most pieces of a chunk; with the default chunk size each is a single item. A piece of several
# items gets one attempt, because it is split again if it fails.
PIECES = 32
NAMES_SHOWN = 10
# Used instead of the id of a private item that is not in the submitter's file.
UNNAMED = "an item without a prediction"


def pieces(positions: Sequence[int]) -> list[Sequence[int]]:
    """Splits the positions into at most PIECES runs of equal length (the last may be shorter)."""
    size = -(-len(positions) // PIECES)
    return [positions[start : start + size] for start in range(0, len(positions), size)]


def failing_items(grading: Grading, chunks: Sequence[Job], positions: Sequence[int]) -> str:
    """The error message for the failing items at these positions; `chunks` are the failed jobs, by
    id."""
    named = grading.items.filter(position__in=positions).order_by("position")
    first = list(named.values_list("position", "name")[:NAMES_SHOWN])
    known = _known_names(grading, [name for _, name in first])
    shown = [
        f"{f'“{name}”' if name in known else UNNAMED} ({_reason(chunks, position)})"
        for position, name in first
    ]
    more = len(positions) - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{len(positions)} of {grading.items_total} items cannot be graded: {listed}"


def _known_names(grading: Grading, names: Sequence[str]) -> set[str]:
    """The names that the submitter may know: those of a public release or in their file."""
    if is_release_open(grading.release):
        return set(names)
    answered = grading.submission.predictions.filter(item__name__in=names)
    return set(answered.values_list("item__name", flat=True))


def _reason(chunks: Sequence[Job], position: int) -> str:
    """The error of the newest failed job for the item, without gold or prediction."""
    for job in reversed(chunks):
        if job.payload["first"] <= position <= job.payload["last"]:
            return _words(job.error)
    return "it was not started"


def _words(error: str) -> str:
    error = error.partition(HOOK_FAILED)[0]
    if error == LOST:
        return "the worker crashed or ran out of memory each time"
    kind = re.search(r"\((\w+)\)$", error) if error.startswith(OWN_ERROR) else None
    return f"the scorer stopped with {kind.group(1)}" if kind else owner_words(error)


_AT_ONCE = 200
# Gradings of earlier versions that one run of the upkeep measures.
_MEASURED_AT_ONCE = 20


@dataclass(frozen=True)
class Aggregate:
    """The scores over all items and, for a phase in parts, those of each part; and what limits how
    exactly they are shown: the largest shares by part, and the hash of all predictions."""

    scores: Scores
    parts: dict[str, dict[str, float | None]]
    shares: dict[str, dict[str, Share]]
    answers_sha256: str


def aggregate_grading(grading_id: int) -> Aggregate | None:
    """The scores of a grading with all items scored; None if it has already ended."""
    grading = Grading.objects.select_related("submission__phase__board").get(pk=grading_id)
    if grading.is_finished:
        return None
    phase = grading.submission.phase
    spec = phase.board.spec
    sides = _sides(phase, grading)
    return Aggregate(
        scores=spec.aggregate(_results(grading), grading.options),
        parts={
            part: spec.aggregate(_results(grading, public, is_in=is_in), grading.options).scores
            for part, (public, is_in) in sides.items()
        },
        shares=_shares(grading, sides),
        answers_sha256=_answers_sha256(grading.submission),
    )


Sides = Mapping[str, tuple[frozenset[int], bool]]


def _sides(phase: Phase, grading: Grading) -> Sides:
    """The public items, and whether the part has these or all others; empty without parts."""
    if not phase.has_parts:
        return {}
    public = public_items(phase, grading.release_id)
    return {PUBLIC: (public, True), PRIVATE: (public, False)}


def _shares(grading: Grading, sides: Sides) -> dict[str, dict[str, Share]]:
    """The largest shares of an item and of a fact in each figure, over all items and by part."""
    spec = grading.submission.phase.board.spec

    def added(items: frozenset[int] | None = None, *, is_in: bool = True) -> Iterator[Any]:
        for result in _results(grading, items, is_in=is_in):
            yield spec.contributions(result, grading.options)

    by_part = {ALL: added()}
    by_part |= {part: added(public, is_in=is_in) for part, (public, is_in) in sides.items()}
    return {part: largest_shares(items, spec.combined) for part, items in by_part.items()}


def _answers_sha256(submission: Submission) -> str:
    """The SHA-256 hash of all predictions, whatever the layout and the order of the file."""
    digest = hashlib.sha256()
    rows = submission.predictions.order_by("item__name").values_list("item__name", "payload")
    for row in rows.iterator(chunk_size=_AT_ONCE):
        digest.update(json.dumps(row, sort_keys=True).encode())
    return digest.hexdigest()


def measure_older() -> int:
    """Computes the shares of gradings of earlier versions of the site, newest first, and returns
    their number. Until then, their scores on hidden gold are not shown."""
    lacking = Grading.objects.done().filter(answers_sha256="").order_by("-pk")
    older = list(lacking.select_related("submission__phase__board")[:_MEASURED_AT_ONCE])
    for grading in older:
        _measure(grading)
    return len(older)


def _measure(grading: Grading) -> None:
    phase = grading.submission.phase
    try:
        grading.shares = _shares(grading, _sides(phase, grading))
    except (KeyError, TypeError):
        # An unreadable result of another version must not block all others.
        logger.warning("grading %s has no shares: unknown form", grading.pk)
    grading.answers_sha256 = _answers_sha256(grading.submission)
    with transaction.atomic():
        grading.save(update_fields=["shares", "answers_sha256"])
        refresh_shown_scores(phase, grading)


def _results(
    grading: Grading, items: frozenset[int] | None = None, *, is_in: bool = True
) -> Iterator[Any]:
    """The item results in the release's order: all, or those in (or not in) `items`."""
    rows = grading.item_scores.order_by("item__position").values_list("item_id", "result")
    for item, result in rows.iterator(chunk_size=_AT_ONCE):
        if items is None or (item in items) == is_in:
            yield result


CHUNK_KIND = "grade_chunk"
AGGREGATE_KIND = "aggregate"
REGRADE_KIND = "advance_regrade"
# Another worker may not yet see the last step of a younger grading.
STRANDED_AFTER = timedelta(minutes=1)


class GradingRefused(Exception):
    """The grading is in the wrong state for this. The message gives the reason."""


def lock_phase(pk: int) -> Phase:
    """The row with board and release, locked until the transaction ends."""
    # Locked without joins: PostgreSQL would drop a row whose release changed while it waited.
    Phase.objects.select_for_update(no_key=True).get(pk=pk)
    return Phase.objects.select_related("board", "release").get(pk=pk)


@transaction.atomic
def start_grading(
    *,
    submission: Submission,
    actor: User | None,
    regrade: Regrade | None = None,
    release: Release | None = None,
) -> Grading:
    """Queues the grading of a stored submission with the options of its phase.

    `release` is that of the re-grade; by default the phase's.
    """
    phase = lock_phase(submission.phase_id)
    release = release or phase.release
    positions = list(
        submission.items_of(release.pk).order_by("position").values_list("position", flat=True)
    )
    spec = phase.board.spec
    options = spec.check_options(phase.options)
    grading = Grading.objects.create(
        submission=submission,
        release=release,
        regrade=regrade,
        signature=spec.signature(options),
        options=options,
        items_total=len(positions),
        missing=len(positions) - submission.predictions.count(),
    )
    _enqueue_chunks(grading, positions)
    record_event(verb="start_grading", subject=grading, actor=actor, signature=grading.signature)
    return grading


def is_outdated(grading: Grading, phase: Phase) -> bool:
    """Whether the phase has another signature or release by now."""
    spec = phase.board.spec
    signature = spec.signature(spec.check_options(phase.options))
    return (grading.release_id, grading.signature) != (phase.release_id, signature)


def _enqueue_chunks(grading: Grading, positions: Sequence[int]) -> None:
    """Queues one job per chunk of consecutive positions, all in the grading's group."""
    size = settings.GRADING_CHUNK
    chunks = [positions[start : start + size] for start in range(0, len(positions), size)]
    _enqueue(grading, chunks)


def _enqueue(grading: Grading, chunks: Sequence[Sequence[int]], *, max_attempts: int = 3) -> None:
    enqueue_many(
        kind=CHUNK_KIND,
        payloads=[
            {"grading": grading.pk, "first": chunk[0], "last": chunk[-1]} for chunk in chunks
        ],
        group=grading.job_group,
        totals=[len(chunk) for chunk in chunks],
        max_attempts=max_attempts,
    )


def lock_grading(pk: int) -> Grading:
    """The row, locked until the transaction ends."""
    # no_key: inserting item scores takes a weaker lock on the row, which must not wait.
    return Grading.objects.select_for_update(no_key=True).get(pk=pk)


def mark_running(pk: int) -> None:
    Grading.objects.filter(pk=pk, state=Grading.State.QUEUED).update(state=Grading.State.RUNNING)


def settle_grading(grading: Grading) -> None:
    """Queues the last step if all items have scores; fails the grading if all others are failing
    items. The grading must be locked."""
    if grading.is_finished:
        return
    if lacking := grading.items_total - grading.item_scores.count():
        _fail_if_all_failing(grading, lacking)
        return
    jobs = Job.objects.filter(group=grading.job_group, kind=AGGREGATE_KIND)
    if not jobs.unfinished().exists():
        enqueue(
            kind=AGGREGATE_KIND, payload={"grading": grading.pk}, group=grading.job_group, total=0
        )


def _fail_if_all_failing(grading: Grading, lacking: int) -> None:
    """Fails the grading if no job will score any of its `lacking` items."""
    chunks = Job.objects.filter(group=grading.job_group, kind=CHUNK_KIND)
    failed = list(chunks.filter(state=Job.State.FAILED).order_by("id"))
    if not failed:
        return
    positions = _open_positions(grading)
    if len(positions) == lacking:
        fail_grading(pk=grading.pk, reason=failing_items(grading, failed, positions))


@transaction.atomic
def split_chunk(*, pk: int, first: int, last: int) -> None:
    """After a chunk failed for good: queues its unscored items in pieces. A single item is a
    failing item, so that the grading is settled."""
    grading = lock_grading(pk)
    if grading.is_finished:
        return
    positions = [place for place in _open_positions(grading) if first <= place <= last]
    if len(positions) > 1:
        parts = pieces(positions)
        _enqueue(grading, parts, max_attempts=3 if len(parts) == len(positions) else 1)
    else:
        settle_grading(grading)


def settle_stranded() -> int:
    """Settles live gradings without jobs, such as after a failed hook, and returns their number.

    If every item is scored, the last step is queued again; otherwise the grading fails.
    """
    jobs = Job.objects.unfinished().filter(group=Concat(Value("grading:"), OuterRef("pk_text")))
    live = Grading.objects.filter(state__in=[Grading.State.QUEUED, Grading.State.RUNNING])
    stranded = live.annotate(pk_text=Cast("pk", CharField())).exclude(Exists(jobs))
    before = timezone.now() - STRANDED_AFTER
    pks = list(stranded.filter(created_at__lt=before).values_list("pk", flat=True)[:100])
    for pk in pks:
        with transaction.atomic():
            _settle_one(lock_grading(pk))
    return len(pks)


def _settle_one(grading: Grading) -> None:
    # Another worker may have queued jobs since the list was made.
    if Job.objects.unfinished().filter(group=grading.job_group).exists():
        return
    settle_grading(grading)
    grading.refresh_from_db(fields=["state"])
    if not Job.objects.unfinished().filter(group=grading.job_group).exists():
        fail_grading(pk=grading.pk, reason="Its jobs ended without a result")


def finish_grading(*, grading: Grading, aggregate: Aggregate) -> None:
    """Writes the scores of a locked, unfinished grading."""
    if grading.is_finished:
        return
    scores, grading.parts = aggregate.scores, aggregate.parts
    grading.shares, grading.answers_sha256 = aggregate.shares, aggregate.answers_sha256
    grading.scores, grading.counts, grading.subsets = scores.scores, scores.counts, scores.subsets
    grading.state, grading.error, grading.finished_at = Grading.State.DONE, "", timezone.now()
    grading.save()
    _ended(grading)
    queue_resampling(grading.pk)
    record_event(verb="finish_grading", subject=grading, actor=None)


@transaction.atomic
def fail_grading(*, pk: int, reason: str) -> None:
    """Marks the grading as failed and keeps its item scores. Finished gradings do not change."""
    grading = lock_grading(pk)
    if grading.is_finished:
        return
    grading.state, grading.error, grading.finished_at = Grading.State.FAILED, reason, timezone.now()
    grading.save(update_fields=["state", "error", "finished_at"])
    _ended(grading)
    record_event(verb="fail_grading", subject=grading, actor=None, reason=reason)


def _ended(grading: Grading) -> None:
    """Settles the attempt and notifies the owner. For a grading of a re-grade, advances that
    instead."""
    if grading.regrade_id is not None:
        advance(grading.regrade_id)
        return
    if grading.state == Grading.State.DONE:
        learnt = learnt_from(grading.submission.phase, grading)
        charge(submission_id=grading.submission_id, learnt=learnt)
        queue_comparison(grading.submission_id)
    else:
        give_back(submission_id=grading.submission_id)
    queue_notice(grading)


def advance(regrade: int) -> None:
    """Queues the next step of a re-grade.

    Every grading that ends queues its own job: a job that is already queued may be running on a
    worker that does not see this end yet.
    """
    enqueue(kind=REGRADE_KIND, payload={"regrade": regrade}, group=f"regrade:{regrade}")


def advance_batch_of(grading_id: int) -> None:
    """Advances the running re-grade of the grading, after its resampling succeeded or failed."""
    waiting = Grading.objects.filter(pk=grading_id, regrade__state=Regrade.State.RUNNING)
    for regrade in waiting.values_list("regrade", flat=True):
        advance(regrade)


def cancel_grading(*, grading: Grading, actor: User | None) -> Grading:
    """Cancels a grading: drops waiting chunks; running ones stop after the current item.

    Raises GradingRefused if it has already ended.
    """
    with transaction.atomic():
        grading = lock_grading(grading.pk)
        if grading.is_finished:
            raise GradingRefused(f"This grading has already ended: it is {grading.state}.")
        grading.state, grading.finished_at = Grading.State.CANCELLED, timezone.now()
        grading.save(update_fields=["state", "finished_at"])
        _ended(grading)
        record_event(verb="cancel_grading", subject=grading, actor=actor)
    # In its own transaction: a job that fails now locks its row and waits for the grading's. If the
    # process dies before this line, the chunks find the grading cancelled.
    cancel_group(grading.job_group, actor)
    return grading


@transaction.atomic
def retry_grading(*, grading: Grading, actor: User | None) -> Grading:
    """Continues a failed or cancelled grading: queues jobs for the items without a score.

    Chunks that are still waiting or running are kept. If the gold or the scorer changed since, a
    new grading is started instead, so that results are not mixed. Raises GradingRefused if the
    grading is running or done, or a limit is used up.
    """
    phase = lock_phase(grading.submission.phase_id)
    grading = lock_grading(grading.pk)
    if grading.state not in {Grading.State.FAILED, Grading.State.CANCELLED}:
        raise GradingRefused(
            f"Only a failed or cancelled grading can be retried: it is {grading.state}."
        )
    try:
        hold_place(submission=grading.submission, actor=actor or grading.submission.owner)
    except LimitReached as limit:
        raise GradingRefused(str(limit)) from limit
    if is_outdated(grading, phase):
        return start_grading(submission=grading.submission, actor=actor)
    grading.state, grading.error, grading.finished_at = Grading.State.QUEUED, "", None
    grading.save(update_fields=["state", "error", "finished_at"])
    _enqueue_chunks(grading, _open_positions(grading))
    settle_grading(grading)
    record_event(verb="retry_grading", subject=grading, actor=actor)
    return grading


def _open_positions(grading: Grading) -> list[int]:
    """Positions, in order, of the items that have no score and no job."""
    scored = grading.item_scores.values("item_id")
    positions = (
        grading.items.exclude(pk__in=scored).order_by("position").values_list("position", flat=True)
    )
    jobs = Job.objects.filter(group=grading.job_group, kind=CHUNK_KIND, cancel_requested=False)
    taken = list(jobs.unfinished().values_list("payload", flat=True))
    return [
        position
        for position in positions
        if not any(chunk["first"] <= position <= chunk["last"] for chunk in taken)
    ]
