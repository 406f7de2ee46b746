"""Bases of Django admin pages. Changes go through services, which check them and write the log."""

from typing import Any

from django.contrib import admin


class Unchanged:
    """Rows that cannot be added or changed here."""

    def has_add_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any, **__: Any) -> bool:
        return False


class ReadOnlyAdmin(Unchanged, admin.ModelAdmin):  # type: ignore[type-arg]
    def has_delete_permission(self, *_: Any, **__: Any) -> bool:
        return False
