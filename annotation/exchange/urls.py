"""URLs of exchange: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [path("campaigns/<slug:slug>/export/", views.in_and_out, name="export")]
api_urlpatterns = [
    path("campaigns/<slug:slug>/export/", api.CampaignExport.as_view(), name="campaign-export"),
    path("campaigns/<slug:slug>/import/", api.CampaignImports.as_view(), name="campaign-import"),
]
