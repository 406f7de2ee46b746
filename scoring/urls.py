"""Addresses of boards and submissions."""

from django.urls import path

from scoring.boards.views import board, boards, change_state, example, new_board, tasks
from scoring.leaderboard.views import (
    chart_file,
    charts,
    leaderboard_latex,
    leaderboard_table,
    library,
)
from scoring.results.views import item, rendered, score_file
from scoring.submissions.views import (
    cancel,
    citation,
    download,
    judge,
    manage,
    open_up,
    pin,
    publish,
    retry,
    submission,
    submissions,
    unpublish,
    withdraw,
)

from .boards import views as phases
from .grading import views as regrades
from .judging import views as judge_endpoints
from .reliability import views as judging
from .results import views as comparisons
from .submissions import views as submit
from .submissions import views as webhooks

app_name = "scoring"
urlpatterns = [
    path("boards/", boards, name="boards"),
    path("charts/vega-<slug:version>.js", library, name="chart-library"),
    path("boards/new/", new_board, name="board-new"),
    path("boards/<slug:slug>/", board, name="board"),
    path("boards/<slug:slug>/leaderboard.csv", leaderboard_table, name="board-csv"),
    path("boards/<slug:slug>/leaderboard.tex", leaderboard_latex, name="board-latex"),
    path("boards/<slug:slug>/charts/", charts, name="board-charts"),
    path("boards/<slug:slug>/charts/<slug:chart>.<slug:form>", chart_file, name="chart"),
    path("boards/<slug:slug>/compare/", comparisons.compare, name="board-compare"),
    path("boards/<slug:slug>/tasks/", tasks, name="board-tasks"),
    path("boards/<slug:slug>/changes/", regrades.changes, name="board-changes"),
    path("boards/<slug:slug>/regrade/", regrades.start, name="regrade-start"),
    path("boards/<slug:slug>/regrades/<int:pk>/", regrades.regrade, name="regrade"),
    path("boards/<slug:slug>/regrades/<int:pk>/cancel/", regrades.cancel, name="regrade-cancel"),
    path("boards/<slug:slug>/judge/", judging.judge, name="board-judge"),
    path("boards/<slug:slug>/judge/manage/", judging.manage, name="judge-manage"),
    path(
        "boards/<slug:slug>/judge/experts/<int:pk>/remove/",
        judging.remove,
        name="judge-expert-remove",
    ),
    path("boards/<slug:slug>/judge/samples/new/", judging.sample, name="judge-sample-new"),
    path(
        "boards/<slug:slug>/judge/samples/<int:pk>/close/", judging.close, name="judge-sample-close"
    ),
    path("boards/<slug:slug>/judge/runs/new/", judging.run, name="judge-run-new"),
    path("boards/<slug:slug>/judge/runs/<int:pk>/cancel/", judging.cancel, name="judge-run-cancel"),
    path("boards/<slug:slug>/judge/endpoint/", judge_endpoints.endpoint, name="judge-endpoint"),
    path(
        "boards/<slug:slug>/judge/endpoint/remove/",
        judge_endpoints.remove,
        name="judge-endpoint-remove",
    ),
    path(
        "boards/<slug:slug>/judge/endpoint/try/",
        judge_endpoints.try_it,
        name="judge-endpoint-try",
    ),
    path("boards/<slug:slug>/judge/cases/", judging.cases, name="judge-cases"),
    path("boards/<slug:slug>/judge/cases/<int:pk>/", judging.case, name="judge-case"),
    path("boards/<slug:slug>/judge/cases/<int:pk>/review/", judging.review, name="judge-review"),
    path(
        "boards/<slug:slug>/judge/cases/<int:pk>/images/<int:number>/",
        judging.image,
        name="judge-image",
    ),
    path(
        "boards/<slug:slug>/judge/cases/<int:pk>/<str:side>/",
        judging.rendered,
        name="judge-rendered",
    ),
    path("boards/<slug:slug>/submit/", submit.submit, name="submit"),
    path("boards/<slug:slug>/example/", example, name="board-example"),
    path("boards/<slug:slug>/manage/", manage, name="board-manage"),
    path("boards/<slug:slug>/state/", change_state, name="board-state"),
    path("boards/<slug:slug>/settings/", phases.board_settings, name="board-settings"),
    path("boards/<slug:slug>/phases/new/", phases.new_phase, name="phase-new"),
    path("boards/<slug:slug>/phases/<slug:phase>/", phases.edit, name="phase-edit"),
    path("submissions/", submissions, name="submissions"),
    path("submissions/webhooks/", webhooks.webhooks, name="webhooks"),
    path("submissions/webhooks/<int:pk>/remove/", webhooks.webhook_remove, name="webhook-remove"),
    path("submissions/<int:pk>/", submission, name="submission"),
    path("submissions/<int:pk>/citation.bib", citation, name="submission-bibtex"),
    path("submissions/<int:pk>/scores.<slug:form>", score_file, name="submission-scores"),
    path("submissions/<int:pk>/file/", download, name="submission-file"),
    path("submissions/<int:pk>/cancel/", cancel, name="submission-cancel"),
    path("submissions/<int:pk>/retry/", retry, name="submission-retry"),
    path("submissions/<int:pk>/publish/", publish, name="submission-publish"),
    path("submissions/<int:pk>/unpublish/", unpublish, name="submission-unpublish"),
    path("submissions/<int:pk>/open-items/", open_up, name="submission-open-items"),
    path("submissions/<int:pk>/withdraw/", withdraw, name="submission-withdraw"),
    path("submissions/<int:pk>/verdict/", judge, name="submission-judge"),
    path("submissions/<int:pk>/pin/", pin, name="submission-pin"),
    path("submissions/<int:pk>/items/<str:name>/", item, name="submission-item"),
    path(
        "submissions/<int:pk>/items/<str:name>/<str:side>/",
        rendered,
        name="submission-item-rendered",
    ),
]
