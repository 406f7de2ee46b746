"""FCMBench: its figures, tables by language and by capture condition, and their values.

figures.toml has the columns that are not listed here, and the charts; tasks.toml the tasks.
"""

import tomllib
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from scoring.benchmarks.base import (
    Column,
    Headline,
    Scores,
    TaskTree,
    TreeItem,
    TreeStage,
    TreeTask,
    View,
    load_figures,
    load_reported,
)
from scoring.benchmarks.items import ItemResult, Options, mean, share
from scoring.metrics.fields import SubtaskScores, relative_scores

from .comparing import by_reference
from .scorer import (
    LEFT_OUT,
    OVERALL,
    PERCEPTION,
    PUBLISHED_OVERALL,
    REASONING,
    TASKS,
    UNPARSEABLE,
    counted,
    published_score,
)

_FOLDER = Path(__file__).parent
FIGURES = load_figures(_FOLDER / "figures.toml")
_TASKS = FIGURES.columns["tasks"]
_TABLES = tomllib.loads((_FOLDER / "tasks.toml").read_text(encoding="utf-8"))

# Asks which distortion an image has, so comparisons of conditions and languages leave it out.
QUALITY_TASK = "IQE"
_COMPARED = tuple(task for task in TASKS if task != QUALITY_TASK)
NORMAL = "Normal Captures"
# The other conditions, in the order of the paper's table 2.
CONDITIONS = tuple(_TABLES["conditions"])
CHINESE, ENGLISH = "Chinese", "English"
_ENGLISH_PREFIX = "en."


def language_of(subtask: str) -> str:
    """Return the language: English subtasks begin with `en.`; all others are Chinese."""
    return ENGLISH if subtask.startswith(_ENGLISH_PREFIX) else CHINESE


def _load_tree() -> TaskTree:
    return TaskTree(
        work="a credit review",
        stages=tuple(
            TreeStage(**{**row, "tasks": tuple(row["tasks"])}) for row in _TABLES["stage"]
        ),
        tasks=tuple(TreeTask(**row) for row in _TABLES["task"]),
        task_field="task",
        read=_read,
    )


def _read(gold: Mapping[str, Any]) -> TreeItem:
    return TreeItem(gold["task"], gold["subtask"], gold["robustness"], gold["response"])


TREE = _load_tree()


def columns_for(options: Options) -> tuple[Column, ...]:
    """Return the seven tasks and their mean in the order of table 4, then the detail columns.

    By the rules of the published evaluator, a task leaves out some answers, so that the submission
    chooses what it is a mean of.
    """
    tasks = [replace(each, over="") for each in _TASKS] if by_reference(options) else _TASKS
    return (*tasks, *FIGURES.columns["means"], *FIGURES.columns["details"])


def headline_for(_: Options) -> Headline | None:
    return FIGURES.headline


# Prefixes of the keys of a language's figures. There is no English RR.
PREFIXES = {CHINESE: "zh_", ENGLISH: "en_"}
LANGUAGE_TASKS = {CHINESE: TASKS, ENGLISH: tuple(task for task in TASKS if task != "RR")}
AVERAGE = "without_iqe"


def views_for(_: Options) -> tuple[View, ...]:
    """Return tables A5 and A6 of the paper, its ratios per capture condition, and the columns of
    the benchmark's leaderboard."""
    return _VIEWS


def condition_key(condition: str) -> str:
    """Return the key of the column of a capture condition.

    >>> condition_key("Multi-doc Images")
    'relative_multi_doc_images'
    """
    return f"relative_{condition.lower().replace(' ', '_').replace('-', '_')}"


def _language_view(language: str) -> View:
    key, prefix, tasks = language.lower(), PREFIXES[language], LANGUAGE_TASKS[language]
    averaged = ", ".join(task for task in tasks if task != QUALITY_TASK)
    help_text = f"Mean F1 of {averaged}"
    columns = (
        *(
            Column(f"{prefix}{task.key}", task.key, language, task.title)
            for task in TREE.tasks
            if task.key in tasks
        ),
        Column(f"{prefix}{AVERAGE}", "Average", language, help_text, rank="board"),
    )
    return View(
        key,
        language,
        f"F1 on {language} prompts and documents. The average excludes {QUALITY_TASK}.",
        columns,
        load_reported(_FOLDER / f"reported_{key}.csv"),
    )


_CONDITIONS = View(
    "conditions",
    "Robustness",
    "F1 under each capture condition divided by F1 on normal captures, over the subtasks that both "
    f"have, excluding {QUALITY_TASK} (100% = no loss). Ratios of different conditions cannot be "
    "compared.",
    (
        Column(
            "f1_normal",
            NORMAL,
            "F1",
            f"Mean F1 of the tasks on normal captures, excluding {QUALITY_TASK}",
            rank="board",
        ),
        *(
            Column(
                condition_key(condition),
                condition,
                "Relative to normal captures",
                "F1 under this condition relative to normal captures",
            )
            for condition in CONDITIONS
        ),
    ),
)
# A figure of reported rows alone: which items the published subset has is not known here.
SUBSET = "overall_subset"
_VIEWS = (_language_view(CHINESE), _language_view(ENGLISH), _CONDITIONS, *FIGURES.views)


class Cell(NamedTuple):
    """Answers that are always aggregated together: of one subtask under one capture condition."""

    task: str
    subtask: str
    robustness: str


# The score of each answer, by cell: eight bytes per answer.
Cells = Mapping[Cell, "array[float]"]
Figures = dict[str, float | int | None]


def aggregate(results: Iterable[ItemResult], options: Options) -> Scores:
    """Compute the figures of all answers, in any order; `results` may be a stream.

    A subtask is the mean of its answers, a task the mean of its subtasks, an overall score the mean
    of the tasks. A task without any question is left out. There is no score that ranks if a task
    has questions and no score.
    """
    scored, strict, published = (defaultdict[Cell, "array[float]"](_array) for _ in range(3))
    counts: Counter[str] = Counter()
    asked: set[Cell] = set()
    for result in results:
        score = counted(result, options)
        _count(result, counts, is_ignored=score is None)
        cell = Cell(result["task"], result["subtask"], result["robustness"])
        for cells, value in (
            (scored, score),
            (strict, result["strict"]),
            (published, published_score(result)),
        ):
            if value is not None:
                cells[cell].append(value)
        if result["outcome"] != LEFT_OUT:
            asked.add(cell)
    tasks = task_scores(scored)
    return Scores(
        items=counts["items"],
        missing=counts["missing"],
        scores={
            **_scores(scored, asked, counts),
            PUBLISHED_OVERALL: _mean_of(task_scores(published), TASKS),
            OVERALL: (
                _mean_of(task_scores(strict), TASKS) if _tasks_of(asked) == tasks.keys() else None
            ),
        },
        counts=_shown_counts(counts, scored),
        subsets={**_languages(scored), **_conditions(scored), **_subtasks(scored)},
    )


def _array() -> "array[float]":
    return array("d")


def task_scores(cells: Cells) -> dict[str, float]:
    """Return each task's macro mean: the mean of its subtasks' means, in the order of TASKS."""
    subtasks: defaultdict[tuple[str, str], list[array[float]]] = defaultdict(list)
    for cell, values in cells.items():
        subtasks[cell.task, cell.subtask].append(values)
    tasks: defaultdict[str, list[float]] = defaultdict(list)
    for (task, _), parts in subtasks.items():
        score = mean(value for part in parts for value in part)
        if score is not None:
            tasks[task].append(score)
    means = {task: mean(tasks[task]) for task in TASKS}
    return {task: score for task, score in means.items() if score is not None}


def _count(result: ItemResult, counts: Counter[str], *, is_ignored: bool) -> None:
    """Count the answer. Answers that exist and have no score are counted as ignored."""
    is_left_out = result["outcome"] == LEFT_OUT
    is_answered = not (is_left_out or result["missing"])
    counts["items"] += 1
    counts["missing"] += result["missing"]
    counts["left_out"] += is_left_out
    counts["answered"] += is_answered
    counts["unparseable"] += result["outcome"] == UNPARSEABLE
    counts["ignored"] += is_answered and is_ignored
    if result["output_tokens"] is not None:
        counts["with_output_tokens"] += 1
        counts["output_tokens"] += result["output_tokens"]


def _shown_counts(counts: Counter[str], scored: Cells) -> dict[str, int]:
    shown = {"answers": sum(map(len, scored.values()))}
    shown |= {key: counts[key] for key in ("unparseable", "ignored", "left_out")}
    if counts["with_output_tokens"]:
        shown |= {key: counts[key] for key in ("output_tokens", "with_output_tokens")}
    return shown


def _scores(
    scored: Cells, asked: Collection[Cell], counts: Counter[str]
) -> dict[str, float | None]:
    tasks, answered = task_scores(scored), counts["answered"]
    return {
        **{task: tasks.get(task) for task in TASKS},
        "perception": _whole_mean(scored, asked, PERCEPTION),
        "reasoning": _whole_mean(scored, asked, REASONING),
        SUBSET: None,
        "unparseable": share(counts["unparseable"], answered),
        "f1": _mean_answer(scored),
        "without_iqe": _whole_mean(scored, asked, _COMPARED),
        **_robustness(scored, asked),
        **{key: value for name in PREFIXES for key, value in _by_task(scored, asked, name).items()},
    }


def _robustness(scored: Cells, asked: Collection[Cell]) -> dict[str, float | None]:
    conditions = _by_condition(scored)
    relative = relative_scores(_subtask_scores(conditions), NORMAL)
    normal = [cell for cell in asked if cell.robustness == NORMAL]
    return {
        "f1_normal": _whole_mean(conditions.get(NORMAL, {}), normal, _COMPARED),
        **{condition_key(name): relative.get(name) for name in CONDITIONS},
    }


def _by_task(scored: Cells, asked: Collection[Cell], language: str) -> dict[str, float | None]:
    """Return the columns of a language's table."""
    prefix, part = PREFIXES[language], _in_language(scored, language)
    tasks = task_scores(part)
    asked = [cell for cell in asked if language_of(cell.subtask) == language]
    return {
        **{f"{prefix}{task}": tasks.get(task) for task in LANGUAGE_TASKS[language]},
        f"{prefix}{AVERAGE}": _whole_mean(part, asked, _COMPARED),
    }


def _languages(cells: Cells) -> dict[str, Figures]:
    """Return the tasks of each language in the data; English has no RR."""
    by_language = {name: _in_language(cells, name) for name in (CHINESE, ENGLISH)}
    return {name: _language(part) for name, part in by_language.items() if part}


def _language(cells: Cells) -> Figures:
    tasks = task_scores(cells)
    return {**_answers(cells), **tasks, "without_iqe": _mean_of(tasks, _COMPARED)}


def _conditions(cells: Cells) -> dict[str, Figures]:
    """Return each capture condition's score and its ratio to that of normal captures."""
    conditions = _by_condition(cells)
    relative = relative_scores(_subtask_scores(conditions), NORMAL)
    return {
        name: {
            **_answers(part),
            "without_iqe": mean(task_scores(part).values()),
            "relative": relative[name],
        }
        for name, part in conditions.items()
    }


def _subtask_scores(conditions: Mapping[str, Cells]) -> dict[str, SubtaskScores]:
    """Return the scores under each capture condition, by task and subtask."""
    scores: dict[str, SubtaskScores] = {}
    for name, cells in conditions.items():
        tasks = scores[name] = {}
        for cell, values in cells.items():
            tasks.setdefault(cell.task, {})[cell.subtask] = mean(values) or 0.0
    return scores


def _subtasks(cells: Cells) -> dict[str, Figures]:
    by_subtask: defaultdict[tuple[str, str], dict[Cell, array[float]]] = defaultdict(dict)
    for cell, part in cells.items():
        by_subtask[cell.task, cell.subtask][cell] = part
    ordered = sorted(by_subtask, key=lambda key: (TASKS.index(key[0]), key[1]))
    return {
        f"{task} {subtask}": {
            **_answers(by_subtask[task, subtask]),
            "f1": _mean_answer(by_subtask[task, subtask]),
        }
        for task, subtask in ordered
    }


def _answers(cells: Cells) -> Figures:
    return {"answers": sum(map(len, cells.values()))}


def _mean_answer(cells: Cells) -> float | None:
    return mean(value for part in cells.values() for value in part)


def _in_language(cells: Cells, language: str) -> Cells:
    return {cell: part for cell, part in cells.items() if language_of(cell.subtask) == language}


def _by_condition(cells: Cells) -> dict[str, Cells]:
    """Return the cells of each capture condition, normal captures first. IQE is left out, since it
    asks for the condition itself."""
    by_condition: defaultdict[str, dict[Cell, array[float]]] = defaultdict(dict)
    for cell, part in cells.items():
        if cell.task != QUALITY_TASK:
            by_condition[cell.robustness][cell] = part
    names = sorted(by_condition, key=lambda name: (name != NORMAL, name))
    return {name: by_condition[name] for name in names}


def _tasks_of(cells: Iterable[Cell]) -> set[str]:
    return {cell.task for cell in cells}


def _whole_mean(scored: Cells, asked: Iterable[Cell], names: Collection[str]) -> float | None:
    """Return the mean of those of these tasks that have questions; None if one has no score, since
    a mean over fewer tasks cannot be compared."""
    tasks = task_scores(scored)
    return _mean_of(tasks, names) if _tasks_of(asked) & set(names) <= tasks.keys() else None


def _mean_of(tasks: Mapping[str, float], names: Iterable[str]) -> float | None:
    return mean(tasks[name] for name in names if name in tasks)
