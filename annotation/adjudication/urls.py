"""URLs of adjudication: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("campaigns/<slug:slug>/validation/", views.validation, name="validation"),
    path("campaigns/<slug:slug>/adjudication/", views.queue, name="adjudication"),
    path("campaigns/<slug:slug>/adjudication/<int:pk>/", views.case, name="case"),
    path(
        "campaigns/<slug:slug>/adjudication/<int:pk>/reopen/", views.case_reopen, name="case-reopen"
    ),
    path(
        "campaigns/<slug:slug>/adjudication/pages/<str:name>/", views.page, name="adjudication-page"
    ),
    path(
        "campaigns/<slug:slug>/adjudication/pages/<str:name>/html/",
        views.page_html,
        name="adjudication-html",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/pages/<str:name>/images/<int:number>/",
        views.page_image,
        name="adjudication-image",
    ),
]
api_urlpatterns = [
    path(
        "campaigns/<slug:slug>/validation/",
        api.CampaignValidation.as_view(),
        name="campaign-validation",
    ),
    path(
        "campaigns/<slug:slug>/validation/<str:name>/send-back/",
        api.ValidationBack.as_view(),
        name="validation-back",
    ),
    path(
        "campaigns/<slug:slug>/validation/<str:name>/let-pass/",
        api.ValidationPass.as_view(),
        name="validation-pass",
    ),
    path("campaigns/<slug:slug>/cases/", api.CaseList.as_view(), name="cases"),
    path("campaigns/<slug:slug>/cases/<int:pk>/", api.CaseDetailView.as_view(), name="case"),
    path(
        "campaigns/<slug:slug>/cases/<int:pk>/decide/", api.CaseDecide.as_view(), name="case-decide"
    ),
    path(
        "campaigns/<slug:slug>/cases/<int:pk>/reopen/", api.CaseReopen.as_view(), name="case-reopen"
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<str:name>/",
        api.AdjudicationPageView.as_view(),
        name="adjudication-page",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<str:name>/reopen/",
        api.AdjudicationReopen.as_view(),
        name="adjudication-reopen",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<str:name>/readings/",
        api.AdjudicationReadings.as_view(),
        name="adjudication-readings",
    ),
]
