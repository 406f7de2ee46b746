"""The labels of a campaign that may leave it: gold, and work that everybody has submitted."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Assignment, Campaign, CampaignDocument, CampaignImport, GoldSpan, Span
from portal.datasets.models import Document
from portal.facts import FactSpan

Layer = CampaignImport.Layer
AT_ONCE = 20


@dataclass(frozen=True)
class Labels:
    """One annotator's spans in text order, or gold where there is no annotator."""

    id: int
    annotator: int | None
    seconds: int | None
    spans: tuple[FactSpan, ...]


@dataclass(frozen=True)
class LabelledDocument:
    number: int
    document: Document
    labels: tuple[Labels, ...]


def exported_documents(campaign: Campaign, layer: str) -> QuerySet[CampaignDocument]:
    """Finished documents for gold; for annotations those that everybody has submitted."""
    documents = CampaignDocument.objects.filter(campaign=campaign)
    if layer == Layer.GOLD:
        return documents.in_work().filter(stage=CampaignDocument.Stage.GOLD)
    return documents.settled()


def labelled_documents(campaign: Campaign, layer: str) -> Iterator[LabelledDocument]:
    """The documents of a layer with their content and labels, in the order of their names.

    A few at a time: memory does not grow with the campaign.
    """
    rows = exported_documents(campaign, layer).order_by("document__name")
    found = list(rows.values_list("pk", "document"))
    for first in range(0, len(found), AT_ONCE):
        batch = dict(found[first : first + AT_ONCE])
        labels = _gold([*batch]) if layer == Layer.GOLD else _work([*batch])
        documents = Document.objects.select_related("content").in_bulk(batch.values())
        for number, (pk, document) in enumerate(batch.items(), start=first + 1):
            yield LabelledDocument(number, documents[document], tuple(labels[pk]))


def _gold(documents: Sequence[int]) -> dict[int, list[Labels]]:
    """Gold has no keys of its own; its place makes one, the same whenever it is exported."""
    spans: dict[int, list[FactSpan]] = defaultdict(list)
    rows = GoldSpan.objects.filter(campaign_document__in=documents).order_by("start")
    fields = ("label", "start", "end", "quote", "value", "sign")
    for document, *values in rows.values_list("campaign_document", *fields):
        spans[document].append(FactSpan(f"g{values[1]}", *values))
    return {
        document: [Labels(document, None, None, tuple(spans[document]))] for document in documents
    }


def _work(documents: Sequence[int]) -> dict[int, list[Labels]]:
    work = Assignment.objects.filter(campaign_document__in=documents).submitted().order_by("id")
    spans: dict[int, list[FactSpan]] = defaultdict(list)
    rows = Span.objects.filter(assignment__in=work).order_by("start")
    fields = ("key", "label", "start", "end", "quote", "value", "sign")
    for assignment, *values in rows.values_list("assignment", *fields):
        spans[assignment].append(FactSpan(*values))
    found: dict[int, list[Labels]] = defaultdict(list)
    for row in work:
        mine = tuple(spans[row.pk])
        labels = Labels(row.pk, row.annotator_id, row.active_seconds, mine)
        found[row.campaign_document_id].append(labels)
    return found
