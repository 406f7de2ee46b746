"""Leads of the campaigns over a dataset decide about disputes of its gold."""

from typing import Any

from django.urls import reverse

from annotation.models import CampaignDocument, Membership
from portal.accounts.access import is_organiser
from portal.datasets.deciders import Workplace
from portal.datasets.models import Dataset, Document


class CampaignLeads:
    """What `portal.datasets.deciders` asks annotation."""

    def may_decide(self, user: Any, dataset: Dataset) -> bool:
        leads = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
        return leads.filter(campaign__dataset=dataset).exists()

    def workplaces(self, user: Any, dataset: Dataset, document: Document | None) -> list[Workplace]:
        """The user's campaigns that have the document: organisers' all, leads' their own."""
        if document is None:
            return []
        pages = CampaignDocument.objects.filter(document=document, campaign__dataset=dataset)
        if not is_organiser(user):
            led = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
            pages = pages.filter(campaign__in=led.values("campaign"))
        campaigns = {page.campaign for page in pages.select_related("campaign")}
        return [
            Workplace(campaign.title, reverse("annotation:campaign", args=[campaign.slug]))
            for campaign in sorted(campaigns, key=lambda campaign: campaign.title)
        ]
