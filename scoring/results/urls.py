"""URLs of results: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("boards/<slug:slug>/compare/", views.compare, name="board-compare"),
    path("boards/<slug:slug>/training/", views.training, name="board-training"),
    path("boards/<slug:slug>/compare/facts/", views.compare_facts, name="board-compare-facts"),
    path("submissions/<int:pk>/scores.<slug:form>", views.score_file, name="submission-scores"),
    path("submissions/<int:pk>/items/<str:name>/", views.item, name="submission-item"),
    path(
        "submissions/<int:pk>/items/<str:name>/<str:side>/",
        views.rendered,
        name="submission-item-rendered",
    ),
]
api_urlpatterns = [
    path("boards/<slug:slug>/compare/", api.BoardCompare.as_view(), name="board-compare"),
    path(
        "boards/<slug:slug>/compare/facts/",
        api.BoardCompareFacts.as_view(),
        name="board-compare-facts",
    ),
    path("boards/<slug:slug>/training/", api.BoardTraining.as_view(), name="board-training"),
    path(
        "submissions/<int:pk>/items/",
        api.SubmissionItems.as_view(),
        name="submission-items",
    ),
    path(
        "submissions/<int:pk>/items/<str:name>/",
        api.SubmissionItem.as_view(),
        name="submission-item",
    ),
]
