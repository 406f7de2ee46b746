"""Queries of the home and start pages."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.access import own_assignments
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Membership,
    ReviewItem,
    ReviewRound,
)
from portal.accounts.models import User
from portal.web.queries import Parameter, Prepared
from portal.web.requests import one_at_a_time
from scoring.benchmarks import BENCHMARKS
from scoring.figures import NO_FIGURE
from scoring.leaderboard.columns import GROUPED, BoardColumn, TableFrame, table_frame
from scoring.leaderboard.disclosure import entry_as_shown, shown_columns
from scoring.leaderboard.rows import Row, best_first
from scoring.leaderboard.selectors import StampedBoard, ranked_sections, rows_of_table
from scoring.models import Board, Entry, ExpertReview, Grading, Phase, Submission
from scoring.models.boards import windows_of, with_releases
from scoring.reliability.cases import for_expert
from scoring.submissions.approvals import waiting_by_board

PLACES_SHOWN = 3
NEWEST_SHOWN = 6
_WEEK = 7 * 24 * 60 * 60
SUBMISSIONS_SHOWN = 5


@dataclass(frozen=True)
class Place:
    rank: int
    name: str
    organisation: str
    score: str
    is_best: bool = False
    """Whether no row has a better score. Several rows may share the first rank."""


@dataclass(frozen=True)
class BoardAtAGlance:
    board: Board
    column: BoardColumn
    """The column that decides the rank."""
    places: tuple[Place, ...]
    """The best of the comparable rows; see `_comparable`."""
    graded: int
    reported: int

    @property
    def is_scored(self) -> bool:
        """Whether any of the places has a score that is shown."""
        return any(place.score != NO_FIGURE for place in self.places)


@dataclass(frozen=True)
class NewEntry:
    entry: Entry
    submission_id: int
    column: BoardColumn
    score: str


def kept_boards_at_a_glance() -> tuple[BoardAtAGlance, ...]:
    """Return the same, and keep each board until it changes: its rows can be many. Two queries, and
    one more if any board has changed."""
    boards = sorted(Board.objects.published(), key=_prominence)
    names = _names_by_board(boards)
    kept = cache.get_many(names.values())
    if len(kept) < len(names):
        with one_at_a_time("boards at a glance"):
            kept = cache.get_many(names.values())
            changed = [board for board in boards if names[board.pk] not in kept]
            made = {names[each.board.pk]: each for each in boards_at_a_glance(changed)}
            cache.set_many(made, _WEEK)
            kept |= made
    return tuple(kept[names[board.pk]] for board in boards)


def _names_by_board(boards: Sequence[Board]) -> dict[int, str]:
    """Return the cache key of each board, which changes with it. One query."""
    phases: dict[int, list[Phase]] = defaultdict(list)
    for phase in with_releases(Phase.objects.filter(board__in=boards)):
        phases[phase.board_id].append(phase)
    stamped = [StampedBoard(board, windows_of(board, phases[board.pk])) for board in boards]
    return {
        each.board.pk: f"glance:{each.etag(AnonymousUser(), {'page': 'home'})}" for each in stamped
    }


def boards_at_a_glance(boards: Sequence[Board] | None = None) -> tuple[BoardAtAGlance, ...]:
    """Published boards without disqualified entries: open ones first, then in the order of the
    benchmarks, the main one first. Two queries, or one for these boards."""
    if boards is None:
        boards = sorted(Board.objects.published(), key=_prominence)
    entries: dict[int, list[Entry]] = defaultdict(list)
    now = timezone.now()
    rows = Entry.objects.filter(board__in=boards).select_related("phase").defer("notes")
    for entry in rows.order_by("id"):
        entries[entry.board_id].append(entry_as_shown(entry, entry.phase, now))
    return tuple(_glance(board, entries[board.pk]) for board in boards)


def first_board() -> Board | None:
    """The published board that the home page shows first. One query."""
    return min(Board.objects.published(), key=_prominence, default=None)


def _prominence(board: Board) -> tuple[bool, int]:
    return board.state != Board.State.OPEN, list(BENCHMARKS).index(board.benchmark)


def _glance(board: Board, entries: Sequence[Entry]) -> BoardAtAGlance:
    graded = [
        entry for entry in entries if entry.kind == Entry.Kind.GRADED and not entry.is_disqualified
    ]
    phase = max((entry.phase for entry in graded if entry.phase), key=_number, default=None)
    if phase:
        phase.board = board
    frame = table_frame(board, phase, GROUPED)
    column = _decisive(frame.columns)
    return BoardAtAGlance(
        board=board,
        column=column,
        places=_best_places(_comparable(frame, phase, entries), frame, column),
        graded=len(graded),
        reported=sum(entry.kind == Entry.Kind.REPORTED for entry in entries),
    )


def _number(phase: Phase) -> int:
    return phase.pk


def _comparable(frame: TableFrame, phase: Phase | None, entries: Sequence[Entry]) -> list[Row]:
    """The section of the leaderboard to show, because only rows measured alike are comparable.

    Graded rows of the newest phase with the latest signature; if there are none, the source with
    the most reported rows.
    """
    kind = Entry.Kind.REPORTED if phase is None else Entry.Kind.GRADED
    shown = [
        entry
        for entry in rows_of_table(frame, entries)
        if entry.kind == kind and (phase is None or entry.phase_id == phase.pk)
    ]
    sections = [section.rows for section in ranked_sections(frame, phase, shown)]
    return max(sections, key=len if phase is None else _newest, default=[])


def _newest(rows: Sequence[Row]) -> int:
    """The latest entry that is not disqualified."""
    return max((row.entry.pk for row in rows if not row.is_disqualified), default=0)


def _best_places(rows: Sequence[Row], frame: TableFrame, column: BoardColumn) -> tuple[Place, ...]:
    """Ranked, ordered and rounded as on the leaderboard."""
    rank = next(each.key for each in frame.columns if each.decides)
    at = frame.columns.index(column)
    places = (
        Place(place, row.entry.name, row.entry.organisation, cell.text, is_best=cell.is_best)
        for row in best_first(rows, frame.columns)
        if (place := row.ranks[rank]) is not None and (cell := row.cells[at])
    )
    return tuple(islice(places, PLACES_SHOWN))


def _decisive(columns: Sequence[BoardColumn]) -> BoardColumn:
    """The column that orders the leaderboard."""
    basis = next(column.basis for column in columns if column.decides)
    return next(column for column in columns if column.key == basis)


def newest_entries() -> tuple[NewEntry, ...]:
    """The latest published graded entries, without disqualified ones. One query."""
    entries = (
        Entry.objects.filter(kind=Entry.Kind.GRADED, board__in=Board.objects.published())
        .exclude(verdict=Submission.Verdict.DISQUALIFIED)
        .select_related("board", "phase")
        .annotate(submission_id=F("grading__submission_id"))
        .order_by("-published_at", "-id")[:NEWEST_SHOWN]
    )
    now = timezone.now()
    return tuple(
        _new_entry(entry_as_shown(entry, entry.phase, now), entry.submission_id)
        for entry in entries
    )


def _new_entry(entry: Entry, submission_id: int) -> NewEntry:
    phase = entry.phase
    assert phase is not None
    phase.board = entry.board
    column = _decisive(shown_columns(phase, table_frame(entry.board, phase).columns))
    return NewEntry(entry, submission_id, column, column.show(entry.scores.get(column.basis)))


# Used by the navigation of every page.
_MEMBERSHIP = Prepared(
    lambda: Membership.objects.filter(user=Parameter("user")).order_by().values_list("pk")[:1]
)


def takes_part_in_campaigns(user: User) -> bool:
    return user.is_organiser or bool(_MEMBERSHIP.rows(user=user.pk))


@dataclass(frozen=True)
class AnnotationWork:
    """An annotator's own assignments in open campaigns."""

    untouched: int
    begun: int
    next: Assignment | None
    """The task to continue with; tasks in progress first."""

    @property
    def open(self) -> int:
        return self.untouched + self.begun


@dataclass(frozen=True)
class Duty:
    """A campaign that the user leads or reviews, and its progress."""

    counts: Any
    """One of the memberships, with the counts of `_memberships`."""
    roles: tuple[str, ...]

    @property
    def campaign(self) -> Campaign:
        return cast("Campaign", self.counts.campaign)

    @property
    def may_decide(self) -> bool:
        return Membership.Role.LEAD in self.roles

    @property
    def may_review(self) -> bool:
        return Membership.Role.REVIEWER in self.roles

    @property
    def waits(self) -> bool:
        """Whether there is anything for the user to do."""
        counts = self.counts
        leading = counts.open_cases or counts.to_screen or counts.to_mend
        return bool((self.may_decide and leading) or (self.may_review and counts.to_review))


@dataclass(frozen=True)
class Waiting:
    """The open work of a user. `annotation` is None if the user is not an annotator."""

    annotation: AnnotationWork | None
    duties: tuple[Duty, ...]
    submissions: list[Any]
    """Submissions with the `state` of their latest grading."""
    checks: list[dict[str, Any]]
    """Judge reviews by board: `slug`, `title`, and the number of `pages` and of pages `left`."""
    approvals: list[dict[str, Any]]
    """For organisers, submissions that wait for approval by board: `slug`, `title`, `wait`."""

    @property
    def is_nothing(self) -> bool:
        return not (self.annotation is not None or self.duties or self.submissions or self.checks)


def what_waits(user: User) -> Waiting:
    """The content of the start page. Five queries, six for organisers."""
    duties: dict[int, list[Membership]] = defaultdict(list)
    annotates = False
    for membership in _memberships(user):
        if membership.role == Membership.Role.ANNOTATOR:
            annotates = True
        else:
            duties[membership.campaign_id].append(membership)
    return Waiting(
        annotation=_annotation_work(user) if annotates else None,
        duties=tuple(
            Duty(memberships[0], tuple(membership.role for membership in memberships))
            for memberships in duties.values()
        ),
        submissions=list(_own_submissions(user)),
        checks=list(_judge_checks(user)),
        approvals=list(waiting_by_board()) if user.is_organiser else [],
    )


def _judge_checks(user: User) -> "QuerySet[Any, dict[str, Any]]":
    submitted = ExpertReview.objects.filter(
        case=OuterRef("pk"), expert=user, submitted_at__isnull=False
    )
    board = "sample__phase__board__"
    counted: QuerySet[Any, dict[str, Any]] = (
        for_expert(user)
        .filter(sample__is_open=True)
        .select_related(None)
        .order_by(f"{board}title")
        .values(slug=F(f"{board}slug"), title=F(f"{board}title"))
        .annotate(pages=Count("pk"), left=Count("pk", filter=~Exists(submitted)))
    )
    return counted


def _memberships(user: User) -> "QuerySet[Membership]":
    documents = CampaignDocument.objects.in_work().filter(campaign=OuterRef("campaign"))
    cases = Case.objects.filter(
        campaign_document__campaign=OuterRef("campaign"), state=Case.State.OPEN
    )
    items = ReviewItem.objects.filter(
        round__campaign=OuterRef("campaign"),
        round__state=ReviewRound.State.OPEN,
        verdict=ReviewItem.Verdict.PENDING,
    )
    stage = CampaignDocument.Stage
    return (
        Membership.objects.filter(user=user)
        .select_related("campaign")
        .annotate(
            open_cases=_count(cases, "campaign_document__campaign"),
            to_screen=_count(documents.filter(stage=stage.SCREENING), "campaign"),
            to_mend=_count(documents.filter(stage=stage.VALIDATION), "campaign"),
            to_review=_count(items, "round__campaign"),
            documents=_count(documents, "campaign"),
            settled=_count(documents.filter(stage=stage.GOLD), "campaign"),
        )
        .order_by("campaign__title", "campaign_id", "role")
    )


def _count(rows: "QuerySet[Any]", group: str) -> Coalesce:
    """The number of rows as a subquery, because joins would multiply the counts."""
    counted = rows.order_by().values(group).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)


def _annotation_work(user: User) -> AnnotationWork:
    workable = own_assignments(user).workable()
    begun = Q(state=Assignment.State.IN_PROGRESS)
    counts = workable.aggregate(
        begun=Count("pk", filter=begun), untouched=Count("pk", filter=~begun)
    )
    # "in_progress" sorts after "assigned".
    return AnnotationWork(**counts, next=workable.order_by("-state", "id").first())


def _own_submissions(user: User) -> "QuerySet[Any]":
    in_force = Grading.objects.in_force().filter(submission=OuterRef("pk"))
    latest = in_force.order_by("-id").values("state")[:1]
    return (
        Submission.objects.kept_by(user)
        .select_related("phase__board")
        .annotate(state=Coalesce(Subquery(latest), F("approval__state"), Value("queued")))
        .order_by("-id")[:SUBMISSIONS_SHOWN]
    )
