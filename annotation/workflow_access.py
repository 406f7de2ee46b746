"""Who may see a page for screening. The rest of the rules stands in `annotation.access`."""

from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.shortcuts import get_object_or_404

from annotation.access import Standing, campaign_for
from annotation.models import CampaignDocument, Screening
from annotation.selectors.screening import screenable


def screening_page(user: Any, slug: str, name: str) -> tuple[Standing, CampaignDocument]:
    """A page of a campaign in which the user holds a role: anybody there may screen, for a page
    without labels tells nothing.

    Pages that nobody has to screen and nobody has screened are open to leads and organisers alone,
    who may exclude them.
    """
    standing = campaign_for(user, slug)
    pages = screenable(standing.campaign).select_related("campaign", "document")
    if not standing.may_manage:
        screened = Screening.objects.filter(campaign_document=OuterRef("pk"))
        pages = pages.filter(Q(stage=CampaignDocument.Stage.SCREENING) | Exists(screened))
    return standing, get_object_or_404(pages, document__name=name)
