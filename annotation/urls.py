"""Addresses of annotation: an annotator's tasks, and campaigns."""

from django.urls import path

from .views import (
    adjudication,
    agreement,
    campaigns,
    guidelines,
    people,
    releases,
    suggestions,
    tasks,
)

app_name = "annotation"
urlpatterns = [
    path("annotate/", tasks.tasks, name="tasks"),
    path("annotate/<int:pk>/", tasks.workbench, name="workbench"),
    path("annotate/<int:pk>/html/", tasks.assignment_html, name="assignment-html"),
    path("annotate/<int:pk>/images/<int:number>/", tasks.assignment_image, name="assignment-image"),
    path("campaigns/", campaigns.campaigns, name="campaigns"),
    path("campaigns/new/", campaigns.new_campaign, name="campaign-new"),
    path("campaigns/<slug:slug>/", campaigns.overview, name="campaign"),
    path("campaigns/<slug:slug>/open/", campaigns.open_, name="campaign-open"),
    path("campaigns/<slug:slug>/close/", campaigns.close, name="campaign-close"),
    path("campaigns/<slug:slug>/reopen/", campaigns.reopen, name="campaign-reopen"),
    path("campaigns/<slug:slug>/assign/", campaigns.assign, name="campaign-assign"),
    path("campaigns/<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
    path("campaigns/<slug:slug>/suggestions/", suggestions.suggestions, name="suggestions"),
    path("campaigns/<slug:slug>/people/", people.people, name="people"),
    path("campaigns/<slug:slug>/people/<int:pk>/remove/", people.remove, name="person-remove"),
    path("campaigns/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path("campaigns/<slug:slug>/agreement/csv/", agreement.agreement_csv, name="agreement-csv"),
    path("campaigns/<slug:slug>/adjudication/", adjudication.queue, name="adjudication"),
    path("campaigns/<slug:slug>/adjudication/<int:pk>/", adjudication.case, name="case"),
    path(
        "campaigns/<slug:slug>/adjudication/<int:pk>/html/",
        adjudication.case_html,
        name="case-html",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<int:pk>/images/<int:number>/",
        adjudication.case_image,
        name="case-image",
    ),
    path("campaigns/<slug:slug>/release/", releases.release, name="release"),
]
