"""Read-only admin of annotation. Changes go through services, which record events.

Annotation stays blind here as well: the admin shows labels only of documents that all annotators
have submitted. Deleting is disabled because the confirmation page would list labels.
"""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from portal.web.admin import ReadOnlyAdmin

from .models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Comment,
    GoldSpan,
    GuidelinesVersion,
    Membership,
    ModelSuggestions,
    OfferedSuggestions,
    Revision,
    Span,
    SuggestionUpload,
)

_DOCUMENT = ["campaign_document__campaign", "campaign_document__document"]


class SettledAdmin(ReadOnlyAdmin):
    """Rows that reveal labels, limited to documents that all annotators have submitted."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.filter(assignment__campaign_document__stage__in=CampaignDocument.SETTLED)


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    list_display = ["title", "slug", "dataset", "state", "overlap", "is_sample", "created_at"]
    list_filter = ["state", "is_sample"]
    list_select_related = ["dataset"]
    search_fields = ["title", "slug"]


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ["campaign", "user", "role"]
    list_filter = ["role"]
    list_select_related = ["campaign", "user"]


@admin.register(CampaignDocument)
class CampaignDocumentAdmin(ReadOnlyAdmin):
    list_display = ["document", "campaign", "stage"]
    list_filter = ["stage"]
    list_select_related = ["campaign", "document"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["id", "campaign_document", "annotator", "state", "submitted_at"]
    list_filter = ["state"]
    list_select_related = ["annotator", *_DOCUMENT]
    # Revision and time reveal how much was labelled, the flag's reason possibly what.
    exclude = ["revision", "active_seconds", "flag_reason"]


@admin.register(Span)
class SpanAdmin(SettledAdmin):
    list_display = ["assignment", "label", "start", "end", "quote", "value", "sign", "edited"]
    list_filter = ["label"]


@admin.register(Revision)
class RevisionAdmin(SettledAdmin):
    list_display = ["assignment", "number", "author", "saved_at", "note"]
    list_select_related = ["author"]


@admin.register(Comment)
class CommentAdmin(SettledAdmin):
    list_display = ["assignment", "span_key", "author", "created_at", "edited_at"]
    list_select_related = ["author"]


@admin.register(GuidelinesVersion)
class GuidelinesVersionAdmin(ReadOnlyAdmin):
    list_display = ["campaign", "number", "author", "note", "created_at"]
    list_select_related = ["campaign", "author"]


@admin.register(SuggestionUpload)
class SuggestionUploadAdmin(ReadOnlyAdmin):
    list_display = ["id", "campaign", "source_name", "state", "documents", "spans", "fault_count"]
    list_filter = ["state"]
    list_select_related = ["campaign"]


@admin.register(ModelSuggestions)
class ModelSuggestionsAdmin(ReadOnlyAdmin):
    list_display = ["campaign_document", "upload"]
    list_select_related = ["upload", *_DOCUMENT]


@admin.register(OfferedSuggestions)
class OfferedSuggestionsAdmin(ReadOnlyAdmin):
    list_display = ["campaign_document", "upload", "offered_at"]
    list_select_related = ["upload", *_DOCUMENT]


@admin.register(Case)
class CaseAdmin(ReadOnlyAdmin):
    list_display = ["id", "campaign_document", "kind", "state", "decided_by", "decided_at"]
    list_filter = ["kind", "state"]
    list_select_related = ["decided_by", *_DOCUMENT]


@admin.register(GoldSpan)
class GoldSpanAdmin(ReadOnlyAdmin):
    list_display = ["campaign_document", "label", "start", "end", "quote", "value", "origin"]
    list_filter = ["label", "origin"]
    list_select_related = _DOCUMENT
