"""The charts that a benchmark declares. docs/charts.md describes what each kind draws."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "ranks",
    "pair",
    "profile",
    "bars",
    "radar",
    "shares",
    "parts",
    "size",
    "tokens",
    "cost",
    "released",
    "history",
    "spread",
    "scaling",
    "active",
    "reasoning",
]


@dataclass(frozen=True)
class Chart:
    """A chart, described by the keys of its figures. Figures that do not exist under the board's
    options are left out.

    `description` is the sentence below its title. `reference` is a value to compare a profile
    with, such as 1 for "as good as before".
    """

    key: str
    kind: Kind
    title: str
    description: str
    figures: tuple[str, ...] = ()
    reference: float | None = None


def common_charts(deciding: str) -> tuple[Chart, ...]:
    """Return the charts that every benchmark has, of the figure that orders its board."""
    return (
        Chart(
            "size",
            "size",
            "Size and score",
            "The score of each system against its number of parameters, if stated. The line "
            "connects systems that no other beats at as small a size.",
            (deciding,),
        ),
        Chart(
            "tokens",
            "tokens",
            "Output tokens and score",
            "The score against the output tokens per item, from the model card or else from the "
            "submission's lines. The line connects systems that no other beats with as few "
            "tokens.",
            (deciding,),
        ),
        Chart(
            "cost",
            "cost",
            "Cost and score",
            "The score against the cost of the whole run. The line connects systems that no other "
            "beats at as low a cost.",
            (deciding,),
        ),
        Chart(
            "released",
            "released",
            "Release date and score",
            "The score of each system against its release date, by architecture. The line is the "
            "best score so far.",
            (deciding,),
        ),
        Chart(
            "history",
            "history",
            "Best score over time",
            "Every result on its publication date. The line is the best result so far.",
            (deciding,),
        ),
    )
