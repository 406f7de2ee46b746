"""Addresses of annotation's endpoints, below /api/v1/."""

from django.urls import path

from .api import (
    assignments,
    campaigns,
    files,
    guidelines,
    history,
    page_facts,
    quality,
    remarks,
    suggestions,
)

urlpatterns = [
    path("assignments/", assignments.AssignmentList.as_view(), name="assignments"),
    path("assignments/<int:pk>/", assignments.AssignmentDetail.as_view(), name="assignment"),
    path(
        "assignments/<int:pk>/content/",
        assignments.AssignmentContent.as_view(),
        name="assignment-content",
    ),
    path(
        "assignments/<int:pk>/spans/",
        assignments.AssignmentSpans.as_view(),
        name="assignment-spans",
    ),
    path(
        "assignments/<int:pk>/submit/",
        assignments.AssignmentSubmit.as_view(),
        name="assignment-submit",
    ),
    path(
        "assignments/<int:pk>/facts/",
        page_facts.AssignmentFacts.as_view(),
        name="assignment-facts",
    ),
    path(
        "assignments/<int:pk>/warnings/",
        page_facts.AssignmentWarnings.as_view(),
        name="assignment-warnings",
    ),
    path(
        "assignments/<int:pk>/revisions/",
        history.RevisionList.as_view(),
        name="assignment-revisions",
    ),
    path(
        "assignments/<int:pk>/revisions/<int:number>/",
        history.RevisionDetail.as_view(),
        name="assignment-revision",
    ),
    path(
        "assignments/<int:pk>/revisions/<int:number>/restore/",
        history.RevisionRestore.as_view(),
        name="assignment-restore",
    ),
    path(
        "assignments/<int:pk>/comments/",
        remarks.CommentList.as_view(),
        name="assignment-comments",
    ),
    path(
        "assignments/<int:pk>/comments/<int:comment>/",
        remarks.CommentDetail.as_view(),
        name="assignment-comment",
    ),
    path("assignments/<int:pk>/flag/", remarks.AssignmentFlag.as_view(), name="assignment-flag"),
    path(
        "assignments/<int:pk>/export/", files.AssignmentExport.as_view(), name="assignment-export"
    ),
    path(
        "assignments/<int:pk>/import/", files.AssignmentImport.as_view(), name="assignment-import"
    ),
    path("campaigns/", campaigns.CampaignList.as_view(), name="campaigns"),
    path("campaigns/<slug:slug>/", campaigns.CampaignDetail.as_view(), name="campaign"),
    path(
        "campaigns/<slug:slug>/guidelines/",
        guidelines.CampaignGuidelines.as_view(),
        name="campaign-guidelines",
    ),
    path(
        "campaigns/<slug:slug>/guidelines/seen/",
        guidelines.CampaignGuidelinesSeen.as_view(),
        name="campaign-guidelines-seen",
    ),
    path(
        "campaigns/<slug:slug>/suggestions/",
        suggestions.CampaignSuggestions.as_view(),
        name="campaign-suggestions",
    ),
    path(
        "campaigns/<slug:slug>/suggestions/uploads/",
        suggestions.SuggestionUploads.as_view(),
        name="suggestion-uploads",
    ),
    path("campaigns/<slug:slug>/open/", campaigns.CampaignOpen.as_view(), name="campaign-open"),
    path("campaigns/<slug:slug>/close/", campaigns.CampaignClose.as_view(), name="campaign-close"),
    path(
        "campaigns/<slug:slug>/reopen/", campaigns.CampaignReopen.as_view(), name="campaign-reopen"
    ),
    path(
        "campaigns/<slug:slug>/assign/", campaigns.CampaignAssign.as_view(), name="campaign-assign"
    ),
    path(
        "campaigns/<slug:slug>/people/", campaigns.CampaignPeople.as_view(), name="campaign-people"
    ),
    path(
        "campaigns/<slug:slug>/people/<int:pk>/",
        campaigns.CampaignPerson.as_view(),
        name="campaign-person",
    ),
    path(
        "campaigns/<slug:slug>/agreement/",
        quality.CampaignAgreement.as_view(),
        name="campaign-agreement",
    ),
    path("campaigns/<slug:slug>/cases/", quality.CaseList.as_view(), name="cases"),
    path("campaigns/<slug:slug>/cases/<int:pk>/", quality.CaseDetail.as_view(), name="case"),
    path(
        "campaigns/<slug:slug>/cases/<int:pk>/decide/",
        quality.CaseDecide.as_view(),
        name="case-decide",
    ),
    path(
        "campaigns/<slug:slug>/release/", quality.CampaignRelease.as_view(), name="campaign-release"
    ),
]
