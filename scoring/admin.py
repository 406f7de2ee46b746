"""Django admin pages of scoring, read-only: changes go through services, which check them, warn
about hidden gold and write the log. A board can be deleted while nothing refers to it.
"""

from django.contrib import admin

from portal.web.admin import ReadOnlyAdmin, Unchanged

from .models import Board, Entry, Grading, Phase, Submission


class PhaseInline(Unchanged, admin.StackedInline):  # type: ignore[type-arg]
    model = Phase
    extra = 0
    can_delete = False


@admin.register(Board)
class BoardAdmin(Unchanged, admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["title", "slug", "benchmark", "state", "is_sample"]
    list_filter = ["benchmark", "state"]
    search_fields = ["title", "slug"]
    raw_id_fields = ["created_by"]
    inlines = [PhaseInline]


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ["id", "name", "owner", "phase", "publication", "created_at"]
    list_filter = ["publication", "phase"]
    list_select_related = ["owner", "phase__board"]
    search_fields = ["name", "owner__email"]


@admin.register(Grading)
class GradingAdmin(ReadOnlyAdmin):
    list_display = ["id", "submission", "state", "items_total", "missing", "created_at"]
    list_filter = ["state"]
    list_select_related = ["submission"]


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ["name", "board", "kind", "signature", "provenance", "published_at"]
    list_filter = ["board", "kind"]
    list_select_related = ["board"]
    search_fields = ["name"]
