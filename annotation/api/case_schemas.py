"""The shapes of cases and of pages in adjudication; they also check plain bodies."""

from typing import Any

from rest_framework import serializers

from annotation.models import CampaignDocument, Case, Decision, GoldSpan
from annotation.selectors.adjudication import ORDERS
from annotation.selectors.case_views import case_view
from annotation.services.adjudicating import MAX_REASON
from annotation.span_values import MAX_VALUE

from .schemas import DoubtShape, SpanDraft, SpanRemark

CHOICES = [choice for choice in Decision.Choice.choices if choice[0] != Decision.Choice.REOPENED]
DIFFERENCES = ["only", "boundary", "label", "value", "review"]


class ProposedSpan(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()
    value = serializers.CharField(required=False, allow_blank=True)
    sign = serializers.CharField(required=False, allow_blank=True)


class CaseProposal(serializers.Serializer[Any]):
    letter = serializers.CharField(help_text="An annotator, or `gold`: the gold as it was.")
    spans = ProposedSpan(many=True)


class CaseTogether(serializers.Serializer[Any]):
    letters = serializers.ListField(child=serializers.CharField())
    spans = ProposedSpan(many=True)


class CaseVerdict(serializers.Serializer[Any]):
    choice = serializers.ChoiceField(choices=Decision.Choice.choices)
    letter = serializers.CharField(allow_null=True)
    spans = ProposedSpan(many=True)
    reason = serializers.CharField()
    decided_by = serializers.CharField(allow_null=True)
    decided_at = serializers.DateTimeField()


class CaseShape(serializers.Serializer[Any]):
    """A case as a lead sees it: annotators are letters."""

    id = serializers.IntegerField()
    document = serializers.CharField()
    kind = serializers.ChoiceField(choices=Case.Kind.choices)
    kind_label = serializers.CharField()
    state = serializers.ChoiceField(choices=Case.State.choices)
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True, help_text="Agreement on the entity, 0 to 1.")
    difference = serializers.ChoiceField(choices=DIFFERENCES)
    marked_by = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField(help_text="Why the case was opened, where somebody said so.")
    proposals = CaseProposal(many=True)
    majority = ProposedSpan(many=True, allow_null=True)
    both = CaseTogether(allow_null=True)
    decision = ProposedSpan(many=True)
    choice = serializers.CharField()
    reason = serializers.CharField()
    decided_by = serializers.CharField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    history = CaseVerdict(many=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        view = case_view(instance) if isinstance(instance, Case) else instance
        shown: dict[str, Any] = super().to_representation(view)
        return shown


class CaseQuery(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Case.State.choices, required=False, default="")
    kind = serializers.ChoiceField(choices=Case.Kind.choices, required=False, default="")
    label = serializers.CharField(required=False, default="", max_length=64)  # type: ignore[assignment]
    document = serializers.CharField(required=False, default="")
    order = serializers.ChoiceField(choices=list(ORDERS.items()), required=False, default="text")


class PageQuery(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Case.Kind.choices, required=False, default="")
    label = serializers.CharField(required=False, default="", max_length=64)  # type: ignore[assignment]
    order = serializers.ChoiceField(choices=list(ORDERS.items()), required=False, default="text")


class DecisionSpan(serializers.Serializer[Any]):
    label = serializers.CharField(max_length=64)  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    value = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_VALUE,
        help_text="What all who marked the span read alike, else derived, when left out.",
    )  # fmt: skip
    sign = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=20)


class Reason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON)


class CaseDecision(serializers.Serializer[Any]):
    choice = serializers.ChoiceField(choices=CHOICES)
    proposal = serializers.CharField(
        required=False, max_length=10, help_text="For `proposal`: its letter."
    )
    spans: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DecisionSpan(),
        required=False,
        max_length=50,
        help_text="For `edit`: what shall be gold.",
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_REASON, default="",
        help_text="Needed for everything but `majority`.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name, choice in (("proposal", "proposal"), ("spans", "edit")):
            if (name in attrs) != (attrs["choice"] == choice):
                raise serializers.ValidationError(
                    {name: [f"goes with the choice {choice}, and with no other"]}
                )
        return attrs


class CaseDecided(serializers.Serializer[Any]):
    case = CaseShape()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    open_cases = serializers.IntegerField(help_text="In the campaign.")
    next = serializers.CharField(
        allow_null=True, help_text="Address of the next page with an open case that matches."
    )


class CaseRemark(serializers.Serializer[Any]):
    letter = serializers.CharField()
    text = serializers.CharField()
    start = serializers.IntegerField(allow_null=True)
    end = serializers.IntegerField(allow_null=True)
    quote = serializers.CharField(allow_blank=True)


class CaseDetail(CaseShape):
    remarks = CaseRemark(many=True)


class PageLabel(serializers.Serializer[Any]):
    name = serializers.CharField()
    key = serializers.CharField()
    css = serializers.CharField()


class PageMark(ProposedSpan):
    origin = serializers.ChoiceField(choices=GoldSpan.Origin.choices)


class AdjudicationPage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    text_sha256 = serializers.CharField()
    labels = PageLabel(many=True)
    marks = PageMark(many=True, help_text="Gold that no case decided.")
    cases = CaseShape(many=True)
    queue = serializers.ListField(
        child=serializers.IntegerField(), help_text="Open cases that match, in the order asked for."
    )
    remarks = CaseRemark(many=True, help_text="What annotators wrote.")
    facts = serializers.ListField(
        child=serializers.ListField(), help_text="[start, end, number or date], to snap to."
    )
    reasons = serializers.ListField(child=serializers.CharField())
    doubtful = DoubtShape(many=True, help_text="Gold and open proposals with a warning.")
    next = serializers.CharField(allow_null=True)
    review_round = serializers.BooleanField(help_text="Whether a domain review drew from the page.")


class PlaceReopening(Reason):
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)


class SpanReadings(serializers.Serializer[Any]):
    spans = SpanDraft(many=True)


class SpanReadingsAnswer(serializers.Serializer[Any]):
    spans = SpanRemark(many=True)
