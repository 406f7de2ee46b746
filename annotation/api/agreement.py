"""Agreement, for programs."""

from dataclasses import asdict

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.selectors.agreement import campaign_agreement
from annotation.selectors.agreement_files import SVG, NothingToShow, agreement_file
from portal.web.api import file_answers

from . import agreement_schemas as shapes
from .base import AnnotationView


class CampaignAgreement(AnnotationView):
    @extend_schema(
        summary="Agreement of a campaign's annotators (leads, organisers)",
        description="From the labels as first submitted, over documents that everybody has "
        "submitted; neither adjudication nor later changes move a figure. `not marked` is an "
        "answer like any label. Intervals are 95 % bootstrap intervals over documents.",
        tags=["campaigns"],
        responses=shapes.CampaignAgreement,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        return Response(asdict(campaign_agreement(standing.campaign)))


class CampaignAgreementExport(AnnotationView):
    @extend_schema(
        summary="Agreement as a file (leads, organisers)",
        description="404 for a chart while no document counts.",
        tags=["campaigns"],
        parameters=[shapes.AgreementExportQuery],
        responses={
            **file_answers(("text/csv", "application/x-tex", SVG)),
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        standing = managed_campaign(request.user, slug)
        query = shapes.AgreementExportQuery(data=request.query_params)
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
