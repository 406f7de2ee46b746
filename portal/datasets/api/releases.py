"""Endpoints of releases."""

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.datasets.access import (
    get_dataset,
    get_downloadable_release,
    get_release,
    seen_splits,
    visible_releases,
)
from portal.datasets.models import DatasetTask, Release, ReleaseItem
from portal.datasets.rendering import release_response
from portal.datasets.selectors.releases import release_items, release_rows
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import file_answers

from .base import OrganisersChange, actor_of
from .release_files import require_licence
from .release_serializers import FrozenReleaseSerializer, NewReleaseSerializer, SplitQuerySerializer
from .serializers import DownloadQuerySerializer, ReleaseRowSerializer, ReleaseSerializer
from .task_serializers import TaskDetailSerializer


class ReleaseList(GenericAPIView[Release]):
    """The releases of a dataset, newest first; organisers freeze new ones.

    A release of more than 200 documents, or of a larger file, is frozen by a worker: then the
    answer is 202 with the task to follow, which is the one under way for the same request again.
    """

    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer
    permission_classes = [OrganisersChange]

    @extend_schema(responses=ReleaseSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        releases = visible_releases(request.user, get_dataset(request.user, slug))
        page = self.paginate_queryset(releases)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        request=NewReleaseSerializer,
        responses={201: FrozenReleaseSerializer, 202: TaskDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = NewReleaseSerializer(data=request.data)
        if was_too_large(request):
            # The file was stopped and is not there; the records are not what was meant.
            message = {"file": [upload_limit_message()]}
            return Response(message, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
        wanted.is_valid(raise_exception=True)
        release = wanted.freeze(dataset, actor_of(request))
        if isinstance(release, DatasetTask):
            return Response(TaskDetailSerializer(release).data, status.HTTP_202_ACCEPTED)
        frozen = FrozenReleaseSerializer(release, context=self.get_serializer_context())
        return Response(frozen.data, status=status.HTTP_201_CREATED)


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

    @extend_schema(parameters=[SplitQuerySerializer], responses=ReleaseRowSerializer(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        wanted = SplitQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        items = release_items(release)
        if split := wanted.validated_data["split"]:
            items = items.filter(split=split)
        page = self.paginate_queryset(items) or []
        rows = release_rows(request.user, release, page)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class ReleaseDownload(APIView):
    """The gold as a ZIP: HTML with inline tags, JSON Lines, Parquet and the manifest.

    Of a release in splits it has the gold of the open part, and of the rest ids, prompts and
    images. 403 until the licence is accepted.
    """

    @extend_schema(
        parameters=[DownloadQuerySerializer],
        responses=file_answers(["application/zip"]),
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_downloadable_release(request.user, slug, version)
        require_licence(request, release)
        wanted = DownloadQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        return release_response(
            release,
            images=wanted.validated_data["images"],
            seen=seen_splits(request.user, release),
        )
