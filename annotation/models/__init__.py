"""Models of annotation, one module per noun.

Imports go one way: every other module may import `campaigns`.
"""

from .adjudication import Case, GoldSpan
from .assignments import Assignment, Comment, Revision, Span
from .campaigns import Campaign, CampaignDocument, Membership, SuggestionSource
from .guidelines import GuidelinesVersion
from .suggestions import ModelSuggestions, SuggestionUpload

__all__ = [
    "Assignment",
    "Campaign",
    "CampaignDocument",
    "Case",
    "Comment",
    "GoldSpan",
    "GuidelinesVersion",
    "Membership",
    "ModelSuggestions",
    "Revision",
    "Span",
    "SuggestionSource",
    "SuggestionUpload",
]
