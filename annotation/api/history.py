"""The history of an assignment: every save, what it changed, and a way back to any of them."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_text, readable_assignment
from annotation.models import Assignment, Revision
from annotation.selectors.spans import spans_at
from annotation.services.restoring import restore_revision
from annotation.span_input import recorded_span

from . import schemas
from .base import AnnotationView, field, user_of
from .saves import replacement_answer


class RevisionList(AnnotationView, GenericAPIView[Revision]):
    queryset = Revision.objects.none()
    serializer_class = schemas.RevisionRow

    @extend_schema(
        summary="The history of one of my assignments, newest first",
        description="Leads read it once everybody has submitted.",
        tags=["annotation"],
        responses=schemas.RevisionRow(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        page = self.paginate_queryset(_revisions(readable_assignment(request.user, pk)))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class RevisionDetail(AnnotationView):
    @extend_schema(
        summary="One save: what it changed, and all spans as they were after it",
        tags=["annotation"],
        responses=schemas.RevisionDetail,
    )
    def get(self, request: Request, pk: int, number: int) -> Response:
        assignment = readable_assignment(request.user, pk)
        revision = get_object_or_404(_revisions(assignment), number=number)
        row: dict[str, Any] = schemas.RevisionRow(revision).data
        changes = {
            "added_spans": [recorded_span(span)._asdict() for span in revision.added],
            "removed_spans": [recorded_span(span)._asdict() for span in revision.removed],
        }
        spans = [draft._asdict() for draft in spans_at(assignment, number)]
        return Response(row | changes | {"spans": spans})


class RevisionRestore(AnnotationView):
    @extend_schema(
        summary="Make the spans of an earlier revision the newest ones",
        description="Like a save: nothing of the history is lost. The answer holds all spans.",
        tags=["annotation"],
        request=schemas.RevisionRestore,
        responses={
            200: schemas.SpansReplaced,
            409: schemas.AnnotationConflict,
            422: schemas.AnnotationInvalid,
        },
    )
    def post(self, request: Request, pk: int, number: int) -> Response:
        assignment = own_text(request.user, pk)
        get_object_or_404(assignment.revisions, number=number)
        saved = restore_revision(
            assignment=assignment,
            number=number,
            base_revision=field(request, "base_revision", int),
            save_key=field(request, "save_key", str),
            author=user_of(request),
        )
        return Response(replacement_answer(assignment, saved))


def _revisions(assignment: Assignment) -> QuerySet[Revision]:
    return assignment.revisions.select_related("author").order_by("-number")
