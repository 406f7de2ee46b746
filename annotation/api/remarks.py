"""What an annotator tells the lead beside the labels: comments, and a flag on the page."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_assignment, readable_assignment
from annotation.models import Comment
from annotation.services.remarks import add_comment, delete_comment, edit_comment, set_flag

from . import schemas
from .base import AnnotationView, field, user_of


class CommentList(AnnotationView):
    @extend_schema(
        summary="The comments of one of my assignments",
        description="Leads read them once everybody has submitted.",
        tags=["annotation"],
        responses=schemas.CommentShape(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        comments = readable_assignment(request.user, pk).comments.select_related("author")
        return Response(schemas.CommentShape(comments, many=True).data)

    @extend_schema(
        summary="Comment on a span, or on the page",
        tags=["annotation"],
        request=schemas.NewComment,
        responses={
            201: schemas.CommentShape,
            409: schemas.AnnotationRefusal,
            422: schemas.AnnotationInvalid,
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        comment = add_comment(
            assignment=own_assignment(request.user, pk),
            span_key=field(request, "span_key", str, ""),
            text=field(request, "text", str),
            author=user_of(request),
        )
        return Response(schemas.CommentShape(comment).data, status.HTTP_201_CREATED)


class CommentDetail(AnnotationView):
    @extend_schema(
        summary="Change one of my comments",
        tags=["annotation"],
        request=schemas.CommentEdit,
        responses={
            200: schemas.CommentShape,
            409: schemas.AnnotationRefusal,
            422: schemas.AnnotationInvalid,
        },
    )
    def patch(self, request: Request, pk: int, comment: int) -> Response:
        edited = edit_comment(
            comment=_own_comment(request, pk, comment),
            text=field(request, "text", str),
            actor=user_of(request),
        )
        return Response(schemas.CommentShape(edited).data)

    @extend_schema(
        summary="Remove one of my comments",
        tags=["annotation"],
        responses={204: None, 409: schemas.AnnotationRefusal},
    )
    def delete(self, request: Request, pk: int, comment: int) -> Response:
        delete_comment(comment=_own_comment(request, pk, comment), actor=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _own_comment(request: Request, pk: int, comment: int) -> Comment:
    comments = own_assignment(request.user, pk).comments.select_related("author", "assignment")
    return get_object_or_404(comments, pk=comment, author=user_of(request))


class AssignmentFlag(AnnotationView):
    @extend_schema(
        summary="Flag or skip one of my assignments, or take that back",
        description="The lead sees kind and reason. Skipped tasks come last, and stay workable.",
        tags=["annotation"],
        request=schemas.AssignmentFlag,
        responses={
            200: schemas.AssignmentFlag,
            409: schemas.AnnotationRefusal,
            422: schemas.AnnotationInvalid,
        },
    )
    def put(self, request: Request, pk: int) -> Response:
        assignment = set_flag(
            assignment=own_assignment(request.user, pk),
            kind=field(request, "kind", str),
            reason=field(request, "reason", str, ""),
            actor=user_of(request),
        )
        return Response({"kind": assignment.flag, "reason": assignment.flag_reason})
