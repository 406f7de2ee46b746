"""Runs of the judge over a board's submissions, and how far each is."""

from dataclasses import dataclass

from django.db.models import Sum

from portal.jobs.models import Job
from scoring.models import Board, JudgeRun

SHOWN = 50


@dataclass(frozen=True)
class RunLine:
    run: JudgeRun
    done: int
    """Pages that were looked at, of all."""


def runs_of(board: Board) -> list[RunLine]:
    """The newest ones. Two queries."""
    runs = list(
        JudgeRun.objects.filter(submission__phase__board=board)
        .select_related("submission", "release")
        .order_by("-id")[:SHOWN]
    )
    groups = [run.job_group for run in runs if not run.is_finished]
    jobs = Job.objects.filter(group__in=groups).order_by().values("group")
    done = dict(jobs.annotate(done=Sum("progress_done")).values_list("group", "done"))
    return [
        RunLine(run, run.items_total if run.is_finished else done.get(run.job_group, 0))
        for run in runs
    ]
