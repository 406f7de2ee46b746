"""Freezing a campaign's gold as a release of its dataset."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from annotation.models import Campaign, CampaignDocument, GoldSpan
from annotation.selectors.doubts import doubt_counts, doubtful_facts
from annotation.selectors.releases import gold_documents, unfinished_documents
from annotation.selectors.review import review_blocks_release
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from portal.datasets.services.record_releases import notes_of_rows
from portal.datasets.services.release_rows import GoldItem, page_rows
from portal.datasets.services.releases import SplitDraw, freeze_release
from portal.facts import Span as TextSpan

from .errors import DoubtfulGold, Refused, Unfinished


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
    split_is_told: bool = False,
    accept_warnings: int = 0,
) -> Release:
    """Freezes the gold of the campaign's finished documents.

    `draw` says how to draw a split; `split_is_told`: the documents' metadata say it. The other
    terms are those of `freeze_release`.

    Documents of the dataset that are not gold, or whose review is not done, stand in the way unless
    `leave_out_unfinished`; then the notes say how many were left out. Raises Unfinished with their
    names, DoubtfulGold unless `accept_warnings` is the number of facts with a warning, Refused when
    nothing is finished, and what `freeze_release` raises. Notes and event count what was accepted.
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

    # The lines are made before anything is locked: of many pages that takes a while.
    return freeze_release(
        dataset=campaign.dataset,
        version=version,
        items=_items(campaign, documents),
        labels=campaign.labels,
        notes=_notes(notes, len(unfinished), len(doubtful)),
        visibility=visibility,
        licence=licence,
        citation=citation,
        splits=_told(documents) if split_is_told else draw,
        actor=actor,
        then=record,
    )


def draft_release_notes(
    *,
    campaign: Campaign,
    visibility: str,
    draw: SplitDraw | None = None,
    split_is_told: bool = False,
) -> str:
    """Change notes by comparison with the dataset's newest release, in Markdown; empty without one.

    Raises Refused when nothing is finished, and ReleaseError for what freezing would.
    """
    documents = _finished(campaign)
    rows = page_rows(campaign.dataset, _items(campaign, documents), campaign.labels)
    splits = _told(documents) if split_is_told else draw
    return notes_of_rows(campaign.dataset, rows, visibility=visibility, splits=splits)


def _finished(campaign: Campaign) -> list[CampaignDocument]:
    documents = list(gold_documents(campaign).select_related("document"))
    if not documents:
        review = review_blocks_release(campaign)
        message = review or "No document is gold yet, so there is nothing to release."
        raise Refused(message, code="no_gold")
    return documents


def _told(documents: list[CampaignDocument]) -> dict[str, str]:
    """The splits that the documents' metadata tell; those that tell none are faults of freezing."""
    told = {row.document.name: row.document.metadata.get("split") for row in documents}
    return {name: split.strip().lower() for name, split in told.items() if isinstance(split, str)}


def _items(campaign: Campaign, documents: list[CampaignDocument]) -> list[GoldItem]:
    spans: dict[int, list[TextSpan]] = defaultdict(list)
    gold = GoldSpan.objects.filter(campaign_document__campaign=campaign).order_by("start")
    for document, start, end, label in gold.values_list(
        "campaign_document", "start", "end", "label"
    ):
        spans[document].append(TextSpan(start, end, label))
    return [GoldItem(document=item.document, spans=spans[item.pk]) for item in documents]


def _notes(notes: str, left_out: int, doubtful: int) -> str:
    paragraphs = [notes]
    if left_out:
        plural = "s that were" if left_out > 1 else " that was"
        paragraphs.append(f"Left out: {left_out} document{plural} not finished.")
    if doubtful:
        plural = "s that have" if doubtful > 1 else " that has"
        paragraphs.append(f"Accepted: {doubtful} fact{plural} a warning.")
    return "\n\n".join(paragraphs).strip() if len(paragraphs) > 1 else notes
