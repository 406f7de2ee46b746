"""Aggregates the answers of a submission: by subtask, task, language and capture condition."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scoring.benchmarks.base import ItemResult, Options, Scores
from scoring.metrics.fields import mean_relative_score, relative_scores

from .columns import (
    AVERAGE,
    CHINESE,
    CONDITIONS,
    ENGLISH,
    LANGUAGE_TASKS,
    NORMAL,
    PERCEPTION,
    PREFIXES,
    QUALITY_TASK,
    REASONING,
    SUBSET,
    TASKS,
    condition_key,
    language_of,
)
from .scorer import LEFT_OUT, UNPARSEABLE


class Cell(NamedTuple):
    """Answers that are always aggregated together: of one subtask under one capture condition."""

    task: str
    subtask: str
    robustness: str


# The F1 of each answer, by cell: eight bytes per answer.
Cells = Mapping[Cell, "array[float]"]
Figures = dict[str, float | int | None]


def aggregate(
    results: Iterable[ItemResult],
    options: Options,  # noqa: ARG001 - what they change has been done to each result
) -> Scores:
    """Compute the figures of all answers, in any order; `results` may be a stream.

    A subtask is the mean of its answers, a task the mean of its subtasks, `overall` the mean of the
    tasks. A subtask or task without scores is left out.
    """
    scored: defaultdict[Cell, array[float]] = defaultdict(lambda: array("d"))
    strict: defaultdict[Cell, array[float]] = defaultdict(lambda: array("d"))
    counts: Counter[str] = Counter()
    for result in results:
        _count(result, counts)
        cell = Cell(result["task"], result["subtask"], result["robustness"])
        if result["f1"] is not None:
            scored[cell].append(result["f1"])
        if result["strict"] is not None:
            strict[cell].append(result["strict"])
    return Scores(
        items=counts["items"],
        missing=counts["missing"],
        scores=_scores(scored, strict, counts),
        counts=_shown_counts(counts, scored),
        subsets={**_languages(scored), **_conditions(scored), **_subtasks(scored)},
    )


def task_scores(cells: Cells) -> dict[str, float]:
    """Return each task's macro mean: the mean of its subtasks' means, in the order of TASKS."""
    subtasks: defaultdict[tuple[str, str], list[array[float]]] = defaultdict(list)
    for cell, values in cells.items():
        subtasks[cell.task, cell.subtask].append(values)
    tasks: defaultdict[str, list[float]] = defaultdict(list)
    for (task, _), parts in subtasks.items():
        mean = _mean(value for part in parts for value in part)
        if mean is not None:
            tasks[task].append(mean)
    return {task: math.fsum(tasks[task]) / len(tasks[task]) for task in TASKS if tasks[task]}


def _count(result: ItemResult, counts: Counter[str]) -> None:
    """Count the answer. Answers that exist and have no F1 are counted as ignored."""
    is_left_out = result["outcome"] == LEFT_OUT
    is_answered = not (is_left_out or result["missing"])
    counts["items"] += 1
    counts["missing"] += result["missing"]
    counts["left_out"] += is_left_out
    counts["answered"] += is_answered
    counts["unparseable"] += result["outcome"] == UNPARSEABLE
    counts["ignored"] += is_answered and result["f1"] is None
    if result["output_tokens"] is not None:
        counts["with_output_tokens"] += 1
        counts["output_tokens"] += result["output_tokens"]


def _shown_counts(counts: Counter[str], scored: Cells) -> dict[str, int]:
    shown = {"answers": sum(map(len, scored.values()))}
    shown |= {key: counts[key] for key in ("unparseable", "ignored", "left_out")}
    if counts["with_output_tokens"]:
        shown |= {key: counts[key] for key in ("output_tokens", "with_output_tokens")}
    return shown


def _scores(scored: Cells, strict: Cells, counts: Counter[str]) -> dict[str, float | None]:
    tasks = task_scores(scored)
    answered = counts["answered"]
    return {
        **{task: tasks.get(task) for task in TASKS},
        "perception": _mean_of(tasks, PERCEPTION),
        "reasoning": _mean_of(tasks, REASONING),
        "overall": _mean_of(tasks, TASKS),
        SUBSET: None,
        "overall_strict": _mean_of(task_scores(strict), TASKS),
        "unparseable": counts["unparseable"] / answered if answered else None,
        "f1": _mean_answer(scored),
        "without_iqe": _mean_without_quality(tasks),
        **_robustness(scored),
        **{key: value for name in PREFIXES for key, value in _by_task(scored, name).items()},
    }


def _robustness(scored: Cells) -> dict[str, float | None]:
    scores = _condition_scores(scored)
    relative = relative_scores(scores, NORMAL)
    return {
        "relative": mean_relative_score(scores, NORMAL),
        "f1_normal": scores.get(NORMAL),
        **{condition_key(name): relative.get(name) for name in CONDITIONS},
    }


def _by_task(scored: Cells, language: str) -> dict[str, float | None]:
    """Return the columns of a language's table."""
    prefix, tasks = PREFIXES[language], task_scores(_in_language(scored, language))
    return {
        **{f"{prefix}{task}": tasks.get(task) for task in LANGUAGE_TASKS[language]},
        f"{prefix}{AVERAGE}": _mean_without_quality(tasks),
    }


def _languages(cells: Cells) -> dict[str, Figures]:
    """Return the tasks of each language in the data; English has no RR."""
    found = {name: _in_language(cells, name) for name in (CHINESE, ENGLISH)}
    return {name: _language(part) for name, part in found.items() if part}


def _language(cells: Cells) -> Figures:
    tasks = task_scores(cells)
    return {**_answers(cells), **tasks, "without_iqe": _mean_without_quality(tasks)}


def _conditions(cells: Cells) -> dict[str, Figures]:
    """Return each capture condition's score and its ratio to that of normal captures."""
    scores = _condition_scores(cells)
    relative = relative_scores(scores, NORMAL)
    return {
        name: {**_answers(part), "without_iqe": scores[name], "relative": relative[name]}
        for name, part in _by_condition(cells).items()
    }


def _condition_scores(cells: Cells) -> dict[str, float | None]:
    parts = _by_condition(cells)
    return {name: _mean(task_scores(part).values()) for name, part in parts.items()}


def _subtasks(cells: Cells) -> dict[str, Figures]:
    found: defaultdict[tuple[str, str], dict[Cell, array[float]]] = defaultdict(dict)
    for cell, part in cells.items():
        found[cell.task, cell.subtask][cell] = part
    ordered = sorted(found, key=lambda key: (TASKS.index(key[0]), key[1]))
    return {
        f"{task} {subtask}": {
            **_answers(found[task, subtask]),
            "f1": _mean_answer(found[task, subtask]),
        }
        for task, subtask in ordered
    }


def _answers(cells: Cells) -> Figures:
    return {"answers": sum(map(len, cells.values()))}


def _mean_answer(cells: Cells) -> float | None:
    return _mean(value for part in cells.values() for value in part)


def _in_language(cells: Cells, language: str) -> Cells:
    return {cell: part for cell, part in cells.items() if language_of(cell.subtask) == language}


def _by_condition(cells: Cells) -> dict[str, Cells]:
    """Return the cells of each capture condition, normal captures first. IQE is left out, since it
    asks for the condition itself."""
    found: defaultdict[str, dict[Cell, array[float]]] = defaultdict(dict)
    for cell, part in cells.items():
        if cell.task != QUALITY_TASK:
            found[cell.robustness][cell] = part
    return {name: found[name] for name in sorted(found, key=lambda name: (name != NORMAL, name))}


def _mean_without_quality(tasks: Mapping[str, float]) -> float | None:
    return _mean_of(tasks, [task for task in TASKS if task != QUALITY_TASK])


def _mean_of(tasks: Mapping[str, float], names: Iterable[str]) -> float | None:
    return _mean(tasks[name] for name in names if name in tasks)


def _mean(values: Iterable[float]) -> float | None:
    # fsum is exact, so the order of the answers cannot change the last digit.
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else None
