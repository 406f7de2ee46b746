"""Models of annotation, one module per noun.

Imports go one way: `adjudication` and `assignments` may import `campaigns`.
"""

from .adjudication import Case, GoldSpan
from .assignments import Assignment, Revision, Span
from .campaigns import Campaign, CampaignDocument, Membership

__all__ = [
    "Assignment",
    "Campaign",
    "CampaignDocument",
    "Case",
    "GoldSpan",
    "Membership",
    "Revision",
    "Span",
]
