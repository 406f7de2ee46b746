"""The list of boards, open phases, the task tree, and the example file of a board."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Prefetch, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.datasets.access import gold_splits_for
from portal.datasets.documents.selectors import first_images
from portal.datasets.models import PageImage, Release, ReleaseItem
from scoring.access import Viewer, may_open_release, visible_boards
from scoring.benchmarks import TaskTree, TreeItem, TreeTask, benchmark_card
from scoring.figures import show
from scoring.leaderboard.columns import BoardColumn
from scoring.leaderboard.disclosure import entry_as_shown, shown_columns
from scoring.leaderboard.rows import Row
from scoring.leaderboard.selectors import Leaderboard
from scoring.models import Board, Entry, Phase, Submission, Window
from scoring.models.boards import PhaseWindow, phase_windows


def boards_for_list(user: Viewer) -> QuerySet[Board]:
    """The boards this user may see, by title, with phases and numbers of rows. Two queries."""
    phases = Phase.objects.select_related("release__dataset").order_by("id")
    return (
        visible_boards(user)
        .annotate(
            graded=Count("entries", filter=Q(entries__kind=Entry.Kind.GRADED)),
            reported=Count("entries", filter=Q(entries__kind=Entry.Kind.REPORTED)),
        )
        .prefetch_related(Prefetch("phases", queryset=phases))
        .order_by("title", "id")
    )


def is_open_to(window: PhaseWindow, user: Viewer) -> bool:
    """Whether the user can submit to the phase now. Organisers can submit to a draft."""
    states = {Board.State.OPEN} | ({Board.State.DRAFT} if is_organiser(user) else set())
    return window.window == Window.OPEN and window.phase.board.state in states


def phases_for(user: Viewer, board: Board) -> list[Phase]:
    """The phases that the user can submit to now."""
    return [window.phase for window in phase_windows(board) if is_open_to(window, user)]


def not_open_words(board: Board, slug: str = "") -> str:
    """State why a board does not accept submissions to this phase, or to any phase. One query."""
    if board.state == Board.State.ARCHIVED:
        return "The board is archived and does not accept submissions."
    windows = phase_windows(board)
    chosen = [window for window in windows if slug in {"", window.phase.slug}]
    if chosen:
        return " ".join(map(_window_words, chosen))
    known = ", ".join(window.phase.slug for window in windows)
    return f"This board has no phase “{slug}”. Phases: {known}." if known else "It has no phases."


def _window_words(window: PhaseWindow) -> str:
    name = f"The phase “{window.phase.slug}”"
    if window.window == Window.CLOSED:
        return f"{name} closed on {window.closes_at}."
    if window.window == Window.UPCOMING:
        return f"{name} opens on {window.opens_at}."
    return f"{name} is open."


def phase_ids(phase: Phase) -> list[str]:
    """The ids of the graded items, in order. One query."""
    return list(phase.items.order_by("position").values_list("name", flat=True))


def precheck_data(user: Viewer, board: Board, phases: Sequence[Phase]) -> dict[str, Any]:
    """The data for checking a file in the browser before it is uploaded, by phase. `ids` are URLs,
    given only where the ids are public; `complete` gives the completeness rule."""
    ids = {
        phase.pk: reverse("api:phase-ids", args=[board.slug, phase.slug])
        for phase in phases
        if may_open_release(user, phase.release)
    }
    return {
        "limit": settings.UPLOAD_LIMIT,
        "idKeys": board.spec.id_keys,
        "answerKeys": board.spec.answer_keys,
        "complete": {phase.pk: phase.completeness_rule for phase in phases},
        "ids": ids,
    }


@dataclass(frozen=True)
class ExampleFile:
    """A published sample submission whose file anyone can download."""

    submission: Submission

    @property
    def name(self) -> str:
        """The filename of the download, which differs from board to board."""
        board = self.submission.phase.board.slug
        return f"{board}-{PurePath(self.submission.filename).name}"


def example_file(board: Board) -> ExampleFile | None:
    """The first sample submission of a sample board to a phase with public gold.

    Predictions can reveal hidden gold, so that it has no example. One query, or none if the board
    is not a sample.
    """
    if not board.is_sample:
        return None
    candidates = (
        Submission.objects.filter(
            phase__board=board,
            is_sample=True,
            publication=Submission.Publication.PUBLIC,
            withdrawn_at=None,
        )
        .select_related("phase__release__dataset")
        .order_by("phase_id", "id")
    )
    for submission in candidates:
        submission.phase.board = board
        if submission.phase.release.opens(submission.phase.split):
            return ExampleFile(submission)
    return None


_DOCS_LINK = re.compile(r"\]\(\.\./\.\./\.\./docs/([\w/-]+)\.md")


def board_card(board: Board) -> tuple[str, str]:
    """Return the title of the benchmark's card and its text, in Markdown. Links to files of the
    repository become links to the documentation on this site."""
    title, _, card = benchmark_card(board.benchmark).partition("\n")
    card = _DOCS_LINK.sub(lambda link: f"]({reverse('docs:page', args=[link[1]])}", card)
    return title.removeprefix("# "), card


EXAMPLES = 3
# The number of a task's items that are searched for examples of different questions.
LOOKED_AT = 40


@dataclass(frozen=True)
class Example:
    """An item with public gold, and its first page image, if any."""

    item: ReleaseItem
    said: TreeItem
    image: PageImage | None


def task_examples(phase: Phase, tree: TaskTree) -> dict[str, list[Example]]:
    """Examples from public gold by task. One query for each task, one for images."""
    found = {task.key: _items(phase, tree, task) for task in tree.tasks}
    images = first_images(
        [item.document for items in found.values() for item in items if item.document]
    )
    return {
        key: [
            Example(item, tree.read(item.gold), images.get(item.document_id or 0)) for item in items
        ]
        for key, items in found.items()
    }


def open_phase(board: Board) -> Phase | None:
    """The first phase with public gold. One query, and one for each phase that is checked."""
    phases = board.phases.select_related("release__dataset").order_by("id")
    anybody = AnonymousUser()
    return next(
        (
            phase
            for phase in phases
            if may_open_release(anybody, phase.release) and _open_items(phase).exists()
        ),
        None,
    )


def _open_items(phase: Phase) -> QuerySet[ReleaseItem]:
    """The items with public gold."""
    splits = gold_splits_for(AnonymousUser(), phase.release)
    return phase.items if splits is None else phase.items.filter(split__in=splits)


def _items(phase: Phase, tree: TaskTree, task: TreeTask) -> Sequence[ReleaseItem]:
    """The first items of the task, of different kinds of questions if possible."""
    items = _open_items(phase).filter(**{f"gold__{tree.task_field}": task.key})
    rows = items.select_related("document__dataset").defer("facts").order_by("position")
    candidates = list(rows[:LOOKED_AT])
    first = {tree.read(item.gold).subtask: item for item in reversed(candidates)}
    varied = sorted(first.values(), key=lambda item: item.position)
    rest = [item for item in candidates if item not in varied]
    return [*varied, *rest][:EXAMPLES]


System = tuple[str, str, str]


@dataclass(frozen=True)
class Loss:
    """One figure of a system: its difference to the normal capture and their ratio, as texts.

    `ratio` is empty if the figure of the normal capture is 0, or if the figure is a count.
    """

    difference: str
    ratio: str


@dataclass(frozen=True)
class Relative:
    """The comparison of `simulation` with the release named by `normal`; rows as on the board."""

    simulation: str
    normal: str
    columns: tuple[BoardColumn, ...]
    rows: Sequence[tuple[Entry, Sequence[Loss]]]


def relative_results(user: Viewer, table: Leaderboard) -> Relative | None:
    """The losses on a stress variant; None for other datasets, and if no system of the board has a
    result on the original. One query for a variant, none for other datasets."""
    if table.phase is None or table.phase.release.dataset.derived_from_id is None:
        return None
    normal = _normal_entries(user, table.phase)
    shown = shown_columns(table.phase, table.columns)
    columns = tuple(column for column in shown if not column.is_rank)
    compared = [
        (row, known)
        for section in table.sections
        if section.kind == Entry.Kind.GRADED
        for row in section.rows
        if not row.is_disqualified and (known := normal.get(_system(row.entry)))
    ]
    if not compared:
        return None
    phase = compared[0][1].phase
    assert phase is not None
    return Relative(
        simulation=table.phase.release.dataset.simulation,
        normal=f"{phase.release.dataset.title} {phase.release.version}",
        columns=columns,
        rows=[(row.entry, _losses(row, known, columns)) for row, known in compared],
    )


def _normal_entries(user: Viewer, phase: Phase) -> dict[System, Entry]:
    """The newest result of each system on a release of the original dataset with the same items
    and gold."""
    release = phase.release
    entries = Entry.objects.filter(
        kind=Entry.Kind.GRADED,
        board__in=visible_boards(user),
        phase__release__in=Release.objects.with_gold_of(release).filter(
            dataset=release.dataset.derived_from_id
        ),
    )
    entries = entries.exclude(verdict=Submission.Verdict.DISQUALIFIED)
    related = entries.select_related("phase__release__dataset").order_by("id")
    now = timezone.now()
    return {_system(entry): entry_as_shown(entry, entry.phase, now) for entry in related}


def _system(entry: Entry) -> System:
    """The key of a system: its name and organisation in the model card, and the signature."""
    return entry.name.casefold(), entry.organisation.casefold(), entry.signature


def _losses(row: Row, normal: Entry, columns: Sequence[BoardColumn]) -> list[Loss]:
    return [
        _loss(column, row.values[column.basis], normal.scores.get(column.basis))
        for column in columns
    ]


def _loss(column: BoardColumn, value: float | None, normal: float | None) -> Loss:
    if value is None or normal is None:
        return Loss(show(None), "")
    text = show(abs(value - normal), unit=column.unit, decimals=column.decimals)
    sign = "" if value == normal else "+" if value > normal else "−"
    ratio = show(value / normal, unit="", decimals=2) if column.unit and normal else ""
    return Loss(f"{sign}{text}", ratio)
