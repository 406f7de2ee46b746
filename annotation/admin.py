"""Annotation in Django's admin: to look things up. Changes go through services, which write events.

Blindness holds here too: labels are shown only of documents that everybody has submitted. Nothing
can be deleted, since the confirmation would list the labels that go with it.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

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
    Revision,
    Span,
    SuggestionUpload,
)

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """Rows to be looked at."""

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


class SettledAdmin(ReadOnlyAdmin):
    """Rows that tell about labels: only those of documents that everybody has submitted."""

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
    list_select_related = [
        "annotator",
        "campaign_document__campaign",
        "campaign_document__document",
    ]
    # Revision and time tell how much was done, the reason of a flag perhaps what was marked.
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
    list_select_related = ["upload", "campaign_document__campaign", "campaign_document__document"]


@admin.register(Case)
class CaseAdmin(ReadOnlyAdmin):
    list_display = ["id", "campaign_document", "kind", "state", "decided_by", "decided_at"]
    list_filter = ["kind", "state"]
    list_select_related = [
        "decided_by",
        "campaign_document__campaign",
        "campaign_document__document",
    ]


@admin.register(GoldSpan)
class GoldSpanAdmin(ReadOnlyAdmin):
    list_display = ["campaign_document", "label", "start", "end", "quote", "value", "origin"]
    list_filter = ["label", "origin"]
    list_select_related = ["campaign_document__campaign", "campaign_document__document"]
