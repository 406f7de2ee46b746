"""URLs of assignments: pages, and endpoints below /api/v1/."""

from annotation.api_base import campaign_path

from . import api, views

urlpatterns = [
    campaign_path("documents/", views.documents, "documents"),
    campaign_path("documents/draw/", views.draw, "calibration-draw"),
    campaign_path("assignments/", views.assignments, "assignments"),
    campaign_path("assignments/<int:pk>/hand-over/", views.hand_over_, "hand-over"),
    campaign_path("assignments/<int:pk>/return/", views.return_, "assignment-return"),
    campaign_path("annotators/<int:pk>/hand-over/", views.hand_over_all, "hand-over-all"),
]
api_urlpatterns = [
    campaign_path("documents/", api.CampaignDocuments, "campaign-documents"),
    campaign_path("documents/calibration/", api.CampaignCalibration, "campaign-calibration"),
    campaign_path("documents/overlap/", api.CampaignOverlap, "campaign-overlap"),
    campaign_path("assignments/", api.CampaignAssignmentsView, "campaign-assignments"),
    campaign_path(
        "assignments/<int:pk>/hand-over/", api.AssignmentHandOver, "assignment-hand-over"
    ),
    campaign_path("assignments/<int:pk>/return/", api.AssignmentReturn, "assignment-return"),
    campaign_path("annotators/<int:pk>/hand-over/", api.AnnotatorHandOver, "annotator-hand-over"),
]
