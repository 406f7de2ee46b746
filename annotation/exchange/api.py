"""API to export and import a campaign's labels."""

from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.api_base import (
    AnnotationRefusal,
    AnnotationView,
    UploadTooLarge,
    campaigns_schema,
    user_of,
)
from annotation.models import CampaignImport
from portal.accounts.models import User
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import NamedField, PlainMultiPartParser, checked, file_answers

from .selectors import FILES, campaign_file
from .services import new_import

Form = CampaignImport.Form
Layer = CampaignImport.Layer


class CampaignExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(choices=Form.choices)
    layer = serializers.ChoiceField(
        choices=Layer.choices, default=Layer.GOLD, help_text="Ignored for a whole campaign."
    )
    emails = serializers.BooleanField(
        default=False, help_text="Include email addresses in a whole campaign."
    )


class CampaignImportFile(serializers.Serializer[Any]):
    file = serializers.FileField()
    form = serializers.ChoiceField(choices=Form.choices)
    layer = serializers.ChoiceField(
        choices=Layer.choices, default=Layer.GOLD, help_text="Ignored for a whole campaign."
    )
    annotator: "NamedField[User]" = NamedField(
        slug_field="email",
        queryset=User.objects.filter(is_active=True),
        required=False,
        allow_null=True,
        default=None,
        help_text="Email address of the annotator whose work the labels become.",
    )


class CampaignImportRow(serializers.ModelSerializer[CampaignImport]):
    annotator: "NamedField[User]" = NamedField(slug_field="email", read_only=True)

    class Meta:
        model = CampaignImport
        fields = [
            *("id", "source_name", "form", "layer", "annotator", "state", "documents", "spans"),
            *("moved", "faults", "fault_count", "error", "created_at", "finished_at"),
        ]
        read_only_fields = fields


class CampaignExport(AnnotationView):
    @campaigns_schema(
        summary="Export a campaign's gold or work, or the whole campaign (leads, organisers)",
        description="Streams the gold of finished documents, or the work of every annotator on "
        "documents that all annotators have submitted. Pseudonyms replace names.",
        parameters=[CampaignExportQuery],
        responses=file_answers(kind for _, kind in FILES.values()),
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        access = managed_campaign(request.user, slug)
        wanted = checked(CampaignExportQuery, request.query_params)
        file = campaign_file(
            access.campaign, wanted["form"], wanted["layer"], emails=wanted["emails"]
        )
        response = StreamingHttpResponse(file.content, content_type=file.media_type)
        response["Content-Disposition"] = content_disposition_header(True, file.name)
        response["X-Content-Type-Options"] = "nosniff"
        response["Cache-Control"] = "private, no-store"
        return response


class CampaignImports(AnnotationView, GenericAPIView[CampaignImport]):
    queryset = CampaignImport.objects.none()
    serializer_class = CampaignImportRow
    parser_classes = [PlainMultiPartParser]

    @campaigns_schema(
        summary="List the imports of a campaign, newest first (leads, organisers)",
        responses=CampaignImportRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        imports = managed_campaign(request.user, slug).campaign.imports.select_related("annotator")
        page = self.paginate_queryset(imports)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @campaigns_schema(
        summary="Import labels into a campaign (leads, organisers)",
        description="Imports labels as gold, or as the submitted work of an annotator. A job reads "
        "the file and reports labels that moved or could not be placed. Only organisers can import "
        "a whole campaign; it needs an empty draft on the same documents.",
        request=CampaignImportFile,
        responses={202: CampaignImportRow, 409: AnnotationRefusal, 413: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = CampaignImportFile(data=request.data)
        if was_too_large(request):
            raise UploadTooLarge(upload_limit_message())
        body.is_valid(raise_exception=True)
        wanted = body.validated_data
        if wanted["form"] == CampaignImport.Form.FULL and not access.is_organiser:
            raise PermissionDenied("Only organisers can import whole campaigns.")
        taken = new_import(campaign=access.campaign, actor=user_of(request), **wanted)
        return Response(self.get_serializer(taken).data, status.HTTP_202_ACCEPTED)
