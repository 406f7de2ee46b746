"""Django admin pages of scoring, read-only: changes go through services, which check them, warn
about hidden gold and write the log. A board can be deleted while nothing refers to it.
"""

from typing import Any

from django.contrib import admin

from .models import Board, Entry, Grading, Phase, Submission


class _Unchanged:
    """Rows that only services write."""

    def has_add_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any, **__: Any) -> bool:
        return False


class ReadOnlyAdmin(_Unchanged, admin.ModelAdmin):  # type: ignore[type-arg]
    def has_delete_permission(self, *_: Any, **__: Any) -> bool:
        return False


class PhaseInline(_Unchanged, admin.StackedInline):  # type: ignore[type-arg]
    model = Phase
    extra = 0
    can_delete = False


@admin.register(Board)
class BoardAdmin(_Unchanged, admin.ModelAdmin):  # type: ignore[type-arg]
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
