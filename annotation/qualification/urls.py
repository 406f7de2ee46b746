"""URLs of qualification: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("campaigns/<slug:slug>/qualification/", views.qualification, name="qualification"),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/try/",
        views.grant_try,
        name="qualification-try",
    ),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/qualify/",
        views.qualify,
        name="qualification-qualify",
    ),
    path("campaigns/<slug:slug>/quality/", views.annotator_quality, name="annotator-quality"),
    path(
        "campaigns/<slug:slug>/quality/csv/",
        views.annotator_quality_csv,
        name="annotator-quality-csv",
    ),
]
api_urlpatterns = [
    path(
        "campaigns/<slug:slug>/qualification/",
        api.CampaignQualificationView.as_view(),
        name="campaign-qualification",
    ),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/try/",
        api.QualificationTryView.as_view(),
        name="qualification-try",
    ),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/qualify/",
        api.QualificationDecision.as_view(),
        name="qualification-decision",
    ),
    path(
        "campaigns/<slug:slug>/quality/",
        api.CampaignAnnotatorQuality.as_view(),
        name="campaign-annotator-quality",
    ),
]
