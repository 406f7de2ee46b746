"""URLs of curation: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("<slug:slug>/personal-data/", views.personal_data, name="personal-data"),
    path("<slug:slug>/personal-data/scan/", views.scan, name="personal-data-scan"),
    path("<slug:slug>/duplicates/", views.duplicates, name="duplicates"),
    path("<slug:slug>/duplicates/<int:pk>/", views.duplicate, name="duplicate"),
    path("<slug:slug>/content/", views.content, name="content"),
    path("<slug:slug>/selections/", views.selections, name="selections"),
    path("<slug:slug>/selections/new/", views.new_selection, name="selection-new"),
    path("<slug:slug>/selections/<int:pk>/", views.selection, name="selection"),
    path(
        "<slug:slug>/selections/<int:pk>/download/",
        views.selection_download,
        name="selection-download",
    ),
]
api_urlpatterns = [
    path(
        "datasets/<slug:slug>/personal-data/",
        api.FindingList.as_view(),
        name="personal-data",
    ),
    path(
        "datasets/<slug:slug>/personal-data/decide/",
        api.FindingsDecide.as_view(),
        name="personal-data-decide",
    ),
    path("datasets/<slug:slug>/duplicates/", api.DuplicateList.as_view(), name="duplicates"),
    path(
        "datasets/<slug:slug>/duplicates/<int:pk>/",
        api.DuplicateDetail.as_view(),
        name="duplicate",
    ),
    path("datasets/<slug:slug>/selections/", api.SelectionList.as_view(), name="selections"),
    path(
        "datasets/<slug:slug>/selections/<int:pk>/",
        api.SelectionDetail.as_view(),
        name="selection",
    ),
    path(
        "datasets/<slug:slug>/selections/<int:pk>/check/",
        api.SelectionCheck.as_view(),
        name="selection-check",
    ),
]
