"""The shapes of assignments and refusals, for the OpenAPI document.

Spans come by the thousand with every save, so they are read by `annotation.span_input` and not by
these serializers.
"""

from typing import Any

from rest_framework import serializers

from annotation.models import Assignment


class SpanShape(serializers.Serializer[Any]):
    key = serializers.RegexField(r"^[A-Za-z0-9_-]{1,36}$")
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)


class AssignmentRow(serializers.ModelSerializer[Assignment]):
    campaign = serializers.CharField(source="campaign_document.campaign.slug")
    document = serializers.CharField(source="campaign_document.document.name")
    url = serializers.CharField(source="get_absolute_url")

    class Meta:
        model = Assignment
        fields = ["id", "campaign", "document", "state", "revision", "submitted_at", "url"]
        read_only_fields = fields


class AssignmentDetail(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    campaign = serializers.CharField()
    document = serializers.CharField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    revision = serializers.IntegerField()
    labels = serializers.ListField(child=serializers.CharField())
    text_sha256 = serializers.CharField()
    text_chars = serializers.IntegerField()
    spans = SpanShape(many=True)


class AssignmentPage(serializers.Serializer[Any]):
    html = serializers.CharField()
    text = serializers.CharField()
    text_sha256 = serializers.CharField()


class SpansSave(serializers.Serializer[Any]):
    base_revision = serializers.IntegerField(min_value=0)
    save_key = serializers.RegexField(r"^[A-Za-z0-9_-]{1,36}$")
    spans = SpanShape(many=True)
    text_sha256 = serializers.CharField(required=False)


class SpansSaved(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Assignment.State.choices)


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


class AssignmentSubmitted(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Assignment.State.choices)
    next = serializers.CharField(allow_null=True)
