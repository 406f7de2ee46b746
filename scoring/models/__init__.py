"""Models of scoring, one module per noun.

Imports go one way: `gradings` and `judging` may import `submissions`, and all of them may import
`boards`.
"""

from .boards import Board, Phase, Window
from .gradings import (
    Entry,
    Grading,
    ItemScore,
    RankMove,
    Regrade,
    RegradedPhase,
    Replicate,
)
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
from .running import ModelRun, RunAnswer
from .submissions import (
    Approval,
    Architecture,
    Attempt,
    Category,
    Delivery,
    Manifest,
    ModelCard,
    Prediction,
    Similarity,
    Submission,
    Webhook,
)

__all__ = [
    "Approval",
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
    "Manifest",
    "ModelCard",
    "ModelRun",
    "Phase",
    "Prediction",
    "RankMove",
    "Regrade",
    "RegradedPhase",
    "Replicate",
    "RunAnswer",
    "Similarity",
    "Submission",
    "Webhook",
    "Window",
]
