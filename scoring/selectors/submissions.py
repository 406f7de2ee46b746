"""What the pages of submissions show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from scoring.access import Viewer, diagnostics_for, is_keeper
from scoring.benchmarks import Benchmark, deciding_column
from scoring.models import Board, Entry, Grading, Phase, Submission

from .figures import (
    Figure,
    FigureGroup,
    PartTable,
    ViewFigures,
    columns_of,
    figure,
    figure_groups,
    other_counts,
    part_tables,
    view_figures,
)
from .progress import Progress, grading_progress

PER_PAGE = 50


@dataclass(frozen=True)
class SubmissionLine:
    """A submission in a list: its latest grading and the figure its board is ordered by."""

    submission: Submission
    grading: Grading | None
    figure: Figure | None


@dataclass(frozen=True)
class SubmissionList:
    page: Page[Submission]
    lines: list[SubmissionLine]


def own_submissions(user: Viewer, page: str) -> SubmissionList:
    return _list(Submission.objects.of(user), page)


def board_submissions(board: Board, page: str) -> SubmissionList:
    return _list(Submission.objects.filter(phase__board=board), page)


def _list(submissions: QuerySet[Submission], page: str) -> SubmissionList:
    """Three queries, however many there are."""
    shown = Paginator(for_lists(submissions), PER_PAGE).get_page(page)
    return SubmissionList(shown, submission_lines(list(shown)))


def for_lists(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Newest first, with all that a line shows of them but their gradings."""
    return submissions.select_related("phase__board", "owner").order_by("-id")


def submission_lines(submissions: Sequence[Submission]) -> list[SubmissionLine]:
    """The submissions with their newest gradings. One query."""
    newest = Grading.objects.filter(submission=OuterRef("submission")).order_by("-id").values("id")
    gradings = Grading.objects.filter(submission__in=submissions, id=Subquery(newest[:1]))
    by_submission = {grading.submission_id: grading for grading in gradings}
    return [_line(submission, by_submission.get(submission.pk)) for submission in submissions]


def _line(submission: Submission, grading: Grading | None) -> SubmissionLine:
    if grading is None or grading.state != Grading.State.DONE:
        return SubmissionLine(submission, grading, None)
    columns = columns_of(submission.phase.board.spec, grading.options)
    shown = figure(deciding_column(columns), grading.scores, grading.counts)
    return SubmissionLine(submission, grading, shown)


def latest_grading(submission: Submission) -> Grading:
    return get_object_or_404(submission.gradings.order_by("-id")[:1])


def finished_grading(submission: Submission) -> Grading:
    """The newest grading if it is done; 404 before."""
    grading = latest_grading(submission)
    if grading.state != Grading.State.DONE:
        raise Http404("The grading is not done.")
    return grading


@dataclass(frozen=True)
class SubmissionPage:
    """One submission as one reader may see it."""

    submission: Submission
    grading: Grading | None
    progress: Progress | None
    """While it is being graded, and for its keepers only."""
    groups: list[FigureGroup]
    views: list[ViewFigures]
    parts: list[PartTable]
    counts: list[Figure]
    """What was counted and is no column, such as all facts."""
    entry: Entry | None
    is_keeper: bool
    is_organiser: bool
    shows_items: bool

    @property
    def is_done(self) -> bool:
        return self.grading is not None and self.grading.state == Grading.State.DONE

    @property
    def may_cancel(self) -> bool:
        return self.is_keeper and self.grading is not None and not self.grading.is_finished

    @property
    def may_retry(self) -> bool:
        return (
            self.is_keeper
            and self.grading is not None
            and self.grading.state in {Grading.State.FAILED, Grading.State.CANCELLED}
        )

    @property
    def may_publish(self) -> bool:
        """Also anew, when a later grading than the published one is done."""
        is_published = self.entry is not None and self.entry.grading == self.grading
        return self.is_organiser and self.is_done and not is_published

    @property
    def may_unpublish(self) -> bool:
        return self.is_organiser and self.entry is not None


def submission_page(user: Viewer, submission: Submission) -> SubmissionPage:
    """A published submission is shown to others with the figures that are published."""
    keeper = is_keeper(user, submission)
    entry = Entry.objects.filter(grading__submission=submission).select_related("grading").first()
    grading = submission.gradings.order_by("-id").first()
    if not keeper:
        grading = entry.grading if entry else None
    done = grading if grading and grading.state == Grading.State.DONE else None
    return SubmissionPage(
        submission=submission,
        grading=grading,
        progress=grading_progress(grading) if grading and not grading.is_finished else None,
        **(_result(submission.phase.board.spec, done) if done else _NO_RESULT),
        entry=entry,
        is_keeper=keeper,
        is_organiser=is_organiser(user),
        shows_items=diagnostics_for(user, submission) != Phase.Diagnostics.AGGREGATES,
    )


class _Result(TypedDict):
    """What a page shows of a finished grading."""

    groups: list[FigureGroup]
    views: list[ViewFigures]
    parts: list[PartTable]
    counts: list[Figure]


_NO_RESULT = _Result(groups=[], views=[], parts=[], counts=[])


def _result(spec: Benchmark, done: Grading) -> _Result:
    options = spec.check_options(done.options)
    columns, figures = spec.columns_for(options), spec.figures_for(options)
    return _Result(
        groups=figure_groups(columns, done.scores, done.counts),
        views=view_figures(spec.views_for(options), done.scores, done.counts),
        parts=part_tables(done, figures),
        counts=other_counts(figures, done.counts),
    )
