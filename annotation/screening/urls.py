"""URLs of screening: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("campaigns/<slug:slug>/screening/", views.queue, name="screening"),
    path("campaigns/<slug:slug>/screening/<str:name>/", views.page, name="screening-page"),
    path("campaigns/<slug:slug>/screening/<str:name>/undo/", views.undo, name="screening-undo"),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/html/", views.page_html, name="screening-html"
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/images/<int:number>/",
        views.page_image,
        name="screening-image",
    ),
]
api_urlpatterns = [
    path(
        "campaigns/<slug:slug>/screening/",
        api.CampaignScreening.as_view(),
        name="campaign-screening",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/",
        api.ScreeningPageView.as_view(),
        name="screening-page",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/undo/",
        api.ScreeningUndo.as_view(),
        name="screening-undo",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/bring-back/",
        api.ScreeningBack.as_view(),
        name="screening-back",
    ),
]
