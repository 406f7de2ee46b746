"""Every URL of scoring: pages, and endpoints under /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path

from .boards import api as boards_api
from .boards import views as boards
from .grading import api as grading_api
from .grading import views as grading
from .judging import api as judging_api
from .judging import views as judging
from .leaderboard import api as leaderboard_api
from .leaderboard import views as leaderboard
from .models.judging import Purpose
from .reliability import api as reliability_api
from .reliability import views as reliability
from .reported import api as reported_api
from .reported import views as reported
from .results import api as results_api
from .results import views as results
from .running import api as running_api
from .running import views as running
from .submissions import api as submissions_api
from .submissions import views as submissions

app_name = "scoring"
_board_pages = [
    path("", boards.board, name="board"),
    path("benchmark/", boards.benchmark, name="board-benchmark"),
    path("take-part/", boards.take_part, name="board-take-part"),
    path("tasks/", boards.tasks, name="board-tasks"),
    path("example/", boards.example, name="board-example"),
    path("state/", boards.change_state, name="board-state"),
    path("settings/", boards.board_settings, name="board-settings"),
    path("phases/new/", boards.new_phase, name="phase-new"),
    path("phases/<slug:phase>/", boards.edit, name="phase-edit"),
    path("leaderboard.csv", leaderboard.leaderboard_table, {"ending": "csv"}, name="board-csv"),
    path("leaderboard.tex", leaderboard.leaderboard_table, {"ending": "tex"}, name="board-latex"),
    path("leaderboard.md", leaderboard.leaderboard_table, {"ending": "md"}, name="board-markdown"),
    path("cite/", leaderboard.cite, name="board-cite"),
    path("citation.bib", leaderboard.citation_file, name="board-bibtex"),
    path("embed/", leaderboard.embed, name="board-embed"),
    path("charts/", leaderboard.charts, name="board-charts"),
    path("charts/<slug:chart>.<slug:form>", leaderboard.chart_file, name="chart"),
    path("compare/", results.compare, name="board-compare"),
    path("training/", results.training, name="board-training"),
    path("compare/facts/", results.compare_facts, name="board-compare-facts"),
    path("changes/", grading.changes, name="board-changes"),
    path("regrade/", grading.start, name="regrade-start"),
    path("regrades/<int:pk>/", grading.regrade, name="regrade"),
    path("regrades/<int:pk>/cancel/", grading.cancel, name="regrade-cancel"),
    path("judge/", reliability.judge, name="board-judge"),
    path("judge/manage/", reliability.manage, name="judge-manage"),
    path("judge/experts/<int:pk>/remove/", reliability.remove, name="judge-expert-remove"),
    path("judge/samples/new/", reliability.sample, name="judge-sample-new"),
    path("judge/samples/<int:pk>/close/", reliability.close, name="judge-sample-close"),
    path("judge/runs/new/", reliability.run, name="judge-run-new"),
    path("judge/runs/<int:pk>/cancel/", reliability.cancel, name="judge-run-cancel"),
    path("judge/cases/", reliability.cases, name="judge-cases"),
    path("judge/cases/<int:pk>/", reliability.case, name="judge-case"),
    path("judge/cases/<int:pk>/opinion/", reliability.opinion, name="judge-opinion"),
    path("judge/cases/<int:pk>/review/", reliability.review, name="judge-review"),
    path("judge/cases/<int:pk>/images/<int:number>/", reliability.image, name="judge-image"),
    path("judge/cases/<int:pk>/<str:side>/", reliability.rendered, name="judge-rendered"),
    path("judge/endpoint/", judging.endpoint, name="judge-endpoint"),
    path("judge/endpoint/remove/", judging.remove, name="judge-endpoint-remove"),
    path("judge/endpoint/try/", judging.try_it, name="judge-endpoint-try"),
    path("runs/endpoint/", judging.endpoint, {"purpose": Purpose.MODEL}, name="model-endpoint"),
    path(
        "runs/endpoint/remove/",
        judging.remove,
        {"purpose": Purpose.MODEL},
        name="model-endpoint-remove",
    ),
    path("submit/", submissions.submit, name="submit"),
    path("manage/", submissions.manage, name="board-manage"),
    path("approvals/", submissions.approve_person, name="approve-person"),
    path("rows/", reported.rows, name="rows"),
    path("rows/new/", reported.new_row, name="row-new"),
    path("rows/template.csv", reported.rows_template, name="rows-template"),
    path("rows/<int:pk>/", reported.row, name="row"),
    path("rows/<int:pk>/edit/", reported.change_row, name="row-edit"),
    path("rows/<int:pk>/withdraw/", reported.withdraw, name="row-withdraw"),
    path("rows/<int:pk>/cite.bib", reported.citation, name="row-bibtex"),
    path("human-run/", reported.human_run, name="human-run"),
    path("human-run/items.jsonl", reported.sample_file, name="human-run-items"),
    path("runs/", running.runs, name="model-runs"),
    path("runs/endpoint/try/", running.try_it, name="model-endpoint-try"),
    path("runs/<int:pk>/", running.run, name="model-run"),
    path("runs/<int:pk>/cancel/", running.cancel, name="model-run-cancel"),
    path("runs/<int:pk>/continue/", running.go_on, name="model-run-continue"),
    path("runs/<int:pk>/submit/", running.submit, name="model-run-submit"),
]
_submission_pages = [
    path("badge.<slug:form>", leaderboard.badge_file, name="submission-badge"),
    path("scores.<slug:form>", results.score_file, name="submission-scores"),
    path("items/<str:name>/", results.item, name="submission-item"),
    path("items/<str:name>/<str:side>/", results.rendered, name="submission-item-rendered"),
    path("", submissions.submission, name="submission"),
    path("citation.bib", submissions.citation, name="submission-bibtex"),
    path("file/", submissions.download, name="submission-file"),
    path("manifest.json", submissions.manifest, name="submission-manifest"),
    path("cancel/", submissions.cancel, name="submission-cancel"),
    path("retry/", submissions.retry, name="submission-retry"),
    path("publish/", submissions.publish, name="submission-publish"),
    path("unpublish/", submissions.unpublish, name="submission-unpublish"),
    path("open-items/", submissions.open_up, name="submission-open-items"),
    path("withdraw/", submissions.withdraw, name="submission-withdraw"),
    path("verdict/", submissions.judge, name="submission-judge"),
    path("pin/", submissions.pin, name="submission-pin"),
    path("approve/", submissions.approve, name="submission-approve"),
    path("refuse/", submissions.refuse, name="submission-refuse"),
    path("reruns/", running.reruns, name="submission-reruns"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("boards/", boards.boards, name="boards"),
    path("boards/new/", boards.new_board, name="board-new"),
    path("charts/vega-<slug:version>.js", leaderboard.library, name="chart-library"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/webhooks/", submissions.webhooks, name="webhooks"),
    path(
        "submissions/webhooks/<int:pk>/remove/", submissions.webhook_remove, name="webhook-remove"
    ),
    path("boards/<slug:slug>/", include(_board_pages)),
    path("submissions/<int:pk>/", include(_submission_pages)),
]
_board_api = [
    path("", boards_api.BoardDetail.as_view(), name="board"),
    path("phases/", boards_api.PhaseList.as_view(), name="phases"),
    path("phases/<slug:phase>/", boards_api.PhaseDetail.as_view(), name="phase"),
    path("phases/<slug:phase>/limits/", boards_api.PhaseLimits.as_view(), name="phase-limits"),
    path("phases/<slug:phase>/ids/", boards_api.PhaseIds.as_view(), name="phase-ids"),
    path("leaderboard/", leaderboard_api.BoardLeaderboard.as_view(), name="leaderboard"),
    path("cite/", leaderboard_api.BoardCite.as_view(), name="cite"),
    path("charts/", leaderboard_api.ChartList.as_view(), name="charts"),
    path("charts/<slug:chart>/", leaderboard_api.ChartDetail.as_view(), name="chart"),
    path("compare/", results_api.BoardCompare.as_view(), name="board-compare"),
    path("compare/facts/", results_api.BoardCompareFacts.as_view(), name="board-compare-facts"),
    path("training/", results_api.BoardTraining.as_view(), name="board-training"),
    path("changes/", grading_api.BoardChanges.as_view(), name="board-changes"),
    path("regrades/", grading_api.RegradeList.as_view(), name="regrades"),
    path("regrades/<int:pk>/", grading_api.RegradeDetail.as_view(), name="regrade"),
    path("regrades/<int:pk>/cancel/", grading_api.RegradeCancel.as_view(), name="regrade-cancel"),
    path("judge/", reliability_api.BoardJudge.as_view(), name="board-judge"),
    path("judge-endpoint/", judging_api.BoardJudgeEndpoint.as_view(), name="judge-endpoint"),
    path(
        "judge-endpoint/try/",
        judging_api.BoardJudgeEndpointTry.as_view(),
        name="judge-endpoint-try",
    ),
    path("model-endpoint/", judging_api.BoardModelEndpoint.as_view(), name="model-endpoint"),
    path("submissions/", submissions_api.BoardSubmissions.as_view(), name="board-submissions"),
    path("approvals/", submissions_api.BoardApprovals.as_view(), name="board-approvals"),
    path("signs/", boards_api.BoardSigns.as_view(), name="board-signs"),
    path("likenesses/", submissions_api.BoardSimilarities.as_view(), name="board-likenesses"),
    path("hidden-scores/", boards_api.BoardAskers.as_view(), name="board-hidden-scores"),
    path("check/", submissions_api.BoardCheck.as_view(), name="board-check"),
    path("rows/", reported_api.RowList.as_view(), name="rows"),
    path("rows/table/", reported_api.RowTable.as_view(), name="row-table"),
    path("rows/<int:pk>/", reported_api.RowDetail.as_view(), name="row"),
    path("rows/<int:pk>/same-items/", reported_api.RowSameItems.as_view(), name="row-same-items"),
    path("human-runs/", reported_api.HumanRuns.as_view(), name="human-runs"),
    path("human-runs/sample/", reported_api.HumanRunSample.as_view(), name="human-run-sample"),
    path(
        "model-endpoint/try/",
        running_api.BoardModelEndpointTry.as_view(),
        name="model-endpoint-try",
    ),
    path("runs/", running_api.BoardModelRuns.as_view(), name="model-runs"),
    path("runs/<int:pk>/", running_api.BoardModelRun.as_view(), name="model-run"),
    path("runs/<int:pk>/cancel/", running_api.ModelRunCancel.as_view(), name="model-run-cancel"),
    path(
        "runs/<int:pk>/continue/", running_api.ModelRunContinue.as_view(), name="model-run-continue"
    ),
    path("runs/<int:pk>/submit/", running_api.ModelRunSubmit.as_view(), name="model-run-submit"),
]
_submission_api = [
    path("items/", results_api.SubmissionItems.as_view(), name="submission-items"),
    path("items/<str:name>/", results_api.SubmissionItem.as_view(), name="submission-item"),
    path("", submissions_api.SubmissionDetail.as_view(), name="submission"),
    path("file/", submissions_api.SubmissionFile.as_view(), name="submission-file"),
    path("manifest/", submissions_api.SubmissionManifest.as_view(), name="submission-manifest"),
    path("cancel/", submissions_api.SubmissionCancel.as_view(), name="submission-cancel"),
    path("retry/", submissions_api.SubmissionRetry.as_view(), name="submission-retry"),
    path("publish/", submissions_api.SubmissionPublish.as_view(), name="submission-publish"),
    path("unpublish/", submissions_api.SubmissionUnpublish.as_view(), name="submission-unpublish"),
    path(
        "open-items/", submissions_api.SubmissionOpenItems.as_view(), name="submission-open-items"
    ),
    path("withdraw/", submissions_api.SubmissionWithdraw.as_view(), name="submission-withdraw"),
    path("verdict/", submissions_api.SubmissionJudge.as_view(), name="submission-judge"),
    path("pin/", submissions_api.SubmissionPin.as_view(), name="submission-pin"),
    path("approve/", submissions_api.SubmissionApprove.as_view(), name="submission-approve"),
    path("refuse/", submissions_api.SubmissionRefuse.as_view(), name="submission-refuse"),
    path("reruns/", running_api.SubmissionReruns.as_view(), name="submission-reruns"),
]
api_urlpatterns: list[URLPattern | URLResolver] = [
    path("boards/", boards_api.BoardList.as_view(), name="boards"),
    path("submissions/", submissions_api.OwnSubmissions.as_view(), name="submissions"),
    path("webhooks/", submissions_api.WebhookList.as_view(), name="webhooks"),
    path("webhooks/<int:pk>/", submissions_api.WebhookDetail.as_view(), name="webhook"),
    path("boards/<slug:slug>/", include(_board_api)),
    path("submissions/<int:pk>/", include(_submission_api)),
]
