"""URLs of review: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [
    campaign_path("review/", views.rounds, "review"),
    campaign_path("review/open/", views.open_now, "review-open"),
    campaign_path("review/<int:number>/", views.round_, "review-round"),
    campaign_path("review/<int:number>/<int:position>/", views.item, "review-item"),
    campaign_path("review/<int:number>/<int:position>/html/", views.item_html, "review-html"),
    campaign_path(
        "review/<int:number>/<int:position>/images/<int:image>/", views.item_image, "review-image"
    ),
]
api_urlpatterns = [
    campaign_path("review/", api.CampaignReview, "review"),
    campaign_path("review/<int:number>/", api.CampaignReviewRound, "review-round"),
    campaign_path("review/<int:number>/items/", api.ReviewItemList, "review-items"),
    campaign_path(
        "review/<int:number>/items/<int:position>/", api.ReviewItemDetailView, "review-item"
    ),
    campaign_path(
        "review/<int:number>/items/<int:position>/decide/", api.ReviewItemDecide, "review-decide"
    ),
]
