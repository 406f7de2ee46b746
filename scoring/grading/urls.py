"""URLs of grading: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("boards/<slug:slug>/changes/", views.changes, name="board-changes"),
    path("boards/<slug:slug>/regrade/", views.start, name="regrade-start"),
    path("boards/<slug:slug>/regrades/<int:pk>/", views.regrade, name="regrade"),
    path("boards/<slug:slug>/regrades/<int:pk>/cancel/", views.cancel, name="regrade-cancel"),
]
api_urlpatterns = [
    path("boards/<slug:slug>/changes/", api.BoardChanges.as_view(), name="board-changes"),
    path("boards/<slug:slug>/regrades/", api.RegradeList.as_view(), name="regrades"),
    path(
        "boards/<slug:slug>/regrades/<int:pk>/",
        api.RegradeDetail.as_view(),
        name="regrade",
    ),
    path(
        "boards/<slug:slug>/regrades/<int:pk>/cancel/",
        api.RegradeCancel.as_view(),
        name="regrade-cancel",
    ),
]
