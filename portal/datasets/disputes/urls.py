"""URLs of disputes: pages, and endpoints under /api/v1/."""

from django.urls import include, path

from . import api, views

_page_patterns = [
    path("disputes/", views.disputes, name="disputes"),
    path("disputes/<int:pk>/", views.dispute, name="dispute"),
    path("disputes/<int:pk>/decide/", views.decide, name="dispute-decide"),
    path("disputes/<int:pk>/withdraw/", views.withdraw, name="dispute-withdraw"),
    path("releases/<str:version>/items/<str:name>/", views.release_item, name="release-item"),
    path("releases/<str:version>/items/<str:name>/dispute/", views.new_dispute, name="dispute-new"),
]
_api_patterns = [
    path("disputes/", api.DisputeList.as_view(), name="disputes"),
    path("corrections/", api.CorrectionList.as_view(), name="corrections"),
    path("disputes/<int:pk>/", api.DisputeDetail.as_view(), name="dispute"),
    path("disputes/<int:pk>/decide/", api.DisputeDecision.as_view(), name="dispute-decide"),
    path("disputes/<int:pk>/withdraw/", api.DisputeWithdrawal.as_view(), name="dispute-withdraw"),
]
urlpatterns = [path("<slug:slug>/", include(_page_patterns))]
api_urlpatterns = [path("datasets/<slug:slug>/", include(_api_patterns))]
