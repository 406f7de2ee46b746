"""Campaigns and their people, for programs."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import Standing, campaign_for, managed_campaign
from annotation.models import Campaign
from annotation.selectors.campaigns import (
    FlaggedWork,
    campaign_overview,
    campaign_rows,
    flagged_work,
)
from annotation.selectors.people import campaign_people
from annotation.services.assigning import assign_documents
from annotation.services.campaign_settings import NAMES as SETTINGS
from annotation.services.campaign_settings import CampaignSettings, settings_of
from annotation.services.campaigns import (
    close_campaign,
    create_campaign,
    default_guidelines,
    open_campaign,
    reopen_campaign,
)
from annotation.services.inviting import invite_people
from annotation.services.members import remove_member
from portal.accounts.access import is_organiser
from portal.accounts.emails import origin_of
from portal.accounts.invitations.selectors import accounts_of

from . import campaign_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationRefusal


class CampaignList(AnnotationView):
    @extend_schema(
        summary="My campaigns", tags=["campaigns"], responses=shapes.CampaignRow(many=True)
    )
    def get(self, request: Request) -> Response:
        rows = campaign_rows(request.user)
        return Response(shapes.CampaignRow(rows, many=True).data)

    @extend_schema(
        summary="Make a campaign (organisers)",
        tags=["campaigns"],
        request=shapes.NewCampaign,
        responses={201: shapes.CampaignDetail},
    )
    def post(self, request: Request) -> Response:
        if not is_organiser(request.user):
            raise PermissionDenied("Only organisers may do this.")
        body = shapes.NewCampaign(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = {"guidelines": default_guidelines()} | body.validated_data
        chosen = {name: wanted.pop(name) for name in SETTINGS if name in wanted}
        campaign = create_campaign(
            **wanted, settings=CampaignSettings(**chosen), actor=user_of(request)
        )
        return Response(
            _detail(campaign_for(request.user, campaign.slug)), status=status.HTTP_201_CREATED
        )


class CampaignDetail(AnnotationView):
    @extend_schema(
        operation_id="campaigns_retrieve_one",
        summary="A campaign: progress, people's work, guidelines",
        tags=["campaigns"],
        responses=shapes.CampaignDetail,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_detail(campaign_for(request.user, slug)))


def _detail(standing: Standing) -> dict[str, Any]:
    campaign = standing.campaign
    figures = campaign_overview(campaign)
    return {
        "slug": campaign.slug,
        "title": campaign.title,
        "dataset": campaign.dataset.slug,
        "state": campaign.state,
        "labels": campaign.labels,
        "overlap": campaign.overlap,
        "guidelines": campaign.guidelines,
        "roles": sorted(standing.roles),
        "stages": shapes.CampaignStages(figures.stages).data,
        "annotators": shapes.AnnotatorProgress(figures.annotators, many=True).data,
        "open_cases": figures.open_cases,
        "new_documents": figures.new_documents,
        "unassigned": figures.unassigned,
        "calibration": figures.calibration,
        "review_items": figures.review_items,
        "settings": asdict(settings_of(campaign)),
        "flagged": shapes.FlaggedWork(_flagged(standing), many=True).data,
    }


def _flagged(standing: Standing) -> list[FlaggedWork]:
    return flagged_work(standing.campaign) if standing.may_manage else []


class _StateChange(AnnotationView):
    """A POST that carries out one service on the campaign, for its leads and organisers."""

    def change(self, request: Request, slug: str, service: Callable[..., Campaign]) -> Response:
        standing = managed_campaign(request.user, slug)
        service(campaign=standing.campaign, actor=user_of(request))
        return Response(_detail(standing))


class CampaignOpen(_StateChange):
    @extend_schema(
        summary="Open a campaign (leads, organisers)",
        description="Shares every document of the dataset out among the annotators.",
        tags=["campaigns"],
        request=None,
        responses={200: shapes.CampaignDetail, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        return self.change(request, slug, open_campaign)


class CampaignClose(_StateChange):
    @extend_schema(
        summary="Close a campaign (leads, organisers)",
        tags=["campaigns"],
        request=None,
        responses={200: shapes.CampaignDetail, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        return self.change(request, slug, close_campaign)


class CampaignReopen(_StateChange):
    @extend_schema(
        summary="Open a closed campaign again (leads, organisers)",
        tags=["campaigns"],
        request=None,
        responses={200: shapes.CampaignDetail, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        return self.change(request, slug, reopen_campaign)


class CampaignAssign(AnnotationView):
    @extend_schema(
        summary="Share out documents added to the dataset later (leads, organisers)",
        tags=["campaigns"],
        request=None,
        responses={200: shapes.DocumentsShared, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        documents = assign_documents(campaign=standing.campaign, actor=user_of(request))
        return Response({"documents": documents})


class CampaignPeople(AnnotationView):
    @extend_schema(
        summary="The people of a campaign (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.CampaignMember(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        return Response(shapes.CampaignMember(campaign_people(standing), many=True).data)

    @extend_schema(
        summary="Give somebody with an account a role (leads, organisers)",
        description="They are told by e-mail. Others are invited under `invitations/`. Only "
        "organisers make somebody a lead.",
        tags=["campaigns"],
        request=shapes.NewCampaignMember,
        responses={201: shapes.CampaignMember(many=True), 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.NewCampaignMember(data=request.data)
        body.is_valid(raise_exception=True)
        role = body.validated_data["role"]
        _require_may_give(standing, role)
        email = body.validated_data["email"].lower()
        if email not in accounts_of([email]):
            raise ValidationError({"email": ["Nobody has an account with this address."]})
        invite_people(
            campaign=standing.campaign,
            emails=[email],
            role=role,
            actor=user_of(request),
            origin=origin_of(request),
        )
        people = shapes.CampaignMember(campaign_people(standing), many=True).data
        return Response(people, status=status.HTTP_201_CREATED)


class CampaignPerson(AnnotationView):
    @extend_schema(
        summary="Take a role away (leads, organisers)",
        description="Documents an annotator never began go to the others; with `begun` those, too, "
        "that are begun and not submitted.",
        tags=["campaigns"],
        parameters=[shapes.MemberRemoval],
        responses={200: shapes.HandedOver, 409: AnnotationRefusal},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        membership = get_object_or_404(standing.campaign.memberships.select_related("user"), pk=pk)
        _require_may_give(standing, membership.role)
        query = shapes.MemberRemoval(data=request.query_params)
        query.is_valid(raise_exception=True)
        handed_over = remove_member(
            membership=membership, actor=user_of(request), **query.validated_data
        )
        return Response({"handed_over": handed_over})


def _require_may_give(standing: Standing, role: str) -> None:
    if not standing.may_give(role):
        raise PermissionDenied("Only organisers choose who leads a campaign.")
