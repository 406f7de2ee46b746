"""URLs of agreement: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [
    campaign_path("agreement/", views.agreement, "agreement"),
    campaign_path("agreement/export/", views.agreement_export, "agreement-export"),
]
api_urlpatterns = [
    campaign_path("agreement/", api.CampaignAgreementView, "campaign-agreement"),
    campaign_path("agreement/export/", api.CampaignAgreementExport, "campaign-agreement-export"),
]
