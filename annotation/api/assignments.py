"""An annotator's own assignments: list, read, save, submit. Anybody else's answer 404."""

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_assignment, own_text
from annotation.models import Assignment
from annotation.selectors.returns import TAKE_BACK_MINUTES
from annotation.selectors.tasks import my_assignments, url_after, work_data
from annotation.services.returning import take_back
from annotation.services.saving import save_spans
from annotation.services.submitting import submit_assignment
from portal.datasets.models import DocumentContent

from . import schemas
from .base import AnnotationView, field, user_of
from .saves import save_answer


@extend_schema_view(get=extend_schema(summary="My assignments", tags=["annotation"]))
class AssignmentList(ListAPIView[Assignment]):
    permission_classes = [IsAuthenticated]
    serializer_class = schemas.AssignmentRow
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["state"]
    queryset = Assignment.objects.none()

    def get_queryset(self) -> QuerySet[Assignment]:
        return my_assignments(self.request.user)


class AssignmentDetail(AnnotationView):
    @extend_schema(
        summary="One of my assignments with its spans",
        tags=["annotation"],
        responses=schemas.AssignmentDetail,
    )
    def get(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        return Response(_detail(assignment))


def _detail(assignment: Assignment) -> dict[str, Any]:
    return {
        "id": assignment.pk,
        "campaign": assignment.campaign_document.campaign.slug,
        "document": assignment.campaign_document.document.name,
        "labels": assignment.campaign_document.campaign.labels,
        **work_data(assignment),
    }


class AssignmentContent(AnnotationView):
    @extend_schema(
        summary="The page of one of my assignments",
        description="Spans are offsets into `text`, in Unicode code points.",
        tags=["annotation"],
        responses=schemas.AssignmentPage,
    )
    def get(self, request: Request, pk: int) -> Response:
        document = own_assignment(request.user, pk).campaign_document.document
        content = DocumentContent.objects.get(pk=document.pk)
        return Response(
            {
                "html": content.html,
                "text": content.text,
                "text_sha256": document.text_sha256,
            }
        )


class AssignmentSpans(AnnotationView):
    @extend_schema(
        summary="Save all spans of one of my assignments",
        description="Name the revision the spans were made from. The same `save_key` sent again is "
        "answered as the first time.",
        tags=["annotation"],
        request=schemas.SpansSave,
        responses={
            200: schemas.SpansSaved,
            409: schemas.AnnotationConflict,
            422: schemas.AnnotationInvalid,
        },
    )
    def put(self, request: Request, pk: int) -> Response:
        assignment = own_text(request.user, pk)
        saved = save_spans(
            assignment=assignment,
            base_revision=field(request, "base_revision", int),
            save_key=field(request, "save_key", str),
            spans=field(request, "spans", list),
            text_sha256=field(request, "text_sha256", str, ""),
            active_seconds=field(request, "active_seconds", int, 0),
            author=user_of(request),
        )
        return Response(save_answer(assignment, saved))


class AssignmentSubmit(AnnotationView):
    @extend_schema(
        summary="Submit one of my assignments",
        description="Its spans become final. A page without spans is refused with the code "
        "`empty` unless `no_facts` confirms that it has none. `next` is the page of the next task, "
        "if there is one.",
        tags=["annotation"],
        request=schemas.AssignmentSubmission,
        responses={
            200: schemas.AssignmentSubmitted,
            409: schemas.AnnotationConflict,
            422: schemas.AnnotationInvalid,
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        submitted = submit_assignment(
            assignment=assignment,
            base_revision=field(request, "base_revision", int),
            active_seconds=field(request, "active_seconds", int, 0),
            no_facts=field(request, "no_facts", bool, False),
            actor=user_of(request),
        )
        url = url_after(request.user, assignment)
        return Response({"state": submitted.state, "next": url})


class AssignmentTakeBack(AnnotationView):
    @extend_schema(
        summary="Take back a submission of mine",
        description=f"For {TAKE_BACK_MINUTES} minutes, as long as another annotator of the page "
        "has not submitted. The next submission counts as the first.",
        tags=["annotation"],
        request=None,
        responses={200: schemas.AssignmentState, 409: schemas.AnnotationRefusal},
    )
    def post(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        taken = take_back(assignment=assignment, actor=user_of(request))
        return Response({"state": taken.state})
