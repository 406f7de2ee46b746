"""API of campaigns, their settings, guidelines and releases."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import CampaignAccess, campaign_for, managed_campaign
from annotation.api_base import (
    AnnotationInvalid,
    AnnotationRefusal,
    AnnotationView,
    campaigns_schema,
    user_of,
)
from annotation.assignments.sharing import assign_documents
from annotation.models import Campaign
from portal.accounts.access import is_organiser
from portal.datasets.curation.draws import SplitDraw
from portal.web.api import checked

from . import releases, selectors, services
from . import serializers as shapes


class CampaignList(AnnotationView):
    @campaigns_schema(summary="List my campaigns", responses=shapes.CampaignRow(many=True))
    def get(self, request: Request) -> Response:
        rows = selectors.campaign_rows(request.user)
        return Response(shapes.CampaignRow(rows, many=True).data)

    @campaigns_schema(
        summary="Create a campaign (organisers)",
        request=shapes.NewCampaign,
        responses={201: shapes.CampaignDetail},
    )
    def post(self, request: Request) -> Response:
        if not is_organiser(request.user):
            raise PermissionDenied("Only organisers can create campaigns.")
        wanted = {"guidelines": services.default_guidelines()} | checked(
            shapes.NewCampaign, request.data
        )
        chosen = {name: wanted.pop(name) for name in services.NAMES if name in wanted}
        campaign = services.create_campaign(
            **wanted, settings=services.CampaignSettings(**chosen), actor=user_of(request)
        )
        return Response(
            _detail(campaign_for(request.user, campaign.slug)), status=status.HTTP_201_CREATED
        )


class CampaignDetailView(AnnotationView):
    @campaigns_schema(
        operation_id="campaigns_retrieve_one",
        summary="Get a campaign with its progress and guidelines",
        responses=shapes.CampaignDetail,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_detail(campaign_for(request.user, slug)))


def _detail(access: CampaignAccess) -> dict[str, Any]:
    campaign = access.campaign
    parts = {
        "campaign": campaign,
        "roles": sorted(access.roles),
        "overview": selectors.campaign_overview(campaign),
        "settings": services.settings_of(campaign),
        "flagged": selectors.flagged_work(campaign) if access.may_manage else [],
    }
    return shapes.CampaignDetail(parts).data


def _state_change(
    service: Callable[..., Campaign], summary: str, description: str | None = None
) -> type[AnnotationView]:
    """An endpoint that calls the service on the campaign, for its leads and organisers."""

    class StateChange(AnnotationView):
        @campaigns_schema(
            summary=summary,
            description=description,
            request=None,
            responses={200: shapes.CampaignDetail, 409: AnnotationRefusal},
        )
        def post(self, request: Request, slug: str) -> Response:
            access = managed_campaign(request.user, slug)
            service(campaign=access.campaign, actor=user_of(request))
            return Response(_detail(access))

    return StateChange


CampaignOpen = _state_change(
    services.open_campaign,
    "Open a campaign (leads, organisers)",
    "Assigns every document of the dataset to annotators.",
)
CampaignClose = _state_change(services.close_campaign, "Close a campaign (leads, organisers)")
CampaignReopen = _state_change(
    services.reopen_campaign, "Reopen a closed campaign (leads, organisers)"
)


class CampaignAssign(AnnotationView):
    @campaigns_schema(
        summary="Assign documents that were added to the dataset later (leads, organisers)",
        request=None,
        responses={200: shapes.DocumentsShared, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        documents = assign_documents(campaign=access.campaign, actor=user_of(request))
        return Response({"documents": documents})


class CampaignSettingsView(AnnotationView):
    @campaigns_schema(
        summary="Get the workflow settings of a campaign (leads, organisers)",
        responses=shapes.WorkflowSettingsState,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_settings(managed_campaign(request.user, slug).campaign))

    @campaigns_schema(
        summary="Change the workflow settings (leads, organisers)",
        request=shapes.WorkflowSettingsChange,
        responses={200: shapes.WorkflowSettingsState, 409: AnnotationRefusal},
    )
    def patch(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(shapes.WorkflowSettingsChange, request.data)
        changed = services.change_settings(campaign=access.campaign, actor=user_of(request), **body)
        return Response(_settings(changed))


def _settings(campaign: Campaign) -> dict[str, Any]:
    return asdict(services.settings_of(campaign)) | {
        "overlap": campaign.overlap,
        "fixed": services.fixed_settings(campaign),
    }


class CampaignGuidelinesView(AnnotationView):
    @campaigns_schema(
        summary="Get the guidelines of a campaign",
        description="Returns the newest version, or the requested one.",
        parameters=[shapes.GuidelinesVersionQuery],
        responses=shapes.CampaignGuidelines,
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = campaign_for(request.user, slug).campaign
        query = checked(shapes.GuidelinesVersionQuery, request.query_params)
        number = query.get("version", campaign.guidelines_version)
        return _guidelines(request, campaign, number)

    @campaigns_schema(
        summary="Save a new version of the guidelines (leads, organisers)",
        request=shapes.GuidelinesEdit,
        responses=shapes.CampaignGuidelines,
    )
    def put(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(shapes.GuidelinesEdit, request.data)
        campaign = services.edit_guidelines(
            campaign=access.campaign,
            text=body["guidelines"],
            note=body["note"],
            actor=user_of(request),
        )
        return _guidelines(request, campaign, campaign.guidelines_version)


def _guidelines(request: Request, campaign: Campaign, number: int) -> Response:
    version = selectors.guidelines_version(campaign, number)
    versions = selectors.guidelines_versions(campaign)
    return Response(
        {
            "guidelines": version.text,
            "version": version.number,
            "seen_version": selectors.seen_guidelines(campaign, user_of(request).pk),
            "versions": shapes.GuidelinesVersionRow(versions, many=True).data,
        }
    )


class CampaignGuidelinesSeen(AnnotationView):
    @campaigns_schema(
        summary="Mark a version of the guidelines as read by me",
        description="The number never decreases and never exceeds the newest version.",
        request=shapes.GuidelinesOpened,
        responses=shapes.GuidelinesSeenVersion,
    )
    def post(self, request: Request, slug: str) -> Response:
        campaign = campaign_for(request.user, slug).campaign
        body = checked(shapes.GuidelinesOpened, request.data)
        seen = services.mark_guidelines_seen(
            campaign=campaign, version=body["version"], user=user_of(request)
        )
        return Response({"seen_version": seen})


class CampaignRelease(AnnotationView):
    @campaigns_schema(
        summary="Get the documents ready for release (leads, organisers)",
        responses=shapes.CampaignReleaseState,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(shapes.CampaignReleaseState(releases.release_state(access.campaign)).data)

    @campaigns_schema(
        summary="Freeze a release (leads, organisers)",
        request=shapes.NewCampaignRelease,
        responses={
            201: shapes.FrozenCampaignRelease,
            409: AnnotationRefusal,
            422: AnnotationInvalid,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        wanted = checked(shapes.NewCampaignRelease, request.data)
        if wanted["leave_out_unfinished"] and not access.is_organiser:
            raise PermissionDenied("Only organisers can leave unfinished documents out.")
        share, seed = wanted.pop("test_share", None), wanted.pop("seed")
        group_by = wanted.pop("group_by")
        release = releases.release_gold(
            campaign=access.campaign,
            actor=user_of(request),
            draw=None if share is None else SplitDraw(share, seed, group_by),
            **wanted,
        )
        return Response(shapes.FrozenCampaignRelease(release).data, status=status.HTTP_201_CREATED)
