"""Releases: the state of a campaign's gold, and freezing it as a release of the dataset."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery

from annotation.errors import DoubtfulGold, Refused, Unfinished
from annotation.models import Campaign, CampaignDocument, GoldSpan, Screening
from annotation.page_facts import DoubtfulFact, doubt_counts, doubtful_facts
from annotation.review.selectors import review_blocks_release, unreviewed_pages
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.draws import SplitDraw
from portal.datasets.models import Document, Release
from portal.datasets.releases.gold import GoldItem, page_rows
from portal.datasets.releases.services import freeze_release, notes_of_rows, suggest_version


@dataclass(frozen=True)
class UnfinishedDocument:
    """A document that is not finished, with its stage in words."""

    name: str
    stage: str


@dataclass(frozen=True)
class LeftOut:
    """A document that screening excluded from releases, with the reason."""

    name: str
    faults: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class ReleaseState:
    """The contents of the next release, what blocks it, and earlier releases."""

    gold: int
    facts: int
    unfinished: tuple[UnfinishedDocument, ...]
    left_out: tuple[LeftOut, ...]
    # Why the review blocks a release, or None.
    review: str | None
    releases: tuple[Release, ...]
    next_version: str
    # Facts with a warning. To release them, their number must be accepted.
    doubtful: tuple[DoubtfulFact, ...]


def gold_documents(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Finished documents by name: gold, reviewed where required, and not held back."""
    gold = CampaignDocument.objects.filter(
        campaign=campaign, stage=CampaignDocument.Stage.GOLD, document__state=Document.State.ACTIVE
    )
    return gold.exclude(pk__in=unreviewed_pages(campaign)).order_by("document__name")


def unfinished_documents(campaign: Campaign) -> tuple[UnfinishedDocument, ...]:
    """Every document of the campaign that is not finished yet, by name."""
    gold = CampaignDocument.Stage.GOLD
    rows = CampaignDocument.objects.filter(campaign=campaign)
    begun = rows.in_work().exclude(stage=gold).values_list("document__name", "stage")
    held = rows.in_work().filter(stage=gold, document__state=Document.State.HELD)
    unreviewed = unreviewed_pages(campaign).exclude(pk__in=held)
    missing = campaign.candidates().exclude(pk__in=rows.values("document"))
    found = [
        *begun,
        *((name, "gold, held back") for name in _names(held)),
        *((name, "gold, not reviewed") for name in _names(unreviewed)),
        *((name, "not assigned") for name in missing.values_list("name", flat=True)),
    ]
    return tuple(UnfinishedDocument(name, stage) for name, stage in sorted(found))


def _names(rows: QuerySet[CampaignDocument]) -> QuerySet[CampaignDocument, str]:
    return rows.values_list("document__name", flat=True)


def left_out_documents(campaign: Campaign) -> tuple[LeftOut, ...]:
    """Excluded documents with their latest verdict, by name."""
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


def release_gold(
    *,
    campaign: Campaign,
    version: str,
    notes: str,
    visibility: str,
    leave_out_unfinished: bool,
    actor: User,
    licence: str = "",
    citation: Mapping[str, Any] | None = None,
    draw: SplitDraw | None = None,
    split_is_given: bool = False,
    accept_warnings: int = 0,
) -> Release:
    """Freezes the gold of the campaign's finished documents.

    `draw` draws a split; `split_is_given` reads it from the documents' metadata. For the other
    arguments see `freeze_release`.

    With `leave_out_unfinished`, unfinished documents are left out and counted in the notes;
    otherwise they raise Unfinished. Raises DoubtfulGold unless `accept_warnings` is the number of
    facts with a warning, which notes and event record; Refused if nothing is finished; and the
    errors of `freeze_release`.
    """
    unfinished = unfinished_documents(campaign)
    if unfinished and not leave_out_unfinished:
        review = review_blocks_release(campaign)
        message = f"{len(unfinished)} of the dataset's documents are not finished."
        names = [document.name for document in unfinished]
        raise Unfinished(f"{message} {review}" if review else message, names)
    documents = _finished(campaign)
    doubtful = doubtful_facts(gold_documents(campaign))
    if len(doubtful) != accept_warnings:
        raise DoubtfulGold(doubtful)

    def record(release: Release) -> None:
        record_event(
            verb="release_gold", subject=campaign, actor=actor, release=release.pk, version=version,
            documents=len(documents), left_out=len(unfinished), accepted_warnings=len(doubtful),
            warnings=doubt_counts(doubtful),
        )  # fmt: skip

    # The items are computed before any lock, because many pages take a while.
    return freeze_release(
        dataset=campaign.dataset,
        version=version,
        items=_items(campaign, documents),
        labels=campaign.labels,
        notes=_notes(notes, len(unfinished), len(doubtful)),
        visibility=visibility,
        licence=licence,
        citation=citation,
        splits=_given_splits(documents) if split_is_given else draw,
        actor=actor,
        then=record,
    )


def draft_release_notes(
    *,
    campaign: Campaign,
    visibility: str,
    draw: SplitDraw | None = None,
    split_is_given: bool = False,
) -> str:
    """Change notes against the dataset's newest release, in Markdown; empty for the first release.

    Raises Refused if nothing is finished, and ReleaseError where freezing would.
    """
    documents = _finished(campaign)
    rows = page_rows(campaign.dataset, _items(campaign, documents), campaign.labels)
    splits = _given_splits(documents) if split_is_given else draw
    return notes_of_rows(Release(dataset=campaign.dataset, visibility=visibility), rows, splits)


def _finished(campaign: Campaign) -> list[CampaignDocument]:
    documents = list(gold_documents(campaign).select_related("document"))
    if not documents:
        review = review_blocks_release(campaign)
        message = review or "There is nothing to release: no document is gold yet."
        raise Refused(message, code="no_gold")
    return documents


def _given_splits(documents: list[CampaignDocument]) -> dict[str, str]:
    """The splits from the documents' metadata. Freezing reports documents without one."""
    given = {row.document.name: row.document.metadata.get("split") for row in documents}
    return {name: split.strip().lower() for name, split in given.items() if isinstance(split, str)}


def _items(campaign: Campaign, documents: list[CampaignDocument]) -> list[GoldItem]:
    spans = GoldSpan.objects.filter(campaign_document__campaign=campaign).by_document()
    return [GoldItem(document=row.document, spans=spans[row.document_id]) for row in documents]


def _notes(notes: str, left_out: int, doubtful: int) -> str:
    paragraphs = [notes]
    if left_out:
        plural = "s that were" if left_out > 1 else " that was"
        paragraphs.append(f"Left out: {left_out} document{plural} not finished.")
    if doubtful:
        plural = "s that have" if doubtful > 1 else " that has"
        paragraphs.append(f"Accepted: {doubtful} fact{plural} a warning.")
    return "\n\n".join(paragraphs).strip() if len(paragraphs) > 1 else notes
