"""Endpoints of disputes."""

from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated, IsAuthenticatedOrReadOnly
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.emails import origin_of
from portal.datasets.access import (
    actor_of,
    get_dataset,
    get_decidable,
    get_dispute,
    get_own_dispute,
    get_release_item,
    may_see_item_gold,
)
from portal.datasets.models import Dispute
from portal.datasets.releases.corrections import planned_corrections
from portal.datasets.responses import refusals_by_field
from portal.web.answers import ListingView
from portal.web.api import ErrorSerializer, checked

from .selectors import DisputeRow, dispute_page, dispute_rows, filter_disputes
from .services import (
    ACTS,
    CLAIM_LENGTH,
    REASON_LENGTH,
    WantedCorrection,
    decide_dispute,
    raise_dispute,
    withdraw_dispute,
)


class DisputeRowSerializer(serializers.Serializer[DisputeRow]):
    """A dispute that you may read."""

    id = serializers.IntegerField(source="dispute.pk")
    state = serializers.ChoiceField(choices=Dispute.State.choices, source="dispute.state")
    release = serializers.CharField(source="dispute.item.release.version")
    item = serializers.CharField(source="dispute.item.name")
    is_own = serializers.BooleanField()
    fact = serializers.IntegerField(
        source="dispute.fact",
        allow_null=True,
        help_text="Number of the fact; null if it is about the whole item.",
    )
    claim = serializers.CharField(source="dispute.claim")
    reason = serializers.CharField(source="dispute.reason")
    answer = serializers.CharField(source="dispute.answer")
    correction = serializers.JSONField(
        source="dispute.correction",
        allow_null=True,
        help_text="{act, type, value, start, end} if accepted; null if manual.",
    )
    raised_at = serializers.DateTimeField(source="dispute.raised_at")
    decided_at = serializers.DateTimeField(source="dispute.decided_at", allow_null=True)
    settled_in = serializers.SerializerMethodField(help_text="The release that resolves it.")

    def get_settled_in(self, row: DisputeRow) -> str | None:
        settled = row.dispute.settled_in
        return settled.version if settled else None


class DisputeDetailSerializer(DisputeRowSerializer):
    """A dispute, and whether you may decide it."""

    may_decide = serializers.BooleanField()


class DisputeQuerySerializer(serializers.Serializer[Any]):
    """Filters for disputes."""

    state = serializers.ChoiceField(choices=Dispute.State.choices, required=False, default="")
    release = serializers.CharField(required=False, default="", max_length=32)
    mine = serializers.BooleanField(required=False, default=False)


class NewDisputeSerializer(serializers.Serializer[Any]):
    release = serializers.CharField(max_length=32, help_text="Version of the release.")
    item = serializers.CharField(max_length=160, help_text="Name of the item.")
    fact = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        help_text="Number of the fact; null for a missing fact or the whole item.",
    )
    claim = serializers.CharField(max_length=CLAIM_LENGTH, help_text="The correct fact.")
    reason = serializers.CharField(max_length=REASON_LENGTH)


class WantedCorrectionSerializer(serializers.Serializer[Any]):
    """A change of the disputed fact in the next release, or a fact to add."""

    act = serializers.ChoiceField(choices=[(act, act) for act in ACTS])
    type = serializers.CharField(required=False, default="", max_length=64, allow_blank=True)
    value = serializers.CharField(
        required=False, default="", max_length=CLAIM_LENGTH, allow_blank=True,
        help_text="The text in the document.",
    )  # fmt: skip
    start = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=0,
        help_text="Offset of the text, if it occurs more than once in the document.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> Any:
        return WantedCorrection(**attrs)


class DecisionSerializer(serializers.Serializer[Any]):
    accept = serializers.BooleanField()
    answer = serializers.CharField(
        max_length=REASON_LENGTH, help_text="Sent to the user who raised it."
    )
    correction = WantedCorrectionSerializer(
        required=False,
        allow_null=True,
        default=None,
        help_text="For an accepted dispute. By default, it is read from the claim.",
    )


class GoldCorrectionSerializer(serializers.Serializer[Any]):
    """A correction of the gold; `start` and `end` are code points of the text."""

    act = serializers.ChoiceField(choices=[(act, act) for act in ACTS])
    type = serializers.CharField(required=False)
    value = serializers.CharField(required=False)
    start = serializers.IntegerField(required=False)
    end = serializers.IntegerField(required=False)


class PlannedCorrectionSerializer(serializers.Serializer[Any]):
    """An accepted dispute and its correction of the newest release."""

    dispute = serializers.IntegerField(source="dispute.pk")
    item = serializers.CharField(source="dispute.item.name")
    fact = serializers.IntegerField(source="dispute.fact", allow_null=True)
    correction = GoldCorrectionSerializer(source="dispute.correction", allow_null=True)
    applies = serializers.BooleanField()
    reason = serializers.CharField(help_text="Why it cannot be applied; empty if it can.")


class DisputeList(ListingView):
    """List the disputes of a dataset, newest first, or raise one as a signed-in user."""

    serializer_class = DisputeRowSerializer
    permission_classes = [IsAuthenticatedOrReadOnly]

    @extend_schema(parameters=[DisputeQuerySerializer], responses=DisputeRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = checked(DisputeQuerySerializer, request.query_params)
        found = filter_disputes(request.user, dataset, **wanted)
        rows = partial(dispute_rows, request.user, dataset)
        return self.listed(found, rows)

    @extend_schema(request=NewDisputeSerializer, responses={201: DisputeDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        get_dataset(request.user, slug)
        data, user = checked(NewDisputeSerializer, request.data), actor_of(request)
        item = get_release_item(user, slug, data["release"], data["item"])
        if data["fact"] is not None and not may_see_item_gold(user, item):
            message = "The gold of this item is hidden. Dispute the item without a fact."
            raise ValidationError({"fact": [message]})
        with refusals_by_field():
            dispute = raise_dispute(
                item=item,
                fact=data["fact"],
                claim=data["claim"],
                reason=data["reason"],
                actor=user,
            )
        return Response(_shown(request, slug, dispute.pk), status.HTTP_201_CREATED)


class CorrectionList(APIView):
    """List accepted disputes that are not settled, with their corrections of the newest release."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=PlannedCorrectionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        planned = planned_corrections(get_dataset(request.user, slug))
        return Response(PlannedCorrectionSerializer(planned, many=True).data)


class DisputeDetail(APIView):
    """Return a dispute."""

    @extend_schema(responses=DisputeDetailSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(_shown(request, slug, pk))


class DisputeDecision(APIView):
    """Accept or decline a dispute, as a lead of the dataset's campaigns or an organiser.

    Returns 409 with the decision if it is already decided. Repeating your decision changes nothing.
    """

    permission_classes = [IsAuthenticated]

    @extend_schema(
        request=DecisionSerializer, responses={200: DisputeDetailSerializer, 409: ErrorSerializer}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        dispute = get_decidable(request.user, slug, pk)
        wanted = checked(DecisionSerializer, request.data)
        actor, origin = actor_of(request), origin_of(request)
        with refusals_by_field():
            decide_dispute(dispute=dispute, **wanted, actor=actor, origin=origin)
        return Response(_shown(request, slug, pk))


class DisputeWithdrawal(APIView):
    """Withdraw your own dispute. Returns 409 with the decision if it is already decided."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses={200: DisputeDetailSerializer, 409: ErrorSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        dispute = get_own_dispute(request.user, slug, pk)
        with refusals_by_field():
            withdraw_dispute(dispute=dispute, actor=actor_of(request))
        return Response(_shown(request, slug, pk))


def _shown(request: Request, slug: str, pk: int) -> Any:
    page = dispute_page(request.user, get_dispute(request.user, slug, pk))
    return DisputeDetailSerializer(page).data
