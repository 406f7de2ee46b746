"""The tree that leads from the work a benchmark is taken from to its tasks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TreeTask:
    """A task: its key, which gold lines name, and what it asks, in a sentence."""

    key: str
    title: str
    asks: str


@dataclass(frozen=True)
class TreeStage:
    """A step of the work, what is done in it, and the keys of the tasks that are taken from it."""

    title: str
    told: str
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class TreeItem:
    """What a gold line says of itself: its task's key, the kind of question, the condition of the
    picture, and the answer."""

    task: str
    subtask: str
    condition: str
    answer: str


@dataclass(frozen=True)
class TaskTree:
    """`work` names the work in words; a task can stand in several stages. `task_field` is the key
    of a gold line under which its task stands."""

    work: str
    stages: tuple[TreeStage, ...]
    tasks: tuple[TreeTask, ...]
    task_field: str
    read: Callable[[Mapping[str, Any]], TreeItem]
