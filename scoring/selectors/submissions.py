"""What the pages of submissions show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.jobs.selectors import StageLog
from scoring.access import (
    Viewer,
    are_scores_told,
    diagnostics_for,
    is_keeper,
    is_rounding,
    is_time_to_tell,
)
from scoring.benchmarks import Benchmark, deciding_column
from scoring.models import Board, Entry, Grading, ModelCard, Phase, Submission

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
from .limits import moment
from .progress import Progress, grading_progress, grading_stages
from .telling import as_told

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
    return _list(user, Submission.objects.of(user), page)


def board_submissions(user: Viewer, board: Board, page: str) -> SubmissionList:
    return _list(user, Submission.objects.filter(phase__board=board), page)


def _list(user: Viewer, submissions: QuerySet[Submission], page: str) -> SubmissionList:
    """Three queries, however many there are."""
    shown = Paginator(for_lists(submissions), PER_PAGE).get_page(page)
    return SubmissionList(shown, submission_lines(user, list(shown)))


def for_lists(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Newest first, with all that a line shows of them but their gradings."""
    return submissions.select_related("phase__board", "owner").order_by("-id")


def submission_lines(user: Viewer, submissions: Sequence[Submission]) -> list[SubmissionLine]:
    """The submissions with their newest gradings, as the user is told of them. One query."""
    newest = Grading.objects.filter(submission=OuterRef("submission")).order_by("-id").values("id")
    gradings = Grading.objects.filter(submission__in=submissions, id=Subquery(newest[:1]))
    by_submission = {grading.submission_id: grading for grading in gradings}
    return [_line(user, each, by_submission.get(each.pk)) for each in submissions]


def _line(user: Viewer, submission: Submission, grading: Grading | None) -> SubmissionLine:
    if grading is None or grading.state != Grading.State.DONE:
        return SubmissionLine(submission, grading, None)
    grading = as_told(user, submission.phase, grading)
    if not grading.scores:
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
    stages: StageLog | None
    """What happened to the grading's jobs, for its keepers only."""
    groups: list[FigureGroup]
    views: list[ViewFigures]
    parts: list[PartTable]
    counts: list[Figure]
    """What was counted and is no column, such as all facts."""
    entry: Entry | None
    newer: Submission | None
    """The version after this one, for its keepers."""
    is_owner: bool
    is_keeper: bool
    is_organiser: bool
    shows_items: bool
    are_scores_told: bool
    is_rounded: bool
    """Whether the figures were rounded for this reader."""

    @property
    def card(self) -> list[tuple[str, str]]:
        """What the model card says further, as (label, words); links and long texts apart."""
        return card_lines(self.submission)

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
    def is_withdrawn(self) -> bool:
        return self.submission.withdrawn_at is not None

    @property
    def may_publish(self) -> bool:
        """Also anew, when a later grading than the published one is done."""
        is_published = self.entry is not None and self.entry.grading == self.grading
        is_ready = self.is_done and is_time_to_tell(self.submission.phase)
        return self.is_keeper and is_ready and not is_published and not self.is_withdrawn

    @property
    def may_unpublish(self) -> bool:
        return self.is_keeper and self.entry is not None

    @property
    def may_withdraw(self) -> bool:
        return self.is_keeper and not self.is_withdrawn

    @property
    def may_replace(self) -> bool:
        """Whether a new version can be sent: by its owner, once, whatever became of this one."""
        return self.is_owner and self.newer is None

    @property
    def told_from(self) -> str:
        return moment(self.submission.phase, self.submission.phase.scores_after)


def submission_page(user: Viewer, submission: Submission) -> SubmissionPage:
    """A published submission is shown to others with the figures that are published."""
    keeper = is_keeper(user, submission)
    entry = Entry.objects.filter(grading__submission=submission).select_related("grading").first()
    grading = submission.gradings.order_by("-id").first()
    if not keeper:
        grading = entry.grading if entry else None
    if grading is not None:
        grading = as_told(user, submission.phase, grading)
    done = grading if grading and grading.state == Grading.State.DONE else None
    return SubmissionPage(
        submission=submission,
        grading=grading,
        progress=grading_progress(grading) if grading and not grading.is_finished else None,
        stages=grading_stages(grading) if grading and keeper else None,
        **(_result(submission.phase.board.spec, done) if done and done.scores else _NO_RESULT),
        entry=entry,
        newer=Submission.objects.filter(replaces=submission).first() if keeper else None,
        is_owner=user.is_authenticated and submission.owner_id == user.pk,
        is_keeper=keeper,
        is_organiser=is_organiser(user),
        shows_items=diagnostics_for(user, submission) != Phase.Diagnostics.AGGREGATES,
        are_scores_told=are_scores_told(user, submission.phase),
        is_rounded=is_rounding(user, submission.phase),
    )


def card_lines(card: ModelCard) -> list[tuple[str, str]]:
    """The short fields of a model card that are filled in, beyond name, kind, size and maker."""
    lines: list[tuple[str, Any]] = [
        ("Weights", {True: "open", False: "closed", None: ""}[card.open_weights]),
        ("Architecture", card.get_architecture_display()),
        ("Licence", card.licence),
        ("Released", f"{card.released_on:%-d %B %Y}" if card.released_on else ""),
        ("Output tokens", "" if card.output_tokens is None else f"{card.output_tokens:,}"),
        ("Cost", "" if card.cost is None else f"{card.cost.normalize():,f} US dollars"),
    ]
    return [(label, words) for label, words in lines if words]


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
