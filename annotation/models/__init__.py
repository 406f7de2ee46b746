"""Models of annotation.

Imports go one way: every other module may import `campaigns`, and `quality` also `assignments`.
"""

from .assignments import Assignment, Comment, FirstSubmission, Revision, Span, SuggestionOutcome
from .campaigns import (
    Campaign,
    CampaignDocument,
    CampaignImport,
    CampaignInvitation,
    GuidelinesVersion,
    Membership,
    ModelSuggestions,
    OfferedSuggestions,
    Reminder,
    SuggestionSource,
    SuggestionUpload,
    Upload,
)
from .quality import (
    Case,
    Decision,
    GoldSpan,
    KnownGold,
    QualificationResult,
    ReviewItem,
    ReviewRound,
    Screening,
)

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
    "OfferedSuggestions",
    "QualificationResult",
    "Reminder",
    "ReviewItem",
    "ReviewRound",
    "Revision",
    "Screening",
    "Span",
    "SuggestionOutcome",
    "SuggestionSource",
    "SuggestionUpload",
    "Upload",
]
