"""Addresses of boards and submissions."""

from django.urls import path

from .views import boards, submissions, submit

app_name = "scoring"
urlpatterns = [
    path("boards/", boards.boards, name="boards"),
    path("boards/new/", boards.new_board, name="board-new"),
    path("boards/<slug:slug>/", boards.board, name="board"),
    path("boards/<slug:slug>/submit/", submit.submit, name="submit"),
    path("boards/<slug:slug>/manage/", boards.manage, name="board-manage"),
    path("boards/<slug:slug>/state/", boards.change_state, name="board-state"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/<int:pk>/", submissions.submission, name="submission"),
    path("submissions/<int:pk>/file/", submissions.download, name="submission-file"),
    path("submissions/<int:pk>/cancel/", submissions.cancel, name="submission-cancel"),
    path("submissions/<int:pk>/retry/", submissions.retry, name="submission-retry"),
    path("submissions/<int:pk>/publish/", submissions.publish, name="submission-publish"),
    path("submissions/<int:pk>/unpublish/", submissions.unpublish, name="submission-unpublish"),
    path("submissions/<int:pk>/items/<str:name>/", submissions.item, name="submission-item"),
]
