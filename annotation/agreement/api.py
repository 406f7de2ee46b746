"""Agreement, for programs."""

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

from .selectors import FORMS, SVG, NothingToShow, agreement_file, campaign_agreement
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

# A nested dataclass gets the answer made of it before, so parts come before what holds them.
AgreementFigure = answer(
    Figure,
    "AgreementFigure",
    value="Null where it is undefined.",
    low="Of the 95 % bootstrap interval over documents; null for a single document.",
    observed="Share of pairs of answers alike; null for other than κ and α.",
    n="Items; for span F1 the spans both marked, together.",
)
AgreementOverall = answer(Overall, "AgreementOverall", annotators="Annotators per document.")
AgreementReliability = answer(
    Reliability, "AgreementReliability", alpha="Krippendorff's, over all documents."
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
    token="Marked against not marked, of tokens.",  # noqa: S106 - a token of text
    spans="Without regard to labels.",
)
AgreementLabelling = answer(
    Labelling, "AgreementLabelling", entity="α of the labels of spans that two or more marked."
)


# Of a list of serializers the document would not say that some may be null.
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
    rows="Symmetric: pairs of annotators who gave the one answer and the other.",
)
AgreementPair = answer(
    PairAgreement,
    "AgreementPair",
    first="Number of the annotator, from 1.",
    entity="Cohen's κ, as the next three.",
    detection="Tokens: marked or not.",
    labelling="Labels of the spans that both marked.",
)
AgreementPerson = answer(
    AnnotatorAgreement,
    "AgreementPerson",
    entity="Mean of Cohen's κ with each of the others.",
    spans="Over all pairs with the others.",
)
AgreementTrendPoint = answer(
    TrendPoint, "AgreementTrendPoint", first="When the first of its documents was completed."
)
AgreementTrend = answer(Trend, "AgreementTrend")
ConfusedTextAnswer = answer(Answer, "ConfusedTextAnswer", answer="A label, or `not marked`.")
ConfusedTextShape = answer(
    ConfusedText,
    "ConfusedText",
    items="Places where somebody marked it.",
    disputed="Those of them with different answers.",
    answers="Given where it was disputed.",
    document="The first place where it was disputed.",
)
CampaignAgreement = answer(
    Agreement,
    "CampaignAgreement",
    annotators="In the order of their numbers.",
    overall="Null while no document counts.",
    labels="Each label against the rest.",
    documents="Least agreement first.",
    texts=ConfusedTextShape(many=True, help_text="Most disputed first, 50 at most."),
    waiting="Documents not submitted by everybody.",
    single="Documents that one person labelled.",
)


class AgreementExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=FORMS,
        default="csv",
        help_text="`csv`: all figures; `latex`: tables; `matrix`, `trend`: charts as SVG.",
    )
    level = serializers.ChoiceField(
        choices=LEVELS, default="entity", help_text="Of the chart `matrix`."
    )


class CampaignAgreementView(AnnotationView):
    @extend_schema(
        summary="Agreement of a campaign's annotators (leads, organisers)",
        description="From the labels as first submitted, over documents that everybody has "
        "submitted; neither adjudication nor later changes move a figure. `not marked` is an "
        "answer like any label. Intervals are 95 % bootstrap intervals over documents.",
        tags=["campaigns"],
        responses=CampaignAgreement,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(asdict(campaign_agreement(access.campaign)))


class CampaignAgreementExport(AnnotationView):
    @extend_schema(
        summary="Agreement as a file (leads, organisers)",
        description="404 for a chart while no document counts.",
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
