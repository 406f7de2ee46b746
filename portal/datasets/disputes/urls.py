"""URLs of disputes: pages, and endpoints under /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("<slug:slug>/disputes/", views.disputes, name="disputes"),
    path("<slug:slug>/disputes/<int:pk>/", views.dispute, name="dispute"),
    path("<slug:slug>/disputes/<int:pk>/decide/", views.decide, name="dispute-decide"),
    path("<slug:slug>/disputes/<int:pk>/withdraw/", views.withdraw, name="dispute-withdraw"),
    path(
        "<slug:slug>/releases/<str:version>/items/<str:name>/",
        views.release_item,
        name="release-item",
    ),
    path(
        "<slug:slug>/releases/<str:version>/items/<str:name>/dispute/",
        views.new_dispute,
        name="dispute-new",
    ),
]
api_urlpatterns = [
    path("datasets/<slug:slug>/disputes/", api.DisputeList.as_view(), name="disputes"),
    path(
        "datasets/<slug:slug>/corrections/",
        api.CorrectionList.as_view(),
        name="corrections",
    ),
    path(
        "datasets/<slug:slug>/disputes/<int:pk>/",
        api.DisputeDetail.as_view(),
        name="dispute",
    ),
    path(
        "datasets/<slug:slug>/disputes/<int:pk>/decide/",
        api.DisputeDecision.as_view(),
        name="dispute-decide",
    ),
    path(
        "datasets/<slug:slug>/disputes/<int:pk>/withdraw/",
        api.DisputeWithdrawal.as_view(),
        name="dispute-withdraw",
    ),
]
