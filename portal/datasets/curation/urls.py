"""URLs of curation: pages, and endpoints under /api/v1/."""

from django.urls import include, path

from . import api, views

_page_patterns = [
    path("personal-data/", views.personal_data, name="personal-data"),
    path("personal-data/scan/", views.scan, name="personal-data-scan"),
    path("duplicates/", views.duplicates, name="duplicates"),
    path("duplicates/<int:pk>/", views.duplicate, name="duplicate"),
    path("content/", views.content, name="content"),
    path("selections/", views.selections, name="selections"),
    path("selections/new/", views.new_selection, name="selection-new"),
    path("selections/<int:pk>/", views.selection, name="selection"),
    path("selections/<int:pk>/download/", views.selection_download, name="selection-download"),
]
_api_patterns = [
    path("personal-data/", api.FindingList.as_view(), name="personal-data"),
    path("personal-data/decide/", api.FindingsDecide.as_view(), name="personal-data-decide"),
    path("duplicates/", api.DuplicateList.as_view(), name="duplicates"),
    path("duplicates/<int:pk>/", api.DuplicateDetail.as_view(), name="duplicate"),
    path("selections/", api.SelectionList.as_view(), name="selections"),
    path("selections/<int:pk>/", api.SelectionDetail.as_view(), name="selection"),
    path("selections/<int:pk>/check/", api.SelectionCheck.as_view(), name="selection-check"),
]
urlpatterns = [path("<slug:slug>/", include(_page_patterns))]
api_urlpatterns = [path("datasets/<slug:slug>/", include(_api_patterns))]
