"""Agreement, adjudication and releases, for programs."""

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import adjudicated_campaign, case_for, managed_campaign
from annotation.models import Case
from annotation.selectors.adjudication import letter_of, open_cases
from annotation.selectors.agreement import campaign_agreement
from annotation.selectors.releases import release_state
from annotation.services.adjudicating import decide_case, proposed_spans
from annotation.services.releasing import release_gold
from portal.facts import Span as TextSpan

from . import campaign_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationInvalid, AnnotationRefusal


class CampaignAgreement(AnnotationView):
    @extend_schema(
        summary="Agreement of a campaign's annotators (leads, organisers)",
        description="From the labels as submitted, over documents that everybody has submitted.",
        tags=["campaigns"],
        responses=shapes.CampaignAgreement,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        return Response(asdict(campaign_agreement(standing.campaign)))


@extend_schema_view(get=extend_schema(summary="Cases to adjudicate (leads)", tags=["campaigns"]))
class CaseList(ListAPIView[Case]):
    permission_classes = [IsAuthenticated]
    serializer_class = shapes.CaseShape
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["state", "kind"]
    queryset = Case.objects.none()

    def get_queryset(self) -> QuerySet[Case]:
        if getattr(self, "swagger_fake_view", False):
            return Case.objects.none()
        standing = adjudicated_campaign(self.request.user, self.kwargs["slug"])
        return (
            Case.objects.filter(campaign_document__campaign=standing.campaign)
            .select_related("campaign_document__document", "decided_by")
            .order_by("campaign_document", "start")
        )


class CaseDetail(AnnotationView):
    @extend_schema(
        operation_id="campaigns_cases_retrieve_one",
        summary="One case (leads)",
        tags=["campaigns"],
        responses=shapes.CaseShape,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        _, case = case_for(request.user, slug, pk)
        return Response(shapes.CaseShape(case).data)


class CaseDecide(AnnotationView):
    @extend_schema(
        summary="Decide a case (leads)",
        description="`choice` takes a proposal by its letter or `none`; `spans` decides otherwise.",
        tags=["campaigns"],
        request=shapes.CaseDecision,
        responses={200: shapes.CaseDecided, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing, case = case_for(request.user, slug, pk)
        body = shapes.CaseDecision(data=request.data)
        body.is_valid(raise_exception=True)
        decided = decide_case(
            case=case,
            decision_spans=_spans(case, body.validated_data),
            reason=body.validated_data["reason"],
            actor=user_of(request),
        )
        answer = {
            "case": decided.case,
            "stage": decided.stage,
            "open_cases": open_cases(standing.campaign).count(),
        }
        return Response(shapes.CaseDecided(answer).data)


def _spans(case: Case, wanted: dict[str, Any]) -> list[TextSpan]:
    if "spans" in wanted:
        return [TextSpan(span["start"], span["end"], span["label"]) for span in wanted["spans"]]
    if wanted["choice"] == "none":
        return []
    letters = [letter_of(place) for place in range(len(case.proposals))]
    if wanted["choice"] not in letters:
        raise ValidationError({"choice": [f"must be none or one of {', '.join(letters)}"]})
    return proposed_spans(case, letters.index(wanted["choice"]))


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
        release = release_gold(
            campaign=standing.campaign, actor=user_of(request), **body.validated_data
        )
        return Response(shapes.FrozenCampaignRelease(release).data, status=status.HTTP_201_CREATED)
