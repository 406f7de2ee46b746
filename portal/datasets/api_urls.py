"""Addresses of the dataset manager's endpoints, below /api/v1/."""

from django.urls import path

from .api import datasets, imports, releases

urlpatterns = [
    path("datasets/", datasets.DatasetList.as_view(), name="datasets"),
    path("datasets/<slug:slug>/", datasets.DatasetDetail.as_view(), name="dataset"),
    path("datasets/<slug:slug>/documents/", datasets.DocumentList.as_view(), name="documents"),
    path(
        "datasets/<slug:slug>/documents/<str:name>/",
        datasets.DocumentDetail.as_view(),
        name="document",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/<int:number>/",
        datasets.DocumentImage.as_view(),
        name="document-image",
    ),
    path("datasets/<slug:slug>/imports/", imports.ImportList.as_view(), name="imports"),
    path("datasets/<slug:slug>/imports/<int:pk>/", imports.ImportDetail.as_view(), name="import"),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/items/",
        imports.ImportItems.as_view(),
        name="import-items",
    ),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/cancel/",
        imports.ImportCancel.as_view(),
        name="import-cancel",
    ),
    path("datasets/<slug:slug>/releases/", releases.ReleaseList.as_view(), name="releases"),
    path(
        "datasets/<slug:slug>/releases/<str:version>/",
        releases.ReleaseDetail.as_view(),
        name="release",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/items/",
        releases.ReleaseItems.as_view(),
        name="release-items",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/download/",
        releases.ReleaseDownload.as_view(),
        name="release-download",
    ),
]
