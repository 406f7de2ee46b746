"""The charts of financial document accuracy."""

from scoring.benchmarks.charts import Chart

from .columns import PARTS

CHARTS = (
    Chart(
        "parts",
        "profile",
        "Score by part",
        "The four parts of the final score for every system; the best systems have a colour.",
        PARTS,
    ),
)
