"""URLs of releases: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("<slug:slug>/releases/", views.releases, name="releases"),
    path("<slug:slug>/releases/new/", views.new_release, name="release-new"),
    path("<slug:slug>/releases/restore/", views.restore, name="release-restore"),
    path("<slug:slug>/releases/<str:version>/", views.release, name="release"),
    path("<slug:slug>/releases/<str:version>/download/", views.download, name="release-download"),
    path(
        "<slug:slug>/releases/<str:version>/starter-kit/",
        views.starter_kit,
        name="starter-kit",
    ),
    path(
        "<slug:slug>/releases/<str:version>/files/<str:name>",
        views.release_file,
        name="release-file",
    ),
    path("<slug:slug>/releases/<str:version>/licence/", views.licence, name="release-licence"),
    path(
        "<slug:slug>/releases/<str:version>/diff/<str:other>/",
        views.diff,
        name="release-diff",
    ),
]
api_urlpatterns = [
    path("datasets/<slug:slug>/releases/", api.ReleaseList.as_view(), name="releases"),
    path(
        "datasets/<slug:slug>/releases/<str:version>/",
        api.ReleaseDetail.as_view(),
        name="release",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/items/",
        api.ReleaseItems.as_view(),
        name="release-items",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/download/",
        api.ReleaseDownload.as_view(),
        name="release-download",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/files/<str:name>",
        api.ReleaseFile.as_view(),
        name="release-file",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/starter-kit/",
        api.StarterKit.as_view(),
        name="starter-kit",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/accept-licence/",
        api.AcceptLicence.as_view(),
        name="accept-licence",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/diff/<str:other>/",
        api.ReleaseDiff.as_view(),
        name="release-diff",
    ),
]
