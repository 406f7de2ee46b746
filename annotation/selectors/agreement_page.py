"""What the page on agreement shows besides the figures: charts, and where to look at what."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.urls import reverse

from annotation.models import Campaign, Case
from portal.web.charts import LineChart

from .agreement_charts import trend_chart
from .agreement_shapes import Agreement, ConfusedText, Part
from .returns import submissions_set_aside

# More of them are in the CSV file.
SHOWN_DOCUMENTS = 12
SHOWN_TEXTS = 15
# A line needs two points.
_FEWEST_POINTS = 2


@dataclass(frozen=True)
class LinkedPart:
    """A document with the address of its first case; empty where there is none to look at."""

    part: Part
    url: str


@dataclass(frozen=True)
class LinkedText:
    text: ConfusedText
    url: str


@dataclass(frozen=True)
class AgreementPage:
    """`trend` is None where there are too few points for a line; `set_aside` counts submissions
    that were made by mistake and returned, which the figures leave out.
    """

    agreement: Agreement
    trend: LineChart | None
    worst: tuple[LinkedPart, ...]
    texts: tuple[LinkedText, ...]
    set_aside: int


def agreement_page(
    campaign: Campaign, agreement: Agreement, *, may_see_cases: bool
) -> AgreementPage:
    worst = agreement.documents[:SHOWN_DOCUMENTS]
    texts = agreement.texts[:SHOWN_TEXTS]
    names = {part.name for part in worst} | {text.document for text in texts}
    places = _case_places(campaign, names) if may_see_cases else {}
    several = len(agreement.trend.points) >= _FEWEST_POINTS
    return AgreementPage(
        agreement,
        trend_chart(agreement) if several else None,
        tuple(LinkedPart(part, _first(places.get(part.name))) for part in worst),
        tuple(LinkedText(text, _at(places.get(text.document), text)) for text in texts),
        submissions_set_aside(campaign),
    )


@dataclass(frozen=True)
class _Place:
    start: int
    end: int
    url: str


def _case_places(campaign: Campaign, names: Collection[str]) -> dict[str, list[_Place]]:
    """The cases of documents, by name and in the order of the text."""
    cases = Case.objects.filter(
        campaign_document__campaign=campaign, campaign_document__document__name__in=names
    ).order_by("campaign_document", "start")
    places: defaultdict[str, list[_Place]] = defaultdict(list)
    for name, start, end, pk in cases.values_list(
        "campaign_document__document__name", "start", "end", "pk"
    ):
        url = reverse("annotation:case", args=[campaign.slug, pk])
        places[name].append(_Place(start, end, url))
    return places


def _first(places: list[_Place] | None) -> str:
    return places[0].url if places else ""


def _at(places: list[_Place] | None, text: ConfusedText) -> str:
    """The case at the text or, if it was closed without one, any of its document."""
    for place in places or []:
        if place.start < text.end and text.start < place.end:
            return place.url
    return _first(places)
