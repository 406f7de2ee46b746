"""The API of a page's facts, suggestions, comments, flags and files."""

import hashlib
import json
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response, patch_cache_control
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import (
    CampaignAccess,
    managed_campaign,
    own_assignment,
    own_text,
    readable_assignment,
)
from annotation.api_base import (
    INVALID,
    SPAN_KEY,
    TOO_LARGE,
    AnnotationView,
    SpanRemark,
    field,
    reads,
    user_of,
    writes,
)
from annotation.errors import InvalidSpans
from annotation.models import (
    Assignment,
    Comment,
    SuggestionSource,
    SuggestionUpload,
)
from annotation.page_facts import page_facts
from portal.accounts.models import User
from portal.datasets.documents.selectors import document_boxes
from portal.datasets.responses import file_response
from portal.facts import is_not_annotated
from portal.files.uploads import checked_upload
from portal.web.answers import ListingView, answer
from portal.web.api import PlainMultiPartParser, file_answers

from .api import SAVE_REFUSED, AssignmentFlag, SpansReplaced, assignment_remarks, replacement_answer
from .files import FORMS, document_file, import_document
from .offers import (
    SourceAcceptance,
    acceptance_file,
    offered_suggestions,
    suggestion_acceptance,
)
from .selectors import stored_spans
from .services import MAX_COMMENT, add_comment, delete_comment, edit_comment, set_flag
from .suggestions import (
    MODEL_NAME,
    SuggestionState,
    choose_suggestions,
    suggestion_state,
    upload_suggestions,
)


class SpanWarnings(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    spans = SpanRemark(many=True)


class PageFacts(serializers.Serializer[Any]):
    facts = serializers.ListField(child=serializers.ListField())
    not_annotated = serializers.ListField(child=serializers.IntegerField())
    suggestions = serializers.ListField(child=serializers.ListField())


class ImageBoxes(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    boxes = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))


class PageBoxes(serializers.Serializer[Any]):
    images = ImageBoxes(many=True)


class CommentShape(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(read_only=True)

    class Meta:
        model = Comment
        fields = ["id", "span_key", "text", "author", "created_at", "edited_at"]


class ExportQuery(serializers.Serializer[Any]):
    form = serializers.ChoiceField(choices=list(FORMS))


class DocumentImport(serializers.Serializer[Any]):
    file = serializers.FileField(allow_empty_file=True)
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(SPAN_KEY)
    form = serializers.ChoiceField(choices=list(FORMS), required=False, default="")


class NewComment(serializers.Serializer[Any]):
    span_key = serializers.RegexField(
        SPAN_KEY, required=False, allow_blank=True, help_text="Empty for the whole document."
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
    with_model="Documents with a model's labels.",
)


SuggestionAcceptance = answer(
    SourceAcceptance,
    "SuggestionAcceptance",
    source="`xbrl`, `model` or `rules`.",
    accepted_share=serializers.FloatField(),
    model="The model of the uploaded file; empty for other sources.",
    prompt="The version of its prompt.",
    unchanged="Submitted with the same offsets and label.",
    changed="A submitted span overlaps it.",
    left="Neither accepted nor dismissed.",
)


class SuggestionUploadFile(serializers.Serializer[Any]):
    file = serializers.FileField()
    model = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=MODEL_NAME,
        help_text="The model that produced the labels, unless the file names it.",
    )
    prompt = serializers.CharField(
        required=False, allow_blank=True, max_length=MODEL_NAME, help_text="Its prompt's version."
    )


class SuggestionUploadRow(serializers.ModelSerializer[SuggestionUpload]):
    class Meta:
        model = SuggestionUpload
        fields = [
            *("id", "source_name", "model", "prompt", "state", "documents", "spans", "faults"),
            *("fault_count", "error", "created_at", "finished_at"),
        ]
        read_only_fields = fields


_reads = partial(reads, tags=["annotation"])
_writes = partial(writes, tags=["annotation"])


class AssignmentFacts(AnnotationView):
    @_reads(
        "Get the numbers, dates and suggestions of one of your documents",
        on=own_text,
        gives=PageFacts,
        description="`facts`: [start, end, `number` or `date`], found by rules, to snap selections "
        "to. `not_annotated`: the positions in `facts` of those that the rules say not to "
        "annotate, such as house numbers. `suggestions`: [start, end, label, source], and the "
        "filer's XBRL details if known; empty unless the campaign shows suggestions. All "
        "annotators of a document get the same.",
    )
    def get(self, assignment: Assignment) -> HttpResponseBase:
        # The page never changes, but the rules and the campaign's suggestions may.
        return _kept_answer(self.request, _facts(assignment))


class AssignmentBoxes(AnnotationView):
    @_reads(
        "Get the text boxes of one of your documents",
        on=own_assignment,
        gives=PageBoxes,
        description="For rendered images: [start, end, left, top, width, height] of each word, in "
        "code points of the canonical text and pixels of the image.",
    )
    def get(self, assignment: Assignment) -> HttpResponseBase:
        boxes = document_boxes(assignment.campaign_document.document_id)
        return _kept_answer(self.request, {"images": boxes})


def _kept_answer(request: Request, content: dict[str, Any]) -> HttpResponseBase:
    """A JSON response with an ETag, which browsers revalidate; 304 if it has not changed."""
    body = json.dumps(content, separators=(",", ":")).encode()
    response = HttpResponse(body, content_type="application/json")
    etag = f'"{hashlib.sha256(body).hexdigest()}"'
    response["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    conditional = get_conditional_response(request._request, etag=etag, response=response)
    return conditional or response


def _facts(assignment: Assignment) -> dict[str, Any]:
    document = assignment.campaign_document.document
    borders, facts = page_facts(document)
    text = document.content.text
    return {
        "facts": [[fact.start, fact.end, fact.kind] for fact in facts],
        "not_annotated": [
            place for place, fact in enumerate(facts) if is_not_annotated(text, borders, fact)
        ],
        "suggestions": [
            one if one.details else one[:-1] for one in offered_suggestions(assignment)
        ],
    }


class AssignmentWarnings(AnnotationView):
    @_reads(
        "List the warnings about the saved spans of one of your assignments",
        on=own_text,
        gives=SpanWarnings,
        description="Lists only spans with a warning. A save returns the warnings of added spans.",
    )
    def get(self, assignment: Assignment) -> Any:
        remarks = assignment_remarks(assignment, stored_spans(assignment))
        odd = [remark for remark in remarks if remark["warnings"]]
        return Response({"revision": assignment.revision, "spans": odd})


class CommentList(AnnotationView):
    @_reads(
        "List the comments of one of your assignments",
        on=readable_assignment,
        gives=CommentShape(many=True),
        description="Leads can read them after all annotators have submitted.",
    )
    def get(self, assignment: Assignment) -> Any:
        return assignment.comments.select_related("author")

    @extend_schema(
        summary="Comment on a span or on the document",
        tags=["annotation"],
        request=NewComment,
        responses={201: CommentShape, **INVALID},
    )
    def post(self, request: Request, pk: int) -> Response:
        comment = add_comment(
            assignment=own_assignment(request.user, pk),
            span_key=field(request, "span_key", str, ""),
            text=field(request, "text", str),
            author=user_of(request),
        )
        return Response(CommentShape(comment).data, status.HTTP_201_CREATED)


def _own_comment(user: Any, pk: int, comment: int) -> Comment:
    comments = own_assignment(user, pk).comments.select_related("author", "assignment")
    return get_object_or_404(comments, pk=comment, author=user)


class CommentDetail(AnnotationView):
    @extend_schema(
        summary="Edit one of your comments",
        tags=["annotation"],
        request=CommentEdit,
        responses={200: CommentShape, **INVALID},
    )
    def patch(self, request: Request, pk: int, comment: int) -> Response:
        edited = edit_comment(
            comment=_own_comment(request.user, pk, comment),
            text=field(request, "text", str),
            actor=user_of(request),
        )
        return Response(CommentShape(edited).data)

    @_writes("Delete one of your comments", on=_own_comment, code=204)
    def delete(self, comment: Comment, user: User) -> None:
        delete_comment(comment=comment, actor=user)


class AssignmentFlagView(AnnotationView):
    @extend_schema(
        summary="Flag or skip one of your assignments, or remove the flag",
        description="Leads see kind and reason. Skipped tasks come last.",
        tags=["annotation"],
        request=AssignmentFlag,
        responses={200: AssignmentFlag, **INVALID},
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
    @_reads(
        "Download one of your documents with its spans",
        on=readable_assignment,
        asks=ExportQuery,
        gives=file_answers(kind for _, kind in FORMS.values()),
        description="Leads can download it after all annotators have submitted.",
    )
    def get(self, assignment: Assignment, form: str) -> HttpResponse:
        response = file_response(document_file(assignment, form))
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
        responses={200: SpansReplaced, **TOO_LARGE, **SAVE_REFUSED},
    )
    def post(self, request: Request, pk: int) -> Response:
        assignment = own_text(request.user, pk)
        try:
            wanted = checked_upload(DocumentImport, request)
        except serializers.ValidationError as error:
            raise InvalidSpans(_faults(error)) from error
        file = wanted.pop("file")
        saved = import_document(
            assignment=assignment,
            data=file.read(),
            filename=str(file.name),
            author=user_of(request),
            **wanted,
        )
        return Response(replacement_answer(assignment, saved))


def _faults(error: serializers.ValidationError) -> list[dict[str, Any]]:
    """The faults of a form in the format of those of a JSON body."""
    assert isinstance(error.detail, dict)
    return [
        {"field": name, "code": name, "message": f"{name}: {problem}"}
        for name, problems in error.detail.items()
        for problem in problems
    ]


class CampaignSuggestionsView(AnnotationView):
    @reads(
        "Get the suggestions that a campaign shows (leads, organisers)",
        on=managed_campaign,
        gives=CampaignSuggestions,
    )
    def get(self, access: CampaignAccess) -> Any:
        return suggestion_state(access.campaign)

    @writes(
        "Choose the suggestions that a campaign shows (leads, organisers)",
        on=managed_campaign,
        takes=SuggestionSources,
        gives=CampaignSuggestions,
        refuses={},
    )
    def put(self, access: CampaignAccess, user: User, sources: list[str]) -> Any:
        return suggestion_state(
            choose_suggestions(campaign=access.campaign, sources=sources, actor=user)
        )


class SuggestionUploads(AnnotationView, ListingView):
    queryset = SuggestionUpload.objects.none()
    serializer_class = SuggestionUploadRow
    parser_classes = [PlainMultiPartParser]

    @reads(
        "List uploads of a model's labels, newest first (leads, organisers)",
        on=managed_campaign,
        gives=SuggestionUploadRow(many=True),
    )
    def get(self, access: CampaignAccess) -> Response:
        return self.listed(access.campaign.suggestion_uploads.all())

    @writes(
        "Upload a model's labels as suggestions (leads, organisers)",
        on=managed_campaign,
        takes=SuggestionUploadFile,
        gives=SuggestionUploadRow,
        code=202,
        refuses=TOO_LARGE,
        description='A .jsonl or .jsonl.gz of `{"id", "html"}` with inline tags or of `{"id", '
        '"spans": [{"start", "end", "label"}]}`, or a .zip of ID.html or ID.json. A job reads it. '
        "Documents that an annotator has opened keep the suggestions they have.",
    )
    def post(self, access: CampaignAccess, user: User, file: Any, **made_by: str) -> Any:
        return upload_suggestions(
            campaign=access.campaign, file=file, source_name=file.name, actor=user, **made_by
        )


class SuggestionAcceptanceView(AnnotationView):
    @reads(
        "Get how many suggestions were accepted (leads, organisers)",
        on=managed_campaign,
        gives=SuggestionAcceptance(many=True),
        description="By source and model, over first submissions on documents that all their "
        "annotators have submitted. A suggestion shown to two annotators counts twice.",
    )
    def get(self, access: CampaignAccess) -> Any:
        return suggestion_acceptance(access.campaign)


class SuggestionAcceptanceFile(AnnotationView):
    @reads(
        "Download how many suggestions were accepted as CSV (leads, organisers)",
        on=managed_campaign,
        gives=file_answers(("text/csv",)),
    )
    def get(self, access: CampaignAccess) -> HttpResponse:
        return file_response(acceptance_file(access.campaign))
