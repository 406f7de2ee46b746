"""Suggestions of a campaign, for programs: which are shown, and uploads of a model's marks."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.models import Campaign, SuggestionUpload
from annotation.selectors.suggestions import suggestion_state
from annotation.services.suggestions import choose_suggestions, upload_suggestions
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser

from . import suggestion_schemas as shapes
from .base import AnnotationView, UploadTooLarge, user_of
from .schemas import AnnotationRefusal


class CampaignSuggestions(AnnotationView):
    @extend_schema(
        summary="Which suggestions a campaign shows (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.CampaignSuggestions,
    )
    def get(self, request: Request, slug: str) -> Response:
        return _answer(managed_campaign(request.user, slug).campaign)

    @extend_schema(
        summary="Choose which suggestions a campaign shows (leads, organisers)",
        tags=["campaigns"],
        request=shapes.SuggestionSources,
        responses=shapes.CampaignSuggestions,
    )
    def put(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.SuggestionSources(data=request.data)
        body.is_valid(raise_exception=True)
        campaign = choose_suggestions(
            campaign=standing.campaign,
            sources=body.validated_data["sources"],
            actor=user_of(request),
        )
        return _answer(campaign)


def _answer(campaign: Campaign) -> Response:
    state = suggestion_state(campaign)
    return Response(
        {
            "sources": campaign.suggestion_sources,
            "documents": state.documents,
            "with_xbrl": state.with_xbrl,
            "with_model": state.with_model,
        }
    )


class SuggestionUploads(AnnotationView, GenericAPIView[SuggestionUpload]):
    queryset = SuggestionUpload.objects.none()
    serializer_class = shapes.SuggestionUploadRow
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        summary="Uploads of a model's marks, newest first (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.SuggestionUploadRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        uploads = managed_campaign(request.user, slug).campaign.suggestion_uploads.all()
        page = self.paginate_queryset(uploads)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        summary="Upload a model's marks as suggestions (leads, organisers)",
        description='A .jsonl or .jsonl.gz of `{"id", "html"}` with inline tags or of `{"id", '
        '"spans": [{"start", "end", "label"}]}`, or a .zip of ID.html or ID.json. A job reads it.',
        tags=["campaigns"],
        request=shapes.SuggestionUploadFile,
        responses={
            202: shapes.SuggestionUploadRow,
            409: AnnotationRefusal,
            413: AnnotationRefusal,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.SuggestionUploadFile(data=request.data)
        if was_too_large(request):
            raise UploadTooLarge(upload_limit_message())
        body.is_valid(raise_exception=True)
        file = body.validated_data["file"]
        upload = upload_suggestions(
            campaign=standing.campaign, file=file, source_name=file.name, actor=user_of(request)
        )
        return Response(self.get_serializer(upload).data, status.HTTP_202_ACCEPTED)
