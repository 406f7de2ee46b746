"""URLs of model runs: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("boards/<slug:slug>/runs/", views.runs, name="model-runs"),
    path("boards/<slug:slug>/runs/endpoint/try/", views.try_it, name="model-endpoint-try"),
    path("boards/<slug:slug>/runs/<int:pk>/", views.run, name="model-run"),
    path("boards/<slug:slug>/runs/<int:pk>/cancel/", views.cancel, name="model-run-cancel"),
    path("boards/<slug:slug>/runs/<int:pk>/continue/", views.go_on, name="model-run-continue"),
    path("boards/<slug:slug>/runs/<int:pk>/submit/", views.submit, name="model-run-submit"),
    path("submissions/<int:pk>/reruns/", views.reruns, name="submission-reruns"),
]
api_urlpatterns = [
    path(
        "boards/<slug:slug>/model-endpoint/try/",
        api.BoardModelEndpointTry.as_view(),
        name="model-endpoint-try",
    ),
    path("boards/<slug:slug>/runs/", api.BoardModelRuns.as_view(), name="model-runs"),
    path("boards/<slug:slug>/runs/<int:pk>/", api.BoardModelRun.as_view(), name="model-run"),
    path(
        "boards/<slug:slug>/runs/<int:pk>/cancel/",
        api.ModelRunCancel.as_view(),
        name="model-run-cancel",
    ),
    path(
        "boards/<slug:slug>/runs/<int:pk>/continue/",
        api.ModelRunContinue.as_view(),
        name="model-run-continue",
    ),
    path(
        "boards/<slug:slug>/runs/<int:pk>/submit/",
        api.ModelRunSubmit.as_view(),
        name="model-run-submit",
    ),
    path(
        "submissions/<int:pk>/reruns/",
        api.SubmissionReruns.as_view(),
        name="submission-reruns",
    ),
]
