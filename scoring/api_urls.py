"""Addresses of scoring below /api/v1/."""

from django.urls import path

from .api import acts, boards, phases, submissions, webhooks

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
    path("boards/<slug:slug>/check/", submissions.BoardCheck.as_view(), name="board-check"),
    path("boards/<slug:slug>/phases/", phases.PhaseList.as_view(), name="phases"),
    path("boards/<slug:slug>/phases/<slug:phase>/", phases.PhaseDetail.as_view(), name="phase"),
    path(
        "boards/<slug:slug>/phases/<slug:phase>/limits/",
        phases.PhaseLimits.as_view(),
        name="phase-limits",
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
        acts.SubmissionCancel.as_view(),
        name="submission-cancel",
    ),
    path(
        "submissions/<int:pk>/retry/",
        acts.SubmissionRetry.as_view(),
        name="submission-retry",
    ),
    path(
        "submissions/<int:pk>/publish/",
        acts.SubmissionPublish.as_view(),
        name="submission-publish",
    ),
    path(
        "submissions/<int:pk>/unpublish/",
        acts.SubmissionUnpublish.as_view(),
        name="submission-unpublish",
    ),
    path(
        "submissions/<int:pk>/withdraw/",
        acts.SubmissionWithdraw.as_view(),
        name="submission-withdraw",
    ),
    path("submissions/<int:pk>/verdict/", acts.SubmissionJudge.as_view(), name="submission-judge"),
    path("submissions/<int:pk>/pin/", acts.SubmissionPin.as_view(), name="submission-pin"),
    path("webhooks/", webhooks.WebhookList.as_view(), name="webhooks"),
    path("webhooks/<int:pk>/", webhooks.WebhookDetail.as_view(), name="webhook"),
]
