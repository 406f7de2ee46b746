"""Settings, documents, calibration and assignments, for programs of leads and organisers."""

from dataclasses import asdict
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign
from annotation.models import Assignment, Campaign
from annotation.selectors.assignments import (
    assignment_lines,
    assignment_rows,
    campaign_annotators,
)
from annotation.selectors.documents import document_line, document_rows
from annotation.services.campaign_settings import change_settings, fixed_settings, settings_of
from annotation.services.reassigning import hand_over, hand_over_everything
from annotation.services.returning import return_submission
from annotation.services.teams import (
    choose_calibration,
    draw_calibration,
    end_calibration,
    set_document_overlap,
)
from portal.accounts.models import User, display_name

from . import workflow_schemas as shapes
from .base import AnnotationView, user_of
from .campaign_schemas import HandedOver
from .schemas import AnnotationRefusal, AssignmentState

PER_PAGE = 100


class CampaignSettingsView(AnnotationView):
    @extend_schema(
        summary="How the workflow of a campaign runs (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.WorkflowSettingsState,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(_settings(managed_campaign(request.user, slug).campaign))

    @extend_schema(
        summary="Change settings (leads, organisers)",
        tags=["campaigns"],
        request=shapes.WorkflowSettingsChange,
        responses={200: shapes.WorkflowSettingsState, 409: AnnotationRefusal},
    )
    def patch(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.WorkflowSettingsChange(data=request.data)
        body.is_valid(raise_exception=True)
        changed = change_settings(
            campaign=standing.campaign, actor=user_of(request), **body.validated_data
        )
        return Response(_settings(changed))


def _settings(campaign: Campaign) -> dict[str, Any]:
    return asdict(settings_of(campaign)) | {
        "overlap": campaign.overlap,
        "fixed": fixed_settings(campaign),
    }


class CampaignDocuments(AnnotationView):
    @extend_schema(
        summary="The documents of a campaign, one by one (leads, organisers)",
        tags=["campaigns"],
        responses=shapes.CampaignDocumentRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        lines = [document_line(campaign, row) for row in document_rows(campaign)]
        return Response(shapes.CampaignDocumentRow(lines, many=True).data)


class CampaignCalibration(AnnotationView):
    @extend_schema(
        summary="Give documents to every annotator (leads, organisers)",
        description="Chosen by name, or `count` of them drawn by `seed`.",
        tags=["campaigns"],
        request=shapes.CalibrationChoice,
        responses={200: shapes.CampaignDocumentNames, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        body = shapes.CalibrationChoice(data=request.data)
        body.is_valid(raise_exception=True)
        wanted, actor = body.validated_data, user_of(request)
        if "documents" in wanted:
            names = choose_calibration(campaign=campaign, names=wanted["documents"], actor=actor)
        else:
            names = draw_calibration(campaign=campaign, actor=actor, **wanted)
        return Response({"documents": names})

    @extend_schema(
        operation_id="campaigns_calibration_end",
        summary="Take documents out of the calibration set (leads, organisers)",
        tags=["campaigns"],
        request=shapes.CampaignDocumentNames,
        responses={200: shapes.CampaignDocumentNames, 409: AnnotationRefusal},
    )
    def patch(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        body = shapes.CampaignDocumentNames(data=request.data)
        body.is_valid(raise_exception=True)
        names = end_calibration(
            campaign=campaign, names=body.validated_data["documents"], actor=user_of(request)
        )
        return Response({"documents": names})


class CampaignOverlap(AnnotationView):
    @extend_schema(
        summary="Set how many annotators documents get (leads, organisers)",
        tags=["campaigns"],
        request=shapes.DocumentOverlap,
        responses={200: shapes.CampaignDocumentNames, 409: AnnotationRefusal},
    )
    def put(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        body = shapes.DocumentOverlap(data=request.data)
        body.is_valid(raise_exception=True)
        names = set_document_overlap(
            campaign=campaign,
            names=body.validated_data["documents"],
            overlap=body.validated_data["overlap"],
            actor=user_of(request),
        )
        return Response({"documents": names})


class CampaignAssignments(AnnotationView):
    @extend_schema(
        summary="Who has which document (leads, organisers)",
        description="States and times, nothing about labels; a hundred a page, idle longest first.",
        tags=["campaigns"],
        parameters=[shapes.CampaignAssignmentQuery],
        responses=shapes.CampaignAssignments,
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        query = shapes.CampaignAssignmentQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        wanted = dict(query.validated_data)
        number = wanted.pop("page")
        page = Paginator(assignment_rows(campaign, **wanted), PER_PAGE).get_page(number)
        body = {
            "count": page.paginator.count,
            "pages": page.paginator.num_pages,
            "assignments": assignment_lines(campaign, list(page.object_list)),
        }
        return Response(shapes.CampaignAssignments(body).data)


class AssignmentHandOver(AnnotationView):
    @extend_schema(
        summary="Hand unfinished work over to another annotator (leads, organisers)",
        description="Begun work is withdrawn and kept; the heir begins anew. Untouched work moves.",
        tags=["campaigns"],
        request=shapes.HandOver,
        responses={200: shapes.HandOverResult, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        works = Assignment.objects.filter(campaign_document__campaign=standing.campaign)
        work = get_object_or_404(works, pk=pk)
        body = shapes.HandOver(data=request.data)
        body.is_valid(raise_exception=True)
        heir = _heir(body.validated_data["heir"])
        done = hand_over(assignment=work, heir=heir, actor=user_of(request))
        given = done.assignment
        return Response(
            {
                "assignment": given.pk if given else None,
                "annotator": display_name(given.annotator) if given else "",
                "stage": done.stage,
            }
        )


class AssignmentReturn(AnnotationView):
    @extend_schema(
        summary="Return a submitted page to its annotator (leads, organisers)",
        description="They read the reason and submit again. Refused once a case of the page was "
        "decided, reviewed or released. What was submitted first still counts for agreement, "
        "unless the page was submitted untouched.",
        tags=["campaigns"],
        request=shapes.WorkflowReason,
        responses={200: AssignmentState, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        works = Assignment.objects.filter(campaign_document__campaign=standing.campaign)
        work = get_object_or_404(works, pk=pk)
        body = shapes.WorkflowReason(data=request.data)
        body.is_valid(raise_exception=True)
        done = return_submission(assignment=work, actor=user_of(request), **body.validated_data)
        return Response({"state": done.state})


class AnnotatorHandOver(AnnotationView):
    @extend_schema(
        summary="Hand all unfinished work of somebody over (leads, organisers)",
        description="`pk` is the annotator's `annotator_id`.",
        tags=["campaigns"],
        request=None,
        responses={200: HandedOver, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        if pk not in dict(campaign_annotators(standing.campaign)):
            raise Http404("Nobody with work here.")
        handed = hand_over_everything(
            campaign=standing.campaign,
            annotator=User.objects.get(pk=pk),
            actor=user_of(request),
        )
        return Response({"handed_over": handed})


def _heir(pk: int | None) -> User | None:
    if pk is None:
        return None
    heir = User.objects.filter(pk=pk).first()
    if heir is None:
        raise ValidationError({"heir": ["There is no such person."]})
    return heir
