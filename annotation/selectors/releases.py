"""What of a campaign can be released."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.models import Campaign, CampaignDocument
from portal.datasets.models import Document, Release
from portal.datasets.services.releases import suggest_version


@dataclass(frozen=True)
class Unfinished:
    """A document that stands in the way: where it is, or that it was never shared out."""

    name: str
    stage: str


@dataclass(frozen=True)
class ReleaseState:
    gold: int
    facts: int
    unfinished: tuple[Unfinished, ...]
    releases: tuple[Release, ...]
    next_version: str


def gold_documents(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Finished documents in the order of their published names."""
    return CampaignDocument.objects.filter(
        campaign=campaign, stage=CampaignDocument.Stage.GOLD
    ).order_by("document__name")


def unfinished_documents(campaign: Campaign) -> tuple[Unfinished, ...]:
    """Every document of the dataset that is not gold in this campaign."""
    rows = CampaignDocument.objects.filter(campaign=campaign)
    begun = rows.exclude(stage=CampaignDocument.Stage.GOLD).values_list("document__name", "stage")
    missing = Document.objects.filter(dataset=campaign.dataset_id).exclude(
        pk__in=rows.values("document")
    )
    found = [Unfinished(name, stage) for name, stage in begun]
    found += [Unfinished(name, "not shared out") for name in missing.values_list("name", flat=True)]
    return tuple(sorted(found, key=lambda item: item.name))


def release_state(campaign: Campaign) -> ReleaseState:
    gold = gold_documents(campaign)
    releases = tuple(Release.objects.filter(dataset=campaign.dataset_id).order_by("-frozen_at"))
    return ReleaseState(
        gold=gold.count(),
        facts=gold.aggregate(facts=Count("gold_spans"))["facts"],
        unfinished=unfinished_documents(campaign),
        releases=releases,
        next_version=suggest_version(campaign.dataset),
    )
