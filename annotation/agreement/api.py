"""The API of agreement."""

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.api_base import AnnotationView
from portal.datasets.responses import file_response
from portal.web.answers import answer
from portal.web.api import checked, file_answers

from .files import FORMS, SVG, NothingToShow, agreement_file
from .selectors import campaign_agreement
from .shapes import (
    LEVELS,
    Agreement,
    AnnotatorAgreement,
    Answer,
    ConfusedText,
    Confusion,
    Detection,
    Figure,
    Labelling,
    MatrixRow,
    Overall,
    PairAgreement,
    Part,
    Reliability,
    SpanFigures,
    Trend,
    TrendPoint,
)

# Inner dataclasses come first: a nested field uses the serializer that was made of its dataclass.
AgreementFigure = answer(
    Figure,
    "AgreementFigure",
    value="Null if it is undefined.",
    low="Lower end of the 95 % bootstrap interval over documents; null for a single document.",
    observed="Share of equal pairs of answers; null unless the figure is κ or α.",
    n="Number of items; for span F1, the number of spans of both annotators.",
)
AgreementOverall = answer(Overall, "AgreementOverall", annotators="Annotators per document.")
AgreementReliability = answer(
    Reliability, "AgreementReliability", alpha="Krippendorff's α over all documents."
)
AgreementSpans = answer(
    SpanFigures,
    "AgreementSpans",
    exact="F1 of spans with the same offsets and label.",
    overlap="F1 of spans that overlap, with the same label.",
)
AgreementPart = answer(Part, "AgreementPart")
AgreementDetection = answer(
    Detection,
    "AgreementDetection",
    token="Whether a token is marked.",  # noqa: S106 - a token of text
    spans="F1 of spans regardless of their labels.",
)
AgreementLabelling = answer(
    Labelling,
    "AgreementLabelling",
    entity="α of the labels of spans with two or more annotators.",
)


# drf-spectacular omits that items of a list of serializers may be null.
@extend_schema_field(
    {
        "type": "array",
        "items": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/AgreementFigure"}]},
    }
)
class AgreementCells(serializers.ListField):
    child = AgreementFigure(allow_null=True)


AgreementMatrixRow = answer(MatrixRow, "AgreementMatrixRow", cells=AgreementCells())
AgreementConfusion = answer(
    Confusion,
    "AgreementConfusion",
    rows="Symmetric counts of pairs of annotators who gave these two answers.",
)
AgreementPair = answer(
    PairAgreement,
    "AgreementPair",
    first="Number of the annotator, from 1.",
    entity="Cohen's κ of entities.",
    detection="Cohen's κ of whether a token is marked.",
    labelling="Cohen's κ of the labels of spans that both marked.",
)
AgreementPerson = answer(
    AnnotatorAgreement,
    "AgreementPerson",
    entity="Mean of Cohen's κ with each other annotator.",
    spans="Over all pairs with other annotators.",
)
AgreementTrendPoint = answer(
    TrendPoint,
    "AgreementTrendPoint",
    first="When its first document was completed.",
)
AgreementTrend = answer(Trend, "AgreementTrend")
ConfusedTextAnswer = answer(Answer, "ConfusedTextAnswer", answer="A label, or `not marked`.")
ConfusedTextShape = answer(
    ConfusedText,
    "ConfusedText",
    items="Places where an annotator marked it.",
    disputed="Places with different answers.",
    answers="Answers at the disputed places.",
    document="Document of the first disputed place.",
)
CampaignAgreement = answer(
    Agreement,
    "CampaignAgreement",
    annotators="Names in the order of their numbers.",
    overall="Null if no document counts yet.",
    labels="Each label against all others.",
    documents="Lowest agreement first.",
    texts=ConfusedTextShape(many=True, help_text="Most disputed first, 50 at most."),
    waiting="Documents with missing submissions.",
    single="Documents with a single annotator.",
)


class AgreementExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=FORMS,
        default="csv",
        help_text="`csv`: all figures; `latex`: tables; `matrix`, `trend`: charts as SVG.",
    )
    level = serializers.ChoiceField(
        choices=LEVELS, default="entity", help_text="Level of the chart `matrix`."
    )


class CampaignAgreementView(AnnotationView):
    @extend_schema(
        summary="Get the agreement of a campaign's annotators (leads, organisers)",
        description="Computed from first submissions, over documents that all their annotators "
        "have submitted. Adjudication and later changes do not affect it. `not marked` is an "
        "answer like any label. Intervals are 95 % bootstrap intervals over documents.",
        tags=["campaigns"],
        responses=CampaignAgreement,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(asdict(campaign_agreement(access.campaign)))


class CampaignAgreementExport(AnnotationView):
    @extend_schema(
        summary="Download the agreement as a file (leads, organisers)",
        description="Returns 404 for a chart if no document counts yet.",
        tags=["campaigns"],
        parameters=[AgreementExportQuery],
        responses={**file_answers(("text/csv", "application/x-tex", SVG))},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        access = managed_campaign(request.user, slug)
        query = checked(AgreementExportQuery, request.query_params)
        try:
            file = agreement_file(access.campaign, campaign_agreement(access.campaign), **query)
        except NothingToShow as error:
            raise NotFound("No document counts yet.") from error
        return file_response(file)
