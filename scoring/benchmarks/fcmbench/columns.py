"""The figures of FCMBench."""

from scoring.benchmarks.base import Column, Options

from .tasks import PERCEPTION, REASONING, TASK_NAMES, TASKS

TASK_GROUP = "F1 by task"
STRICT_GROUP = "Strict"
OTHER_GROUP = "Other means"


def columns_for(
    options: Options,  # noqa: ARG001 - the columns are the same under all of them
) -> tuple[Column, ...]:
    """The seven tasks and their mean in the order of table 4, then what only the details show."""
    return (*_task_columns(), *_STRICT_COLUMNS, *_OTHER_COLUMNS)


def _task_columns() -> tuple[Column, ...]:
    return (
        *(_task(key) for key in TASKS),
        Column(
            "perception",
            "Perception",
            TASK_GROUP,
            f"mean of {', '.join(PERCEPTION)}",
            headline=False,
        ),
        Column(
            "reasoning",
            "Reasoning",
            TASK_GROUP,
            f"mean of {', '.join(REASONING)}",
            headline=False,
        ),
        Column("overall", "Overall", TASK_GROUP, "Mean of the tasks", rank="board"),
    )


def _task(key: str) -> Column:
    return Column(key, key, TASK_GROUP, f"{TASK_NAMES[key]}: mean F1 of its subtasks")


_STRICT_COLUMNS = (
    Column(
        "overall_strict",
        "Overall, strict",
        STRICT_GROUP,
        "overall, with every answer that cannot be read counted as 0",
        headline=False,
    ),
    Column(
        "unparseable",
        "Unparseable",
        STRICT_GROUP,
        "answers without readable JSON, of all answers that are graded",
        direction="down",
        headline=False,
    ),
)
_OTHER_COLUMNS = (
    Column("f1", "Per answer", OTHER_GROUP, "mean F1 over all answers", headline=False),
    Column(
        "without_iqe",
        "Without IQE",
        OTHER_GROUP,
        "mean of the tasks but IQE, as tables A5 and A6 and the capture conditions have it",
        headline=False,
    ),
    Column(
        "relative",
        "Relative",
        OTHER_GROUP,
        "F1 without IQE under a capture condition / on normal captures, mean of the conditions",
        headline=False,
    ),
)
