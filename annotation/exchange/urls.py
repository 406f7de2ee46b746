"""URLs of exchange: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [campaign_path("export/", views.in_and_out, "export")]
api_urlpatterns = [
    campaign_path("export/", api.CampaignExport, "campaign-export"),
    campaign_path("import/", api.CampaignImports, "campaign-import"),
]
