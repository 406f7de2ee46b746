"""Freezing a campaign's gold as a release of its dataset."""

from collections import defaultdict

from django.db import transaction

from annotation.models import Campaign, CampaignDocument, GoldSpan
from annotation.selectors.releases import gold_documents, unfinished_documents
from annotation.selectors.review import review_blocks_release
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from portal.datasets.services.releases import GoldItem, freeze_release
from portal.facts import Span as TextSpan

from .errors import Refused, Unfinished


@transaction.atomic
def release_gold(
    *,
    campaign: Campaign,
    version: str,
    notes: str,
    visibility: str,
    leave_out_unfinished: bool,
    actor: User,
) -> Release:
    """Freezes the gold of the campaign's finished documents.

    Documents of the dataset that are not gold, or whose review is not done, stand in the way unless
    `leave_out_unfinished`; then the notes say how many were left out. Raises Unfinished with their
    names, Refused when nothing is finished, and what `freeze_release` raises.
    """
    unfinished = unfinished_documents(campaign)
    review = review_blocks_release(campaign)
    if unfinished and not leave_out_unfinished:
        message = f"{len(unfinished)} of the dataset's documents are not finished."
        names = [document.name for document in unfinished]
        raise Unfinished(f"{message} {review}" if review else message, names)
    documents = list(gold_documents(campaign).select_related("document__content"))
    if not documents:
        message = review or "No document is gold yet, so there is nothing to release."
        raise Refused(message, code="no_gold")
    release = freeze_release(
        dataset=campaign.dataset,
        version=version,
        items=_items(campaign, documents),
        labels=campaign.labels,
        notes=_notes(notes, len(unfinished)),
        visibility=visibility,
        actor=actor,
    )
    record_event(
        verb="release_gold", subject=campaign, actor=actor, release=release.pk, version=version,
        documents=len(documents), left_out=len(unfinished),
    )  # fmt: skip
    return release


def _items(campaign: Campaign, documents: list[CampaignDocument]) -> list[GoldItem]:
    spans: dict[int, list[TextSpan]] = defaultdict(list)
    gold = GoldSpan.objects.filter(campaign_document__campaign=campaign).order_by("start")
    for document, start, end, label in gold.values_list(
        "campaign_document", "start", "end", "label"
    ):
        spans[document].append(TextSpan(start, end, label))
    return [GoldItem(document=item.document, spans=spans[item.pk]) for item in documents]


def _notes(notes: str, left_out: int) -> str:
    if not left_out:
        return notes
    plural = "s that were" if left_out > 1 else " that was"
    sentence = f"Left out: {left_out} document{plural} not finished."
    return f"{notes}\n\n{sentence}".strip()
