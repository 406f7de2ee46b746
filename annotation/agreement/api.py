"""Agreement, for programs."""

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.api_base import AnnotationView
from portal.web.api import file_answers

from .selectors import FORMS, SVG, NothingToShow, agreement_file, campaign_agreement
from .shapes import LEVELS


class AgreementFigure(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True, help_text="Null where it is undefined.")
    low = serializers.FloatField(
        allow_null=True,
        help_text="Of the 95 % bootstrap interval over documents; null for a single document.",
    )
    high = serializers.FloatField(allow_null=True)
    observed = serializers.FloatField(
        allow_null=True, help_text="Share of pairs of answers alike; null for other than κ and α."
    )
    n = serializers.IntegerField(help_text="Items; for span F1 the spans both marked, together.")
    documents = serializers.IntegerField()


class AgreementOverall(serializers.Serializer[Any]):
    annotators = serializers.IntegerField(help_text="Annotators per document.")
    figure = AgreementFigure()


class AgreementReliability(serializers.Serializer[Any]):
    fleiss = AgreementOverall(many=True)
    alpha = AgreementFigure(help_text="Krippendorff's, over all documents.")


class AgreementSpans(serializers.Serializer[Any]):
    exact = AgreementFigure(help_text="F1 of spans with the same offsets and label.")
    overlap = AgreementFigure(help_text="F1 of spans that overlap, with the same label.")


class AgreementPart(serializers.Serializer[Any]):
    name = serializers.CharField()
    documents = serializers.IntegerField()
    entity = AgreementReliability()
    token = AgreementReliability()
    spans = AgreementSpans()


class AgreementDetection(serializers.Serializer[Any]):
    token = AgreementReliability(help_text="Marked against not marked, of tokens.")
    spans = AgreementSpans(help_text="Without regard to labels.")


class AgreementLabelling(serializers.Serializer[Any]):
    entity = AgreementFigure(help_text="α of the labels of spans that two or more marked.")
    token = AgreementFigure()


# Of a list of serializers the document would not say that some may be null.
@extend_schema_field(
    {
        "type": "array",
        "items": {
            "nullable": True,
            "allOf": [{"$ref": "#/components/schemas/AgreementFigure"}],
        },
    }
)
class AgreementCells(serializers.ListField):
    child = AgreementFigure(allow_null=True)


class AgreementMatrixRow(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    name = serializers.CharField()
    cells = AgreementCells()


class AgreementConfusion(serializers.Serializer[Any]):
    answers = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="Symmetric: pairs of annotators who gave the one answer and the other.",
    )


class LevelAgreement(serializers.Serializer[Any]):
    level = serializers.ChoiceField(choices=LEVELS)
    matrix = AgreementMatrixRow(many=True)
    overall = AgreementReliability()
    confusion = AgreementConfusion()


class AgreementPair(serializers.Serializer[Any]):
    first = serializers.IntegerField(help_text="Number of the annotator, from 1.")
    second = serializers.IntegerField()
    documents = serializers.IntegerField()
    entity = AgreementFigure(help_text="Cohen's κ, as the next three.")
    token = AgreementFigure()
    detection = AgreementFigure(help_text="Tokens: marked or not.")
    labelling = AgreementFigure(help_text="Labels of the spans that both marked.")
    spans = AgreementSpans()


class AgreementPerson(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    name = serializers.CharField()
    documents = serializers.IntegerField()
    entity = AgreementFigure(help_text="Mean of Cohen's κ with each of the others.")
    token = AgreementFigure()
    spans = AgreementSpans(help_text="Over all pairs with the others.")


class AgreementTrendPoint(serializers.Serializer[Any]):
    first = serializers.DateField(help_text="When the first of its documents was completed.")
    last = serializers.DateField()
    part = AgreementPart()


class AgreementTrend(serializers.Serializer[Any]):
    by = serializers.ChoiceField(choices=["week", "batch"])
    points = AgreementTrendPoint(many=True)


class ConfusedTextAnswer(serializers.Serializer[Any]):
    answer = serializers.CharField(help_text="A label, or `not marked`.")
    count = serializers.IntegerField()


class ConfusedText(serializers.Serializer[Any]):
    text = serializers.CharField()
    items = serializers.IntegerField(help_text="Places where somebody marked it.")
    disputed = serializers.IntegerField(help_text="Those of them with different answers.")
    answers = ConfusedTextAnswer(many=True, help_text="Given where it was disputed.")
    document = serializers.CharField(help_text="The first place where it was disputed.")
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class CampaignAgreement(serializers.Serializer[Any]):
    annotators = serializers.ListField(
        child=serializers.CharField(), help_text="In the order of their numbers."
    )
    overall = AgreementPart(allow_null=True, help_text="Null while no document counts.")
    levels = LevelAgreement(many=True)
    detection = AgreementDetection(allow_null=True)
    labelling = AgreementLabelling(allow_null=True)
    pairs = AgreementPair(many=True)
    people = AgreementPerson(many=True)
    labels = AgreementPart(many=True, help_text="Each label against the rest.")
    doc_types = AgreementPart(many=True)
    trend = AgreementTrend()
    documents = AgreementPart(many=True, help_text="Least agreement first.")
    texts = ConfusedText(many=True, help_text="Most disputed first, 50 at most.")
    waiting = serializers.IntegerField(help_text="Documents not submitted by everybody.")
    single = serializers.IntegerField(help_text="Documents that one person labelled.")


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
        standing = managed_campaign(request.user, slug)
        return Response(asdict(campaign_agreement(standing.campaign)))


class CampaignAgreementExport(AnnotationView):
    @extend_schema(
        summary="Agreement as a file (leads, organisers)",
        description="404 for a chart while no document counts.",
        tags=["campaigns"],
        parameters=[AgreementExportQuery],
        responses={
            **file_answers(("text/csv", "application/x-tex", SVG)),
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        standing = managed_campaign(request.user, slug)
        query = AgreementExportQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        try:
            file = agreement_file(
                standing.campaign, campaign_agreement(standing.campaign), **query.validated_data
            )
        except NothingToShow as error:
            raise NotFound("No document counts yet.") from error
        response = HttpResponse(file.content, content_type=f"{file.media_type}; charset=utf-8")
        response["Content-Disposition"] = content_disposition_header(True, file.name)
        response["Cache-Control"] = "private, no-store"
        return response
