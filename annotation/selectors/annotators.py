"""Which annotators of a campaign may get work."""

from django.db.models import QuerySet

from annotation.models import Campaign, CampaignDocument, Membership


def has_qualification(campaign: Campaign) -> bool:
    """Whether annotators have to pass a qualification round before they get work."""
    pages = CampaignDocument.objects.filter(
        campaign=campaign, purpose=CampaignDocument.Purpose.QUALIFICATION
    )
    return pages.exists()


def active_members(campaign: Campaign) -> QuerySet[Membership]:
    """Annotators who may get work, in the order in which they joined.

    Where there is a qualification round, only those who passed it.
    """
    members = _annotators(campaign)
    if has_qualification(campaign):
        members = members.filter(qualified_at__isnull=False)
    return members.order_by("id")


def awaits_qualification(campaign: Campaign) -> bool:
    """Whether an annotator has still to pass the qualification round."""
    return _annotators(campaign).filter(qualified_at__isnull=True).exists()


def _annotators(campaign: Campaign) -> QuerySet[Membership]:
    return Membership.objects.filter(
        campaign=campaign, role=Membership.Role.ANNOTATOR, user__is_active=True
    )


def active_annotators(campaign: Campaign) -> list[int]:
    """Their primary keys."""
    return list(active_members(campaign).values_list("user", flat=True))
