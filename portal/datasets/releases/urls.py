"""URLs of releases: pages, and endpoints below /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

release_urlpatterns = [
    path("", views.release, name="release"),
    path("download/", views.download, name="release-download"),
    path("starter-kit/", views.starter_kit, name="starter-kit"),
    path("files/<str:name>", views.release_file, name="release-file"),
    path("licence/", views.licence, name="release-licence"),
    path("diff/<str:other>/", views.diff, name="release-diff"),
]
urlpatterns = [
    path("<slug:slug>/releases/", views.releases, name="releases"),
    path("<slug:slug>/releases/new/", views.new_release, name="release-new"),
    path("<slug:slug>/releases/restore/", views.restore, name="release-restore"),
    path("<slug:slug>/releases/<str:version>/", include(release_urlpatterns)),
]
api_release_urlpatterns = [
    path("", api.ReleaseDetail.as_view(), name="release"),
    path("items/", api.ReleaseItems.as_view(), name="release-items"),
    path("download/", api.ReleaseDownload.as_view(), name="release-download"),
    path("files/<str:name>", api.ReleaseFile.as_view(), name="release-file"),
    path("starter-kit/", api.StarterKit.as_view(), name="starter-kit"),
    path("accept-licence/", api.AcceptLicence.as_view(), name="accept-licence"),
    path("diff/<str:other>/", api.ReleaseDiff.as_view(), name="release-diff"),
]
api_urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/<slug:slug>/releases/", api.ReleaseList.as_view(), name="releases"),
    path("datasets/<slug:slug>/releases/<str:version>/", include(api_release_urlpatterns)),
]
