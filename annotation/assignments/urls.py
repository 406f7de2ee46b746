"""URLs of assignments: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("campaigns/<slug:slug>/documents/", views.documents, name="documents"),
    path("campaigns/<slug:slug>/documents/draw/", views.draw, name="calibration-draw"),
    path("campaigns/<slug:slug>/assignments/", views.assignments, name="assignments"),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/hand-over/", views.hand_over_, name="hand-over"
    ),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/return/",
        views.return_,
        name="assignment-return",
    ),
    path(
        "campaigns/<slug:slug>/annotators/<int:pk>/hand-over/",
        views.hand_over_all,
        name="hand-over-all",
    ),
]
api_urlpatterns = [
    path(
        "campaigns/<slug:slug>/documents/",
        api.CampaignDocuments.as_view(),
        name="campaign-documents",
    ),
    path(
        "campaigns/<slug:slug>/documents/calibration/",
        api.CampaignCalibration.as_view(),
        name="campaign-calibration",
    ),
    path(
        "campaigns/<slug:slug>/documents/overlap/",
        api.CampaignOverlap.as_view(),
        name="campaign-overlap",
    ),
    path(
        "campaigns/<slug:slug>/assignments/",
        api.CampaignAssignmentsView.as_view(),
        name="campaign-assignments",
    ),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/hand-over/",
        api.AssignmentHandOver.as_view(),
        name="assignment-hand-over",
    ),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/return/",
        api.AssignmentReturn.as_view(),
        name="assignment-return",
    ),
    path(
        "campaigns/<slug:slug>/annotators/<int:pk>/hand-over/",
        api.AnnotatorHandOver.as_view(),
        name="annotator-hand-over",
    ),
]
