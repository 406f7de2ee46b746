"""Runs of a judge over a submission.

Questions are asked outside of transactions, and `scoring.judge.asking` caches every answer at once,
so that an interrupted run asks no question twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import ReleaseItem
from portal.jobs.models import Job
from portal.jobs.services import cancel_group, enqueue
from scoring.benchmarks import ItemResult, Options
from scoring.benchmarks.base import Judging
from scoring.benchmarks.options import judge_prompt
from scoring.judge.asking import Asker, Judged, judge_all
from scoring.judge.endpoint import Budget
from scoring.models import Board, JudgeRun, JudgeVerdict, Phase, Prediction, Submission

from .services import JudgingRefused, judge_of, judged_result, open_board_judge

JUDGE_KIND = "judge_submission"
JUDGED = frozenset({"fincriticaled"})
"""Benchmarks whose items a judge can decide."""
# Pages with verdicts that are written in one transaction.
_AT_ONCE = 20


@transaction.atomic
def start_judge_run(
    *, submission: Submission, budget: float | None, actor: User | None
) -> JudgeRun:
    """Queues a run of the board's judge. Raises JudgingRefused, also if a run of the same
    submission is not finished."""
    phase = submission.phase
    if phase.board.benchmark not in JUDGED:
        raise JudgingRefused("Pages of this benchmark cannot be judged.")
    judge = judge_of(phase.board)
    judge.check_limit(budget)
    model = judge.endpoint.model
    # After a double click, the second request waits here and then sees the first one's run.
    Submission.objects.select_for_update(no_key=True).get(pk=submission.pk)
    under_way = submission.judge_runs.filter(
        state__in=[JudgeRun.State.QUEUED, JudgeRun.State.RUNNING]
    )
    if under_way.exists():
        raise JudgingRefused(f"“{submission.name}” is already being judged.")
    items = submission.items_of(phase.release_id).count()
    run = _new_run(submission, model, items_total=items, budget=budget, created_by=actor)
    enqueue(kind=JUDGE_KIND, payload={"run": run.pk}, group=run.job_group, total=run.items_total)
    record_event(verb="start_judge_run", subject=run, actor=actor, version=run.version)
    return run


def _new_run(submission: Submission, model: str, **fields: Any) -> JudgeRun:
    """A run with the phase's labels, and the judge instead of the matcher; with the prompt of the
    phase's own judge, if it has one."""
    phase = submission.phase
    chosen = phase.board.spec.check_options(phase.options)
    asked = {"labels": chosen["labels"], "prompt": judge_prompt(chosen["matcher"])}
    options = judging_of(phase).options(asked, model)
    return JudgeRun.objects.create(
        submission=submission,
        release=phase.release,
        model=model,
        prompt_version=judge_prompt(options["matcher"]),
        options=options,
        **fields,
    )


def judging_of(phase: Phase) -> Judging:
    """Raises JudgingRefused for a benchmark that does not use a judge."""
    judging = phase.board.spec.judging
    if judging is None:
        raise JudgingRefused("Pages of this benchmark cannot be judged.")
    return judging


@transaction.atomic
def store_judge_run(
    *,
    submission: Submission,
    model: str,
    verdicts: Mapping[str, ItemResult],
    actor: User | None,
    is_sample: bool = False,
) -> JudgeRun:
    """Stores a finished run with verdicts from elsewhere, by the item's name. Raises JudgingRefused
    for names that are not in the release."""
    phase = submission.phase
    items = {item.name: item for item in submission.items_of(phase.release_id)}
    if unknown := sorted(set(verdicts) - set(items)):
        raise JudgingRefused(f"{phase.release} has no item “{unknown[0]}”.")
    run = _new_run(
        submission,
        model,
        state=JudgeRun.State.RUNNING,
        items_total=len(items),
        is_sample=is_sample,
        created_by=actor,
    )
    store_verdicts(run, {items[name]: result for name, result in verdicts.items()})
    finish_run(run, usage={}, unscored={})
    record_event(verb="store_judge_run", subject=run, actor=actor, version=run.version)
    return run


def judge_items(
    run: JudgeRun, asker: Asker, *, go_on: Callable[[int], bool]
) -> Iterator[list[Judged[ReleaseItem, ItemResult]]]:
    """Judges the pages without a verdict in groups; stops if `go_on(done)` returns False."""
    done, judging = run.verdicts.count(), judging_of(run.submission.phase)
    items = run.submission.items_of(run.release_id).order_by("position")
    # Read all keys first: an open cursor keeps SQLite's snapshot, and then writes fail.
    left = list(items.exclude(pk__in=run.verdicts.values("item")).values_list("pk", flat=True))
    for start in range(0, len(left), _AT_ONCE):
        if not go_on(done):
            return
        group = list(items.filter(pk__in=left[start : start + _AT_ONCE]))
        predictions = _predictions(run, group)
        work = partial(_judge, asker, judging, run.options, predictions)
        yield list(judge_all(group, work, settings.JUDGE_CONCURRENCY))
        done += len(group)


def _judge(
    asker: Asker,
    judging: Judging,
    options: Options,
    predictions: Mapping[str, dict[str, Any]],
    item: ReleaseItem,
) -> ItemResult:
    return judged_result(asker, judging, item.gold, predictions.get(item.name), options)


def _predictions(run: JudgeRun, items: Iterable[ReleaseItem]) -> dict[str, dict[str, Any]]:
    names = [item.name for item in items]
    found = Prediction.objects.filter(submission=run.submission_id, item__name__in=names)
    return dict(found.values_list("item__name", "payload"))


def store_verdicts(run: JudgeRun, results: Mapping[ReleaseItem, ItemResult]) -> None:
    """Writes verdicts in the caller's transaction; existing ones are kept."""
    JudgeVerdict.objects.bulk_create(
        [JudgeVerdict(run=run, item=item, result=result) for item, result in results.items()],
        ignore_conflicts=True,
    )


def mark_judging(run: JudgeRun) -> None:
    queued = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.QUEUED)
    queued.update(state=JudgeRun.State.RUNNING)


def finish_run(run: JudgeRun, *, usage: Mapping[str, Any], unscored: Mapping[str, str]) -> None:
    """Finishes the run in the caller's transaction, with the figures of all pages with verdicts
    and the names of those without."""
    results = run.verdicts.order_by("item__position").values_list("result", flat=True)
    run.summary = judging_of(run.submission.phase).summary(results.iterator(100))
    run.usage, run.unscored = dict(usage), dict(unscored)
    run.state, run.error, run.finished_at = JudgeRun.State.DONE, "", timezone.now()
    run.save(update_fields=["summary", "usage", "unscored", "state", "error", "finished_at"])


def end_run(pk: int, state: JudgeRun.State, error: str = "") -> None:
    """Ends the run after its job failed or was cancelled; its verdicts are kept."""
    runs = JudgeRun.objects.filter(pk=pk, state__in=[JudgeRun.State.QUEUED, JudgeRun.State.RUNNING])
    runs.update(state=state, error=error, finished_at=timezone.now())


@transaction.atomic
def cancel_run(*, run: JudgeRun, actor: User | None) -> None:
    """Cancels the run: it stops after the current pages. Repeating it changes nothing."""
    cancel_group(run.job_group, actor)


@contextmanager
def open_run(run: JudgeRun) -> Iterator[tuple[Asker, Budget]]:
    """The judge and budget of a run. Raises JudgingRefused if the board has another model now."""
    board = run.submission.phase.board
    with open_board_judge(board, run.model, run.budget, what=run.job_group) as opened:
        yield opened


SHOWN = 50


def runs_of(board: Board) -> list[tuple[JudgeRun, int]]:
    """The newest runs of the board, with the number of processed pages. Two queries."""
    runs = list(
        JudgeRun.objects.filter(submission__phase__board=board)
        .select_related("submission", "release")
        .order_by("-id")[:SHOWN]
    )
    groups = [run.job_group for run in runs if not run.is_finished]
    jobs = Job.objects.filter(group__in=groups).order_by().values("group")
    done = dict(jobs.annotate(done=Sum("progress_done")).values_list("group", "done"))
    return [
        (run, run.items_total if run.is_finished else done.get(run.job_group, 0)) for run in runs
    ]
