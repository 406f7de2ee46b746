"""The API of a page's facts, suggestions, comments, flags and files."""

import hashlib
import json
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response, patch_cache_control
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import managed_campaign, own_assignment, own_text, readable_assignment
from annotation.api_base import (
    SPAN_KEY,
    AnnotationInvalid,
    AnnotationRefusal,
    AnnotationView,
    SpanRemark,
    UploadTooLarge,
    field,
    user_of,
)
from annotation.errors import InvalidSpans
from annotation.models import (
    CampaignDocument,
    Comment,
    SuggestionSource,
    SuggestionUpload,
)
from annotation.page_facts import page_facts
from portal.accounts.models import display_name
from portal.datasets.documents.selectors import document_boxes
from portal.datasets.responses import file_response
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.answers import answer
from portal.web.api import PlainMultiPartParser, checked, file_answers

from .api import AnnotationConflict, AssignmentFlag, SpansReplaced, replacement_answer, span_remarks
from .files import FORMS, document_file, import_document
from .selectors import stored_spans
from .services import MAX_COMMENT, add_comment, delete_comment, edit_comment, set_flag
from .suggestions import (
    SuggestionState,
    choose_suggestions,
    page_suggestions,
    suggestion_state,
    upload_suggestions,
)


class SpanWarnings(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    spans = SpanRemark(many=True)


class PageFacts(serializers.Serializer[Any]):
    facts = serializers.ListField(child=serializers.ListField())
    suggestions = serializers.ListField(child=serializers.ListField())


class ImageBoxes(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    boxes = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))


class PageBoxes(serializers.Serializer[Any]):
    images = ImageBoxes(many=True)


class CommentShape(serializers.ModelSerializer[Comment]):
    author = serializers.SerializerMethodField()

    class Meta:
        model = Comment
        fields = ["id", "span_key", "text", "author", "created_at", "edited_at"]

    def get_author(self, comment: Comment) -> str:
        return display_name(comment.author)


class ExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(choices=list(FORMS))


class DocumentImport(serializers.Serializer[Any]):
    file = serializers.FileField(allow_empty_file=True)
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(SPAN_KEY)
    form = serializers.ChoiceField(choices=list(FORMS), required=False, default="")


class NewComment(serializers.Serializer[Any]):
    span_key = serializers.RegexField(
        SPAN_KEY, required=False, allow_blank=True, help_text="Empty for the whole page."
    )
    text = serializers.CharField(max_length=MAX_COMMENT)


class CommentEdit(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=MAX_COMMENT)


class SuggestionSources(serializers.Serializer[Any]):
    sources = serializers.MultipleChoiceField(choices=SuggestionSource.choices)


CampaignSuggestions = answer(
    SuggestionState,
    "CampaignSuggestions",
    leave_out=["uploads"],
    sources=serializers.ListField(child=serializers.ChoiceField(choices=SuggestionSource.choices)),
    with_xbrl="Documents with inline XBRL.",
    with_model="Documents with a model's marks.",
)


class SuggestionUploadFile(serializers.Serializer[Any]):
    file = serializers.FileField()


class SuggestionUploadRow(serializers.ModelSerializer[SuggestionUpload]):
    class Meta:
        model = SuggestionUpload
        fields = [
            *("id", "source_name", "state", "documents", "spans", "faults", "fault_count"),
            *("error", "created_at", "finished_at"),
        ]
        read_only_fields = fields


class AssignmentFacts(AnnotationView):
    @extend_schema(
        summary="Get the numbers, dates and suggestions of one of your pages",
        description="`facts`: [start, end, `number` or `date`], found by rules, to snap selections "
        "to. `suggestions`: [start, end, label, source], and the filer's XBRL details if known; "
        "empty unless the campaign shows suggestions.",
        tags=["annotation"],
        responses=PageFacts,
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        # The page never changes, but the rules and the campaign's suggestions may.
        return _kept_answer(request, _facts(own_assignment(request.user, pk).campaign_document))


class AssignmentBoxes(AnnotationView):
    @extend_schema(
        summary="Get the text boxes of one of your pages",
        description="For rendered images: [start, end, left, top, width, height] of each word, in "
        "code points of the canonical text and pixels of the image.",
        tags=["annotation"],
        responses=PageBoxes,
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        document = own_assignment(request.user, pk).campaign_document.document_id
        return _kept_answer(request, {"images": document_boxes(document)})


def _kept_answer(request: Request, content: dict[str, Any]) -> HttpResponseBase:
    """A JSON response with an ETag, which browsers revalidate; 304 if it has not changed."""
    body = json.dumps(content, separators=(",", ":")).encode()
    response = HttpResponse(body, content_type="application/json")
    etag = f'"{hashlib.sha256(body).hexdigest()}"'
    response["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    conditional = get_conditional_response(request._request, etag=etag, response=response)
    return conditional or response


def _facts(campaign_document: CampaignDocument) -> dict[str, Any]:
    facts = page_facts(campaign_document.document).facts
    return {
        "facts": [[fact.start, fact.end, fact.kind] for fact in facts],
        "suggestions": [
            one if one.details else one[:-1] for one in page_suggestions(campaign_document)
        ],
    }


class AssignmentWarnings(AnnotationView):
    @extend_schema(
        summary="List the warnings about the saved spans of one of your assignments",
        description="Lists only spans with a warning. A save returns the warnings of added spans.",
        tags=["annotation"],
        responses=SpanWarnings,
    )
    def get(self, request: Request, pk: int) -> Response:
        assignment = own_text(request.user, pk)
        remarks = span_remarks(assignment, stored_spans(assignment))
        odd = [remark for remark in remarks if remark["warnings"]]
        return Response({"revision": assignment.revision, "spans": odd})


class CommentList(AnnotationView):
    @extend_schema(
        summary="List the comments of one of your assignments",
        description="Leads can read them after all annotators have submitted.",
        tags=["annotation"],
        responses=CommentShape(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        comments = readable_assignment(request.user, pk).comments.select_related("author")
        return Response(CommentShape(comments, many=True).data)

    @extend_schema(
        summary="Comment on a span or on the page",
        tags=["annotation"],
        request=NewComment,
        responses={201: CommentShape, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def post(self, request: Request, pk: int) -> Response:
        comment = add_comment(
            assignment=own_assignment(request.user, pk),
            span_key=field(request, "span_key", str, ""),
            text=field(request, "text", str),
            author=user_of(request),
        )
        return Response(CommentShape(comment).data, status.HTTP_201_CREATED)


class CommentDetail(AnnotationView):
    @extend_schema(
        summary="Edit one of your comments",
        tags=["annotation"],
        request=CommentEdit,
        responses={200: CommentShape, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def patch(self, request: Request, pk: int, comment: int) -> Response:
        edited = edit_comment(
            comment=_own_comment(request, pk, comment),
            text=field(request, "text", str),
            actor=user_of(request),
        )
        return Response(CommentShape(edited).data)

    @extend_schema(
        summary="Delete one of your comments",
        tags=["annotation"],
        responses={204: None, 409: AnnotationRefusal},
    )
    def delete(self, request: Request, pk: int, comment: int) -> Response:
        delete_comment(comment=_own_comment(request, pk, comment), actor=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _own_comment(request: Request, pk: int, comment: int) -> Comment:
    comments = own_assignment(request.user, pk).comments.select_related("author", "assignment")
    return get_object_or_404(comments, pk=comment, author=user_of(request))


class AssignmentFlagView(AnnotationView):
    @extend_schema(
        summary="Flag or skip one of your assignments, or remove the flag",
        description="Leads see kind and reason. Skipped tasks come last.",
        tags=["annotation"],
        request=AssignmentFlag,
        responses={200: AssignmentFlag, 409: AnnotationRefusal, 422: AnnotationInvalid},
    )
    def put(self, request: Request, pk: int) -> Response:
        assignment = set_flag(
            assignment=own_assignment(request.user, pk),
            kind=field(request, "kind", str),
            reason=field(request, "reason", str, ""),
            actor=user_of(request),
        )
        return Response({"kind": assignment.flag, "reason": assignment.flag_reason})


class AssignmentExport(AnnotationView):
    @extend_schema(
        summary="Download one of your pages with its spans",
        description="Leads can download it after all annotators have submitted.",
        tags=["annotation"],
        parameters=[ExportQuery],
        responses=file_answers(kind for _, kind in FORMS.values()),
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        assignment = readable_assignment(request.user, pk)
        query = checked(ExportQuery, request.query_params)
        file = document_file(assignment, query["form"])
        response = file_response(file)
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        return response


class AssignmentImport(AnnotationView):
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        summary="Import the spans of a file into one of your assignments",
        description="Replaces all spans and creates a new revision. Without `form` the format is "
        "detected from the content. Returns all spans.",
        tags=["annotation"],
        request=DocumentImport,
        responses={
            200: SpansReplaced,
            409: AnnotationConflict,
            413: AnnotationRefusal,
            422: AnnotationInvalid,
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
    body = DocumentImport(data=request.data)
    if was_too_large(request):
        raise UploadTooLarge(upload_limit_message())
    try:
        body.is_valid(raise_exception=True)
    except serializers.ValidationError as error:
        raise InvalidSpans(_faults(error)) from error
    wanted: dict[str, Any] = body.validated_data
    return wanted


def _faults(error: serializers.ValidationError) -> list[dict[str, Any]]:
    """The faults of a form in the format of those of a JSON body."""
    assert isinstance(error.detail, dict)
    return [
        {"field": name, "code": name, "message": f"{name}: {problem}"}
        for name, problems in error.detail.items()
        for problem in problems
    ]


class CampaignSuggestionsView(AnnotationView):
    @extend_schema(
        summary="Get the suggestions that a campaign shows (leads, organisers)",
        tags=["campaigns"],
        responses=CampaignSuggestions,
    )
    def get(self, request: Request, slug: str) -> Response:
        campaign = managed_campaign(request.user, slug).campaign
        return Response(CampaignSuggestions(suggestion_state(campaign)).data)

    @extend_schema(
        summary="Choose the suggestions that a campaign shows (leads, organisers)",
        tags=["campaigns"],
        request=SuggestionSources,
        responses=CampaignSuggestions,
    )
    def put(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(SuggestionSources, request.data)
        campaign = choose_suggestions(
            campaign=access.campaign, sources=body["sources"], actor=user_of(request)
        )
        return Response(CampaignSuggestions(suggestion_state(campaign)).data)


class SuggestionUploads(AnnotationView, GenericAPIView[SuggestionUpload]):
    queryset = SuggestionUpload.objects.none()
    serializer_class = SuggestionUploadRow
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        summary="List uploads of a model's marks, newest first (leads, organisers)",
        tags=["campaigns"],
        responses=SuggestionUploadRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        uploads = managed_campaign(request.user, slug).campaign.suggestion_uploads.all()
        page = self.paginate_queryset(uploads)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        summary="Upload a model's marks as suggestions (leads, organisers)",
        description='A .jsonl or .jsonl.gz of `{"id", "html"}` with inline tags or of `{"id", '
        '"spans": [{"start", "end", "label"}]}`, or a .zip of ID.html or ID.json. A job reads it.',
        tags=["campaigns"],
        request=SuggestionUploadFile,
        responses={202: SuggestionUploadRow, 409: AnnotationRefusal, 413: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = SuggestionUploadFile(data=request.data)
        if was_too_large(request):
            raise UploadTooLarge(upload_limit_message())
        body.is_valid(raise_exception=True)
        file = body.validated_data["file"]
        upload = upload_suggestions(
            campaign=access.campaign, file=file, source_name=file.name, actor=user_of(request)
        )
        return Response(self.get_serializer(upload).data, status.HTTP_202_ACCEPTED)
