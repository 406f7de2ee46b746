"""Documents that failed integrity validation, for programs of leads."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import adjudicated_campaign
from annotation.models import CampaignDocument
from annotation.selectors.validation import faulty_documents
from annotation.services.validating import let_pass, send_back

from . import workflow_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationRefusal


class CampaignValidation(AnnotationView):
    @extend_schema(
        summary="Documents with faults of structure (leads)",
        tags=["campaigns"],
        responses=shapes.ValidationDocument(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = adjudicated_campaign(request.user, slug)
        rows = faulty_documents(standing.campaign)
        return Response(shapes.ValidationDocument(rows, many=True).data)


class ValidationBack(AnnotationView):
    @extend_schema(
        summary="Send faulty work back to its annotators (leads)",
        description="They read the reason and submit again. What was submitted first still counts "
        "for agreement.",
        tags=["campaigns"],
        request=shapes.ValidationSendBack,
        responses={200: shapes.DocumentStage, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        row = _document(request, slug, name)
        body = shapes.ValidationSendBack(data=request.data)
        body.is_valid(raise_exception=True)
        sent = send_back(campaign_document=row, actor=user_of(request), **body.validated_data)
        return Response({"document": name, "stage": sent.stage})


class ValidationPass(AnnotationView):
    @extend_schema(
        summary="Let a document pass with its faults (leads)",
        tags=["campaigns"],
        request=shapes.WorkflowReason,
        responses={200: shapes.DocumentStage, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        row = _document(request, slug, name)
        body = shapes.WorkflowReason(data=request.data)
        body.is_valid(raise_exception=True)
        stage = let_pass(campaign_document=row, actor=user_of(request), **body.validated_data)
        return Response({"document": name, "stage": stage})


def _document(request: Request, slug: str, name: str) -> CampaignDocument:
    standing = adjudicated_campaign(request.user, slug)
    rows = CampaignDocument.objects.in_work().filter(campaign=standing.campaign)
    return get_object_or_404(rows, document__name=name)
