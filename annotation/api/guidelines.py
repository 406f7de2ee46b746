"""The guidelines of a campaign, for programs and for the workbench's panel."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import campaign_for, managed_campaign
from annotation.models import Campaign
from annotation.selectors.guidelines import (
    guidelines_version,
    guidelines_versions,
    seen_guidelines,
)
from annotation.services.campaigns import edit_guidelines, mark_guidelines_seen

from . import campaign_schemas as shapes
from .base import AnnotationView, user_of


class CampaignGuidelines(AnnotationView):
    @extend_schema(
        summary="The guidelines of a campaign",
        description="The newest version, or the one asked for.",
        tags=["campaigns"],
        parameters=[shapes.GuidelinesVersionQuery],
        responses=shapes.CampaignGuidelines,
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = campaign_for(request.user, slug).campaign
        query = shapes.GuidelinesVersionQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        number = query.validated_data.get("version", campaign.guidelines_version)
        return _answer(request, campaign, number)

    @extend_schema(
        summary="Write a new version of the guidelines (leads, organisers)",
        tags=["campaigns"],
        request=shapes.GuidelinesEdit,
        responses=shapes.CampaignGuidelines,
    )
    def put(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.GuidelinesEdit(data=request.data)
        body.is_valid(raise_exception=True)
        campaign = edit_guidelines(
            campaign=standing.campaign,
            text=body.validated_data["guidelines"],
            note=body.validated_data["note"],
            actor=user_of(request),
        )
        return _answer(request, campaign, campaign.guidelines_version)


def _answer(request: Request, campaign: Campaign, number: int) -> Response:
    version = guidelines_version(campaign, number)
    versions = guidelines_versions(campaign)
    return Response(
        {
            "guidelines": version.text,
            "version": version.number,
            "seen_version": seen_guidelines(campaign, user_of(request).pk),
            "versions": shapes.GuidelinesVersionRow(versions, many=True).data,
        }
    )


class CampaignGuidelinesSeen(AnnotationView):
    @extend_schema(
        summary="Remember that I have opened a version of the guidelines",
        description="It never goes back, and not beyond the newest version there is.",
        tags=["campaigns"],
        request=shapes.GuidelinesOpened,
        responses=shapes.GuidelinesSeenVersion,
    )
    def post(self, request: Request, slug: str) -> Response:
        campaign = campaign_for(request.user, slug).campaign
        body = shapes.GuidelinesOpened(data=request.data)
        body.is_valid(raise_exception=True)
        seen = mark_guidelines_seen(
            campaign=campaign, version=body.validated_data["version"], user=user_of(request)
        )
        return Response({"seen_version": seen})
