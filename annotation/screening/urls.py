"""URLs of screening: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [
    campaign_path("screening/", views.queue, "screening"),
    campaign_path("screening/<str:name>/", views.page, "screening-page"),
    campaign_path("screening/<str:name>/undo/", views.undo, "screening-undo"),
    campaign_path("screening/<str:name>/html/", views.page_html, "screening-html"),
    campaign_path("screening/<str:name>/images/<int:image>/", views.page_image, "screening-image"),
]
api_urlpatterns = [
    campaign_path("screening/", api.CampaignScreening, "campaign-screening"),
    campaign_path("screening/<str:name>/", api.ScreeningPageView, "screening-page"),
    campaign_path("screening/<str:name>/undo/", api.ScreeningUndo, "screening-undo"),
    campaign_path("screening/<str:name>/bring-back/", api.ScreeningBack, "screening-back"),
]
