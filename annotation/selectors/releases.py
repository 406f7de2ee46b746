"""What of a campaign can be released."""

from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet, Subquery

from annotation.models import Campaign, CampaignDocument, Screening
from portal.datasets.models import Document, Release
from portal.datasets.services.releases import suggest_version

from .doubts import DoubtfulFact, doubtful_facts
from .review import review_blocks_release, unreviewed_pages


@dataclass(frozen=True)
class Unfinished:
    """A document that stands in the way: where it is, or that it was never shared out."""

    name: str
    stage: str


@dataclass(frozen=True)
class LeftOut:
    """A document that screening excluded: it is in no release, and this is why."""

    name: str
    faults: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class ReleaseState:
    gold: int
    facts: int
    unfinished: tuple[Unfinished, ...]
    left_out: tuple[LeftOut, ...]
    # Why the review keeps gold from being released; None when it does not.
    review: str | None
    releases: tuple[Release, ...]
    next_version: str
    # Facts that would be released with a warning: to be accepted by their number.
    doubtful: tuple[DoubtfulFact, ...]


def gold_documents(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Finished documents, reviewed where a review is asked for and not held back since, in the
    order of their published names.
    """
    gold = CampaignDocument.objects.filter(
        campaign=campaign,
        stage=CampaignDocument.Stage.GOLD,
        document__state=Document.State.ACTIVE,
    )
    return gold.exclude(pk__in=unreviewed_pages(campaign)).order_by("document__name")


def unfinished_documents(campaign: Campaign) -> tuple[Unfinished, ...]:
    """Every document of the dataset that is to become gold in this campaign and is not yet."""
    rows = CampaignDocument.objects.filter(campaign=campaign)
    begun = (
        CampaignDocument.objects.in_work()
        .filter(campaign=campaign)
        .exclude(stage=CampaignDocument.Stage.GOLD)
        .values_list("document__name", "stage")
    )
    missing = campaign.candidates()
    missing = missing.exclude(pk__in=rows.values("document"))
    held = CampaignDocument.objects.in_work().filter(
        campaign=campaign,
        stage=CampaignDocument.Stage.GOLD,
        document__state=Document.State.HELD,
    )
    found = [Unfinished(name, stage) for name, stage in begun]
    found += [
        Unfinished(name, "gold, held back")
        for name in held.values_list("document__name", flat=True)
    ]
    unreviewed = (
        unreviewed_pages(campaign).exclude(pk__in=held).values_list("document__name", flat=True)
    )
    found += [Unfinished(name, "gold, not reviewed") for name in unreviewed]
    found += [Unfinished(name, "not shared out") for name in missing.values_list("name", flat=True)]
    return tuple(sorted(found, key=lambda item: item.name))


def left_out_documents(campaign: Campaign) -> tuple[LeftOut, ...]:
    """Excluded documents with the verdict that holds, in the order of their names."""
    last = Screening.objects.filter(campaign_document=OuterRef("pk")).order_by("-id")
    rows = CampaignDocument.objects.filter(
        campaign=campaign, stage=CampaignDocument.Stage.EXCLUDED
    ).annotate(
        faults_found=Subquery(last.values("faults")[:1]), why=Subquery(last.values("reason")[:1])
    )
    found = rows.order_by("document__name").values_list("document__name", "faults_found", "why")
    return tuple(LeftOut(name, tuple(faults or ()), why or "") for name, faults, why in found)


def release_state(campaign: Campaign) -> ReleaseState:
    gold = gold_documents(campaign)
    releases = tuple(Release.objects.filter(dataset=campaign.dataset_id).order_by("-frozen_at"))
    return ReleaseState(
        gold=gold.count(),
        facts=gold.aggregate(facts=Count("gold_spans"))["facts"],
        unfinished=unfinished_documents(campaign),
        left_out=left_out_documents(campaign),
        review=review_blocks_release(campaign),
        releases=releases,
        next_version=suggest_version(campaign.dataset),
        doubtful=doubtful_facts(gold),
    )
