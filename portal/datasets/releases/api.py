"""API of releases: list, freezing, files, licence and comparison."""

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from portal.datasets.access import (
    GoldSplits,
    OrganisersChange,
    actor_of,
    get_dataset,
    get_downloadable_release,
    get_kit_release,
    get_release,
    gold_splits_for,
    must_accept_licence,
    visible_releases,
)
from portal.datasets.documents.serializers import TaskDetailSerializer
from portal.datasets.models import DatasetTask, Release, ReleaseItem
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import checked, file_answers

from .files import (
    CROISSANT_TYPE,
    FILES,
    croissant_response,
    get_release_file,
    release_file_response,
    release_response,
    starter_kit_response,
)
from .selectors import diff_page, release_items, release_rows
from .serializers import (
    AcceptedLicenceSerializer,
    AcceptLicenceSerializer,
    DiffQuerySerializer,
    DiffSerializer,
    DownloadQuerySerializer,
    FrozenReleaseSerializer,
    NewReleaseSerializer,
    ReleaseRowSerializer,
    ReleaseSerializer,
    SplitQuerySerializer,
)
from .services import accept_licence


def require_licence(request: Request, release: Release) -> None:
    """Raises 403 (401 if anonymous) with instructions until the licence is accepted."""
    if not must_accept_licence(request.user, release):
        return
    path = reverse(
        "api:accept-licence", args=[release.dataset.slug, release.version], request=request
    )
    reason = f"You must accept the licence of this release, {release.licence}, first"
    if not request.user.is_authenticated:
        raise NotAuthenticated(f"{reason}: sign in, then POST to {path}.")
    raise PermissionDenied(f'{reason}: POST {{"version": "{release.version}"}} to {path}.')


class ReleaseFile(APIView):
    """One file of a release: gold.jsonl, facts.jsonl, gold.zip, items.parquet, labelstudio.json,
    croissant.json, citation.bib or CITATION.cff.

    Items with hidden gold are left out of the files; in the Parquet file their gold is empty. 403
    until the licence is accepted.
    """

    @extend_schema(
        responses=file_answers([*(file.media_type for file in FILES.values()), CROISSANT_TYPE])
    )
    def get(self, request: Request, slug: str, version: str, name: str) -> HttpResponseBase:
        release, file, gold_splits = get_release_file(request.user, slug, version, name)
        if file is None:
            return self._croissant(request, release, gold_splits)
        if file.holds_gold:
            require_licence(request, release)
        return release_file_response(release, file, gold_splits)

    def _croissant(
        self, request: Request, release: Release, gold_splits: GoldSplits
    ) -> HttpResponse:
        args = [release.dataset.slug, release.version]

        def file_url(name: str) -> str:
            return reverse("api:release-file", args=[*args, name], request=request)

        page = request.build_absolute_uri(release.get_absolute_url())
        return croissant_response(release, gold_splits, page=page, file_url=file_url)


class StarterKit(APIView):
    """Images, ids and prompts of the items whose gold is hidden, and an empty submission."""

    @extend_schema(responses=file_answers(["application/zip"]))
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_kit_release(request.user, slug, version)
        require_licence(request, release)
        return starter_kit_response(release, request.build_absolute_uri(release.get_absolute_url()))


class AcceptLicence(APIView):
    """Accepts the licence of this version."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=AcceptLicenceSerializer, responses=AcceptedLicenceSerializer)
    def post(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        if not release.licence:
            raise Http404("this release has no licence to accept")
        checked(AcceptLicenceSerializer, request.data, release=release)
        accepted = accept_licence(release=release, actor=actor_of(request))
        return Response(AcceptedLicenceSerializer(accepted).data)


class ReleaseDiff(APIView):
    """The changes from the older of two releases to the newer, 25 items per page."""

    @extend_schema(parameters=[DiffQuerySerializer], responses=DiffSerializer)
    def get(self, request: Request, slug: str, version: str, other: str) -> Response:
        one, two = (get_release(request.user, slug, each) for each in (version, other))
        data = checked(DiffQuerySerializer, request.query_params)
        page = diff_page(request.user, one, two, kind=data["change"], page=str(data["page"]))
        return Response(DiffSerializer(page).data)


class ReleaseList(GenericAPIView[Release]):
    """Lists the releases of a dataset, newest first; organisers can freeze a new one.

    A release of more than 200 documents, or from a file above 8 MB, is frozen by a worker: the
    response is 202 with a task. Repeating the request returns the same task.
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
        serializer = NewReleaseSerializer(data=request.data)
        if was_too_large(request):
            # The file was cut off: do not freeze the records instead.
            message = {"file": [upload_limit_message()]}
            return Response(message, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
        serializer.is_valid(raise_exception=True)
        release = serializer.freeze(dataset, actor_of(request))
        if isinstance(release, DatasetTask):
            return Response(TaskDetailSerializer(release).data, status.HTTP_202_ACCEPTED)
        frozen = FrozenReleaseSerializer(release, context=self.get_serializer_context())
        return Response(frozen.data, status=status.HTTP_201_CREATED)


class ReleaseDetail(APIView):
    @extend_schema(responses=ReleaseSerializer)
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        return Response(ReleaseSerializer(release, context={"request": request}).data)


class ReleaseItems(GenericAPIView[Any]):
    """The items of a release with their images; hashes and counts of facts where gold is open."""

    queryset = ReleaseItem.objects.none()
    serializer_class = ReleaseRowSerializer

    @extend_schema(parameters=[SplitQuerySerializer], responses=ReleaseRowSerializer(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = get_release(request.user, slug, version)
        query = checked(SplitQuerySerializer, request.query_params)
        items = release_items(release)
        if split := query["split"]:
            items = items.filter(split=split)
        page = self.paginate_queryset(items) or []
        rows = release_rows(request.user, release, page)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class ReleaseDownload(APIView):
    """The release as a ZIP: HTML with inline tags, JSON Lines, Parquet and the manifest.

    For splits with hidden gold it holds only ids, prompts and images. 403 until the licence is
    accepted.
    """

    @extend_schema(
        parameters=[DownloadQuerySerializer],
        responses=file_answers(["application/zip"]),
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_downloadable_release(request.user, slug, version)
        require_licence(request, release)
        query = checked(DownloadQuerySerializer, request.query_params)
        gold_splits = gold_splits_for(request.user, release)
        return release_response(release, gold_splits, images=query["images"])
