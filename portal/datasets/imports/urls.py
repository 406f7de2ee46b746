"""URLs of imports: pages, and endpoints below /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

run_urlpatterns = [
    path("", views.import_run, name="import-run"),
    path("cancel/", views.cancel, name="import-cancel"),
    path("report.csv", views.import_report_file, {"form": "csv"}, "import-report-csv"),
    path("report.jsonl", views.import_report_file, {"form": "jsonl"}, "import-report-jsonl"),
]
urlpatterns = [
    path("<slug:slug>/import/", views.new_import, name="import"),
    path("<slug:slug>/imports/<int:pk>/", include(run_urlpatterns)),
]
api_run_urlpatterns = [
    path("", api.ImportDetail.as_view(), name="import"),
    path("items/", api.ImportItems.as_view(), name="import-items"),
    path("items/download/", api.ImportItemsDownload.as_view(), name="import-items-download"),
    path("cancel/", api.ImportCancel.as_view(), name="import-cancel"),
]
api_urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/<slug:slug>/imports/", api.ImportList.as_view(), name="imports"),
    path("datasets/<slug:slug>/imports/<int:pk>/", include(api_run_urlpatterns)),
]
