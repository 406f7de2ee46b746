"""Screening, for programs: anybody with a role may give a verdict."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import campaign_for
from annotation.models import CampaignDocument, Screening
from annotation.selectors.screening import (
    next_to_screen,
    screening_queue,
    screening_rows,
    verdicts_of,
    with_verdicts,
)
from annotation.services.screening import (
    bring_back_document,
    exclude_document,
    screen_document,
    undo_screening,
)
from annotation.workflow_access import screening_page
from portal.datasets.models import DocumentContent

from . import workflow_schemas as shapes
from .base import AnnotationView, user_of
from .schemas import AnnotationRefusal

Stage = CampaignDocument.Stage


class CampaignScreening(AnnotationView):
    @extend_schema(
        operation_id="campaigns_screening_queue",
        summary="The screening queue",
        tags=["campaigns"],
        parameters=[shapes.ScreeningQuery],
        responses=shapes.ScreeningList,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = campaign_for(request.user, slug)
        query = shapes.ScreeningQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        rows = with_verdicts(list(screening_rows(standing.campaign, query.validated_data["state"])))
        body = {"progress": screening_queue(standing.campaign), "pages": rows}
        return Response(shapes.ScreeningList(body).data)


class ScreeningPage(AnnotationView):
    @extend_schema(
        summary="A page to screen, without labels",
        tags=["campaigns"],
        responses=shapes.ScreeningPage,
    )
    def get(self, request: Request, slug: str, name: str) -> Response:
        _, row = screening_page(request.user, slug, name)
        content = get_object_or_404(DocumentContent.objects.only("html"), pk=row.document_id)
        body = {
            "document": row.document.name,
            "stage": row.stage,
            "html": content.html,
            "verdicts": verdicts_of(row),
        }
        return Response(shapes.ScreeningPage(body).data)

    @extend_schema(
        summary="Give a verdict on a page",
        description="An intact page goes to its annotators; a faulty one, with faults and a "
        "reason, is left out. Leads and organisers may also exclude a page in annotation.",
        tags=["campaigns"],
        request=shapes.NewScreening,
        responses={200: shapes.ScreeningGiven, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        standing, row = screening_page(request.user, slug, name)
        body = shapes.NewScreening(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = body.validated_data
        if (
            wanted["verdict"] == Screening.Verdict.FAULTY
            and row.stage == Stage.ANNOTATION
            and standing.may_manage
        ):
            done = exclude_document(
                campaign_document=row,
                faults=wanted["faults"],
                reason=wanted["reason"],
                actor=user_of(request),
            )
        else:
            done = screen_document(campaign_document=row, actor=user_of(request), **wanted)
        return Response(_given(row, done.stage))


class ScreeningBack(AnnotationView):
    @extend_schema(
        summary="Bring an excluded page back (leads, organisers)",
        tags=["campaigns"],
        request=shapes.WorkflowReason,
        responses={200: shapes.ScreeningGiven, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        standing, row = screening_page(request.user, slug, name)
        if not standing.may_manage:
            raise PermissionDenied("Leads and organisers bring a page back.")
        body = shapes.WorkflowReason(data=request.data)
        body.is_valid(raise_exception=True)
        done = bring_back_document(
            campaign_document=row, actor=user_of(request), **body.validated_data
        )
        return Response(_given(row, done.stage))


class ScreeningUndo(AnnotationView):
    @extend_schema(
        summary="Take my last verdict on a page back",
        tags=["campaigns"],
        request=None,
        responses={200: shapes.ScreeningGiven, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        _, row = screening_page(request.user, slug, name)
        undone = undo_screening(campaign_document=row, actor=user_of(request))
        return Response(_given(row, undone.stage))


def _given(row: CampaignDocument, stage: str) -> dict[str, str | None]:
    following = next_to_screen(row.campaign, row)
    return {
        "document": row.document.name,
        "stage": stage,
        "next": following.document.name if following else None,
    }
