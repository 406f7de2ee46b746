"""A campaign's labels out and in, for programs."""

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.models import CampaignImport
from annotation.selectors.campaign_export import FILES, campaign_file
from annotation.services.campaign_imports import upload_import
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser, file_answers

from . import transfer_schemas as shapes
from .base import AnnotationView, UploadTooLarge, user_of
from .schemas import AnnotationRefusal


class CampaignExport(AnnotationView):
    @extend_schema(
        summary="A campaign's gold or work as a file, or the whole campaign (leads, organisers)",
        description="Gold of the finished documents, or the work of every annotator on documents "
        "that everybody has submitted. People have pseudonyms. The file is made while it is sent.",
        tags=["campaigns"],
        parameters=[shapes.CampaignExportQuery],
        responses=file_answers(kind for _, kind in FILES.values()),
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        standing = managed_campaign(request.user, slug)
        query = shapes.CampaignExportQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        wanted = query.validated_data
        file = campaign_file(
            standing.campaign, wanted["form"], wanted["layer"], emails=wanted["emails"]
        )
        response = StreamingHttpResponse(file.content, content_type=file.media_type)
        response["Content-Disposition"] = content_disposition_header(True, file.name)
        response["X-Content-Type-Options"] = "nosniff"
        response["Cache-Control"] = "private, no-store"
        return response


class CampaignImports(AnnotationView, GenericAPIView[CampaignImport]):
    queryset = CampaignImport.objects.none()
    serializer_class = shapes.CampaignImportRow
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        summary="Files brought into a campaign, newest first (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.CampaignImportRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        imports = managed_campaign(request.user, slug).campaign.imports.select_related("annotator")
        page = self.paginate_queryset(imports)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        summary="Bring labels into a campaign (leads, organisers)",
        description="As gold, or as the submitted work of an annotator. A job reads the file and "
        "tells what it placed, what moved and what it could not place. A whole campaign goes into "
        "an empty draft on the same documents; that is for organisers.",
        tags=["campaigns"],
        request=shapes.CampaignImportFile,
        responses={202: shapes.CampaignImportRow, 409: AnnotationRefusal, 413: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.CampaignImportFile(data=request.data)
        if was_too_large(request):
            raise UploadTooLarge(upload_limit_message())
        body.is_valid(raise_exception=True)
        wanted = body.validated_data
        if wanted["form"] == CampaignImport.Form.FULL and not standing.is_organiser:
            raise PermissionDenied("Whole campaigns are brought in by organisers.")
        taken = upload_import(
            campaign=standing.campaign,
            file=wanted["file"],
            source_name=wanted["file"].name,
            form=wanted["form"],
            layer=wanted["layer"],
            annotator=wanted["annotator"],
            actor=user_of(request),
        )
        return Response(self.get_serializer(taken).data, status.HTTP_202_ACCEPTED)
