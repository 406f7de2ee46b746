"""The shapes of campaigns, agreement, cases and releases; they also check plain bodies."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.forms import MAX_GUIDELINES, MAX_NOTE, MAX_OVERLAP, label_problems
from annotation.models import (
    Assignment,
    Campaign,
    Case,
    GuidelinesVersion,
    Membership,
)
from annotation.selectors.adjudication import letter_of
from portal.accounts.models import display_name
from portal.datasets.models import Dataset, Release


class CampaignStages(serializers.Serializer[Any]):
    annotation = serializers.IntegerField()
    adjudication = serializers.IntegerField()
    gold = serializers.IntegerField()
    total = serializers.IntegerField()


class CampaignRow(serializers.Serializer[Any]):
    slug = serializers.CharField(source="campaign.slug")
    title = serializers.CharField(source="campaign.title")
    dataset = serializers.CharField(source="campaign.dataset.slug")
    state = serializers.ChoiceField(source="campaign.state", choices=Campaign.State.choices)
    is_sample = serializers.BooleanField(source="campaign.is_sample")
    roles = serializers.ListField(child=serializers.CharField())
    stages = CampaignStages()


class AnnotatorProgress(serializers.Serializer[Any]):
    name = serializers.CharField()
    to_do = serializers.IntegerField()
    in_progress = serializers.IntegerField()
    submitted = serializers.IntegerField()


class FlaggedWork(serializers.Serializer[Any]):
    document = serializers.CharField()
    annotator = serializers.CharField()
    flag = serializers.CharField()
    reason = serializers.CharField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)


class CampaignDetail(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    dataset = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.choices)
    labels = serializers.ListField(child=serializers.CharField())
    overlap = serializers.IntegerField()
    guidelines = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField())
    stages = CampaignStages()
    annotators = AnnotatorProgress(many=True)
    open_cases = serializers.IntegerField()
    new_documents = serializers.IntegerField()
    flagged = FlaggedWork(many=True, help_text="For leads and organisers; else empty.")


class NewCampaign(serializers.Serializer[Any]):
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.all())
    title = serializers.CharField(max_length=160)
    labels = serializers.ListField(child=serializers.CharField(max_length=64))
    overlap = serializers.IntegerField(min_value=1, max_value=MAX_OVERLAP)
    guidelines = serializers.CharField(
        required=False, max_length=MAX_GUIDELINES, help_text="The default guidelines unless given."
    )

    def validate_labels(self, labels: list[str]) -> list[str]:
        if problems := label_problems(labels):
            raise serializers.ValidationError(problems)
        return labels


class GuidelinesEdit(serializers.Serializer[Any]):
    guidelines = serializers.CharField(max_length=MAX_GUIDELINES, allow_blank=True)
    note = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=MAX_NOTE,
        default="",
        help_text="What changed, and why.",
    )


class GuidelinesVersionRow(serializers.ModelSerializer[GuidelinesVersion]):
    author = serializers.SerializerMethodField()

    class Meta:
        model = GuidelinesVersion
        fields = ["number", "note", "author", "created_at"]

    def get_author(self, version: GuidelinesVersion) -> str:
        return display_name(version.author) if version.author else ""


class CampaignGuidelines(serializers.Serializer[Any]):
    guidelines = serializers.CharField(help_text="Markdown of the version asked for.")
    version = serializers.IntegerField()
    seen_version = serializers.IntegerField(help_text="The newest one that I opened; 0 for none.")
    versions = GuidelinesVersionRow(many=True, help_text="Newest first.")


class GuidelinesVersionQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, min_value=1, help_text="Else the newest.")


class GuidelinesOpened(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=1, help_text="The version that was opened.")


class GuidelinesSeenVersion(serializers.Serializer[Any]):
    seen_version = serializers.IntegerField()


class NewCampaignMember(serializers.Serializer[Any]):
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class CampaignMember(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class DocumentsShared(serializers.Serializer[Any]):
    documents = serializers.IntegerField(help_text="How many were shared out.")


class HandedOver(serializers.Serializer[Any]):
    handed_over = serializers.IntegerField(help_text="Documents that went to other annotators.")


class AgreementFigure(serializers.Serializer[Any]):
    kappa = serializers.FloatField(allow_null=True, help_text="Null where κ is undefined.")
    observed = serializers.FloatField(allow_null=True)
    items = serializers.IntegerField()
    documents = serializers.IntegerField()


class AgreementOverall(serializers.Serializer[Any]):
    annotators = serializers.IntegerField(help_text="Annotators per document.")
    figure = AgreementFigure()


class AgreementMatrixRow(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    name = serializers.CharField()
    cells = serializers.ListField(child=AgreementFigure(allow_null=True))


class LevelAgreement(serializers.Serializer[Any]):
    level = serializers.ChoiceField(choices=["entity", "token"])
    matrix = AgreementMatrixRow(many=True)
    overall = AgreementOverall(many=True)


class PartAgreement(serializers.Serializer[Any]):
    name = serializers.CharField()
    annotators = serializers.IntegerField(help_text="Annotators per document.")
    entity = AgreementFigure()
    token = AgreementFigure()


class CampaignAgreement(serializers.Serializer[Any]):
    annotators = serializers.ListField(child=serializers.CharField())
    levels = LevelAgreement(many=True)
    labels = PartAgreement(many=True)
    documents = PartAgreement(many=True)
    waiting = serializers.IntegerField(help_text="Documents not submitted by everybody.")
    single = serializers.IntegerField(help_text="Documents that one person labelled.")


class ProposedSpan(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()
    value = serializers.CharField(required=False, allow_blank=True)
    sign = serializers.CharField(required=False, allow_blank=True)


class CaseProposal(serializers.Serializer[Any]):
    letter = serializers.CharField()
    spans = ProposedSpan(many=True)


class CaseShape(serializers.ModelSerializer[Case]):
    document = serializers.CharField(source="campaign_document.document.name")
    proposals = serializers.SerializerMethodField()
    decision = ProposedSpan(many=True)
    decided_by = serializers.CharField(allow_null=True)

    class Meta:
        model = Case
        fields = [
            "id",
            "document",
            "kind",
            "state",
            "start",
            "end",
            "proposals",
            "decision",
            "reason",
            "decided_by",
            "decided_at",
        ]
        read_only_fields = fields

    @extend_schema_field(CaseProposal(many=True))
    def get_proposals(self, case: Case) -> list[dict[str, Any]]:
        return [
            {"letter": letter_of(place), "spans": proposal["spans"]}
            for place, proposal in enumerate(case.proposals)
        ]


class CaseDecisionSpan(serializers.Serializer[Any]):
    label = serializers.CharField(max_length=64)  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)


class CaseDecision(serializers.Serializer[Any]):
    choice = serializers.CharField(
        required=False, help_text="The letter of a proposal, or `none`; instead of `spans`."
    )
    spans = CaseDecisionSpan(many=True, required=False, help_text="The spans that shall be gold.")
    reason = serializers.CharField(required=False, allow_blank=True, max_length=2000, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("choice" in attrs) == ("spans" in attrs):
            raise serializers.ValidationError("Give either choice or spans.")
        return attrs


class CaseDecided(serializers.Serializer[Any]):
    case = CaseShape()
    stage = serializers.CharField()
    open_cases = serializers.IntegerField()


class UnfinishedDocument(serializers.Serializer[Any]):
    name = serializers.CharField()
    stage = serializers.CharField()


class CampaignReleaseState(serializers.Serializer[Any]):
    gold = serializers.IntegerField()
    facts = serializers.IntegerField()
    unfinished = UnfinishedDocument(many=True)
    next_version = serializers.CharField()


class NewCampaignRelease(serializers.Serializer[Any]):
    version = serializers.CharField(max_length=32)
    notes = serializers.CharField(required=False, allow_blank=True, max_length=20_000, default="")
    visibility = serializers.ChoiceField(
        choices=Release.Visibility.choices, default=Release.Visibility.GOLD_HIDDEN
    )
    leave_out_unfinished = serializers.BooleanField(
        default=False, help_text="Organisers only: freeze what is gold, leave the rest out."
    )


class FrozenCampaignRelease(serializers.Serializer[Any]):
    dataset = serializers.CharField(source="dataset.slug")
    version = serializers.CharField()
    sha256 = serializers.CharField()
    item_count = serializers.IntegerField()
    fact_count = serializers.IntegerField()
