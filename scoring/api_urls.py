"""Addresses of scoring below /api/v1/."""

from django.urls import path

from scoring.boards.api import BoardDetail, BoardList
from scoring.leaderboard.api import BoardLeaderboard
from scoring.results.api import SubmissionItem, SubmissionItems
from scoring.submissions.api import (
    BoardCheck,
    BoardSubmissions,
    OwnSubmissions,
    SubmissionDetail,
    SubmissionFile,
)

from .boards import api as phases
from .grading import api as regrades
from .judging import api as judge_endpoints
from .leaderboard import api as charts
from .reliability import api as judging
from .results import api as comparisons
from .submissions import api as acts
from .submissions import api as likenesses
from .submissions import api as webhooks

urlpatterns = [
    path("boards/", BoardList.as_view(), name="boards"),
    path("boards/<slug:slug>/", BoardDetail.as_view(), name="board"),
    path(
        "boards/<slug:slug>/leaderboard/",
        BoardLeaderboard.as_view(),
        name="leaderboard",
    ),
    path("boards/<slug:slug>/charts/", charts.ChartList.as_view(), name="charts"),
    path("boards/<slug:slug>/charts/<slug:chart>/", charts.ChartDetail.as_view(), name="chart"),
    path(
        "boards/<slug:slug>/submissions/",
        BoardSubmissions.as_view(),
        name="board-submissions",
    ),
    path(
        "boards/<slug:slug>/likenesses/",
        likenesses.BoardLikenesses.as_view(),
        name="board-likenesses",
    ),
    path("boards/<slug:slug>/check/", BoardCheck.as_view(), name="board-check"),
    path("boards/<slug:slug>/compare/", comparisons.BoardCompare.as_view(), name="board-compare"),
    path("boards/<slug:slug>/changes/", regrades.BoardChanges.as_view(), name="board-changes"),
    path("boards/<slug:slug>/regrades/", regrades.RegradeList.as_view(), name="regrades"),
    path(
        "boards/<slug:slug>/regrades/<int:pk>/",
        regrades.RegradeDetail.as_view(),
        name="regrade",
    ),
    path(
        "boards/<slug:slug>/regrades/<int:pk>/cancel/",
        regrades.RegradeCancel.as_view(),
        name="regrade-cancel",
    ),
    path("boards/<slug:slug>/judge/", judging.BoardJudge.as_view(), name="board-judge"),
    path(
        "boards/<slug:slug>/judge-endpoint/",
        judge_endpoints.BoardJudgeEndpoint.as_view(),
        name="judge-endpoint",
    ),
    path(
        "boards/<slug:slug>/judge-endpoint/try/",
        judge_endpoints.BoardJudgeEndpointTry.as_view(),
        name="judge-endpoint-try",
    ),
    path("boards/<slug:slug>/phases/", phases.PhaseList.as_view(), name="phases"),
    path("boards/<slug:slug>/phases/<slug:phase>/", phases.PhaseDetail.as_view(), name="phase"),
    path(
        "boards/<slug:slug>/phases/<slug:phase>/limits/",
        phases.PhaseLimits.as_view(),
        name="phase-limits",
    ),
    path(
        "boards/<slug:slug>/phases/<slug:phase>/ids/", phases.PhaseIds.as_view(), name="phase-ids"
    ),
    path("submissions/", OwnSubmissions.as_view(), name="submissions"),
    path("submissions/<int:pk>/", SubmissionDetail.as_view(), name="submission"),
    path(
        "submissions/<int:pk>/file/",
        SubmissionFile.as_view(),
        name="submission-file",
    ),
    path(
        "submissions/<int:pk>/items/",
        SubmissionItems.as_view(),
        name="submission-items",
    ),
    path(
        "submissions/<int:pk>/items/<str:name>/",
        SubmissionItem.as_view(),
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
        "submissions/<int:pk>/open-items/",
        acts.SubmissionOpenItems.as_view(),
        name="submission-open-items",
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
