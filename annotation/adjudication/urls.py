"""URLs of adjudication: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [
    campaign_path("validation/", views.validation, "validation"),
    campaign_path("adjudication/", views.queue, "adjudication"),
    campaign_path("adjudication/<int:pk>/", views.case, "case"),
    campaign_path("adjudication/<int:pk>/reopen/", views.case_reopen, "case-reopen"),
    campaign_path("adjudication/pages/<str:name>/", views.page, "adjudication-page"),
    campaign_path("adjudication/pages/<str:name>/html/", views.page_html, "adjudication-html"),
    campaign_path(
        "adjudication/pages/<str:name>/images/<int:image>/", views.page_image, "adjudication-image"
    ),
]
api_urlpatterns = [
    campaign_path("validation/", api.CampaignValidation, "campaign-validation"),
    campaign_path("validation/<str:name>/send-back/", api.ValidationBack, "validation-back"),
    campaign_path("validation/<str:name>/let-pass/", api.ValidationPass, "validation-pass"),
    campaign_path("cases/", api.CaseList, "cases"),
    campaign_path("cases/<int:pk>/", api.CaseDetailView, "case"),
    campaign_path("cases/<int:pk>/decide/", api.CaseDecide, "case-decide"),
    campaign_path("cases/<int:pk>/reopen/", api.CaseReopen, "case-reopen"),
    campaign_path("adjudication/<str:name>/", api.AdjudicationPageView, "adjudication-page"),
    campaign_path("adjudication/<str:name>/reopen/", api.AdjudicationReopen, "adjudication-reopen"),
    campaign_path(
        "adjudication/<str:name>/readings/", api.AdjudicationReadings, "adjudication-readings"
    ),
]
