"""The qualification round, and the quality of annotators, for programs."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import Standing, led_campaign, managed_campaign, qualified_campaign
from annotation.models import Membership
from annotation.selectors.annotator_quality import PERIODS, WEEK, campaign_quality
from annotation.selectors.known_gold import find_source, source_rows
from annotation.selectors.qualification import campaign_qualification, own_round
from annotation.selectors.qualification_findings import Finding, Side, page_findings
from annotation.services.qualifying import (
    add_qualification,
    grant_qualification_try,
    qualify_by_decision,
)
from portal.accounts.models import User

from . import qualification_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationRefusal


class CampaignQualification(AnnotationView):
    @extend_schema(
        summary="The qualification round of a campaign (annotators, leads, organisers)",
        description="Annotators get their own results, with what was right and wrong on pages they "
        "have submitted; leads and organisers those of all.",
        tags=["campaigns"],
        responses=shapes.CampaignQualification,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = qualified_campaign(request.user, slug)
        answer = {
            "threshold": standing.campaign.qualification_f1,
            "own": _own(standing, user_of(request)),
            **_managed(standing, user_of(request)),
        }
        return Response(answer)

    @extend_schema(
        summary="Add pages with known gold to the round (leads, organisers)",
        description="Every annotator who is not qualified gets them, and has to pass before real "
        "pages open.",
        tags=["campaigns"],
        request=shapes.NewQualification,
        responses={201: shapes.AddedQualification, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.NewQualification(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = body.validated_data
        source = find_source(request.user, standing.campaign, wanted.pop("source"))
        if source is None:
            raise ValidationError({"source": ["is none of the sources you may use here"]})
        names = add_qualification(
            campaign=standing.campaign, source=source, actor=user_of(request), **wanted
        )
        return Response({"documents": names}, status=status.HTTP_201_CREATED)


def _own(standing: Standing, user: User) -> dict[str, Any] | None:
    own = own_round(standing, user.pk)
    if own is None:
        return None
    body: dict[str, Any] = dict(shapes.QualificationRound(own).data)
    found = {item.page.name: item for item in page_findings(standing.campaign, own)}
    body["pages"] = [
        {
            **shapes.QualificationPage(page).data,
            "findings": [
                _finding(each)
                for item in [found.get(page.name)]
                if item
                for each in (*item.errors, *item.right)
            ],
        }
        for page in own.pages
    ]
    return body


def _finding(each: Finding) -> dict[str, Any]:
    return {
        "outcome": each.outcome,
        "gold": [_side(side) for side in each.gold],
        "marked": [_side(side) for side in each.marked],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "label": side.label,
        "start": side.start,
        "end": side.end,
        "quote": side.context.quote,
    }


def _managed(standing: Standing, user: User) -> dict[str, Any]:
    if not standing.may_manage:
        return {"annotators": [], "pages": [], "sources": []}
    found = campaign_qualification(standing.campaign)
    sources = source_rows(user, standing.campaign)
    return {
        "annotators": shapes.AnnotatorQualification(found.annotators, many=True).data,
        "pages": shapes.KnownPage(found.pages, many=True).data,
        "sources": shapes.GoldSource(sources, many=True).data,
    }


class QualificationTry(AnnotationView):
    @extend_schema(
        summary="Grant an annotator another try (leads, organisers)",
        description="`id` is that of the membership. Opens every page with a mistake again.",
        tags=["campaigns"],
        request=None,
        responses={200: shapes.GrantedTry, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        pages = grant_qualification_try(
            campaign=standing.campaign, user=_annotator(standing, pk), actor=user_of(request)
        )
        return Response({"pages": pages})


class QualificationDecision(AnnotationView):
    @extend_schema(
        summary="Qualify an annotator by decision (leads, organisers)",
        description="`id` is that of the membership. The reason stays with the decision.",
        tags=["campaigns"],
        request=shapes.QualifyingDecision,
        responses={200: shapes.Qualified, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.QualifyingDecision(data=request.data)
        body.is_valid(raise_exception=True)
        member = qualify_by_decision(
            campaign=standing.campaign,
            user=_annotator(standing, pk),
            reason=body.validated_data["reason"],
            actor=user_of(request),
        )
        return Response(shapes.Qualified(member).data)


def _annotator(standing: Standing, pk: int) -> User:
    members = standing.campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    return get_object_or_404(members.select_related("user"), pk=pk).user


class CampaignAnnotatorQuality(AnnotationView):
    @extend_schema(
        summary="How well each annotator works, over time (leads)",
        description="First submissions against gold, on gold pages that two or more people "
        "labelled.",
        tags=["campaigns"],
        parameters=[
            OpenApiParameter(
                "every",
                OpenApiTypes.STR,
                enum=list(PERIODS),
                default=WEEK,
                description="A week, or so many gold pages.",
            )
        ],
        responses=shapes.AnnotatorQuality,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = led_campaign(request.user, slug)
        every = request.query_params.get("every", WEEK)
        if every not in PERIODS:
            raise ValidationError({"every": [f"must be one of {', '.join(PERIODS)}"]})
        return Response(shapes.AnnotatorQuality(campaign_quality(standing.campaign, every)).data)
