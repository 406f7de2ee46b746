"""The API of agreement."""

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.response import Response

from annotation.access import CampaignAccess, managed_campaign
from annotation.api_base import AnnotationView, reads
from portal.datasets.responses import file_response
from portal.web.answers import answer
from portal.web.api import file_answers

from . import shapes
from .files import FORMS, SVG, NothingToShow, agreement_file
from .selectors import campaign_agreement

AgreementFigure = answer(shapes.Figure, "AgreementFigure")


# drf-spectacular omits that items of a list of serializers may be null.
@extend_schema_field(
    {
        "type": "array",
        "items": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/AgreementFigure"}]},
    }
)
class AgreementCells(serializers.ListField):
    child = AgreementFigure(allow_null=True)


answer(shapes.MatrixRow, "AgreementMatrixRow", cells=AgreementCells())
# The names of the others in the API. Inner dataclasses come first: an outer one uses theirs.
for shape, name in {
    shapes.Overall: "AgreementOverall",
    shapes.Reliability: "AgreementReliability",
    shapes.SpanFigures: "AgreementSpans",
    shapes.Part: "AgreementPart",
    shapes.Detection: "AgreementDetection",
    shapes.Labelling: "AgreementLabelling",
    shapes.Confusion: "AgreementConfusion",
    shapes.PairAgreement: "AgreementPair",
    shapes.AnnotatorAgreement: "AgreementPerson",
    shapes.TrendPoint: "AgreementTrendPoint",
    shapes.Trend: "AgreementTrend",
    shapes.Answer: "ConfusedTextAnswer",
}.items():
    answer(shape, name)
CampaignAgreement = answer(shapes.Agreement, "CampaignAgreement")


class AgreementExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=FORMS,
        default="csv",
        help_text="`csv`: all figures; `latex`: tables; `matrix`, `trend`: charts as SVG.",
    )
    level = serializers.ChoiceField(
        choices=shapes.LEVELS, default="entity", help_text="Level of the chart `matrix`."
    )


class CampaignAgreementView(AnnotationView):
    @reads(
        "Get the agreement of a campaign's annotators (leads, organisers)",
        on=managed_campaign,
        gives=CampaignAgreement,
        description="Computed from first submissions, over documents that all their annotators "
        "have submitted. Adjudication and later changes do not affect it. `no label` is an "
        "answer like any label. Intervals are 95% bootstrap intervals over documents.",
    )
    def get(self, access: CampaignAccess) -> Any:
        return Response(asdict(campaign_agreement(access.campaign)))


class CampaignAgreementExport(AnnotationView):
    @reads(
        "Download the agreement as a file (leads, organisers)",
        on=managed_campaign,
        asks=AgreementExportQuery,
        gives=file_answers(("text/csv", "application/x-tex", SVG)),
        description="Returns 404 for a chart if no document counts yet.",
    )
    def get(self, access: CampaignAccess, **query: Any) -> HttpResponse:
        campaign = access.campaign
        try:
            return file_response(agreement_file(campaign, campaign_agreement(campaign), **query))
        except NothingToShow as error:
            raise NotFound("No document counts yet.") from error
