"""URLs of leaderboards: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("charts/vega-<slug:version>.js", views.library, name="chart-library"),
    *(
        path(
            f"boards/<slug:slug>/leaderboard.{ending}",
            views.leaderboard_table,
            {"ending": ending},
            name=f"board-{name}",
        )
        for name, ending in (("csv", "csv"), ("latex", "tex"), ("markdown", "md"))
    ),
    path("boards/<slug:slug>/cite/", views.cite, name="board-cite"),
    path("boards/<slug:slug>/citation.bib", views.citation_file, name="board-bibtex"),
    path("boards/<slug:slug>/embed/", views.embed, name="board-embed"),
    path("submissions/<int:pk>/badge.<slug:form>", views.badge_file, name="submission-badge"),
    path("boards/<slug:slug>/charts/", views.charts, name="board-charts"),
    path("boards/<slug:slug>/charts/<slug:chart>.<slug:form>", views.chart_file, name="chart"),
]
api_urlpatterns = [
    path(
        "boards/<slug:slug>/leaderboard/",
        api.BoardLeaderboard.as_view(),
        name="leaderboard",
    ),
    path("boards/<slug:slug>/cite/", api.BoardCite.as_view(), name="cite"),
    path("boards/<slug:slug>/charts/", api.ChartList.as_view(), name="charts"),
    path("boards/<slug:slug>/charts/<slug:chart>/", api.ChartDetail.as_view(), name="chart"),
]
