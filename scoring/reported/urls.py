"""URLs of rows by organisers and human runs: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

_BOARD = "boards/<slug:slug>"
urlpatterns = [
    path(f"{_BOARD}/rows/", views.rows, name="rows"),
    path(f"{_BOARD}/rows/new/", views.new_row, name="row-new"),
    path(f"{_BOARD}/rows/template.csv", views.rows_template, name="rows-template"),
    path(f"{_BOARD}/rows/<int:pk>/", views.row, name="row"),
    path(f"{_BOARD}/rows/<int:pk>/edit/", views.change_row, name="row-edit"),
    path(f"{_BOARD}/rows/<int:pk>/withdraw/", views.withdraw, name="row-withdraw"),
    path(f"{_BOARD}/rows/<int:pk>/cite.bib", views.citation, name="row-bibtex"),
    path(f"{_BOARD}/human-run/", views.human_run, name="human-run"),
    path(f"{_BOARD}/human-run/items.jsonl", views.sample_file, name="human-run-items"),
]
api_urlpatterns = [
    path(f"{_BOARD}/rows/", api.RowList.as_view(), name="rows"),
    path(f"{_BOARD}/rows/table/", api.RowTable.as_view(), name="row-table"),
    path(f"{_BOARD}/rows/<int:pk>/", api.RowDetail.as_view(), name="row"),
    path(f"{_BOARD}/rows/<int:pk>/same-items/", api.RowSameItems.as_view(), name="row-same-items"),
    path(f"{_BOARD}/human-runs/", api.HumanRuns.as_view(), name="human-runs"),
    path(f"{_BOARD}/human-runs/sample/", api.HumanRunSample.as_view(), name="human-run-sample"),
]
