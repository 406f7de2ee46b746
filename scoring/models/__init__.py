"""Models of scoring, one module per noun.

Imports go one way: `entries` may import `gradings`, that one `submissions`, that one `boards`.
"""

from .boards import Board, Phase, Window
from .entries import Entry
from .gradings import Grading, ItemScore
from .submissions import Category, ModelCard, Prediction, Submission

__all__ = [
    "Board",
    "Category",
    "Entry",
    "Grading",
    "ItemScore",
    "ModelCard",
    "Phase",
    "Prediction",
    "Submission",
    "Window",
]
