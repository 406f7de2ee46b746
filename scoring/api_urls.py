"""Addresses of scoring below /api/v1/."""

from django.urls import path

from .api import boards, submissions

urlpatterns = [
    path("boards/", boards.BoardList.as_view(), name="boards"),
    path("boards/<slug:slug>/", boards.BoardDetail.as_view(), name="board"),
    path(
        "boards/<slug:slug>/leaderboard/",
        boards.BoardLeaderboard.as_view(),
        name="leaderboard",
    ),
    path(
        "boards/<slug:slug>/submissions/",
        submissions.BoardSubmissions.as_view(),
        name="board-submissions",
    ),
    path("submissions/", submissions.OwnSubmissions.as_view(), name="submissions"),
    path("submissions/<int:pk>/", submissions.SubmissionDetail.as_view(), name="submission"),
    path(
        "submissions/<int:pk>/file/",
        submissions.SubmissionFile.as_view(),
        name="submission-file",
    ),
    path(
        "submissions/<int:pk>/items/",
        submissions.SubmissionItems.as_view(),
        name="submission-items",
    ),
    path(
        "submissions/<int:pk>/items/<str:name>/",
        submissions.SubmissionItem.as_view(),
        name="submission-item",
    ),
    path(
        "submissions/<int:pk>/cancel/",
        submissions.SubmissionCancel.as_view(),
        name="submission-cancel",
    ),
    path(
        "submissions/<int:pk>/retry/",
        submissions.SubmissionRetry.as_view(),
        name="submission-retry",
    ),
    path(
        "submissions/<int:pk>/publish/",
        submissions.SubmissionPublish.as_view(),
        name="submission-publish",
    ),
    path(
        "submissions/<int:pk>/unpublish/",
        submissions.SubmissionUnpublish.as_view(),
        name="submission-unpublish",
    ),
]
