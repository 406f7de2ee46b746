"""URLs of reliability: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("boards/<slug:slug>/judge/", views.judge, name="board-judge"),
    path("boards/<slug:slug>/judge/manage/", views.manage, name="judge-manage"),
    path(
        "boards/<slug:slug>/judge/experts/<int:pk>/remove/",
        views.remove,
        name="judge-expert-remove",
    ),
    path("boards/<slug:slug>/judge/samples/new/", views.sample, name="judge-sample-new"),
    path(
        "boards/<slug:slug>/judge/samples/<int:pk>/close/", views.close, name="judge-sample-close"
    ),
    path("boards/<slug:slug>/judge/runs/new/", views.run, name="judge-run-new"),
    path("boards/<slug:slug>/judge/runs/<int:pk>/cancel/", views.cancel, name="judge-run-cancel"),
    path("boards/<slug:slug>/judge/cases/", views.cases, name="judge-cases"),
    path("boards/<slug:slug>/judge/cases/<int:pk>/", views.case, name="judge-case"),
    path("boards/<slug:slug>/judge/cases/<int:pk>/opinion/", views.opinion, name="judge-opinion"),
    path("boards/<slug:slug>/judge/cases/<int:pk>/review/", views.review, name="judge-review"),
    path(
        "boards/<slug:slug>/judge/cases/<int:pk>/images/<int:number>/",
        views.image,
        name="judge-image",
    ),
    path(
        "boards/<slug:slug>/judge/cases/<int:pk>/<str:side>/",
        views.rendered,
        name="judge-rendered",
    ),
]
api_urlpatterns = [
    path("boards/<slug:slug>/judge/", api.BoardJudge.as_view(), name="board-judge"),
]
