"""JSON forms of disputes."""

from typing import Any

from rest_framework import serializers

from portal.datasets.models import Dispute
from portal.datasets.selectors.disputes import DisputePage, DisputeRow
from portal.datasets.services.corrections import ACTS, WantedCorrection
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
    correction = serializers.JSONField(
        source="dispute.correction",
        allow_null=True,
        help_text="{act, type, value, start, end} of an accepted one; null: by hand, or hidden.",
    )
    raised_at = serializers.DateTimeField(source="dispute.raised_at")
    decided_at = serializers.DateTimeField(source="dispute.decided_at", allow_null=True)
    settled_in = serializers.SerializerMethodField(help_text="The release that tells of it.")

    HIDDEN = ("fact", "claim", "reason", "answer", "correction")

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


class WantedCorrectionSerializer(serializers.Serializer[Any]):
    """What the next release does to the disputed fact, or the fact that it adds."""

    act = serializers.ChoiceField(choices=[(act, act) for act in ACTS])
    type = serializers.CharField(required=False, default="", max_length=64, allow_blank=True)
    value = serializers.CharField(
        required=False, default="", max_length=CLAIM_LENGTH, allow_blank=True,
        help_text="The text as the page has it.",
    )  # fmt: skip
    start = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=0,
        help_text="Where it starts, if the page has the text more than once.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> Any:
        return WantedCorrection(**attrs)


class DecisionSerializer(serializers.Serializer[Any]):
    accept = serializers.BooleanField()
    answer = serializers.CharField(max_length=REASON_LENGTH, help_text="The raiser gets it.")
    correction = WantedCorrectionSerializer(
        required=False,
        allow_null=True,
        default=None,
        help_text="Of an accepted one; without it what the claim says, as far as it can be read.",
    )


class GoldCorrectionSerializer(serializers.Serializer[Any]):
    """What is applied to the gold; `start` and `end` in code points of the text."""

    act = serializers.ChoiceField(choices=[(act, act) for act in ACTS])
    type = serializers.CharField(required=False)
    value = serializers.CharField(required=False)
    start = serializers.IntegerField(required=False)
    end = serializers.IntegerField(required=False)


class PlannedCorrectionSerializer(serializers.Serializer[Any]):
    """An accepted dispute and what it does to the gold of the newest release."""

    dispute = serializers.IntegerField(source="dispute.pk")
    item = serializers.CharField(source="dispute.item.name")
    fact = serializers.IntegerField(source="dispute.fact", allow_null=True)
    correction = GoldCorrectionSerializer(source="dispute.correction", allow_null=True)
    applies = serializers.BooleanField()
    reason = serializers.CharField(help_text="Why it is not applied; empty where it is.")
