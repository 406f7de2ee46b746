"""The charts of CC-OCR."""

from scoring.benchmarks.charts import Chart

from .subsets import TRACK_TITLES

CHARTS = (
    Chart(
        "tracks",
        "profile",
        "Score by track",
        "The score of every system in each of the four tracks; the best systems have a colour.",
        tuple(TRACK_TITLES),
    ),
    Chart(
        "orientation",
        "pair",
        "Images as they are and rotated",
        "Reading of images as they are against reading of rotated ones.",
        ("multi_scene", "multi_orientation"),
    ),
)
