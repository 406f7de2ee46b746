"""The API of an annotator's own assignments and their history. Other assignments return 404."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import GenericAPIView, ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_assignment, own_text, readable_assignment
from annotation.api_base import (
    SPAN_KEY,
    AnnotationInvalid,
    AnnotationRefusal,
    AnnotationView,
    SpanDraft,
    SpanRemark,
    SpanWarningShape,
    field,
    user_of,
)
from annotation.assignments.api import AssignmentState
from annotation.assignments.returning import TAKE_BACK_MINUTES, take_back
from annotation.errors import Refused
from annotation.models import Assignment, Revision
from annotation.page_facts import warning_rows, warnings_of
from annotation.review.api import ReviewedFact
from annotation.spans import Draft, recorded_span
from portal.accounts.models import display_name
from portal.datasets.models import DocumentContent
from portal.web.answers import answer

from .selectors import (
    OutcomeCount,
    OwnFact,
    OwnGold,
    is_gold,
    my_assignments,
    own_gold,
    spans_at,
    url_after,
    work_data,
)
from .services import (
    MAX_ACTIVE_SECONDS,
    MAX_REASON,
    Saved,
    restore_revision,
    save_spans,
    submit_assignment,
)


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
    reason = serializers.CharField(allow_blank=True, max_length=MAX_REASON)


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
    return_reason = serializers.CharField(help_text="Why a lead sent the work back, or empty.")
    active_seconds = serializers.IntegerField()
    spans = SpanShape(many=True)


class AssignmentPage(serializers.Serializer[Any]):
    html = serializers.CharField()
    text = serializers.CharField()
    text_sha256 = serializers.CharField()


class SpansSave(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(SPAN_KEY)
    spans = SpanDraft(many=True)
    text_sha256 = serializers.CharField(required=False)
    active_seconds = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_ACTIVE_SECONDS,
        help_text="Time at work since the last save; added once.",
    )  # fmt: skip


class SpansSaved(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    spans = SpanRemark(many=True, help_text="The added and changed spans.")


class SpansReplaced(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    spans = SpanWithWarnings(many=True, help_text="All spans.")


class RevisionRow(serializers.ModelSerializer[Revision]):
    author = serializers.SerializerMethodField()
    added = serializers.SerializerMethodField()
    removed = serializers.SerializerMethodField()

    class Meta:
        model = Revision
        fields = ["number", "author", "saved_at", "added", "removed", "active_seconds", "note"]

    def get_author(self, revision: Revision) -> str:
        return display_name(revision.author)

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


class RevisionRestore(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(SPAN_KEY)


class AnnotationConflict(AnnotationRefusal):
    revision = serializers.IntegerField(required=False)
    saved_at = serializers.DateTimeField(required=False, allow_null=True)
    spans = SpanShape(many=True, required=False)


class AssignmentSubmission(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    active_seconds = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_ACTIVE_SECONDS
    )
    no_facts = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Confirms that the page has no facts. Required if no span is saved.",
    )


class AssignmentSubmitted(AssignmentState):
    next = serializers.CharField(allow_null=True)


OwnGoldFact = answer(
    OwnFact,
    "OwnGoldFact",
    own=ReviewedFact(many=True, help_text="Your marks."),
    gold=ReviewedFact(many=True),
    value_differs="Right offsets and label, but another value or sign.",
)
OwnGoldCounts = answer(OutcomeCount, "OwnGoldCounts")
OwnGoldShape = answer(OwnGold, "OwnGoldShape", facts="In text order.")


def save_answer(assignment: Assignment, saved: Saved) -> dict[str, Any]:
    """The response to a save: derived values and warnings of added and changed spans."""
    return _answer(saved, span_remarks(assignment, [recorded_span(span) for span in saved.added]))


def replacement_answer(assignment: Assignment, saved: Saved) -> dict[str, Any]:
    """The response to a restore or an import: all spans with derived values and warnings."""
    drafts = spans_at(assignment, saved.revision)
    remarks = span_remarks(assignment, drafts)
    whole = [draft._asdict() | remark for draft, remark in zip(drafts, remarks, strict=True)]
    return _answer(saved, whole)


def _answer(saved: Saved, spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "revision": saved.revision,
        "saved_at": saved.saved_at,
        "state": saved.state,
        "spans": spans,
    }


def span_remarks(assignment: Assignment, drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    """The value, sign and warnings of each span."""
    labels = assignment.campaign_document.campaign.labels
    return [
        {
            "key": draft.key,
            "value": draft.value,
            "sign": draft.sign,
            "edited": draft.edited,
            "warnings": warning_rows(warnings, draft.label, labels),
        }
        for draft, warnings in zip(drafts, warnings_of(assignment, drafts), strict=True)
    ]


@extend_schema_view(get=extend_schema(summary="List your assignments", tags=["annotation"]))
class AssignmentList(ListAPIView[Assignment]):
    permission_classes = [IsAuthenticated]
    serializer_class = AssignmentRow
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["state"]
    queryset = Assignment.objects.none()

    def get_queryset(self) -> QuerySet[Assignment]:
        return my_assignments(self.request.user)


class AssignmentDetailView(AnnotationView):
    @extend_schema(
        summary="Get one of your assignments with its spans",
        tags=["annotation"],
        responses=AssignmentDetail,
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
        summary="Get the page of one of your assignments",
        description="Spans are offsets into `text`, in Unicode code points.",
        tags=["annotation"],
        responses=AssignmentPage,
    )
    def get(self, request: Request, pk: int) -> Response:
        document = own_assignment(request.user, pk).campaign_document.document
        content = DocumentContent.objects.get(pk=document.pk)
        return Response(
            {"html": content.html, "text": content.text, "text_sha256": document.text_sha256}
        )


class AssignmentSpans(AnnotationView):
    @extend_schema(
        summary="Save all spans of one of your assignments",
        description="`base_revision` is the revision from which the spans were edited. A repeated "
        "`save_key` returns the first result.",
        tags=["annotation"],
        request=SpansSave,
        responses={200: SpansSaved, 409: AnnotationConflict, 422: AnnotationInvalid},
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
        summary="Submit one of your assignments",
        description="Makes its spans final. A page without spans is refused with the code "
        "`empty` unless `no_facts` is true. `next` is the URL of the next task, or null.",
        tags=["annotation"],
        request=AssignmentSubmission,
        responses={200: AssignmentSubmitted, 409: AnnotationConflict, 422: AnnotationInvalid},
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
        summary="Withdraw one of your submissions",
        description=f"Possible for {TAKE_BACK_MINUTES} minutes, while another annotator of the "
        "page has not submitted. The next submission counts as the first.",
        tags=["annotation"],
        request=None,
        responses={200: AssignmentState, 409: AnnotationRefusal},
    )
    def post(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        taken = take_back(assignment=assignment, actor=user_of(request))
        return Response({"state": taken.state})


class RevisionList(AnnotationView, GenericAPIView[Revision]):
    queryset = Revision.objects.none()
    serializer_class = RevisionRow

    @extend_schema(
        summary="List the revisions of one of your assignments, newest first",
        description="Leads can read it after all annotators have submitted.",
        tags=["annotation"],
        responses=RevisionRow(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        page = self.paginate_queryset(_revisions(readable_assignment(request.user, pk)))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class RevisionDetailView(AnnotationView):
    @extend_schema(
        summary="Get a revision: its changes, and all spans after it",
        tags=["annotation"],
        responses=RevisionDetail,
    )
    def get(self, request: Request, pk: int, number: int) -> Response:
        assignment = readable_assignment(request.user, pk)
        revision = get_object_or_404(_revisions(assignment), number=number)
        row: dict[str, Any] = RevisionRow(revision).data
        changes = {
            "added_spans": [recorded_span(span)._asdict() for span in revision.added],
            "removed_spans": [recorded_span(span)._asdict() for span in revision.removed],
        }
        spans = [draft._asdict() for draft in spans_at(assignment, number)]
        return Response(row | changes | {"spans": spans})


class RevisionRestoreView(AnnotationView):
    @extend_schema(
        summary="Restore the spans of an earlier revision",
        description="Creates a new revision. Returns all spans.",
        tags=["annotation"],
        request=RevisionRestore,
        responses={200: SpansReplaced, 409: AnnotationConflict, 422: AnnotationInvalid},
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


class AssignmentGold(AnnotationView):
    @extend_schema(
        summary="Compare your marks with the gold",
        description="Returns 409 until the page is gold.",
        tags=["assignments"],
        responses={200: OwnGoldShape, 409: AnnotationRefusal},
    )
    def get(self, request: Request, pk: int) -> Response:
        assignment = own_assignment(request.user, pk)
        if not is_gold(assignment):
            raise Refused("This page is not gold yet.", code="not_gold")
        return Response(OwnGoldShape(own_gold(assignment)).data)
