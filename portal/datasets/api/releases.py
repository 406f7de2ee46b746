"""Endpoints of releases."""

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.datasets.access import (
    get_dataset,
    get_downloadable_release,
    get_release,
    may_see_gold,
    visible_releases,
)
from portal.datasets.models import Release, ReleaseItem
from portal.datasets.rendering import release_response
from portal.datasets.selectors.releases import release_items, release_rows

from .serializers import DownloadQuerySerializer, ReleaseRowSerializer, ReleaseSerializer


class ReleaseList(GenericAPIView[Release]):
    """The releases of a dataset, newest first."""

    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer

    @extend_schema(responses=ReleaseSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        releases = visible_releases(request.user, get_dataset(request.user, slug))
        page = self.paginate_queryset(releases)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class ReleaseDetail(APIView):
    """One release."""

    @extend_schema(responses=ReleaseSerializer)
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        return Response(ReleaseSerializer(release, context={"request": request}).data)


class ReleaseItems(GenericAPIView[Any]):
    """The items of a release: ids and images, and where the gold is open the facts' number."""

    queryset = ReleaseItem.objects.none()
    serializer_class = ReleaseRowSerializer

    @extend_schema(responses=ReleaseRowSerializer(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        page = self.paginate_queryset(release_items(release)) or []
        rows = release_rows(release, page, gold=may_see_gold(request.user, release))
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class ReleaseDownload(APIView):
    """The gold as a ZIP: HTML with inline tags, JSON Lines and the manifest."""

    @extend_schema(
        parameters=[DownloadQuerySerializer],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_downloadable_release(request.user, slug, version)
        wanted = DownloadQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        return release_response(release, images=wanted.validated_data["images"])
