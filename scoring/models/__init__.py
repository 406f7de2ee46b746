"""Models of scoring, one module per noun.

Imports go one way: `entries` may import `gradings`, that one `attempts` or `submissions`, these
`boards`.
"""

from .attempts import Attempt
from .boards import Board, Phase, Window
from .entries import Entry
from .gradings import Grading, ItemScore
from .submissions import Architecture, Category, ModelCard, Prediction, Submission
from .webhooks import Delivery, Webhook

__all__ = [
    "Architecture",
    "Attempt",
    "Board",
    "Category",
    "Delivery",
    "Entry",
    "Grading",
    "ItemScore",
    "ModelCard",
    "Phase",
    "Prediction",
    "Submission",
    "Webhook",
    "Window",
]
