"""The shapes of the domain review, and of one's own marks beside the gold."""

from typing import Any

from rest_framework import serializers

from annotation.models import ReviewItem, ReviewRound
from annotation.selectors.own_gold import OUTCOMES
from annotation.services.reviewing import MAX_REASON, MAX_SEED
from annotation.span_values import MAX_VALUE

# `pending` is none that a reviewer gives.
GIVEN_VERDICTS = [row for row in ReviewItem.Verdict.choices if row[0] != ReviewItem.Verdict.PENDING]


class VerdictCounts(serializers.Serializer[Any]):
    accepted = serializers.IntegerField()
    corrected = serializers.IntegerField()
    sent_back = serializers.IntegerField()
    pending = serializers.IntegerField()
    decided = serializers.IntegerField()
    total = serializers.IntegerField(help_text="Facts that were drawn.")
    acceptance = serializers.FloatField(
        allow_null=True, help_text="Accepted / decided; null before the first verdict."
    )
    interval = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="95 %, by Wilson: [low, high]."
    )


class ReviewRoundShape(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="round.number")
    state = serializers.ChoiceField(source="round.state", choices=ReviewRound.State.choices)
    seed = serializers.IntegerField(source="round.seed")
    share = serializers.FloatField(source="round.share")
    pages = serializers.IntegerField(source="round.pages")
    facts = serializers.IntegerField(source="round.facts", help_text="On those pages.")
    guidelines_version = serializers.IntegerField(source="round.guidelines_version")
    opened_at = serializers.DateTimeField(source="round.opened_at")
    closed_at = serializers.DateTimeField(source="round.closed_at", allow_null=True)
    verdicts = VerdictCounts()


class ReviewShape(serializers.Serializer[Any]):
    every = serializers.IntegerField(help_text="A round is due after so many pages; 0 for none.")
    share = serializers.FloatField()
    waiting = serializers.IntegerField(help_text="Gold pages that are in no round yet.")
    blocks = serializers.CharField(allow_null=True, help_text="Why a release has to wait.")
    rounds = ReviewRoundShape(many=True, help_text="Newest first.")


class NewReviewRound(serializers.Serializer[Any]):
    seed = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MAX_SEED, default=None,
        help_text="Random unless given.",
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
    correction = ReviewedFact(allow_null=True, help_text="Null where the fact was removed.")
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
    gold = ReviewedFact(many=True, source="standing", help_text="What is gold there now.")
    before = serializers.CharField(source="context.before", default="", allow_blank=True)
    after = serializers.CharField(source="context.after", default="", allow_blank=True)
    obstacle = serializers.CharField(
        allow_blank=True, help_text="Why I cannot give a verdict; empty when I can."
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
        help_text="Needed for corrected and sent_back.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["verdict"] == "corrected") != ("correction" in attrs):
            raise serializers.ValidationError(
                {"correction": "Belongs to the verdict corrected; null removes the fact."}
            )
        return attrs


class ReviewDecided(serializers.Serializer[Any]):
    item = ReviewItemRow()
    round_state = serializers.ChoiceField(choices=ReviewRound.State.choices)
    next = serializers.IntegerField(allow_null=True)


class OwnGoldFact(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=list(OUTCOMES))
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    own = ReviewedFact(many=True, help_text="My marks there.")
    gold = ReviewedFact(many=True)
    value_differs = serializers.BooleanField(help_text="Right, but read as another value.")
    reasons = serializers.ListField(child=serializers.CharField())


class OwnGoldCounts(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=list(OUTCOMES))
    count = serializers.IntegerField()


class OwnGoldShape(serializers.Serializer[Any]):
    document = serializers.CharField()
    counts = OwnGoldCounts(many=True)
    values_differ = serializers.IntegerField()
    facts = OwnGoldFact(many=True, help_text="In text order.")
