"""The shapes of assignments and refusals, for the OpenAPI document.

Spans come by the thousand with every save, so they are read by `annotation.span_input` and not by
these serializers.
"""

from typing import Any

from rest_framework import serializers

from annotation.models import Assignment, Comment, Revision
from annotation.selectors.document_files import FORMS
from annotation.services.remarks import MAX_COMMENT, MAX_REASON
from annotation.services.saving import MAX_ACTIVE_SECONDS
from annotation.span_values import MAX_VALUE
from portal.accounts.models import display_name

_KEY = r"^[A-Za-z0-9_-]{1,36}$"


class SpanDraft(serializers.Serializer[Any]):
    """A span as it is sent."""

    key = serializers.RegexField(_KEY)
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)
    value = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_VALUE,
        help_text="Decimal, ISO date or ISO 8601 duration; derived when null or left out.",
    )  # fmt: skip
    sign = serializers.CharField(
        required=False, allow_null=True, allow_blank=True,
        help_text="plain, minus, parentheses, trailing_minus, trailing_cr or empty; derived when "
        "null or left out.",
    )  # fmt: skip
    edited = serializers.BooleanField(
        required=False, help_text="When false, value and sign are derived whatever they say."
    )


class SpanShape(serializers.Serializer[Any]):
    """A span as it is saved."""

    key = serializers.RegexField(_KEY)
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)
    value = serializers.CharField(allow_blank=True)
    sign = serializers.CharField(allow_blank=True)
    edited = serializers.BooleanField(help_text="Whether value and sign are the annotator's own.")


class SpanWarningShape(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="The campaign's label that would fit, for a `wrong_type`; else empty."
    )


class DoubtShape(serializers.Serializer[Any]):
    """A mark with warnings that make it doubtful as gold."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    quote = serializers.CharField()
    codes = serializers.ListField(child=serializers.CharField())
    messages = serializers.ListField(child=serializers.CharField())


class SpanRemark(serializers.Serializer[Any]):
    """What our code says about a span."""

    key = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    sign = serializers.CharField(allow_blank=True)
    edited = serializers.BooleanField()
    warnings = SpanWarningShape(many=True)


class SpanWithWarnings(SpanShape):
    warnings = SpanWarningShape(many=True)


class SpanWarnings(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    spans = SpanRemark(many=True)


class AssignmentRow(serializers.ModelSerializer[Assignment]):
    campaign = serializers.CharField(source="campaign_document.campaign.slug")
    document = serializers.CharField(source="campaign_document.document.name")
    url = serializers.CharField(source="get_absolute_url")

    class Meta:
        model = Assignment
        fields = [
            *("id", "campaign", "document", "state", "revision", "flag", "submitted_at", "url"),
        ]
        read_only_fields = fields


class GuidelinesSeen(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="The newest one.")
    seen_version = serializers.IntegerField(help_text="The newest one that I opened; 0 for none.")


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
    suggestions = serializers.BooleanField(help_text="Whether the campaign shows any.")
    flag = AssignmentFlag()
    return_reason = serializers.CharField(help_text="Why a lead sent the work back, if one did.")
    active_seconds = serializers.IntegerField()
    spans = SpanShape(many=True)


class AssignmentPage(serializers.Serializer[Any]):
    html = serializers.CharField()
    text = serializers.CharField()
    text_sha256 = serializers.CharField()


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


class SpansSave(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(_KEY)
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
    spans = SpanRemark(many=True, help_text="Those that the save added or changed.")


class SpansReplaced(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    spans = SpanWithWarnings(many=True, help_text="All of them.")


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
    save_key = serializers.RegexField(_KEY)


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
    save_key = serializers.RegexField(_KEY)
    form = serializers.ChoiceField(choices=list(FORMS), required=False, default="")


class NewComment(serializers.Serializer[Any]):
    span_key = serializers.RegexField(
        _KEY, required=False, allow_blank=True, help_text="Empty for the whole page."
    )
    text = serializers.CharField(max_length=MAX_COMMENT)


class CommentEdit(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=MAX_COMMENT)


class AnnotationRefusal(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class AnnotationConflict(AnnotationRefusal):
    revision = serializers.IntegerField(required=False)
    saved_at = serializers.DateTimeField(required=False, allow_null=True)
    spans = SpanShape(many=True, required=False)


class AnnotationFault(serializers.Serializer[Any]):
    index = serializers.IntegerField(required=False)
    key = serializers.CharField(required=False)
    field = serializers.CharField(required=False)
    code = serializers.CharField()
    message = serializers.CharField()


class AnnotationInvalid(AnnotationRefusal):
    errors = AnnotationFault(many=True)  # type: ignore[assignment]
    total = serializers.IntegerField()


class AssignmentSubmission(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    active_seconds = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_ACTIVE_SECONDS
    )
    no_facts = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Confirms that the page has no facts; needed where no span is saved.",
    )


class AssignmentState(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Assignment.State.choices)


class AssignmentSubmitted(AssignmentState):
    next = serializers.CharField(allow_null=True)
