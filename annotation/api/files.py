"""One document out and in: its page with the spans, or the spans with their offsets."""

from typing import Any

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_text, readable_assignment
from annotation.selectors.document_files import FORMS, document_file
from annotation.services.document_files import import_document
from annotation.services.errors import InvalidSpans
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser, file_answers

from . import schemas
from .base import AnnotationView, UploadTooLarge, user_of
from .saves import replacement_answer


class AssignmentExport(AnnotationView):
    @extend_schema(
        summary="One of my pages with its spans, as a file",
        description="Leads get it once everybody has submitted.",
        tags=["annotation"],
        parameters=[schemas.ExportQuery],
        responses=file_answers(kind for _, kind in FORMS.values()),
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        assignment = readable_assignment(request.user, pk)
        query = schemas.ExportQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        file = document_file(assignment, query.validated_data["form"])
        response = HttpResponse(file.content, content_type=f"{file.media_type}; charset=utf-8")
        response["Content-Disposition"] = content_disposition_header(True, file.name)
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        response["Cache-Control"] = "private, no-store"
        return response


class AssignmentImport(AnnotationView):
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        summary="Replace all spans of one of my assignments by those of a file",
        description="Like a save: one revision, and nothing of the history is lost. Without `form` "
        "the file's form is told by its content. The answer holds all spans.",
        tags=["annotation"],
        request=schemas.DocumentImport,
        responses={
            200: schemas.SpansReplaced,
            409: schemas.AnnotationConflict,
            413: schemas.AnnotationRefusal,
            422: schemas.AnnotationInvalid,
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        assignment = own_text(request.user, pk)
        wanted = _checked(request)
        file = wanted["file"]
        saved = import_document(
            assignment=assignment,
            data=file.read(),
            filename=str(file.name),
            form=wanted["form"],
            base_revision=wanted["base_revision"],
            save_key=wanted["save_key"],
            author=user_of(request),
        )
        return Response(replacement_answer(assignment, saved))


def _checked(request: Request) -> dict[str, Any]:
    body = schemas.DocumentImport(data=request.data)
    if was_too_large(request):
        raise UploadTooLarge(upload_limit_message())
    try:
        body.is_valid(raise_exception=True)
    except serializers.ValidationError as error:
        raise InvalidSpans(_faults(error)) from error
    wanted: dict[str, Any] = body.validated_data
    return wanted


def _faults(error: serializers.ValidationError) -> list[dict[str, Any]]:
    """The faults of a form as those of a JSON body are told."""
    assert isinstance(error.detail, dict)
    return [
        {"field": name, "code": name, "message": f"{name}: {problem}"}
        for name, problems in error.detail.items()
        for problem in problems
    ]
