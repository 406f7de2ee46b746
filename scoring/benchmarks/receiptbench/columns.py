"""The figures of ReceiptBench."""

from scoring.benchmarks.base import Column, Options
from scoring.metrics.receipts import ERRORS, FIELDS, TASKS

from .views import OVERALL

RATES = ("precision", "recall", "f1", "accuracy")

TASK_GROUP = "F1 by sub-task"
OVERALL_GROUP = "All fields"
CHECK_GROUP = "Checks"
RATE_GROUP = "Rates by sub-task"
FIELD_GROUP = "F1 by field"

_HELP = {
    "precision": "TP / (TP + FP)",
    "recall": "TP / (TP + FN)",
    "f1": "2 TP / (2 TP + FP + FN)",
    "accuracy": "(TP + TN) / (TP + FP + FN + TN)",
}
_LABELS = {"f1": "F1"}


def columns_for(
    options: Options,  # noqa: ARG001 - the columns are the same under all of them
) -> tuple[Column, ...]:
    """F1 of the four sub-tasks and overall in the order of table 3, then what only the details
    show."""
    return (
        *_TASK_COLUMNS,
        *_OVERALL_COLUMNS,
        *_CHECK_COLUMNS,
        *_rate_columns(),
        *_FIELD_COLUMNS,
    )


def error_key(error: str) -> str:
    return f"err_{error}"


def _size(task: str) -> str:
    number = sum(rule.task == task for rule in FIELDS)
    return "1 field" if number == 1 else f"{number} fields"


def _detail(key: str, label: str, group: str, text: str) -> Column:
    return Column(key, label, group, text, headline=False)


def _rate_columns() -> tuple[Column, ...]:
    return tuple(
        _detail(
            f"{task}_{rate}",
            f"{task.capitalize()}, {rate}",
            RATE_GROUP,
            f"{_HELP[rate]} over {_size(task)}",
        )
        for task in TASKS
        for rate in RATES
        if rate != "f1"
    )


_TASK_COLUMNS = (
    *(
        Column(task, task.capitalize(), TASK_GROUP, f"micro F1 over {_size(task)}")
        for task in TASKS
    ),
    Column(
        OVERALL,
        "Overall",
        TASK_GROUP,
        f"Micro F1 over all {len(FIELDS)} fields",
        rank="board",
    ),
)
_OVERALL_COLUMNS = tuple(
    _detail(rate, _LABELS.get(rate, rate.capitalize()), OVERALL_GROUP, _HELP[rate])
    for rate in RATES
)
_CHECK_COLUMNS = (
    Column(
        "reward",
        "Reward",
        CHECK_GROUP,
        "metric-aware reward, mean over fields and receipts, from -0.5 to 1",
        unit="",
        decimals=4,
        headline=False,
    ),
    _detail(
        "arithmetic",
        "Adds up",
        CHECK_GROUP,
        "predictions whose line items add up to the total, of those that have both",
    ),
    _detail(
        "arithmetic_gold",
        "Gold adds up",
        CHECK_GROUP,
        "gold receipts whose line items add up to the total, of those that have both",
    ),
    Column(
        "unparseable",
        "Unparseable",
        CHECK_GROUP,
        "responses that cannot be read, of all that are there",
        direction="down",
        headline=False,
    ),
    *(
        Column(
            error_key(error),
            f"Errors: {error}",
            CHECK_GROUP,
            f"share of {error} among all errors",
            direction="down",
            headline=False,
        )
        for error in ERRORS
    ),
)
_FIELD_COLUMNS = tuple(
    _detail(rule.name, rule.name, FIELD_GROUP, f"F1; {rule.kind}, {rule.task}") for rule in FIELDS
)
