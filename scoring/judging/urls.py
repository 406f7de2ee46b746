"""URLs of judging: pages, and endpoints below /api/v1/."""

from django.urls import path

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
]
