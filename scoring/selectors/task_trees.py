"""A board's task tree: from the steps of the work to the tasks, and on to examples."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404

from portal.datasets.access import seen_splits
from portal.datasets.models import PageImage, ReleaseItem
from portal.datasets.selectors.page_images import first_images
from scoring.access import may_open_release
from scoring.benchmarks import TaskTree, TreeItem, TreeStage, TreeTask
from scoring.models import Board, Phase

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
    splits = seen_splits(AnonymousUser(), phase.release)
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
