"""The shapes of settings, screening, validation, documents and assignments."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import Assignment, CampaignDocument, Screening
from annotation.selectors.assignments import FILTERS
from annotation.services.campaign_settings import (
    MAX_REVIEW_PAGES,
)
from annotation.services.errors import MAX_WORKFLOW_REASON
from annotation.services.teams import MAX_OVERLAP
from portal.accounts.models import display_name
from portal.web.api import LARGEST_KEY

from .schemas import DoubtShape


class WorkflowSettings(serializers.Serializer[Any]):
    """Settings as they are, and those to change; what is left out stays."""

    screening = serializers.BooleanField(
        required=False, help_text="Whether pages are screened before annotators get them."
    )
    agreement_threshold = serializers.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="Share of annotators who must have marked a fact alike; below it goes to "
        "adjudication.",
    )
    review_pages = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_REVIEW_PAGES,
        help_text="A domain review follows every so many gold pages; 0 for none.",
    )
    review_share = serializers.FloatField(
        required=False, max_value=1, help_text="Share of their facts that is drawn, above 0 to 1."
    )
    qualification_f1 = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Span F1 needed to qualify."
    )

    def validate_review_share(self, share: float) -> float:
        if not share > 0:
            raise serializers.ValidationError("The share must be above 0.")
        return share


class WorkflowSettingsChange(WorkflowSettings):
    overlap = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_OVERLAP,
        help_text="Annotators per document; can be changed in a draft.",
    )


class WorkflowSettingsState(WorkflowSettingsChange):
    fixed = serializers.DictField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Settings that can no longer be changed, with the reason.",
    )


class ScreeningVerdict(serializers.ModelSerializer[Screening]):
    screened_by = serializers.SerializerMethodField()

    class Meta:
        model = Screening
        fields = ["verdict", "faults", "reason", "screened_by", "screened_at"]
        read_only_fields = fields

    def get_screened_by(self, screening: Screening) -> str:
        return display_name(screening.screened_by)


class ScreeningRow(serializers.Serializer[Any]):
    document = serializers.CharField(source="document.name")
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    verdict = ScreeningVerdict(allow_null=True)


class ScreeningProgress(serializers.Serializer[Any]):
    waiting = serializers.IntegerField()
    passed = serializers.IntegerField()
    excluded = serializers.IntegerField()
    total = serializers.IntegerField()


class ScreeningList(serializers.Serializer[Any]):
    progress = ScreeningProgress()
    pages = ScreeningRow(many=True)


class ScreeningQuery(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=["waiting", "passed", "excluded"], default="waiting", help_text="Which pages."
    )


class ScreeningPage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    html = serializers.CharField(help_text="The page without any label.")
    verdicts = ScreeningVerdict(many=True, help_text="Newest first.")


class NewScreening(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=Screening.Verdict.choices)
    faults = serializers.ListField(
        child=serializers.ChoiceField(choices=Screening.Fault.choices), required=False, default=list
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_WORKFLOW_REASON, default=""
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["verdict"] == Screening.Verdict.FAULTY:
            for name in ("faults", "reason"):
                if not attrs[name]:
                    raise serializers.ValidationError({name: ["A faulty page needs it."]})
        elif attrs["faults"]:
            raise serializers.ValidationError({"faults": ["An intact page has none."]})
        return attrs


class WorkflowReason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_WORKFLOW_REASON)


class ScreeningGiven(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
    next = serializers.CharField(allow_null=True, help_text="The next page to screen.")


class ValidationFault(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    quote = serializers.CharField(help_text="Empty for a fault of the page.")


class ValidationWork(serializers.Serializer[Any]):
    assignment = serializers.IntegerField()
    annotator = serializers.CharField()
    faults = ValidationFault(many=True)
    doubts = DoubtShape(many=True, help_text="Marks with a warning, which alone hold nothing up.")


class ValidationDocument(serializers.Serializer[Any]):
    document = serializers.CharField(source="name")
    works = ValidationWork(many=True)


class ValidationSendBack(WorkflowReason):
    assignments = serializers.ListField(
        child=serializers.IntegerField(), allow_empty=False, help_text="Whose work goes back."
    )


class DocumentStage(serializers.Serializer[Any]):
    document = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)


class CampaignDocumentRow(serializers.Serializer[Any]):
    document = serializers.CharField(source="name")
    stage = serializers.CharField(help_text="Empty for a document that was not taken in yet.")
    purpose = serializers.ChoiceField(choices=CampaignDocument.Purpose.choices)
    annotators = serializers.IntegerField(
        source="size", allow_null=True, help_text="How many it gets; null for all of them."
    )
    assigned = serializers.IntegerField(source="team")
    submitted = serializers.IntegerField()


class CalibrationChoice(serializers.Serializer[Any]):
    documents = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, allow_empty=False
    )
    count = serializers.IntegerField(required=False, min_value=1, max_value=10_000)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**53 - 1)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        drawn = {"count", "seed"} & set(attrs)
        if ("documents" in attrs) == bool(drawn) or len(drawn) == 1:
            raise serializers.ValidationError("Give documents, or count and seed.")
        return attrs


class CampaignDocumentNames(serializers.Serializer[Any]):
    documents = serializers.ListField(
        child=serializers.CharField(max_length=200), allow_empty=False
    )


class DocumentOverlap(CampaignDocumentNames):
    overlap = serializers.IntegerField(
        min_value=1, max_value=MAX_OVERLAP, allow_null=True, help_text="Null: as the campaign."
    )


class CampaignAssignmentQuery(serializers.Serializer[Any]):
    show = serializers.ChoiceField(choices=FILTERS, default=FILTERS[0])
    annotator = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_KEY)
    idle = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=10_000, help_text="Idle for more days."
    )
    page = serializers.IntegerField(required=False, default=1, min_value=1)


class Heir(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    open = serializers.IntegerField(help_text="Documents they have not submitted.")


class CampaignAssignment(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="assignment.pk")
    document = serializers.CharField()
    annotator = serializers.CharField()
    annotator_id = serializers.IntegerField(source="assignment.annotator_id")
    state = serializers.ChoiceField(source="assignment.state", choices=Assignment.State.choices)
    flag = serializers.CharField(source="assignment.flag")
    flag_reason = serializers.CharField(source="assignment.flag_reason")
    return_reason = serializers.CharField(source="assignment.return_reason")
    idle_since = serializers.DateField(help_text="The day it was assigned or last saved.")
    is_calibration = serializers.BooleanField()
    may_hand_over = serializers.BooleanField()
    may_return = serializers.BooleanField()
    heirs = serializers.SerializerMethodField()

    @extend_schema_field(Heir(many=True))
    def get_heirs(self, line: Any) -> Any:
        return Heir(line.heirs, many=True).data


class CampaignAssignments(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    pages = serializers.IntegerField()
    assignments = CampaignAssignment(many=True)


class HandOver(serializers.Serializer[Any]):
    heir = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="Else the least loaded."
    )


class HandOverResult(serializers.Serializer[Any]):
    assignment = serializers.IntegerField(
        allow_null=True, help_text="The heir's; null where a calibration page was only withdrawn."
    )
    annotator = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)
