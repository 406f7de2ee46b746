"""Addresses under /datasets/."""

from django.urls import path

from .views import datasets, documents, imports, releases

app_name = "datasets"
urlpatterns = [
    path("", datasets.datasets, name="list"),
    path("new/", datasets.new_dataset, name="new"),
    path("<slug:slug>/", datasets.dataset, name="detail"),
    path("<slug:slug>/edit/", datasets.edit, name="edit"),
    path("<slug:slug>/import/", imports.new_import, name="import"),
    path("<slug:slug>/imports/<int:pk>/", imports.import_run, name="import-run"),
    path("<slug:slug>/imports/<int:pk>/cancel/", imports.cancel, name="import-cancel"),
    path("<slug:slug>/documents/<str:name>/", documents.document, name="document"),
    path("<slug:slug>/documents/<str:name>/html/", documents.document_html, name="document-html"),
    path(
        "<slug:slug>/documents/<str:name>/images/<int:number>/",
        documents.document_image,
        name="document-image",
    ),
    path("<slug:slug>/releases/<str:version>/", releases.release, name="release"),
    path(
        "<slug:slug>/releases/<str:version>/download/", releases.download, name="release-download"
    ),
]
