"""URLs of boards: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("boards/", views.boards, name="boards"),
    path("boards/new/", views.new_board, name="board-new"),
    path("boards/<slug:slug>/", views.board, name="board"),
    path("boards/<slug:slug>/benchmark/", views.benchmark, name="board-benchmark"),
    path("boards/<slug:slug>/take-part/", views.take_part, name="board-take-part"),
    path("boards/<slug:slug>/tasks/", views.tasks, name="board-tasks"),
    path("boards/<slug:slug>/example/", views.example, name="board-example"),
    path("boards/<slug:slug>/state/", views.change_state, name="board-state"),
    path("boards/<slug:slug>/settings/", views.board_settings, name="board-settings"),
    path("boards/<slug:slug>/phases/new/", views.new_phase, name="phase-new"),
    path("boards/<slug:slug>/phases/<slug:phase>/", views.edit, name="phase-edit"),
]
api_urlpatterns = [
    path("boards/", api.BoardList.as_view(), name="boards"),
    path("boards/<slug:slug>/", api.BoardDetail.as_view(), name="board"),
    path("boards/<slug:slug>/phases/", api.PhaseList.as_view(), name="phases"),
    path("boards/<slug:slug>/phases/<slug:phase>/", api.PhaseDetail.as_view(), name="phase"),
    path(
        "boards/<slug:slug>/phases/<slug:phase>/limits/",
        api.PhaseLimits.as_view(),
        name="phase-limits",
    ),
    path("boards/<slug:slug>/phases/<slug:phase>/ids/", api.PhaseIds.as_view(), name="phase-ids"),
]
