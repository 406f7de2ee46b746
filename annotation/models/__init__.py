"""Models of annotation, one module per noun.

Imports go one way: every other module may import `campaigns`.
"""

from .adjudication import Case, Decision, GoldSpan
from .assignments import Assignment, Comment, FirstSubmission, Revision, Span
from .campaigns import (
    Campaign,
    CampaignDocument,
    CampaignInvitation,
    GuidelinesVersion,
    Membership,
    Reminder,
    SuggestionSource,
)
from .review import ReviewItem, ReviewRound
from .screening import KnownGold, QualificationResult, Screening
from .uploads import CampaignImport, ModelSuggestions, SuggestionUpload

__all__ = [
    "Assignment",
    "Campaign",
    "CampaignDocument",
    "CampaignImport",
    "CampaignInvitation",
    "Case",
    "Comment",
    "Decision",
    "FirstSubmission",
    "GoldSpan",
    "GuidelinesVersion",
    "KnownGold",
    "Membership",
    "ModelSuggestions",
    "QualificationResult",
    "Reminder",
    "ReviewItem",
    "ReviewRound",
    "Revision",
    "Screening",
    "Span",
    "SuggestionSource",
    "SuggestionUpload",
]
