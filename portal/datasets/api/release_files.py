"""Endpoints of a release's files, of its licence, and of what changed since another."""

from django.http import Http404, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from portal.datasets.access import (
    get_downloadable_release,
    get_kit_release,
    get_release,
    must_accept_licence,
    seen_splits,
)
from portal.datasets.models import Release
from portal.datasets.publishing.croissant import CROISSANT
from portal.datasets.release_files import FILES, croissant_file, file_of
from portal.datasets.rendering import release_file_response, starter_kit_response
from portal.datasets.selectors.release_diff import diff_page
from portal.datasets.services.licences import accept_licence
from portal.web.api import file_answers

from .base import actor_of
from .release_serializers import (
    AcceptedLicenceSerializer,
    AcceptLicenceSerializer,
    DiffQuerySerializer,
    DiffSerializer,
)


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
        body = AcceptLicenceSerializer(data=request.data, context={"release": release})
        body.is_valid(raise_exception=True)
        accepted = accept_licence(release=release, actor=actor_of(request))
        return Response(AcceptedLicenceSerializer(accepted).data)


class ReleaseDiff(APIView):
    """What changed from the older of two releases to the newer, 25 items a page."""

    @extend_schema(parameters=[DiffQuerySerializer], responses=DiffSerializer)
    def get(self, request: Request, slug: str, version: str, other: str) -> Response:
        one, two = (get_release(request.user, slug, each) for each in (version, other))
        wanted = DiffQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        page = diff_page(request.user, one, two, kind=data["change"], page=str(data["page"]))
        return Response(DiffSerializer(page).data)
