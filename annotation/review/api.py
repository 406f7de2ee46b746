"""The API of the domain review."""

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated

from annotation.access import (
    CampaignAccess,
    item_for,
    item_to_decide,
    review_to_open,
    reviewed_campaign,
    round_for,
)
from annotation.api_base import INVALID, AnnotationView, reads, writes
from annotation.models import ReviewItem, ReviewRound
from annotation.spans import MAX_VALUE
from portal.accounts.models import User
from portal.web.answers import answer

from . import selectors
from .services import MAX_REASON, MAX_SEED, decide_item, open_round_now

# Reviewers cannot give the verdict `pending`.
GIVEN_VERDICTS = [row for row in ReviewItem.Verdict.choices if row[0] != ReviewItem.Verdict.PENDING]


VerdictCounts = answer(
    selectors.Verdicts,
    "VerdictCounts",
    decided=serializers.IntegerField(),
    total=serializers.IntegerField(help_text="Drawn facts."),
    acceptance=serializers.FloatField(
        allow_null=True, help_text="Accepted / decided; null before the first verdict."
    ),
    interval=serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="95% Wilson interval."
    ),
)


class ReviewRoundShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=ReviewRound.State.choices)
    seed = serializers.IntegerField()
    share = serializers.FloatField()
    pages = serializers.IntegerField()
    facts = serializers.IntegerField(help_text="On those documents.")
    guidelines_version = serializers.IntegerField()
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    verdicts = VerdictCounts()


ReviewShape = answer(
    selectors.Review,
    "ReviewShape",
    every="Gold documents after which a round opens; 0 for no review.",
    waiting="Gold documents that are not in a round.",
    blocks="Why a release must wait, or null.",
    rounds=ReviewRoundShape(many=True, help_text="Newest first."),
)


class NewReviewRound(serializers.Serializer[Any]):
    seed = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MAX_SEED, default=None,
        help_text="Random by default.",
    )  # fmt: skip


class ReviewedFact(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    sign = serializers.CharField(allow_blank=True)


class ReviewItemRow(serializers.ModelSerializer[ReviewItem]):
    document = serializers.CharField(source="campaign_document.document.name")
    correction = ReviewedFact(allow_null=True, help_text="Null if the fact was removed.")
    reviewer = serializers.CharField(allow_null=True)

    class Meta:
        model = ReviewItem
        fields = [
            *("position", "document", "label", "start", "end", "quote", "value", "sign"),
            *("verdict", "correction", "reason", "guidelines_version", "reviewer", "decided_at"),
        ]
        read_only_fields = fields


class ReviewItemDetail(serializers.Serializer[Any]):
    item = ReviewItemRow()
    gold = ReviewedFact(many=True, source="gold_now", help_text="The current gold at this place.")
    before = serializers.CharField(source="context.before", default="", allow_blank=True)
    after = serializers.CharField(source="context.after", default="", allow_blank=True)
    obstacle = serializers.CharField(
        allow_blank=True, help_text="Why you cannot give a verdict; empty if you can."
    )
    next = serializers.IntegerField(
        source="next_position", allow_null=True, help_text="Position of the next fact to review."
    )


class Correction(serializers.Serializer[Any]):
    label = serializers.CharField(max_length=64)  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    value = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_VALUE,
        help_text="Derived when null or left out.",
    )  # fmt: skip
    sign = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=20,
        help_text="Derived when null or left out.",
    )  # fmt: skip


class ReviewVerdict(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=GIVEN_VERDICTS)
    correction = Correction(
        required=False, allow_null=True, help_text="For corrected: the fact, or null to remove it."
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_REASON, default="",
        help_text="Required for corrected and sent_back.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["verdict"] == "corrected") != ("correction" in attrs):
            raise serializers.ValidationError(
                {"correction": "Required with the verdict corrected, not allowed with any other."}
            )
        return attrs


class ReviewDecided(serializers.Serializer[Any]):
    item = ReviewItemRow()
    round_state = serializers.ChoiceField(choices=ReviewRound.State.choices)
    next = serializers.IntegerField(allow_null=True)


class CampaignReview(AnnotationView):
    @reads(
        "Get the reviews of a campaign (reviewers, leads)",
        on=reviewed_campaign,
        gives=ReviewShape,
    )
    def get(self, access: CampaignAccess) -> Any:
        return selectors.review_of(access.campaign)

    @writes(
        "Open a review round before it is due (leads)",
        on=review_to_open,
        takes=NewReviewRound,
        gives=ReviewRoundShape,
        code=201,
        description="Draws from all gold documents that are not in a round.",
    )
    def post(self, access: CampaignAccess, user: User, seed: int | None) -> Any:
        return _counted(open_round_now(campaign=access.campaign, actor=user, seed=seed))


class CampaignReviewRound(AnnotationView):
    @reads(
        "Get a review round (reviewers, leads)",
        on=round_for,
        gives=ReviewRoundShape,
        operation_id="campaigns_review_retrieve_one",
    )
    def get(self, _: CampaignAccess, found: ReviewRound) -> Any:
        return _counted(found)


def _counted(found: ReviewRound) -> Any:
    (counted,) = selectors.with_verdicts(ReviewRound.objects.filter(pk=found.pk))
    return counted


@extend_schema_view(
    get=extend_schema(summary="List the facts of a review (reviewers, leads)", tags=["campaigns"])
)
class ReviewItemList(ListAPIView[ReviewItem]):
    permission_classes = [IsAuthenticated]
    serializer_class = ReviewItemRow
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["verdict"]
    queryset = ReviewItem.objects.none()

    def get_queryset(self) -> QuerySet[ReviewItem]:
        if getattr(self, "swagger_fake_view", False):
            return ReviewItem.objects.none()
        _, found = round_for(self.request.user, **self.kwargs)
        return selectors.round_items(found)


class ReviewItemDetailView(AnnotationView):
    @reads(
        "Get a fact of a review round (reviewers, leads)",
        on=item_for,
        gives=ReviewItemDetail,
        operation_id="campaigns_review_items_retrieve_one",
    )
    def get(self, access: CampaignAccess, item: ReviewItem) -> Any:
        reader = self.request.user
        return selectors.item_view(access.campaign, item, reader, may_decide=access.is_reviewer)


class ReviewItemDecide(AnnotationView):
    @writes(
        "Give a verdict on a fact (reviewers)",
        on=item_to_decide,
        takes=ReviewVerdict,
        gives=ReviewDecided,
        refuses=INVALID,
    )
    def post(self, _: CampaignAccess, item: ReviewItem, user: User, **body: Any) -> Any:
        decided = decide_item(item=item, actor=user, **body)
        state = ReviewRound.objects.values_list("state", flat=True).get(pk=item.round_id)
        return {"item": decided, "round_state": state, "next": selectors.next_pending(decided)}
