"""The charts of ReceiptBench."""

from scoring.benchmarks.charts import Chart
from scoring.metrics.receipts import ERRORS, TASKS

from .columns import error_key
from .views import LANGUAGES, OTHER, part_key

CHARTS = (
    Chart(
        "tasks",
        "profile",
        "Score by sub-task",
        "F1 of every system in each of the four sub-tasks; the best systems have a colour.",
        TASKS,
    ),
    Chart(
        "languages",
        "profile",
        "Score by language",
        "F1 over all fields by the language of the receipt; the best systems have a colour.",
        tuple(part_key("language", code) for code in (*LANGUAGES, OTHER)),
    ),
    Chart(
        "errors",
        "shares",
        "Error profile",
        "Of what kind the errors of each system are, of all its errors.",
        tuple(error_key(error) for error in ERRORS),
    ),
)
