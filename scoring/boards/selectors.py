"""The list of boards, the phases that take submissions, the task tree, and a file to try a
board with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.datasets.access import gold_splits_for
from portal.datasets.documents.selectors import first_images
from portal.datasets.models import PageImage, ReleaseItem
from scoring.access import Viewer, may_open_release, visible_boards
from scoring.benchmarks import TaskTree, TreeItem, TreeStage, TreeTask
from scoring.models import Board, Entry, Phase, Submission, Window
from scoring.models.boards import PhaseWindow, phase_windows


@dataclass(frozen=True)
class BoardLine:
    """One board in the list."""

    board: Board
    benchmark: str
    graded: int
    reported: int
    phases: tuple[PhaseWindow, ...]


def list_boards(user: Viewer) -> list[BoardLine]:
    """The boards this user may see, by title. Two queries."""
    return board_lines(boards_for_list(user))


def boards_for_list(user: Viewer) -> QuerySet[Board]:
    """By title, with all that a line shows of them."""
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


def board_lines(boards: Iterable[Board]) -> list[BoardLine]:
    now = timezone.now()
    return [_line(board, now) for board in boards]


def is_open_to(window: PhaseWindow, user: Viewer) -> bool:
    """Whether the phase takes this user's submissions now; organisers may try out a draft."""
    states = {Board.State.OPEN} | ({Board.State.DRAFT} if is_organiser(user) else set())
    return window.window == Window.OPEN and window.phase.board.state in states


def phases_for(user: Viewer, board: Board) -> list[Phase]:
    """The phases that take this user's submissions now."""
    return [each.phase for each in phase_windows(board) if is_open_to(each, user)]


def phase_ids(phase: Phase) -> list[str]:
    """The ids of what is graded, in its order. One query."""
    return list(phase.items.order_by("position").values_list("name", flat=True))


def precheck_data(user: Viewer, board: Board, phases: Sequence[Phase]) -> dict[str, Any]:
    """What the browser needs to look at a file before it is sent. Ids only where they are open.

    `complete` says by phase why a file must answer every item, where it must.
    """
    ids = {
        phase.pk: reverse("api:phase-ids", args=[board.slug, phase.slug])
        for phase in phases
        if may_open_release(user, phase.release)
    }
    return {
        "limit": settings.UPLOAD_LIMIT,
        "idKeys": board.spec.id_keys,
        "complete": {phase.pk: phase.completeness_rule for phase in phases},
        "ids": ids,
    }


def _line(board: Board, now: datetime) -> BoardLine:
    return BoardLine(
        board=board,
        benchmark=board.spec.title,
        graded=getattr(board, "graded", 0),
        reported=getattr(board, "reported", 0),
        phases=tuple(PhaseWindow(phase, phase.window(now)) for phase in board.phases.all()),
    )


@dataclass(frozen=True)
class ExampleFile:
    """A published sample submission, whose file anybody may download, and its phase."""

    submission: Submission

    @property
    def name(self) -> str:
        """Tells the downloads of several boards apart."""
        board = self.submission.phase.board.slug
        return f"{board}-{PurePath(self.submission.filename).name}"


def example_file(board: Board) -> ExampleFile | None:
    """The first sample submission of a sample board to a phase whose gold is open.

    Where gold is hidden no file is given away, for outputs may tell of it. One query, none on
    boards that are no sample.
    """
    if not board.is_sample:
        return None
    found = (
        Submission.objects.filter(
            phase__board=board,
            is_sample=True,
            publication=Submission.Publication.PUBLIC,
            withdrawn_at=None,
        )
        .select_related("phase__release__dataset")
        .order_by("phase_id", "id")
    )
    for submission in found:
        submission.phase.board = board
        if submission.phase.release.opens(submission.phase.split):
            return ExampleFile(submission)
    return None


EXAMPLES = 3
# So many items of a task are looked at to find examples of different questions.
LOOKED_AT = 40


@dataclass(frozen=True)
class Example:
    """An item whose gold is open, and its first picture, if it has any."""

    item: ReleaseItem
    said: TreeItem
    image: PageImage | None


@dataclass(frozen=True)
class TaskNode:
    task: TreeTask
    stages: tuple[TreeStage, ...]
    """The steps of the work that it is taken from."""
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class StageNode:
    stage: TreeStage
    tasks: tuple[TreeTask, ...]


@dataclass(frozen=True)
class TaskTreePage:
    board: Board
    tree: TaskTree
    stages: tuple[StageNode, ...]
    tasks: tuple[TaskNode, ...]
    phase: Phase | None
    """Whose items are the examples; None where no gold is open."""


def task_tree_page(board: Board) -> TaskTreePage:
    """The same for everybody: no item is shown whose gold is hidden from anybody. 404 for a board
    whose benchmark has no task tree. Queries: one for the phases and one for each that is looked
    at, one for each task, one for images."""
    tree = board.spec.task_tree
    if tree is None:
        raise Http404("The tasks of this benchmark make up no tree.")
    phase = _open_phase(board)
    found = {task.key: _items(phase, tree, task) for task in tree.tasks} if phase else {}
    documents = [item.document for items in found.values() for item in items if item.document]
    images = first_images(documents)
    by_key = {task.key: task for task in tree.tasks}
    return TaskTreePage(
        board=board,
        tree=tree,
        stages=tuple(
            StageNode(stage, tuple(by_key[key] for key in stage.tasks)) for stage in tree.stages
        ),
        tasks=tuple(
            TaskNode(
                task,
                tuple(stage for stage in tree.stages if task.key in stage.tasks),
                tuple(
                    Example(item, tree.read(item.gold), images.get(item.document_id or 0))
                    for item in found.get(task.key, [])
                ),
            )
            for task in tree.tasks
        ),
        phase=phase,
    )


def _open_phase(board: Board) -> Phase | None:
    """The first phase with gold that everybody may see."""
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
    """The items whose gold everybody may see."""
    splits = gold_splits_for(AnonymousUser(), phase.release)
    return phase.items if splits is None else phase.items.filter(split__in=splits)


def _items(phase: Phase, tree: TaskTree, task: TreeTask) -> Sequence[ReleaseItem]:
    """The first items of the task, of different kinds of questions as far as there are some."""
    items = _open_items(phase).filter(**{f"gold__{tree.task_field}": task.key})
    found = items.select_related("document__dataset").defer("facts").order_by("position")
    candidates = list(found[:LOOKED_AT])
    first = {tree.read(item.gold).subtask: item for item in reversed(candidates)}
    varied = sorted(first.values(), key=lambda item: item.position)
    rest = [item for item in candidates if item not in varied]
    return [*varied, *rest][:EXAMPLES]
