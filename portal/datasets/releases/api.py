"""Endpoints of releases: the list, freezing one, files, licence, and what changed since another."""

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
    OrganisersChange,
    actor_of,
    get_dataset,
    get_downloadable_release,
    get_kit_release,
    get_release,
    must_accept_licence,
    seen_splits,
    visible_releases,
)
from portal.datasets.documents.serializers import TaskDetailSerializer
from portal.datasets.models import DatasetTask, Release, ReleaseItem
from portal.datasets.releases.publishing.croissant import CROISSANT
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import checked, file_answers

from .files import (
    FILES,
    croissant_file,
    file_of,
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
    """403 with the way to accept it, 401 for those who are nobody yet."""
    if not must_accept_licence(request.user, release):
        return
    path = reverse(
        "api:accept-licence", args=[release.dataset.slug, release.version], request=request
    )
    told = f"The licence of this release, {release.licence}, has to be accepted first"
    if not request.user.is_authenticated:
        raise NotAuthenticated(f"{told}: sign in, then POST to {path}.")
    raise PermissionDenied(f'{told}: POST {{"version": "{release.version}"}} to {path}.')


CROISSANT_TYPE = "application/ld+json"


class ReleaseFile(APIView):
    """One file of a release: gold.jsonl, facts.jsonl, gold.zip, items.parquet, labelstudio.json,
    croissant.json, citation.bib or CITATION.cff.

    Items whose gold is hidden have no line, page or task, and rows without gold in the Parquet
    file. 403 until the licence is accepted.
    """

    @extend_schema(
        responses=file_answers([*(file.media_type for file in FILES.values()), CROISSANT_TYPE])
    )
    def get(self, request: Request, slug: str, version: str, name: str) -> HttpResponseBase:
        release = get_release(request.user, slug, version)
        file = file_of(release, name)
        if file is not None and not file.holds_gold:
            return release_file_response(release, file, frozenset())
        release = get_downloadable_release(request.user, slug, version)
        seen = seen_splits(request.user, release)
        if name == CROISSANT:
            return self._croissant(request, release, seen)
        if file is None:
            raise Http404("this release has no such file")
        require_licence(request, release)
        return release_file_response(release, file, seen)

    def _croissant(
        self, request: Request, release: Release, seen: frozenset[str] | None
    ) -> HttpResponse:
        args = [release.dataset.slug, release.version]

        def address(name: str) -> str:
            return reverse("api:release-file", args=[*args, name], request=request)

        page = request.build_absolute_uri(release.get_absolute_url())
        content = croissant_file(release, seen, page=page, address=address)
        response = HttpResponse(content, content_type=CROISSANT_TYPE)
        response["Cache-Control"] = "private"
        return response


class StarterKit(APIView):
    """Images, ids and prompts of the items whose gold is hidden, and an empty submission."""

    @extend_schema(responses=file_answers(["application/zip"]))
    def get(self, request: Request, slug: str, version: str) -> HttpResponseBase:
        release = get_kit_release(request.user, slug, version)
        require_licence(request, release)
        return starter_kit_response(release, request.build_absolute_uri(release.get_absolute_url()))


class AcceptLicence(APIView):
    """Accepts the licence of exactly this version, once and for all."""

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
    """What changed from the older of two releases to the newer, 25 items a page."""

    @extend_schema(parameters=[DiffQuerySerializer], responses=DiffSerializer)
    def get(self, request: Request, slug: str, version: str, other: str) -> Response:
        one, two = (get_release(request.user, slug, each) for each in (version, other))
        data = checked(DiffQuerySerializer, request.query_params)
        page = diff_page(request.user, one, two, kind=data["change"], page=str(data["page"]))
        return Response(DiffSerializer(page).data)


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
        wanted = checked(SplitQuerySerializer, request.query_params)
        items = release_items(release)
        if split := wanted["split"]:
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
        wanted = checked(DownloadQuerySerializer, request.query_params)
        return release_response(
            release,
            images=wanted["images"],
            seen=seen_splits(request.user, release),
        )
