"""The domain review, for programs."""

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_assignment
from annotation.models import Campaign, ReviewItem, ReviewRound
from annotation.review_access import (
    check_may_decide,
    check_may_open,
    item_for,
    reviewed_campaign,
    round_for,
)
from annotation.selectors.own_gold import is_gold, own_gold
from annotation.selectors.review import counted_rounds, review_of, round_items, round_row
from annotation.selectors.review_items import item_view, next_pending
from annotation.services.errors import Refused
from annotation.services.reviewing import decide_item, open_round_now

from . import review_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationInvalid, AnnotationRefusal


class CampaignReview(AnnotationView):
    @extend_schema(
        summary="The domain review of a campaign (reviewers, leads)",
        tags=["campaigns"],
        responses=shapes.ReviewShape,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = reviewed_campaign(request.user, slug)
        return Response(shapes.ReviewShape(review_of(standing.campaign)).data)

    @extend_schema(
        summary="Open a review before it is due (leads)",
        description="Draws from the gold pages that no review has covered.",
        tags=["campaigns"],
        request=shapes.NewReviewRound,
        responses={201: shapes.ReviewRoundShape, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = reviewed_campaign(request.user, slug)
        check_may_open(standing)
        body = shapes.NewReviewRound(data=request.data)
        body.is_valid(raise_exception=True)
        found = open_round_now(
            campaign=standing.campaign, actor=user_of(request), seed=body.validated_data["seed"]
        )
        return Response(_round(standing.campaign, found), status=status.HTTP_201_CREATED)


class CampaignReviewRound(AnnotationView):
    @extend_schema(
        operation_id="campaigns_review_retrieve_one",
        summary="One review (reviewers, leads)",
        tags=["campaigns"],
        responses=shapes.ReviewRoundShape,
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        standing, found = round_for(request.user, slug, number)
        return Response(_round(standing.campaign, found))


def _round(campaign: Campaign, found: ReviewRound) -> Any:
    return shapes.ReviewRoundShape(round_row(counted_rounds(campaign).get(pk=found.pk))).data


@extend_schema_view(
    get=extend_schema(summary="Facts that a review drew (reviewers, leads)", tags=["campaigns"])
)
class ReviewItemList(ListAPIView[ReviewItem]):
    permission_classes = [IsAuthenticated]
    serializer_class = shapes.ReviewItemRow
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["verdict"]
    queryset = ReviewItem.objects.none()

    def get_queryset(self) -> QuerySet[ReviewItem]:
        if getattr(self, "swagger_fake_view", False):
            return ReviewItem.objects.none()
        _, found = round_for(self.request.user, self.kwargs["slug"], self.kwargs["number"])
        return round_items(found)


class ReviewItemDetail(AnnotationView):
    @extend_schema(
        operation_id="campaigns_review_items_retrieve_one",
        summary="One fact that was drawn (reviewers, leads)",
        tags=["campaigns"],
        responses=shapes.ReviewItemDetail,
    )
    def get(self, request: Request, slug: str, number: int, position: int) -> Response:
        standing, item = item_for(request.user, slug, number, position)
        view = item_view(standing.campaign, item, request.user, may_decide=standing.is_reviewer)
        return Response(shapes.ReviewItemDetail(view).data)


class ReviewItemDecide(AnnotationView):
    @extend_schema(
        summary="Give a verdict on a fact (reviewers)",
        tags=["campaigns"],
        request=shapes.ReviewVerdict,
        responses={200: shapes.ReviewDecided, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, slug: str, number: int, position: int) -> Response:
        standing, item = item_for(request.user, slug, number, position)
        check_may_decide(standing)
        body = shapes.ReviewVerdict(data=request.data)
        body.is_valid(raise_exception=True)
        decided = decide_item(
            item=item,
            verdict=body.validated_data["verdict"],
            correction=body.validated_data.get("correction"),
            reason=body.validated_data["reason"],
            actor=user_of(request),
        )
        state = ReviewRound.objects.values_list("state", flat=True).get(pk=item.round_id)
        answer = {"item": decided, "round_state": state, "next": next_pending(decided)}
        return Response(shapes.ReviewDecided(answer).data)


class AssignmentGold(AnnotationView):
    @extend_schema(
        summary="My marks beside the gold",
        description="Once the page is gold; 409 before.",
        tags=["assignments"],
        responses={200: shapes.OwnGoldShape, 409: AnnotationRefusal},
    )
    def get(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        if not is_gold(assignment):
            raise Refused("This page is not gold yet.", code="not_gold")
        found = own_gold(assignment)
        answer = {
            "document": assignment.campaign_document.document.name,
            "counts": found.counts,
            "values_differ": found.values_differ,
            "facts": found.facts,
        }
        return Response(shapes.OwnGoldShape(answer).data)
