"""Addresses of boards and submissions."""

from django.urls import path

from .views import boards, phases, submissions, submit, webhooks

app_name = "scoring"
urlpatterns = [
    path("boards/", boards.boards, name="boards"),
    path("boards/new/", boards.new_board, name="board-new"),
    path("boards/<slug:slug>/", boards.board, name="board"),
    path("boards/<slug:slug>/submit/", submit.submit, name="submit"),
    path("boards/<slug:slug>/manage/", boards.manage, name="board-manage"),
    path("boards/<slug:slug>/state/", boards.change_state, name="board-state"),
    path("boards/<slug:slug>/settings/", phases.board_settings, name="board-settings"),
    path("boards/<slug:slug>/phases/new/", phases.new_phase, name="phase-new"),
    path("boards/<slug:slug>/phases/<slug:phase>/", phases.edit, name="phase-edit"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/webhooks/", webhooks.webhooks, name="webhooks"),
    path("submissions/webhooks/<int:pk>/remove/", webhooks.remove, name="webhook-remove"),
    path("submissions/<int:pk>/", submissions.submission, name="submission"),
    path("submissions/<int:pk>/file/", submissions.download, name="submission-file"),
    path("submissions/<int:pk>/cancel/", submissions.cancel, name="submission-cancel"),
    path("submissions/<int:pk>/retry/", submissions.retry, name="submission-retry"),
    path("submissions/<int:pk>/publish/", submissions.publish, name="submission-publish"),
    path("submissions/<int:pk>/unpublish/", submissions.unpublish, name="submission-unpublish"),
    path("submissions/<int:pk>/withdraw/", submissions.withdraw, name="submission-withdraw"),
    path("submissions/<int:pk>/verdict/", submissions.judge, name="submission-judge"),
    path("submissions/<int:pk>/pin/", submissions.pin, name="submission-pin"),
    path("submissions/<int:pk>/items/<str:name>/", submissions.item, name="submission-item"),
]
