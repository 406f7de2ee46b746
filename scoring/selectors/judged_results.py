"""What judges and matchers said of pages, wherever it is kept: in a run of a judge, or in a grading
that asked one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scoring.benchmarks.judging import Judging
from scoring.models import Grading, ItemScore, JudgeRun, JudgeSample, JudgeVerdict

Place = tuple[int, int]
"""A page of a submission: keys of submission and item."""
Result = Mapping[str, Any]


@dataclass(frozen=True)
class JudgedPage:
    """What one version of a judge said of one page; `result` has its facts and `judge`."""

    version: str
    since: datetime
    is_sample: bool
    result: Result


@dataclass(frozen=True)
class GradedPage:
    """A page's result in the newest grading that counts."""

    place: Place
    options: dict[str, str]
    since: datetime
    result: dict[str, Any]


def judging_of(sample: JudgeSample) -> Judging | None:
    return sample.phase.board.spec.judging


def graded_pages(sample: JudgeSample, places: Collection[Place]) -> list[GradedPage]:
    """On the gold of the sample. Two queries."""
    gradings = (
        Grading.objects.in_force()
        .done()
        .filter(submission__in={submission for submission, _ in places}, release=sample.release_id)
    )
    newest = dict(gradings.order_by("id").values_list("submission", "pk"))
    scores = ItemScore.objects.filter(
        grading__in=newest.values(), item__in={item for _, item in places}
    ).values_list(
        "grading__submission", "item", "grading__options", "grading__created_at", "result"
    )
    return [
        GradedPage((submission, item), options, since, result)
        for submission, item, options, since, result in scores
        if (submission, item) in places
    ]


def by_matcher(judging: Judging | None, graded: Collection[GradedPage]) -> dict[Place, Result]:
    """What was found without a judge: by the board's matcher, or else by one beside it."""
    found = {
        page.place: judging.by_matcher(page.result, page.options) if judging else page.result
        for page in graded
    }
    return {place: result for place, result in found.items() if result is not None}


def by_judges(
    sample: JudgeSample, places: Collection[Place], graded: Collection[GradedPage]
) -> dict[str, dict[Place, JudgedPage]]:
    """By version, the newest first; of several on one page of one version the newest counts.
    One query."""
    pages = [*_in_runs(sample, places), *_in_gradings(judging_of(sample), graded)]
    found: dict[str, dict[Place, JudgedPage]] = {}
    for place, page in sorted(pages, key=lambda each: each[1].since, reverse=True):
        found.setdefault(page.version, {}).setdefault(place, page)
    return found


def _in_runs(sample: JudgeSample, places: Collection[Place]) -> list[tuple[Place, JudgedPage]]:
    verdicts = JudgeVerdict.objects.filter(
        run__state=JudgeRun.State.DONE,
        run__release=sample.release_id,
        run__submission__in={submission for submission, _ in places},
        item__in={item for _, item in places},
    ).select_related("run")
    found = (((v.run.submission_id, v.item_id), v) for v in verdicts.order_by("-run_id"))
    return [(place, _of_run(verdict)) for place, verdict in found if place in places]


def _of_run(verdict: JudgeVerdict) -> JudgedPage:
    run = verdict.run
    return JudgedPage(run.version, run.created_at, run.is_sample, verdict.result)


def _in_gradings(
    judging: Judging | None, graded: Collection[GradedPage]
) -> list[tuple[Place, JudgedPage]]:
    found = []
    for page in graded:
        result = judging.by_judge(page.result, page.options) if judging else None
        if judging and result is not None:
            version = judging.version(page.options)
            judged = JudgedPage(version, page.since, is_sample=False, result=result)
            found.append((page.place, judged))
    return found
