"""What annotators are shown as suggestions, where their campaign allows any."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from annotation.models import (
    Campaign,
    CampaignDocument,
    ModelSuggestions,
    SuggestionSource,
    SuggestionUpload,
)
from portal.datasets.models import XbrlFacts
from portal.facts import FoundFact, label_kind

from .page_facts import page_facts

UPLOADS_SHOWN = 20


class Suggestion(NamedTuple):
    """`[start, end)` in code points of the text; `source` is a SuggestionSource.

    `details` is what a filer said of it, for people: concept, sign, scale, unit and period.
    """

    start: int
    end: int
    label: str
    source: str
    details: str = ""


Place = tuple[int, int, str, str]


def page_suggestions(campaign_document: CampaignDocument) -> list[Suggestion]:
    """The suggestions for a page in text order; no two share a character.

    Of two that do, that of the better source stays: what the filer tagged, then what a model
    marked, then what our rules found.
    """
    chosen: list[Suggestion] = []
    for source in SuggestionSource.values:
        if source in campaign_document.campaign.suggestion_sources:
            chosen = _merged(chosen, _from(source, campaign_document))
    return chosen


def _from(source: str, campaign_document: CampaignDocument) -> list[Suggestion]:
    if source == SuggestionSource.MODEL:
        found = ModelSuggestions.objects.filter(pk=campaign_document.pk).first()
        spans = found.spans if found else []
        return [Suggestion(start, end, label, source) for start, end, label in spans]
    document = campaign_document.document
    if source == SuggestionSource.XBRL:
        tagged = XbrlFacts.objects.filter(pk=document.pk).first()
        places = _whole(tagged.facts if tagged else [], page_facts(document).facts)
    else:
        places = [(fact.start, fact.end, fact.kind, "") for fact in page_facts(document).facts]
    return list(_labelled(places, source, campaign_document.campaign))


def _whole(tagged: Sequence[Sequence[Any]], facts: Sequence[FoundFact]) -> list[Place]:
    """What was tagged, with the parentheses and percent signs that filers leave outside.

    `tagged` are rows of XbrlFacts, with their details or without.
    """
    places: list[Place] = []
    for start, end, kind, concept, *more in tagged:
        details = _details(concept, more[0] if more else {})
        place = start, end, kind, details
        around = bisect_left(facts, end, key=_end_of)
        if around < len(facts) and facts[around].start <= start and facts[around].kind == kind:
            place = facts[around].start, facts[around].end, kind, details
        # Two elements may be parts of one fact.
        if not places or places[-1][1] <= place[0]:
            places.append(place)
    return places


def _details(concept: str, said: Mapping[str, Any]) -> str:
    """`us-gaap:Revenues, minus, ×10^6, USD, 2024-01-01 to 2024-12-31`: what is known of it."""
    scale = said.get("scale")
    parts = (
        concept,
        "minus" if said.get("sign") == "-" else "",
        f"×10^{scale}" if scale else "",
        said.get("unit", ""),
        str(said.get("period", "")).replace("/", " to "),
    )
    return ", ".join(part for part in parts if part)


def _end_of(fact: FoundFact) -> int:
    return fact.end


def _labelled(places: Iterable[Place], source: str, campaign: Campaign) -> Iterable[Suggestion]:
    """Suggestions with the first label of the campaign that facts of their kind can have."""
    labels = {label_kind(label): label for label in reversed(campaign.labels)}
    for start, end, kind, details in places:
        if kind in labels:
            yield Suggestion(start, end, labels[kind], source, details)


def _merged(chosen: list[Suggestion], further: list[Suggestion]) -> list[Suggestion]:
    """Both together, without those of `further` that share a character with a chosen one."""
    ends = [suggestion.end for suggestion in chosen]

    def is_free(suggestion: Suggestion) -> bool:
        following = bisect_left(ends, suggestion.start + 1)
        return following == len(chosen) or chosen[following].start >= suggestion.end

    return sorted(chosen + [suggestion for suggestion in further if is_free(suggestion)])


@dataclass(frozen=True)
class SuggestionState:
    """What there is to suggest in a campaign: documents by source, and the newest uploads."""

    documents: int
    with_xbrl: int
    with_model: int
    uploads: QuerySet[SuggestionUpload]


def suggestion_state(campaign: Campaign) -> SuggestionState:
    documents = CampaignDocument.objects.filter(campaign=campaign)
    counts = documents.aggregate(
        documents=Count("pk"),
        with_xbrl=Count("document__xbrl_facts"),
        with_model=Count("model_suggestions"),
    )
    uploads = campaign.suggestion_uploads.select_related("created_by")
    return SuggestionState(**counts, uploads=uploads[:UPLOADS_SHOWN])
