"""Models of scoring, one module per noun.

Imports go one way: `entries` and `rank_moves` may import `gradings`, that one `regrades`,
`attempts`, `judge_endpoints`, `judging`, `likeness` or `submissions`, these `boards`.
"""

from .boards import Board, Phase, Window
from .entries import Entry, RankMove, Replicate
from .gradings import Grading, ItemScore, Regrade, RegradedPhase
from .judging import (
    ExpertReview,
    JudgeCase,
    JudgeEndpoint,
    JudgeExpert,
    JudgeRun,
    JudgeSample,
    JudgeSpending,
    JudgeVerdict,
)
from .submissions import (
    Architecture,
    Attempt,
    Category,
    Delivery,
    Likeness,
    ModelCard,
    Prediction,
    Submission,
    Webhook,
)

__all__ = [
    "Architecture",
    "Attempt",
    "Board",
    "Category",
    "Delivery",
    "Entry",
    "ExpertReview",
    "Grading",
    "ItemScore",
    "JudgeCase",
    "JudgeEndpoint",
    "JudgeExpert",
    "JudgeRun",
    "JudgeSample",
    "JudgeSpending",
    "JudgeVerdict",
    "Likeness",
    "ModelCard",
    "Phase",
    "Prediction",
    "RankMove",
    "Regrade",
    "RegradedPhase",
    "Replicate",
    "Submission",
    "Webhook",
    "Window",
]
