"""Models of scoring, one module per noun.

Imports go one way: `entries` and `rank_moves` may import `gradings`, that one `regrades`,
`attempts`, `judge_endpoints`, `judging`, `likeness` or `submissions`, these `boards`.
"""

from .attempts import Attempt
from .boards import Board, Phase, Window
from .entries import Entry
from .gradings import Grading, ItemScore
from .judge_endpoints import JudgeEndpoint, JudgeSpending
from .judging import (
    ExpertReview,
    JudgeCase,
    JudgeExpert,
    JudgeRun,
    JudgeSample,
    JudgeVerdict,
)
from .likeness import Likeness
from .rank_moves import RankMove
from .regrades import Regrade, RegradedPhase
from .replicates import Replicate
from .submissions import Architecture, Category, ModelCard, Prediction, Submission
from .webhooks import Delivery, Webhook

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
