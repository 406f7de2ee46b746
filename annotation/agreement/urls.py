"""URLs of agreement: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("campaigns/<slug:slug>/agreement/", views.agreement, name="agreement"),
    path(
        "campaigns/<slug:slug>/agreement/export/", views.agreement_export, name="agreement-export"
    ),
]
api_urlpatterns = [
    path(
        "campaigns/<slug:slug>/agreement/",
        api.CampaignAgreementView.as_view(),
        name="campaign-agreement",
    ),
    path(
        "campaigns/<slug:slug>/agreement/export/",
        api.CampaignAgreementExport.as_view(),
        name="campaign-agreement-export",
    ),
]
