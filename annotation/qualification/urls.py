"""URLs of qualification: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [
    campaign_path("qualification/", views.qualification, "qualification"),
    campaign_path("qualification/<int:pk>/try/", views.grant_try, "qualification-try"),
    campaign_path("qualification/<int:pk>/qualify/", views.qualify, "qualification-qualify"),
    campaign_path("quality/", views.annotator_quality, "annotator-quality"),
    campaign_path("quality/csv/", views.annotator_quality_csv, "annotator-quality-csv"),
]
api_urlpatterns = [
    campaign_path("qualification/", api.CampaignQualificationView, "campaign-qualification"),
    campaign_path("qualification/<int:pk>/try/", api.QualificationTryView, "qualification-try"),
    campaign_path(
        "qualification/<int:pk>/qualify/", api.QualificationDecision, "qualification-decision"
    ),
    campaign_path("quality/", api.CampaignAnnotatorQuality, "campaign-annotator-quality"),
]
