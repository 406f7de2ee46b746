"""Django's admin of datasets. Most rows are read-only."""

from typing import Any

from django.contrib import admin

from portal.web import admin as web

from .models import (
    Dataset,
    Document,
    ImportItem,
    ImportRun,
    PageImage,
    Release,
    ReleaseItem,
    XbrlFacts,
)


class ReadOnlyAdmin(web.ReadOnlyAdmin):
    show_full_result_count = False


@admin.register(Dataset)
class DatasetAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["title", "slug", "visibility", "is_sample", "created_at"]
    list_filter = ["visibility", "is_sample"]
    search_fields = ["title", "slug"]
    # Making a dataset public is checked on its own page.
    readonly_fields = ["slug", "visibility", "is_sample", "created_by", "created_at"]

    def has_add_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_delete_permission(self, *_: Any, **__: Any) -> bool:
        return False


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ["name", "dataset", "doc_type", "company", "fiscal_year", "text_chars"]
    list_filter = ["dataset", "doc_type"]
    list_select_related = ["dataset"]
    search_fields = ["name", "company"]


@admin.register(PageImage)
class PageImageAdmin(ReadOnlyAdmin):
    list_display = ["document", "number", "width", "height"]
    list_select_related = ["document"]
    search_fields = ["document__name"]


@admin.register(XbrlFacts)
class XbrlFactsAdmin(ReadOnlyAdmin):
    list_display = ["document"]
    list_select_related = ["document"]
    search_fields = ["document__name"]


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    list_display = ["id", "dataset", "source_name", "state", "total", "created_at"]
    list_filter = ["state", "dataset"]
    list_select_related = ["dataset"]


@admin.register(ImportItem)
class ImportItemAdmin(ReadOnlyAdmin):
    list_display = ["name", "run", "outcome", "code"]
    list_filter = ["outcome", "code"]
    list_select_related = ["run"]
    search_fields = ["name"]


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ["dataset", "version", "visibility", "item_count", "fact_count", "frozen_at"]
    list_filter = ["visibility", "dataset"]
    list_select_related = ["dataset"]


@admin.register(ReleaseItem)
class ReleaseItemAdmin(ReadOnlyAdmin):
    list_display = ["name", "release", "position", "sha256"]
    list_select_related = ["release__dataset"]
    search_fields = ["name"]
