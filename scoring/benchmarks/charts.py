"""Charts that a benchmark has of its figures. What each kind draws stands in docs/charts.md."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "ranks", "pair", "profile", "shares", "parts", "size", "tokens", "cost", "released", "history"
]


@dataclass(frozen=True)
class Chart:
    """A chart by the keys of the figures that it shows; a figure that the board's options do not
    have is left out of it.

    `told` is the sentence beneath its title. `reference` is a value that a profile is read against,
    such as 1 for "as good as before".
    """

    key: str
    kind: Kind
    title: str
    told: str
    figures: tuple[str, ...] = ()
    reference: float | None = None


def common_charts(deciding: str) -> tuple[Chart, ...]:
    """Those that every benchmark has, of the figure by which its board is ordered."""
    return (
        Chart(
            "size",
            "size",
            "Size and score",
            "The score of each system against its number of parameters, as far as it is known.",
            (deciding,),
        ),
        Chart(
            "tokens",
            "tokens",
            "Output tokens and score",
            "The score against the tokens written per item, as the card states them or else as "
            "the lines of the submission do; on the line are the systems that no other beats with "
            "as few.",
            (deciding,),
        ),
        Chart(
            "cost",
            "cost",
            "Cost and score",
            "The score against the cost of the whole run; on the line stand the systems that no "
            "other beats for as little.",
            (deciding,),
        ),
        Chart(
            "released",
            "released",
            "Release date and score",
            "The score of each system against the day it came out, dense models and mixtures of "
            "experts apart.",
            (deciding,),
        ),
        Chart(
            "history",
            "history",
            "Best score over time",
            "Every result on the day it was published here; the line is the best one so far.",
            (deciding,),
        ),
    )
