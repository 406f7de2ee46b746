"""Releases, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.selectors.releases import release_state
from annotation.services.releasing import release_gold
from portal.datasets.services.releases import SplitDraw

from . import campaign_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationInvalid, AnnotationRefusal


class CampaignRelease(AnnotationView):
    @extend_schema(
        summary="What can be released (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.CampaignReleaseState,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        return Response(shapes.CampaignReleaseState(release_state(standing.campaign)).data)

    @extend_schema(
        summary="Freeze a release (leads, organisers)",
        tags=["campaigns"],
        request=shapes.NewCampaignRelease,
        responses={
            201: shapes.FrozenCampaignRelease,
            409: AnnotationRefusal,
            422: AnnotationInvalid,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.NewCampaignRelease(data=request.data)
        body.is_valid(raise_exception=True)
        if body.validated_data["leave_out_unfinished"] and not standing.is_organiser:
            raise PermissionDenied("Only organisers leave unfinished documents out of a release.")
        wanted = dict(body.validated_data)
        share, seed = wanted.pop("test_share", None), wanted.pop("seed")
        group_by = wanted.pop("group_by")
        release = release_gold(
            campaign=standing.campaign,
            actor=user_of(request),
            draw=None if share is None else SplitDraw(share, seed, group_by),
            **wanted,
        )
        return Response(shapes.FrozenCampaignRelease(release).data, status=status.HTTP_201_CREATED)
