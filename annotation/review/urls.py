"""URLs of review: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("campaigns/<slug:slug>/review/", views.rounds, name="review"),
    path("campaigns/<slug:slug>/review/open/", views.open_now, name="review-open"),
    path("campaigns/<slug:slug>/review/<int:number>/", views.round_, name="review-round"),
    path(
        "campaigns/<slug:slug>/review/<int:number>/<int:position>/", views.item, name="review-item"
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/<int:position>/html/",
        views.item_html,
        name="review-html",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/<int:position>/images/<int:image>/",
        views.item_image,
        name="review-image",
    ),
]
api_urlpatterns = [
    path("campaigns/<slug:slug>/review/", api.CampaignReview.as_view(), name="review"),
    path(
        "campaigns/<slug:slug>/review/<int:number>/",
        api.CampaignReviewRound.as_view(),
        name="review-round",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/items/",
        api.ReviewItemList.as_view(),
        name="review-items",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/items/<int:position>/",
        api.ReviewItemDetailView.as_view(),
        name="review-item",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/items/<int:position>/decide/",
        api.ReviewItemDecide.as_view(),
        name="review-decide",
    ),
]
