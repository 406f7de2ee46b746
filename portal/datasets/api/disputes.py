"""Endpoints of disputes."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated, IsAuthenticatedOrReadOnly
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.emails import origin_of
from portal.datasets.access import get_dataset, may_see_item_gold
from portal.datasets.dispute_access import (
    get_decidable,
    get_dispute,
    get_own_dispute,
    get_release_item,
    visible_disputes,
)
from portal.datasets.models import Dispute
from portal.datasets.selectors.corrections import planned_corrections
from portal.datasets.selectors.disputes import dispute_page, dispute_rows
from portal.datasets.services.disputes import (
    DisputeRefused,
    decide_dispute,
    raise_dispute,
    withdraw_dispute,
)

from .base import actor_of
from .dispute_serializers import (
    DecisionSerializer,
    DisputeDetailSerializer,
    DisputeQuerySerializer,
    DisputeRowSerializer,
    NewDisputeSerializer,
    PlannedCorrectionSerializer,
)


class DisputeList(GenericAPIView[Any]):
    """The disputes of a dataset, newest first. Whoever is signed in raises a new one."""

    queryset = Dispute.objects.none()
    serializer_class = DisputeRowSerializer
    permission_classes = [IsAuthenticatedOrReadOnly]

    @extend_schema(parameters=[DisputeQuerySerializer], responses=DisputeRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = DisputeQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        found = visible_disputes(request.user, dataset)
        if state := wanted.validated_data["state"]:
            found = found.filter(state=state)
        if release := wanted.validated_data["release"]:
            found = found.filter(item__release__version=release)
        if wanted.validated_data["mine"]:
            mine = request.user.pk if request.user.is_authenticated else None
            found = found.filter(raised_by__isnull=False, raised_by=mine)
        page = self.paginate_queryset(found) or []
        rows = dispute_rows(request.user, dataset, page)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)

    @extend_schema(request=NewDisputeSerializer, responses={201: DisputeDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        get_dataset(request.user, slug)
        wanted = NewDisputeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data, user = wanted.validated_data, actor_of(request)
        item = get_release_item(user, slug, data["release"], data["item"])
        if data["fact"] is not None and not may_see_item_gold(user, item):
            message = "The gold of this item is hidden: dispute it as a whole, without a fact."
            raise ValidationError({"fact": [message]})
        try:
            dispute = raise_dispute(
                item=item,
                fact=data["fact"],
                claim=data["claim"],
                reason=data["reason"],
                actor=user,
            )
        except DisputeRefused as refusal:
            raise _invalid(refusal) from refusal
        return Response(_shown(request, slug, dispute.pk), status.HTTP_201_CREATED)


class CorrectionList(APIView):
    """The accepted disputes that no release has settled, and what each does to the gold of the
    newest release when the next one is made of that, for organisers.
    """

    permission_classes = [IsOrganiser]

    @extend_schema(responses=PlannedCorrectionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        planned = planned_corrections(get_dataset(request.user, slug))
        return Response(PlannedCorrectionSerializer(planned, many=True).data)


class DisputeDetail(APIView):
    """One dispute."""

    @extend_schema(responses=DisputeDetailSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(_shown(request, slug, pk))


class DisputeDecision(APIView):
    """Accepts or declines, for leads of the dataset's campaigns and organisers.

    A dispute that is decided stays as it is; the answer tells how.
    """

    permission_classes = [IsAuthenticated]

    @extend_schema(request=DecisionSerializer, responses=DisputeDetailSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        dispute = get_decidable(request.user, slug, pk)
        wanted = DecisionSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            decide_dispute(
                dispute=dispute,
                **wanted.validated_data,
                actor=actor_of(request),
                origin=origin_of(request),
            )
        except DisputeRefused as refusal:
            raise _invalid(refusal) from refusal
        return Response(_shown(request, slug, pk))


class DisputeWithdrawal(APIView):
    """Takes a dispute of one's own back. One that is decided stays as it is."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses=DisputeDetailSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        dispute = get_own_dispute(request.user, slug, pk)
        withdraw_dispute(dispute=dispute, actor=actor_of(request))
        return Response(_shown(request, slug, pk))


def _shown(request: Request, slug: str, pk: int) -> Any:
    page = dispute_page(request.user, get_dispute(request.user, slug, pk))
    return DisputeDetailSerializer(page).data


def _invalid(refusal: DisputeRefused) -> ValidationError:
    return ValidationError({refusal.field or "non_field_errors": [refusal.message]})
