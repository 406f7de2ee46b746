"""URLs of imports: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("<slug:slug>/import/", views.new_import, name="import"),
    path("<slug:slug>/imports/<int:pk>/", views.import_run, name="import-run"),
    path("<slug:slug>/imports/<int:pk>/cancel/", views.cancel, name="import-cancel"),
    path(
        "<slug:slug>/imports/<int:pk>/report.csv",
        views.import_report_file,
        {"form": "csv"},
        name="import-report-csv",
    ),
    path(
        "<slug:slug>/imports/<int:pk>/report.jsonl",
        views.import_report_file,
        {"form": "jsonl"},
        name="import-report-jsonl",
    ),
]
api_urlpatterns = [
    path("datasets/<slug:slug>/imports/", api.ImportList.as_view(), name="imports"),
    path("datasets/<slug:slug>/imports/<int:pk>/", api.ImportDetail.as_view(), name="import"),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/items/",
        api.ImportItems.as_view(),
        name="import-items",
    ),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/items/download/",
        api.ImportItemsDownload.as_view(),
        name="import-items-download",
    ),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/cancel/",
        api.ImportCancel.as_view(),
        name="import-cancel",
    ),
]
