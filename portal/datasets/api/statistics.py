"""Endpoints of a dataset's statistics."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.datasets.access import get_dataset
from portal.datasets.file_responses import file_response
from portal.datasets.models import Release
from portal.datasets.selectors.statistics import StatisticsPage, statistics_page
from portal.datasets.selectors.statistics_exports import SVG, NothingToDrawError, statistics_file

from .statistics_serializers import (
    StatisticsExportQuerySerializer,
    StatisticsQuerySerializer,
    StatisticsSerializer,
)


class DatasetStatisticsDetail(APIView):
    """Documents by type and year, and the facts of a release."""

    @extend_schema(parameters=[StatisticsQuerySerializer], responses=StatisticsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        query = StatisticsQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        page = _page(request, slug, query.validated_data["release"])
        return Response(StatisticsSerializer(page).data)


class DatasetStatisticsExport(APIView):
    """The statistics as a file; 404 for a chart that has nothing to draw."""

    @extend_schema(
        parameters=[StatisticsExportQuerySerializer],
        responses={
            (200, kind): OpenApiTypes.BINARY for kind in ("text/csv", "application/x-tex", SVG)
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        query = StatisticsExportQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        page = _page(request, slug, query.validated_data["release"])
        try:
            return file_response(statistics_file(page, query.validated_data["form"]))
        except NothingToDrawError as error:
            raise NotFound("There is nothing to draw.") from error


def _page(request: Request, slug: str, version: str) -> StatisticsPage:
    dataset = get_dataset(request.user, slug)
    try:
        return statistics_page(request.user, dataset, version)
    except Release.DoesNotExist as error:
        raise NotFound("There is no such release.") from error
