"""URLs of workbench: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, page_api, views

urlpatterns = [
    path("annotate/", views.tasks, name="tasks"),
    path("annotate/<int:pk>/", views.workbench, name="workbench"),
    path("annotate/<int:pk>/take-back/", views.take_back_, name="assignment-take-back"),
    path("annotate/<int:pk>/html/", views.assignment_html, name="assignment-html"),
    path("annotate/<int:pk>/images/<int:number>/", views.assignment_image, name="assignment-image"),
    path("annotate/<int:pk>/gold/", views.own_gold_page, name="own-gold"),
    path("campaigns/<slug:slug>/suggestions/", views.suggestions, name="suggestions"),
]
api_urlpatterns = [
    path("assignments/", api.AssignmentList.as_view(), name="assignments"),
    path("assignments/<int:pk>/", api.AssignmentDetailView.as_view(), name="assignment"),
    path(
        "assignments/<int:pk>/content/", api.AssignmentContent.as_view(), name="assignment-content"
    ),
    path("assignments/<int:pk>/spans/", api.AssignmentSpans.as_view(), name="assignment-spans"),
    path("assignments/<int:pk>/submit/", api.AssignmentSubmit.as_view(), name="assignment-submit"),
    path(
        "assignments/<int:pk>/take-back/",
        api.AssignmentTakeBack.as_view(),
        name="assignment-take-back",
    ),
    path(
        "assignments/<int:pk>/facts/", page_api.AssignmentFacts.as_view(), name="assignment-facts"
    ),
    path(
        "assignments/<int:pk>/boxes/", page_api.AssignmentBoxes.as_view(), name="assignment-boxes"
    ),
    path(
        "assignments/<int:pk>/warnings/",
        page_api.AssignmentWarnings.as_view(),
        name="assignment-warnings",
    ),
    path(
        "assignments/<int:pk>/revisions/", api.RevisionList.as_view(), name="assignment-revisions"
    ),
    path(
        "assignments/<int:pk>/revisions/<int:number>/",
        api.RevisionDetailView.as_view(),
        name="assignment-revision",
    ),
    path(
        "assignments/<int:pk>/revisions/<int:number>/restore/",
        api.RevisionRestoreView.as_view(),
        name="assignment-restore",
    ),
    path(
        "assignments/<int:pk>/comments/", page_api.CommentList.as_view(), name="assignment-comments"
    ),
    path(
        "assignments/<int:pk>/comments/<int:comment>/",
        page_api.CommentDetail.as_view(),
        name="assignment-comment",
    ),
    path(
        "assignments/<int:pk>/flag/", page_api.AssignmentFlagView.as_view(), name="assignment-flag"
    ),
    path(
        "assignments/<int:pk>/export/",
        page_api.AssignmentExport.as_view(),
        name="assignment-export",
    ),
    path(
        "assignments/<int:pk>/import/",
        page_api.AssignmentImport.as_view(),
        name="assignment-import",
    ),
    path("assignments/<int:pk>/gold/", api.AssignmentGold.as_view(), name="assignment-gold"),
    path(
        "campaigns/<slug:slug>/suggestions/",
        page_api.CampaignSuggestionsView.as_view(),
        name="campaign-suggestions",
    ),
    path(
        "campaigns/<slug:slug>/suggestions/uploads/",
        page_api.SuggestionUploads.as_view(),
        name="suggestion-uploads",
    ),
]
