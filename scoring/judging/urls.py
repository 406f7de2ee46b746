"""URLs of judging: pages, and endpoints below /api/v1/."""

from django.urls import path

from scoring.models.judging import Purpose

from . import api, views

urlpatterns = [
    path("boards/<slug:slug>/judge/endpoint/", views.endpoint, name="judge-endpoint"),
    path(
        "boards/<slug:slug>/judge/endpoint/remove/",
        views.remove,
        name="judge-endpoint-remove",
    ),
    path(
        "boards/<slug:slug>/judge/endpoint/try/",
        views.try_it,
        name="judge-endpoint-try",
    ),
    path(
        "boards/<slug:slug>/runs/endpoint/",
        views.endpoint,
        {"purpose": Purpose.MODEL},
        name="model-endpoint",
    ),
    path(
        "boards/<slug:slug>/runs/endpoint/remove/",
        views.remove,
        {"purpose": Purpose.MODEL},
        name="model-endpoint-remove",
    ),
]
api_urlpatterns = [
    path(
        "boards/<slug:slug>/judge-endpoint/",
        api.BoardJudgeEndpoint.as_view(),
        name="judge-endpoint",
    ),
    path(
        "boards/<slug:slug>/judge-endpoint/try/",
        api.BoardJudgeEndpointTry.as_view(),
        name="judge-endpoint-try",
    ),
    path(
        "boards/<slug:slug>/model-endpoint/",
        api.BoardModelEndpoint.as_view(),
        name="model-endpoint",
    ),
]
