"""Data for the pages of submissions: lists, and one submission with its result, its rank and its
largest losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.cache import cache
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.text import capfirst

from portal.accounts.access import is_organiser
from portal.jobs.selectors import StageLog
from scoring.access import (
    Rights,
    Viewer,
    are_scores_due,
    are_scores_shown,
    diagnostics_for,
    is_rounding,
    may_open_items,
    may_publish,
    rights_for,
    sees_exact_times,
)
from scoring.benchmarks import Benchmark, Column, View, deciding_column
from scoring.benchmarks.answers import changes_of, count_name
from scoring.boards.alike import Sign, signs_of
from scoring.figures import (
    Figure,
    FigureGroup,
    PartTable,
    ViewFigures,
    columns_of,
    figure,
    figure_groups,
    is_score,
    other_counts,
    part_tables,
    view_figures,
)
from scoring.grading.selectors import (
    HistoryLine,
    Progress,
    earlier_grading,
    grading_as_shown,
    grading_history,
    grading_progress,
    grading_stages,
    gradings_in_force,
)
from scoring.grading.similarity import similar_submissions
from scoring.leaderboard.disclosure import (
    PartFigure,
    as_shown,
    part_figures,
    rounding_words,
    shown_columns,
    shown_part,
    shown_part_words,
    shown_views,
)
from scoring.leaderboard.selectors import ranked_scores
from scoring.leaderboard.services import (
    are_being_resampled,
    is_being_ranked,
    shown_intervals,
)
from scoring.models import Approval, Entry, Grading, ModelCard, Phase, Similarity, Submission
from scoring.models.boards import moment

from .manifests import Run, run_of

MOST_LOSSES = 3
_RANKS_SECONDS = 600


@dataclass(frozen=True)
class SubmissionLine:
    """A submission in a list, with its latest grading and its main score."""

    submission: Submission
    grading: Grading | None
    figure: Figure | None


def for_lists(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Newest first, with the data that a line shows, except gradings."""
    return submissions.select_related("phase__board", "owner", "team", "approval").order_by("-id")


def submission_lines(user: Viewer, submissions: Sequence[Submission]) -> list[SubmissionLine]:
    """The submissions with their newest gradings, as the user may see them. One query."""
    in_force = Grading.objects.in_force().filter(submission=OuterRef("submission"))
    newest = in_force.order_by("-id").values("id")
    gradings = Grading.objects.filter(submission__in=submissions, id=Subquery(newest[:1]))
    by_submission = {grading.submission_id: grading for grading in gradings}
    return [_line(user, submission, by_submission.get(submission.pk)) for submission in submissions]


def _line(user: Viewer, submission: Submission, grading: Grading | None) -> SubmissionLine:
    if grading is None or grading.state != Grading.State.DONE:
        return SubmissionLine(submission, grading, None)
    grading = as_shown(user, submission.phase, grading)
    if not grading.scores:
        return SubmissionLine(submission, grading, None)
    columns = columns_of(submission.phase.board.spec, grading.options)
    if is_rounding(user, submission.phase):
        columns = shown_columns(submission.phase, columns)
    shown = figure(deciding_column(columns), grading.scores, grading.counts)
    return SubmissionLine(submission, grading, shown)


@dataclass(frozen=True)
class Losses:
    """The worst figures of a kind, worst first."""

    title: str
    unit: str
    figures: list[Figure]


@dataclass(frozen=True)
class Place:
    """A rank on the leaderboard, and the number of ranked rows."""

    rank: int
    of: int
    is_compared: bool
    """Whether the rank is by significance. If not, it goes by the scores only."""
    is_pending: bool
    """Whether the rank by significance is being computed."""


@dataclass(frozen=True)
class Result:
    """The figures of a finished grading."""

    score: Figure
    """The main score."""
    unit: str
    losses: list[Losses]
    groups: list[FigureGroup]
    views: list[ViewFigures]
    parts: list[PartTable]
    counts: list[Figure]
    """Counts that are not columns, such as all facts."""
    changed: Mapping[str, int]
    """How many answers were changed before they were graded, by the name of the change."""
    words: Sequence[str]
    """Explanations of the options."""

    @property
    def has_intervals(self) -> bool:
        """Of the figures that are shown at first."""
        return any(group.has_intervals for group in self.groups if not group.is_wide)


@dataclass(frozen=True)
class SubmissionPage:
    """One submission as one reader may see it."""

    submission: Submission
    grading: Grading | None
    progress: Progress | None
    """Set only while it is being graded."""
    stages: StageLog | None
    """The log of the grading's jobs, for keepers only."""
    result: Result | None
    """Of a finished grading whose scores the reader sees."""
    place: Place | None
    """The rank, if the result on show is on the leaderboard and ranked."""
    entry: Entry | None
    history: list[HistoryLine]
    """All results, newest first; empty if there is only one."""
    is_earlier: bool
    """Whether an earlier result is shown instead of the current one."""
    newer: Submission | None
    """The next version, for keepers only."""
    rights: Rights
    is_organiser: bool
    shows_items: bool
    may_open_items: bool
    """Whether its individual items can be made public."""
    may_be_public: bool
    """Whether this user may publish the finished result."""
    are_scores_shown: bool
    is_rounded: bool
    """Whether the figures were rounded for this reader."""
    rounding_words: str
    """How the main score is shown to this reader, where the gold is hidden."""
    part_words: str
    """Which items the figures count, for a phase in parts."""
    part_figures: list[PartFigure]
    """The leaderboard's figures of both parts, for organisers only."""
    similar: list[Similarity]
    """Submissions with almost the same predictions, for organisers only."""
    run: Run | None
    """How it was made, if it has a run manifest."""
    approval: Approval | None
    """For keepers: the request of a first submission to hidden gold, waiting or decided."""
    signs: list[Sign]
    """Those that name it, for organisers while it waits for approval."""

    @property
    def card(self) -> list[tuple[str, str]]:
        """Further short fields of the model card, as (label, text)."""
        return card_lines(self.submission)

    @property
    def query(self) -> str:
        """The query of links to an earlier result; empty for the current one."""
        return f"grading={self.grading.pk}" if self.grading and self.is_earlier else ""

    @property
    def is_done(self) -> bool:
        return self.grading is not None and self.grading.state == Grading.State.DONE

    @property
    def is_keeper(self) -> bool:
        return self.rights.is_keeper

    @property
    def is_read_only(self) -> bool:
        """Whether a keeper cannot change it: the submitter, after leaving the team."""
        return self.rights.is_keeper and not self.rights.may_steer

    @property
    def may_cancel(self) -> bool:
        return self._may_steer and self.grading is not None and not self.grading.is_finished

    @property
    def may_retry(self) -> bool:
        return (
            self._may_steer
            and self.grading is not None
            and self.grading.state in {Grading.State.FAILED, Grading.State.CANCELLED}
        )

    @property
    def is_withdrawn(self) -> bool:
        return self.submission.withdrawn_at is not None

    @property
    def may_publish(self) -> bool:
        return self._can_be_published and self.may_be_public

    @property
    def awaits_confirmation(self) -> bool:
        """Whether it can be published once the user's email address is confirmed."""
        return self._can_be_published and not self.may_be_public

    @property
    def _can_be_published(self) -> bool:
        """True also if a later grading than the published one is done."""
        is_published = self.entry is not None and self.entry.grading == self.grading
        is_ready = self.is_done and are_scores_due(self.submission.phase)
        is_out = self.is_withdrawn or self.submission.rerun_of_id is not None
        return self._may_steer and is_ready and not is_published and not is_out

    @property
    def _may_steer(self) -> bool:
        return self.rights.may_steer and not self.is_earlier

    @property
    def may_unpublish(self) -> bool:
        return self._may_steer and self.entry is not None

    @property
    def may_withdraw(self) -> bool:
        return self.rights.may_withdraw and not self.is_withdrawn

    @property
    def may_decide(self) -> bool:
        """Whether an organiser can approve or reject it now."""
        return self.is_organiser and is_waiting(self.approval)

    @property
    def may_replace(self) -> bool:
        """Whether a new version can be submitted. Each submission can have one."""
        return self.rights.may_replace and self.newer is None

    @property
    def may_choose_items(self) -> bool:
        """Whether the user can make the individual items public."""
        return self.rights.may_steer and self.may_open_items and not self.is_withdrawn

    @property
    def has_acts(self) -> bool:
        """Whether the page shows actions apart from those next to the state."""
        return self.may_replace or self.may_withdraw or self.may_choose_items or self.is_organiser

    @property
    def shown_from(self) -> str:
        return moment(self.submission.phase, self.submission.phase.scores_after)


def submission_page(user: Viewer, submission: Submission, wanted: str = "") -> SubmissionPage:
    """The page of a submission for this user. Other users than keepers see the published figures.

    `wanted` is the id of an earlier grading. Raises Http404 if it is none.
    """
    rights, organiser = rights_for(user, submission), is_organiser(user)
    exact = sees_exact_times(user, submission.phase)
    approval = getattr(submission, "approval", None)
    entry = Entry.objects.filter(grading__submission=submission).select_related("grading").first()
    gradings = gradings_in_force(submission)
    current = next(iter(gradings), None)
    if not rights.is_keeper:
        shown = entry.grading_id if entry else None
        current = next((earlier for earlier in gradings if earlier.pk == shown), None)
    grading = earlier_grading(user, submission, wanted) if wanted else current
    if grading is not None:
        grading = grading_as_shown(user, submission.phase, grading)
    done = grading if grading and grading.state == Grading.State.DONE else None
    are_shown = are_scores_shown(user, submission.phase)
    result = _result(user, submission.phase, done) if done and are_shown else None
    is_rounded = is_rounding(user, submission.phase)
    return SubmissionPage(
        submission=submission,
        grading=grading,
        progress=grading_progress(grading, exact=exact)
        if grading and not grading.is_finished
        else None,
        stages=grading_stages(grading, exact=exact) if grading and rights.is_keeper else None,
        result=result,
        place=place_of(submission, entry, done),
        entry=entry,
        history=grading_history(user, submission, gradings, current),
        is_earlier=grading != current,
        newer=Submission.objects.filter(replaces=submission).first() if rights.is_keeper else None,
        rights=rights,
        is_organiser=organiser,
        shows_items=done is not None
        and diagnostics_for(user, submission, done.release) != Phase.Diagnostics.AGGREGATES,
        may_open_items=may_open_items(submission.phase, submission.phase.release),
        may_be_public=done is not None
        and rights.may_steer
        and user.is_authenticated
        and may_publish(user),
        are_scores_shown=are_shown,
        is_rounded=is_rounded,
        rounding_words=rounding_words(
            submission.phase if is_rounded else None,
            is_scored=result is not None and result.score.value is not None,
        ),
        part_words=shown_part_words(user, submission.phase),
        part_figures=part_figures(submission.phase, done) if done and organiser else [],
        similar=similar_submissions(submission) if organiser else [],
        run=run_of(submission, is_keeper=rights.is_keeper),
        approval=approval if rights.is_keeper else None,
        signs=signs_of(submission) if organiser and is_waiting(approval) else [],
    )


def is_waiting(approval: Approval | None) -> bool:
    return approval is not None and approval.state == Approval.State.WAITING


def card_lines(card: ModelCard) -> list[tuple[str, str]]:
    """The filled-in short fields of a model card, except name, category, size and organisation."""
    lines: list[tuple[str, Any]] = [
        ("Weights", {True: "open", False: "closed", None: ""}[card.open_weights]),
        ("Architecture", card.get_architecture_display()),
        ("Reasoning mode", card.get_reasoning_display()),
        ("Licence", card.licence),
        ("Released", f"{card.released_on:%-d %B %Y}" if card.released_on else ""),
        ("Training cutoff", f"{card.training_until:%-d %B %Y}" if card.training_until else ""),
        ("Output tokens", "" if card.output_tokens is None else f"{card.output_tokens:,}"),
        ("Cost", "" if card.cost is None else f"{card.cost.normalize():,f} US dollars"),
    ]
    return [(label, words) for label, words in lines if words]


def _result(user: Viewer, phase: Phase, done: Grading) -> Result:
    spec = phase.board.spec
    options = spec.check_options(done.options)
    columns, views = spec.columns_for(options), spec.views_for(options)
    figures = spec.figures_for(options)
    shown = columns
    if is_rounding(user, phase):
        columns = shown_columns(phase, columns)
        shown = shown_columns(phase, columns, done.scores)
        views = shown_views(phase, views, done.scores)
    intervals, deciding = shown_intervals(phase, done.pk), deciding_column(columns)
    changed = changes_of(done.counts)
    return Result(
        score=figure(deciding, done.scores, done.counts, intervals),
        unit=deciding.unit,
        losses=largest_losses(spec, columns, views, done),
        groups=figure_groups(shown, done.scores, done.counts, intervals),
        views=view_figures(views, done.scores, done.counts),
        parts=part_tables(done, figures),
        counts=other_counts({*figures, *map(count_name, changed)}, done.counts),
        changed=changed,
        words=spec.words(options),
    )


def largest_losses(
    spec: Benchmark, columns: Sequence[Column], views: Sequence[View], done: Grading
) -> list[Losses]:
    """Return the most frequent kinds of errors, and the parts with the lowest scores.

    The benchmark's charts define which figures these are; without a chart of parts, those of its
    first view, or those next to the main score.
    """
    known = {column.key: column for view in views for column in view.columns}
    known |= {column.key: column for column in columns}
    errors = next((chart.figures for chart in spec.charts if chart.kind == "shares"), ())
    title, parts = _parts(spec, columns, views)
    losses_by_kind = [
        _worst("Most frequent errors", [known[key] for key in errors if key in known], done),
        _worst(f"Lowest-scoring {title}", [known[key] for key in parts if key in known], done),
    ]
    return [losses for losses in losses_by_kind if losses.figures]


def _parts(
    spec: Benchmark, columns: Sequence[Column], views: Sequence[View]
) -> tuple[str, list[str]]:
    """Return what the figures that break down the main score are for, as a plural, and their
    keys."""
    deciding = deciding_column(columns)
    for chart in spec.charts:
        if chart.kind == "radar" or (chart.kind == "profile" and chart.reference is None):
            return f"{chart.title.lower().rpartition(' by ')[2]}s", list(chart.figures)
    if views:
        keys = [column.key for column in views[0].columns if column.key != deciding.key]
        return f"{spec.part_name.lower() or 'metric'}s", keys
    near = [column.key for column in columns if column.group == deciding.group]
    return "metrics", [key for key in near if key != deciding.key]


def _worst(title: str, columns: Sequence[Column], done: Grading) -> Losses:
    """Return the figures furthest from perfect, without perfect ones. A perfect error rate is 0."""
    lost = []
    for column in columns:
        value = done.scores.get(column.key)
        if is_score(value):
            lost.append((value if column.direction == "down" else 1 - value, column))
    lost.sort(key=lambda pair: -pair[0])
    worst = [column for loss, column in lost if loss > 0][:MOST_LOSSES]
    unit = "%" if all(column.unit == "%" for column in worst) else ""
    return Losses(title, unit, [_loss(column, done) for column in worst])


def _loss(column: Column, done: Grading) -> Figure:
    """The figure, without the prefix that the title of the list repeats."""
    shown = figure(column, done.scores, done.counts)
    return replace(shown, label=capfirst(shown.label.removeprefix("Errors: ")))


def place_of(submission: Submission, entry: Entry | None, done: Grading | None) -> Place | None:
    """At most one query; until the ranks are by significance, up to two more."""
    if entry is None or done is None or entry.grading_id != done.pk:
        return None
    phase = submission.phase
    ranks = _kept_ranks(phase)
    if entry.pk not in ranks:
        return None
    rank, is_compared = ranks[entry.pk]
    is_pending = not is_compared and (is_being_ranked(phase) or are_being_resampled([done]))
    return Place(rank, len(ranks), is_compared, is_pending)


def _kept_ranks(phase: Phase) -> dict[int, tuple[int, bool]]:
    """Return the ranks of the ranked entries and whether they are by significance, cached until the
    board changes."""
    board, part = phase.board, shown_part(phase, timezone.now())
    stamp = f"{board.pk}-{board.created_at.timestamp()}-{board.revision}"
    key = f"scoring:ranks:2:{stamp}:{phase.pk}:{part}"
    ranks: dict[int, tuple[int, bool]] | None = cache.get(key)
    if ranks is None:
        ranks = {
            entry: (score.rank, score.is_compared)
            for entry, score in ranked_scores(board, phase).items()
            if score.rank is not None
        }
        cache.set(key, ranks, _RANKS_SECONDS)
    return ranks
