"""The charts of FCMBench."""

from scoring.benchmarks.charts import Chart

from .tasks import CONDITIONS, TASKS
from .views import condition_key

CHARTS = (
    Chart(
        "tasks",
        "profile",
        "Score by task",
        "F1 of every system in each of the seven tasks; the best systems have a colour.",
        TASKS,
    ),
    Chart(
        "perception-and-reasoning",
        "pair",
        "Perception and reasoning",
        "Mean F1 of the perception tasks against that of the reasoning tasks.",
        ("perception", "reasoning"),
    ),
    Chart(
        "robustness",
        "profile",
        "Robustness",
        "F1 under each capture condition relative to normal captures, which are the line at 100 %.",
        tuple(condition_key(condition) for condition in CONDITIONS),
        reference=1,
    ),
)
