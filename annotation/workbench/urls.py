"""URLs of workbench: pages, and endpoints below /api/v1/."""

from django.urls import path

from annotation.api_base import campaign_path, paths_below

from . import api, page_api, views

task_path = paths_below("annotate/<int:pk>/")
assignment_path = paths_below("assignments/<int:pk>/")

urlpatterns = [
    path("annotate/", views.tasks, name="tasks"),
    task_path("", views.workbench, "workbench"),
    task_path("take-back/", views.take_back_, "assignment-take-back"),
    task_path("html/", views.assignment_html, "assignment-html"),
    task_path("images/<int:image>/", views.assignment_image, "assignment-image"),
    task_path("gold/", views.own_gold_page, "own-gold"),
    campaign_path("suggestions/", views.suggestions, "suggestions"),
    campaign_path("suggestions/acceptance/", views.suggestions_csv, "suggestions-csv"),
]
api_urlpatterns = [
    path("assignments/", api.AssignmentList.as_view(), name="assignments"),
    assignment_path("", api.AssignmentDetailView, "assignment"),
    assignment_path("content/", api.AssignmentContent, "assignment-content"),
    assignment_path("spans/", api.AssignmentSpans, "assignment-spans"),
    assignment_path("submit/", api.AssignmentSubmit, "assignment-submit"),
    assignment_path("take-back/", api.AssignmentTakeBack, "assignment-take-back"),
    assignment_path("facts/", page_api.AssignmentFacts, "assignment-facts"),
    assignment_path("boxes/", page_api.AssignmentBoxes, "assignment-boxes"),
    assignment_path("warnings/", page_api.AssignmentWarnings, "assignment-warnings"),
    assignment_path("revisions/", api.RevisionList, "assignment-revisions"),
    assignment_path("revisions/<int:number>/", api.RevisionDetailView, "assignment-revision"),
    assignment_path(
        "revisions/<int:number>/restore/", api.RevisionRestoreView, "assignment-restore"
    ),
    assignment_path("comments/", page_api.CommentList, "assignment-comments"),
    assignment_path("comments/<int:comment>/", page_api.CommentDetail, "assignment-comment"),
    assignment_path("flag/", page_api.AssignmentFlagView, "assignment-flag"),
    assignment_path("export/", page_api.AssignmentExport, "assignment-export"),
    assignment_path("import/", page_api.AssignmentImport, "assignment-import"),
    assignment_path("gold/", api.AssignmentGold, "assignment-gold"),
    campaign_path("suggestions/", page_api.CampaignSuggestionsView, "campaign-suggestions"),
    campaign_path("suggestions/uploads/", page_api.SuggestionUploads, "suggestion-uploads"),
    campaign_path(
        "suggestions/acceptance/", page_api.SuggestionAcceptanceView, "suggestion-acceptance"
    ),
    campaign_path(
        "suggestions/acceptance/csv/",
        page_api.SuggestionAcceptanceFile,
        "suggestion-acceptance-csv",
    ),
]
