"""Endpoints of imports, for organisers."""

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import get_dataset, get_import
from portal.datasets.models import ImportItem, ImportRun
from portal.datasets.rendering import report_file_response
from portal.datasets.selectors.imports import import_report
from portal.datasets.services.imports import cancel_import, start_import
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser

from .base import actor_of
from .serializers import (
    ImportItemSerializer,
    ImportReportSerializer,
    ImportRunSerializer,
    ItemQuerySerializer,
    ItemsFileQuerySerializer,
    UploadSerializer,
)


class ImportList(GenericAPIView[ImportRun]):
    """The imports into a dataset, newest first; a new one begins with an upload in any layout."""

    queryset = ImportRun.objects.none()
    serializer_class = ImportRunSerializer
    permission_classes = [IsOrganiser]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(responses=ImportRunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        runs = get_dataset(request.user, slug).imports.all()
        page = self.paginate_queryset(runs)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(request=UploadSerializer, responses={202: ImportReportSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        upload = UploadSerializer(data=request.data)
        if was_too_large(request):
            message = {"file": [upload_limit_message()]}
            return Response(message, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
        upload.is_valid(raise_exception=True)
        file = upload.validated_data["file"]
        run = start_import(
            dataset=dataset,
            upload=file,
            source_name=file.name,
            actor=actor_of(request),
            form=upload.validated_data["form"],
            benchmark=upload.validated_data["benchmark"],
        )
        return Response(ImportReportSerializer(import_report(run)).data, status.HTTP_202_ACCEPTED)


class ImportDetail(APIView):
    """How far an import is, and how many files were taken and refused."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=ImportReportSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(ImportReportSerializer(import_report(get_import(slug, pk))).data)


class ImportItems(GenericAPIView[ImportItem]):
    """What became of each file."""

    queryset = ImportItem.objects.none()
    serializer_class = ImportItemSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[ItemQuerySerializer], responses=ImportItemSerializer(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        wanted = ItemQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        items = get_import(slug, pk).items.select_related("document")
        if outcome := wanted.validated_data["outcome"]:
            items = items.filter(outcome=outcome)
        page = self.paginate_queryset(items)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class ImportItemsDownload(APIView):
    """What became of each file, all in one: CSV or JSON Lines."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        parameters=[ItemsFileQuerySerializer],
        responses={
            (200, "text/csv"): OpenApiTypes.BINARY,
            (200, "application/x-ndjson"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, slug: str, pk: int) -> HttpResponseBase:
        wanted = ItemsFileQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        return report_file_response(get_import(slug, pk), asked["file"], asked["outcome"])


class ImportCancel(APIView):
    """Stops an import; what it has imported stays."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses=ImportReportSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        cancel_import(run=get_import(slug, pk), actor=actor_of(request))
        return Response(ImportReportSerializer(import_report(get_import(slug, pk))).data)
