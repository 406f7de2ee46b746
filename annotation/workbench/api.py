"""The API of an annotator's own assignments and their history. Other assignments return 404."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.html import format_html
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_assignment, own_text, readable_assignment
from annotation.api_base import (
    INVALID,
    SPAN_KEY,
    AnnotationRefusal,
    AnnotationView,
    SpanDraft,
    SpanRemark,
    SpanWarningShape,
    field,
    reads,
    user_of,
    writes,
)
from annotation.assignments.api import AssignmentState
from annotation.assignments.handing_over import take_back
from annotation.assignments.selectors import TAKE_BACK_MINUTES, may_take_back
from annotation.doubts import span_remarks
from annotation.errors import Refused
from annotation.models import Assignment, Revision
from annotation.review.api import ReviewedFact
from annotation.spans import MAX_SPANS, Draft, recorded_span
from portal.accounts.models import User
from portal.datasets.models import DocumentContent
from portal.web.answers import ListingView, answer

from . import selectors, services
from .offers import read_dismissed


class SpanShape(serializers.Serializer[Any]):
    """A saved span."""

    key = serializers.RegexField(SPAN_KEY)
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)
    value = serializers.CharField(allow_blank=True)
    sign = serializers.CharField(allow_blank=True)
    edited = serializers.BooleanField(help_text="Whether the annotator edited value or sign.")


class SpanWithWarnings(SpanShape):
    warnings = SpanWarningShape(many=True)


class AssignmentRow(serializers.ModelSerializer[Assignment]):
    campaign = serializers.CharField(source="campaign_document.campaign.slug")
    document = serializers.CharField(source="campaign_document.document.name")
    url = serializers.CharField(source="get_absolute_url")

    class Meta:
        model = Assignment
        fields = [
            *("id", "campaign", "document", "state", "revision", "flag", "submitted_at", "url")
        ]
        read_only_fields = fields


class GuidelinesSeen(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="The newest version.")
    seen_version = serializers.IntegerField(help_text="The newest version that you opened, or 0.")


class AssignmentFlag(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Assignment.Flag.choices, allow_blank=True)
    reason = serializers.CharField(allow_blank=True, max_length=services.MAX_REASON)


class AssignmentDetail(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    campaign = serializers.CharField()
    document = serializers.CharField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    can_edit = serializers.BooleanField()
    revision = serializers.IntegerField()
    labels = serializers.ListField(child=serializers.CharField())
    text_sha256 = serializers.CharField()
    text_chars = serializers.IntegerField()
    guidelines = GuidelinesSeen()
    suggestions = serializers.BooleanField(help_text="Whether the campaign shows suggestions.")
    flag = AssignmentFlag()
    return_reason = serializers.CharField(help_text="Why a lead returned it, or empty.")
    active_seconds = serializers.IntegerField()
    spans = SpanShape(many=True)


class AssignmentPage(serializers.Serializer[Any]):
    html = serializers.CharField()
    text = serializers.CharField()
    text_sha256 = serializers.CharField()


class RevisionRestore(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(SPAN_KEY)


class SpansSave(RevisionRestore):
    spans = SpanDraft(many=True)
    text_sha256 = serializers.CharField(required=False)
    active_seconds = serializers.IntegerField(
        required=False, min_value=0, max_value=services.MAX_ACTIVE_SECONDS,
        help_text="Active time since the last save; a repeated `save_key` does not add it again.",
    )  # fmt: skip


class SpansSaved(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    spans = SpanRemark(many=True, help_text="The added and changed spans.")


class SpansReplaced(SpansSaved):
    spans = SpanWithWarnings(many=True, help_text="All spans.")  # type: ignore[assignment]


class RevisionRow(serializers.ModelSerializer[Revision]):
    author = serializers.CharField(read_only=True)
    added = serializers.SerializerMethodField()
    removed = serializers.SerializerMethodField()

    class Meta:
        model = Revision
        fields = ["number", "author", "saved_at", "added", "removed", "active_seconds", "note"]

    def get_added(self, revision: Revision) -> int:
        return len(revision.added)

    def get_removed(self, revision: Revision) -> int:
        return len(revision.removed)


class RevisionDetail(RevisionRow):
    added_spans = SpanShape(many=True)
    removed_spans = SpanShape(many=True)
    spans = SpanShape(many=True)

    class Meta(RevisionRow.Meta):
        fields = [*RevisionRow.Meta.fields, "added_spans", "removed_spans", "spans"]


class AnnotationConflict(AnnotationRefusal):
    revision = serializers.IntegerField(required=False)
    saved_at = serializers.DateTimeField(required=False, allow_null=True)
    spans = SpanShape(many=True, required=False)


SAVE_REFUSED = INVALID | {409: AnnotationConflict}
_reads = partial(reads, tags=["annotation"])
_writes = partial(writes, tags=["annotation"])


class SuggestionPlace(serializers.Serializer[Any]):
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    label = serializers.CharField()  # type: ignore[assignment]


class AssignmentSubmission(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    active_seconds = serializers.IntegerField(
        required=False, min_value=0, max_value=services.MAX_ACTIVE_SECONDS
    )
    no_facts = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Confirms that the document has no facts. Required if no span is saved.",
    )
    dismissed = SuggestionPlace(
        many=True, required=False, help_text="Suggestions that you dismissed, for statistics."
    )


class AssignmentSubmitted(AssignmentState):
    next = serializers.CharField(allow_null=True)


OwnGoldFact = answer(
    selectors.OwnFact,
    "OwnGoldFact",
    own=ReviewedFact(many=True, help_text="Your labels."),
    gold=ReviewedFact(many=True),
    value_differs="Right offsets and label, but another value or sign.",
)
OwnGoldCounts = answer(selectors.OutcomeCount, "OwnGoldCounts")
OwnGoldShape = answer(selectors.OwnGold, "OwnGoldShape", facts="In text order.")


def save_answer(assignment: Assignment, saved: services.Saved) -> dict[str, Any]:
    """The response to a save: derived values and warnings of added and changed spans."""
    added = [recorded_span(span) for span in saved.added]
    return _answer(saved, assignment_remarks(assignment, added))


def replacement_answer(assignment: Assignment, saved: services.Saved) -> dict[str, Any]:
    """The response to a restore or an import: all spans with derived values and warnings."""
    drafts = selectors.spans_at(assignment, saved.revision)
    remarks = assignment_remarks(assignment, drafts)
    whole = [draft._asdict() | remark for draft, remark in zip(drafts, remarks, strict=True)]
    return _answer(saved, whole)


def _answer(saved: services.Saved, spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "revision": saved.revision,
        "saved_at": saved.saved_at,
        "state": saved.state,
        "spans": spans,
    }


def assignment_remarks(assignment: Assignment, drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    """The value, sign and warnings of each span."""
    page = assignment.campaign_document
    return span_remarks(page.document, drafts, page.campaign.labels)


@extend_schema_view(get=extend_schema(summary="List your assignments", tags=["annotation"]))
class AssignmentList(ListAPIView[Assignment]):
    permission_classes = [IsAuthenticated]
    serializer_class = AssignmentRow
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["state"]
    queryset = Assignment.objects.none()

    def get_queryset(self) -> QuerySet[Assignment]:
        return selectors.my_assignments(self.request.user)


class FormerSubmissionRow(serializers.ModelSerializer[Assignment]):
    campaign = serializers.CharField(source="campaign_document.campaign.slug")
    document = serializers.CharField(source="campaign_document.document.name")

    class Meta:
        model = Assignment
        fields = ["campaign", "document", "submitted_at"]
        read_only_fields = fields


@extend_schema_view(
    get=extend_schema(
        summary="List what you submitted in campaigns that you left", tags=["annotation"]
    )
)
class FormerSubmissionList(ListAPIView[Assignment]):
    permission_classes = [IsAuthenticated]
    serializer_class = FormerSubmissionRow
    filter_backends = []
    queryset = Assignment.objects.none()

    def get_queryset(self) -> QuerySet[Assignment]:
        return selectors.former_submissions(self.request.user)


class AssignmentDetailView(AnnotationView):
    @_reads("Get one of your assignments with its spans", on=own_assignment, gives=AssignmentDetail)
    def get(self, assignment: Assignment) -> Any:
        return Response(_detail(assignment))


def _detail(assignment: Assignment) -> dict[str, Any]:
    return {
        "id": assignment.pk,
        "campaign": assignment.campaign_document.campaign.slug,
        "document": assignment.campaign_document.document.name,
        "labels": assignment.campaign_document.campaign.labels,
        **selectors.work_data(assignment),
    }


class AssignmentContent(AnnotationView):
    @_reads(
        "Get the document of one of your assignments",
        on=own_assignment,
        gives=AssignmentPage,
        description="Spans are offsets into `text`, in Unicode code points.",
    )
    def get(self, assignment: Assignment) -> Any:
        document = assignment.campaign_document.document
        content = DocumentContent.objects.get(pk=document.pk)
        page = {"html": content.html, "text": content.text, "text_sha256": document.text_sha256}
        return Response(page)


class AssignmentSpans(AnnotationView):
    @extend_schema(
        summary="Save all spans of one of your assignments",
        description="`base_revision` is the revision from which the spans were edited. A repeated "
        "`save_key` returns the first result.",
        tags=["annotation"],
        request=SpansSave,
        responses={200: SpansSaved, **SAVE_REFUSED},
    )
    def put(self, request: Request, pk: int) -> Response:
        assignment = own_text(request.user, pk)
        saved = services.save_spans(
            assignment=assignment,
            **save_of(request),
            spans=field(request, "spans", list),
            text_sha256=field(request, "text_sha256", str, ""),
            active_seconds=field(request, "active_seconds", int, 0),
        )
        return Response(save_answer(assignment, saved))


def save_of(request: Request) -> dict[str, Any]:
    """The arguments of every save: its revision, its key and its author."""
    return {
        "base_revision": field(request, "base_revision", int),
        "save_key": field(request, "save_key", str),
        "author": user_of(request),
    }


class AssignmentSubmit(AnnotationView):
    @extend_schema(
        summary="Submit one of your assignments",
        description="Makes its spans final. A document without spans is refused with the code "
        "`empty` unless `no_facts` is true. `next` is the URL of the next task, or null.",
        tags=["annotation"],
        request=AssignmentSubmission,
        responses={200: AssignmentSubmitted, **SAVE_REFUSED},
    )
    def post(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        is_first = not assignment.is_submitted
        submitted = services.submit_assignment(
            assignment=assignment,
            base_revision=field(request, "base_revision", int),
            active_seconds=field(request, "active_seconds", int, 0),
            no_facts=field(request, "no_facts", bool, False),
            dismissed=read_dismissed(field(request, "dismissed", list, [])[:MAX_SPANS]),
            actor=user_of(request),
        )
        url = selectors.url_after(request.user, assignment)
        # The workbench goes to the next page, which shows the message. Programs have no page.
        if is_first and isinstance(request.successful_authenticator, SessionAuthentication):
            messages.success(request._request, _submitted_message(assignment))
        return Response({"state": submitted.state, "next": url})


def _submitted_message(assignment: Assignment) -> str:
    text = format_html("Submitted {}.", assignment.campaign_document.document.name)
    assignment.refresh_from_db()
    if not may_take_back(assignment):
        return text
    hint = '{} You can <a href="{}">withdraw it</a> within {} minutes.'
    return format_html(hint, text, assignment.get_absolute_url(), TAKE_BACK_MINUTES)


class AssignmentTakeBack(AnnotationView):
    @_writes(
        "Withdraw one of your submissions",
        on=own_assignment,
        gives=AssignmentState,
        description=f"Possible for {TAKE_BACK_MINUTES} minutes, while another annotator of the "
        "document has not submitted. The next submission counts as the first.",
    )
    def post(self, assignment: Assignment, user: User) -> Any:
        return take_back(assignment=assignment, actor=user)


class RevisionList(AnnotationView, ListingView):
    queryset = Revision.objects.none()
    serializer_class = RevisionRow

    @_reads(
        "List the revisions of one of your assignments, newest first",
        on=readable_assignment,
        gives=RevisionRow(many=True),
        description="Leads can read it after all annotators have submitted.",
    )
    def get(self, assignment: Assignment) -> Response:
        return self.listed(_revisions(assignment))


def _revisions(assignment: Assignment) -> QuerySet[Revision]:
    return assignment.revisions.select_related("author").order_by("-number")


def _readable_revision(user: Any, pk: int, number: int) -> tuple[Assignment, Revision]:
    assignment = readable_assignment(user, pk)
    return assignment, get_object_or_404(_revisions(assignment), number=number)


class RevisionDetailView(AnnotationView):
    @_reads(
        "Get a revision: its changes, and all spans after it",
        on=_readable_revision,
        gives=RevisionDetail,
    )
    def get(self, assignment: Assignment, revision: Revision) -> Any:
        row: dict[str, Any] = RevisionRow(revision).data
        changes = {
            "added_spans": [recorded_span(span)._asdict() for span in revision.added],
            "removed_spans": [recorded_span(span)._asdict() for span in revision.removed],
        }
        spans = [draft._asdict() for draft in selectors.spans_at(assignment, revision.number)]
        return Response(row | changes | {"spans": spans})


class RevisionRestoreView(AnnotationView):
    @extend_schema(
        summary="Restore the spans of an earlier revision",
        description="Creates a new revision. Returns all spans.",
        tags=["annotation"],
        request=RevisionRestore,
        responses={200: SpansReplaced, **SAVE_REFUSED},
    )
    def post(self, request: Request, pk: int, number: int) -> Response:
        assignment = own_text(request.user, pk)
        get_object_or_404(assignment.revisions, number=number)
        saved = services.restore_revision(assignment=assignment, number=number, **save_of(request))
        return Response(replacement_answer(assignment, saved))


class AssignmentGold(AnnotationView):
    @_reads(
        "Compare your labels with the gold",
        on=own_assignment,
        gives=OwnGoldShape,
        responses={200: OwnGoldShape, 409: AnnotationRefusal},
        tags=["assignments"],
        description="Returns 409 until the document is gold.",
    )
    def get(self, assignment: Assignment) -> Any:
        if not selectors.is_gold(assignment):
            raise Refused("This document is not gold yet.", code="not_gold")
        return selectors.own_gold(assignment)
