"""API of documents, calibration and assignments, for leads and organisers."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_assignment, managed_campaign
from annotation.api_base import (
    AnnotationRefusal,
    AnnotationView,
    WorkflowReason,
    campaigns_schema,
    user_of,
)
from annotation.models import Assignment, CampaignDocument
from portal.accounts.models import User, display_name
from portal.web.api import LARGEST_KEY, checked

from . import returning, selectors, teams


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
            raise serializers.ValidationError("Send either documents, or count and seed.")
        return attrs


class CampaignDocumentNames(serializers.Serializer[Any]):
    documents = serializers.ListField(
        child=serializers.CharField(max_length=200), allow_empty=False
    )


class DocumentOverlap(CampaignDocumentNames):
    overlap = serializers.IntegerField(
        min_value=1,
        max_value=teams.MAX_OVERLAP,
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
        help_text="Idle for more than so many days.",
    )
    page = serializers.IntegerField(required=False, default=1, min_value=1)


class Heir(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    open = serializers.IntegerField(help_text="Unfinished documents.")


class CampaignAssignment(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="assignment.pk")
    document = serializers.CharField(source="assignment.campaign_document.document.name")
    annotator = serializers.CharField(source="assignment.annotator")
    annotator_id = serializers.IntegerField(source="assignment.annotator_id")
    state = serializers.ChoiceField(source="assignment.state", choices=Assignment.State.choices)
    flag = serializers.CharField(source="assignment.flag")
    flag_reason = serializers.CharField(source="assignment.flag_reason")
    return_reason = serializers.CharField(source="assignment.return_reason")
    idle_since = serializers.DateField(
        source="assignment.idle_since", help_text="The day of the assignment or of the last save."
    )
    is_calibration = serializers.BooleanField(source="assignment.campaign_document.is_calibration")
    may_hand_over = serializers.BooleanField(source="assignment.is_workable")
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
        help_text="Defaults to the annotator with the least work.",
    )


class HandOverResult(serializers.Serializer[Any]):
    assignment = serializers.IntegerField(
        allow_null=True,
        help_text="The new assignment; null for a calibration page, which is only withdrawn.",
    )
    annotator = serializers.CharField()
    stage = serializers.ChoiceField(choices=CampaignDocument.Stage.choices)


class HandedOver(serializers.Serializer[Any]):
    handed_over = serializers.IntegerField(help_text="Number of documents handed over.")


PER_PAGE = 100


class CampaignDocuments(AnnotationView):
    @campaigns_schema(
        summary="List the documents of a campaign (leads, organisers)",
        responses=CampaignDocumentRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        return Response(CampaignDocumentRow(selectors.document_rows(campaign), many=True).data)


class CampaignCalibration(AnnotationView):
    @campaigns_schema(
        summary="Add documents to the calibration set (leads, organisers)",
        description="Every annotator labels these documents. Choose them by name, or draw `count` "
        "of them with `seed`.",
        request=CalibrationChoice,
        responses={200: CampaignDocumentNames, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        wanted, actor = checked(CalibrationChoice, request.data), user_of(request)
        if "documents" in wanted:
            names = teams.choose_calibration(
                campaign=campaign, names=wanted["documents"], actor=actor
            )
        else:
            names = teams.draw_calibration(campaign=campaign, actor=actor, **wanted)
        return Response({"documents": names})

    @campaigns_schema(
        operation_id="campaigns_calibration_end",
        summary="Remove documents from the calibration set (leads, organisers)",
        request=CampaignDocumentNames,
        responses={200: CampaignDocumentNames, 409: AnnotationRefusal},
    )
    def patch(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        body = checked(CampaignDocumentNames, request.data)
        names = teams.end_calibration(
            campaign=campaign, names=body["documents"], actor=user_of(request)
        )
        return Response({"documents": names})


class CampaignOverlap(AnnotationView):
    @campaigns_schema(
        summary="Set the number of annotators of documents (leads, organisers)",
        request=DocumentOverlap,
        responses={200: CampaignDocumentNames, 409: AnnotationRefusal},
    )
    def put(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        body = checked(DocumentOverlap, request.data)
        names = teams.set_document_overlap(
            campaign=campaign,
            names=body["documents"],
            overlap=body["overlap"],
            actor=user_of(request),
        )
        return Response({"documents": names})


class CampaignAssignmentsView(AnnotationView):
    @campaigns_schema(
        summary="List the assignments of a campaign (leads, organisers)",
        description="Returns states and times, but no labels; 100 per page, longest idle first.",
        parameters=[CampaignAssignmentQuery],
        responses=CampaignAssignments,
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        wanted = checked(CampaignAssignmentQuery, request.query_params)
        number = wanted.pop("page")
        page = Paginator(selectors.assignment_rows(campaign, **wanted), PER_PAGE).get_page(number)
        body = {
            "count": page.paginator.count,
            "pages": page.paginator.num_pages,
            "assignments": selectors.assignment_lines(campaign, list(page.object_list)),
        }
        return Response(CampaignAssignments(body).data)


class AssignmentHandOver(AnnotationView):
    @campaigns_schema(
        summary="Hand unfinished work over to another annotator (leads, organisers)",
        description="Started work is withdrawn and kept, and the new annotator starts again. "
        "Untouched work moves.",
        request=HandOver,
        responses={200: HandOverResult, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        work = managed_assignment(request.user, slug, pk)
        body = checked(HandOver, request.data)
        heir = _heir(body["heir"])
        done = teams.hand_over(assignment=work, heir=heir, actor=user_of(request))
        given = done.assignment
        return Response(
            {
                "assignment": given.pk if given else None,
                "annotator": display_name(given.annotator) if given else "",
                "stage": done.stage,
            }
        )


class AssignmentReturn(AnnotationView):
    @campaigns_schema(
        summary="Return a submitted page to its annotator (leads, organisers)",
        description="The annotator sees the reason and submits again. Refused if a case of the "
        "page was decided, or the page was reviewed or released. The first submission still counts "
        "for agreement, unless the page was submitted untouched.",
        request=WorkflowReason,
        responses={200: AssignmentState, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        work = managed_assignment(request.user, slug, pk)
        body = checked(WorkflowReason, request.data)
        done = returning.return_submission(assignment=work, actor=user_of(request), **body)
        return Response({"state": done.state})


class AnnotatorHandOver(AnnotationView):
    @campaigns_schema(
        summary="Hand over all unfinished work of an annotator (leads, organisers)",
        description="`pk` is the annotator's `annotator_id`.",
        request=None,
        responses={200: HandedOver, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_campaign(request.user, slug)
        if pk not in dict(selectors.campaign_annotators(access.campaign)):
            raise Http404("No such annotator.")
        handed = teams.hand_over_everything(
            campaign=access.campaign, annotator=User.objects.get(pk=pk), actor=user_of(request)
        )
        return Response({"handed_over": handed})


def _heir(pk: int | None) -> User | None:
    if pk is None:
        return None
    heir = User.objects.filter(pk=pk).first()
    if heir is None:
        raise ValidationError({"heir": ["There is no such user."]})
    return heir
