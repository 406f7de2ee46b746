"""JSON forms of disputes."""

from typing import Any

from rest_framework import serializers

from portal.datasets.models import Dispute
from portal.datasets.selectors.disputes import DisputePage, DisputeRow
from portal.datasets.services.disputes import CLAIM_LENGTH, REASON_LENGTH


class DisputeRowSerializer(serializers.Serializer[Any]):
    """A dispute; where `readable` is false, what it says is null."""

    id = serializers.IntegerField(source="dispute.pk")
    state = serializers.ChoiceField(choices=Dispute.State.choices, source="dispute.state")
    release = serializers.CharField(source="dispute.item.release.version")
    item = serializers.CharField(source="dispute.item.name")
    readable = serializers.BooleanField()
    is_own = serializers.BooleanField()
    fact = serializers.IntegerField(
        source="dispute.fact", allow_null=True, help_text="Its number n; null: none, or hidden."
    )
    claim = serializers.CharField(source="dispute.claim", allow_null=True)
    reason = serializers.CharField(source="dispute.reason", allow_null=True)
    answer = serializers.CharField(source="dispute.answer", allow_null=True)
    raised_at = serializers.DateTimeField(source="dispute.raised_at")
    decided_at = serializers.DateTimeField(source="dispute.decided_at", allow_null=True)
    settled_in = serializers.SerializerMethodField(help_text="The release that tells of it.")

    HIDDEN = ("fact", "claim", "reason", "answer")

    def get_settled_in(self, row: DisputeRow | DisputePage) -> str | None:
        settled = row.dispute.settled_in
        return settled.version if settled else None

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if instance.readable else shown | dict.fromkeys(self.HIDDEN)


class DisputeDetailSerializer(DisputeRowSerializer):
    """A dispute and whether the reader may decide it."""

    may_decide = serializers.BooleanField()


class DisputeQuerySerializer(serializers.Serializer[Any]):
    """How disputes are looked for."""

    state = serializers.ChoiceField(choices=Dispute.State.choices, required=False, default="")
    release = serializers.CharField(required=False, default="", max_length=32)
    mine = serializers.BooleanField(required=False, default=False)


class NewDisputeSerializer(serializers.Serializer[Any]):
    release = serializers.CharField(max_length=32, help_text="The version.")
    item = serializers.CharField(max_length=160, help_text="The id.")
    fact = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        help_text="Its number n; null: a fact is missing, or the item as a whole.",
    )
    claim = serializers.CharField(max_length=CLAIM_LENGTH, help_text="What it should be.")
    reason = serializers.CharField(max_length=REASON_LENGTH)


class DecisionSerializer(serializers.Serializer[Any]):
    accept = serializers.BooleanField()
    answer = serializers.CharField(max_length=REASON_LENGTH, help_text="The raiser gets it.")
