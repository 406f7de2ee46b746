"""Who may see and do what in the domain review; `annotation.access` says it for all else.

Rounds are for a campaign's reviewers and leads, verdicts for its reviewers alone. What a review
shows is gold: it never leads to the work of an annotator.
"""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from annotation.access import Standing, campaign_for
from annotation.models import ReviewItem, ReviewRound


def reviewed_campaign(user: Any, slug: str) -> Standing:
    standing = campaign_for(user, slug)
    if not (standing.is_reviewer or standing.is_lead):
        raise PermissionDenied("The review is for the campaign's reviewers and leads.")
    return standing


def check_may_open(standing: Standing) -> None:
    """A lead may have a review before it is due."""
    if not standing.is_lead:
        raise PermissionDenied("Only leads open a review before it is due.")


def check_may_decide(standing: Standing) -> None:
    if not standing.is_reviewer:
        raise PermissionDenied("Verdicts are given by the campaign's reviewers.")


def round_for(user: Any, slug: str, number: int) -> tuple[Standing, ReviewRound]:
    standing = reviewed_campaign(user, slug)
    rounds = ReviewRound.objects.filter(campaign=standing.campaign).select_related("campaign")
    return standing, get_object_or_404(rounds, number=number)


def item_for(user: Any, slug: str, number: int, position: int) -> tuple[Standing, ReviewItem]:
    """A fact that was drawn, with the content of its page."""
    standing = reviewed_campaign(user, slug)
    items = ReviewItem.objects.filter(round__campaign=standing.campaign, round__number=number)
    related = items.select_related("round", "reviewer", "campaign_document__document__content")
    return standing, get_object_or_404(related, position=position)
