"""API of documents, calibration and assignments, for leads and organisers."""

from typing import Any

from django.core.paginator import Paginator
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from annotation.access import CampaignAccess, managed_assignment, managed_campaign
from annotation.api_base import AnnotationView, WorkflowReason, reads, writes
from annotation.models import Assignment, CampaignDocument
from portal.accounts.models import User, display_name
from portal.web.api import LARGEST_KEY

from . import handing_over, selectors, sharing


class AssignmentState(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Assignment.State.choices)


class CampaignDocumentRow(serializers.Serializer[Any]):
    document = serializers.CharField(source="name")
    stage = serializers.CharField(help_text="Empty for a document that is not in the campaign yet.")
    purpose = serializers.ChoiceField(choices=CampaignDocument.Purpose.choices)
    annotators = serializers.IntegerField(
        source="size", allow_null=True, help_text="Required number of annotators; null for all."
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
            raise serializers.ValidationError("Send either `documents`, or `count` and `seed`.")
        return attrs


class CampaignDocumentNames(serializers.Serializer[Any]):
    documents = serializers.ListField(
        child=serializers.CharField(max_length=200), allow_empty=False
    )


class DocumentOverlap(CampaignDocumentNames):
    overlap = serializers.IntegerField(
        min_value=1,
        max_value=sharing.MAX_OVERLAP,
        allow_null=True,
        help_text="Null to use the campaign's number.",
    )


class CampaignAssignmentQuery(serializers.Serializer[Any]):
    show = serializers.ChoiceField(choices=selectors.FILTERS, default=selectors.FILTERS[0])
    annotator = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_KEY)
    idle = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=10_000,
        help_text="Only assignments that were idle for more than this number of days.",
    )
    page = serializers.IntegerField(required=False, default=1, min_value=1)


class Heir(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="user_id")
    name = serializers.CharField(source="user")
    open = serializers.IntegerField(help_text="Unfinished documents.")


class CampaignAssignment(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    document = serializers.CharField(source="campaign_document.document.name")
    annotator = serializers.CharField()
    annotator_id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    flag = serializers.CharField()
    flag_reason = serializers.CharField()
    return_reason = serializers.CharField()
    idle_since = serializers.DateField(help_text="The day of the assignment or of the last save.")
    is_calibration = serializers.BooleanField(source="campaign_document.is_calibration")
    may_hand_over = serializers.BooleanField(source="is_workable")
    may_return = serializers.BooleanField()
    heirs = Heir(many=True, read_only=True)


class CampaignAssignments(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    pages = serializers.IntegerField()
    assignments = CampaignAssignment(many=True)


class HandOver(serializers.Serializer[Any]):
    heir = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Defaults to the annotator with the fewest open tasks.",
    )


class HandOverResult(serializers.Serializer[Any]):
    assignment = serializers.IntegerField(
        allow_null=True,
        help_text="The new assignment; null for a calibration document, which is only withdrawn.",
    )
    annotator = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)


class HandedOver(serializers.Serializer[Any]):
    handed_over = serializers.IntegerField(help_text="Number of documents reassigned.")


PER_PAGE = 100


class CampaignDocuments(AnnotationView):
    @reads(
        "List the documents of a campaign (leads, organisers)",
        on=managed_campaign,
        gives=CampaignDocumentRow(many=True),
    )
    def get(self, access: CampaignAccess) -> Any:
        return selectors.document_rows(access.campaign)


class CampaignCalibration(AnnotationView):
    @writes(
        "Add documents to the calibration set (leads, organisers)",
        on=managed_campaign,
        takes=CalibrationChoice,
        gives=CampaignDocumentNames,
        description="Every annotator labels these documents. Choose them by name, or draw `count` "
        "of them with `seed`.",
    )
    def post(self, access: CampaignAccess, user: User, documents: Any = None, **drawn: int) -> Any:
        if documents:
            names = sharing.choose_calibration(
                campaign=access.campaign, names=documents, actor=user
            )
        else:
            names = sharing.draw_calibration(campaign=access.campaign, actor=user, **drawn)
        return {"documents": names}

    @writes(
        "Remove documents from the calibration set (leads, organisers)",
        on=managed_campaign,
        takes=CampaignDocumentNames,
        gives=CampaignDocumentNames,
        operation_id="campaigns_calibration_end",
    )
    def patch(self, access: CampaignAccess, user: User, documents: list[str]) -> Any:
        names = sharing.end_calibration(campaign=access.campaign, names=documents, actor=user)
        return {"documents": names}


class CampaignOverlap(AnnotationView):
    @writes(
        "Set the number of annotators per document (leads, organisers)",
        on=managed_campaign,
        takes=DocumentOverlap,
        gives=CampaignDocumentNames,
    )
    def put(self, access: CampaignAccess, user: User, documents: list[str], **wanted: Any) -> Any:
        names = sharing.set_document_overlap(
            campaign=access.campaign, names=documents, actor=user, **wanted
        )
        return {"documents": names}


class CampaignAssignmentsView(AnnotationView):
    @reads(
        "List the assignments of a campaign (leads, organisers)",
        on=managed_campaign,
        asks=CampaignAssignmentQuery,
        gives=CampaignAssignments,
        description="Returns states and times, but no labels; 100 per page, longest idle first.",
    )
    def get(self, access: CampaignAccess, page: int, **wanted: Any) -> Any:
        campaign = access.campaign
        rows = Paginator(selectors.assignment_rows(campaign, **wanted), PER_PAGE).get_page(page)
        return {
            "count": rows.paginator.count,
            "pages": rows.paginator.num_pages,
            "assignments": selectors.with_heirs(campaign, list(rows.object_list)),
        }


class AssignmentHandOver(AnnotationView):
    @writes(
        "Reassign an unfinished assignment (leads, organisers)",
        on=managed_assignment,
        takes=HandOver,
        gives=HandOverResult,
        description="If the annotator has started, their work is withdrawn but kept, and the new "
        "annotator starts without labels.",
    )
    def post(self, work: Assignment, user: User, heir: int | None) -> Any:
        done = handing_over.hand_over(assignment=work, heir=_heir(heir), actor=user)
        given = done.assignment
        return {
            "assignment": given.pk if given else None,
            "annotator": display_name(given.annotator) if given else "",
            "stage": done.stage,
        }


class AssignmentReturn(AnnotationView):
    @writes(
        "Return a submitted document to its annotator (leads, organisers)",
        on=managed_assignment,
        takes=WorkflowReason,
        gives=AssignmentState,
        description="The annotator sees the reason and submits again. Refused if a case of the "
        "document was decided, or the document was reviewed or released. Agreement still uses the "
        "first submission, unless it was submitted without changes.",
    )
    def post(self, work: Assignment, user: User, reason: str) -> Any:
        return handing_over.return_submission(assignment=work, reason=reason, actor=user)


class AnnotatorHandOver(AnnotationView):
    @writes(
        "Reassign all unfinished assignments of an annotator (leads, organisers)",
        on=selectors.annotator_for,
        gives=HandedOver,
        description="`pk` is the annotator's `annotator_id`.",
    )
    def post(self, access: CampaignAccess, annotator: User, user: User) -> Any:
        handed = handing_over.hand_over_everything(
            campaign=access.campaign, annotator=annotator, actor=user
        )
        return {"handed_over": handed}


def _heir(pk: int | None) -> User | None:
    if pk is None:
        return None
    heir = User.objects.filter(pk=pk).first()
    if heir is None:
        raise ValidationError({"heir": ["There is no such user."]})
    return heir
