"""Addresses of annotation's endpoints, below /api/v1/."""

from django.urls import path

from annotation.assignments.api import (
    AnnotatorHandOver,
    AssignmentHandOver,
    AssignmentReturn,
    CampaignAssignmentsView,
    CampaignCalibration,
    CampaignDocuments,
    CampaignOverlap,
)
from annotation.campaigns.api import (
    CampaignAssign,
    CampaignClose,
    CampaignDetailView,
    CampaignList,
    CampaignOpen,
    CampaignReopen,
    CampaignSettingsView,
)
from annotation.campaigns.people_api import CampaignPeople, CampaignPerson
from annotation.review.api import (
    CampaignReview,
    CampaignReviewRound,
    ReviewItemDecide,
    ReviewItemDetailView,
    ReviewItemList,
)
from annotation.workbench.api import AssignmentGold

from .adjudication import api as cases
from .adjudication import api as validation
from .agreement import api as agreement
from .campaigns import api as guidelines
from .campaigns import api as quality
from .campaigns import people_api as people
from .exchange import api as transfers
from .qualification import api as qualification
from .screening import api as screening
from .workbench import api as assignments
from .workbench import api as history
from .workbench import page_api as files
from .workbench import page_api as page_facts
from .workbench import page_api as remarks
from .workbench import page_api as suggestions

urlpatterns = [
    path("assignments/", assignments.AssignmentList.as_view(), name="assignments"),
    path("assignments/<int:pk>/", assignments.AssignmentDetailView.as_view(), name="assignment"),
    path(
        "assignments/<int:pk>/content/",
        assignments.AssignmentContent.as_view(),
        name="assignment-content",
    ),
    path(
        "assignments/<int:pk>/spans/",
        assignments.AssignmentSpans.as_view(),
        name="assignment-spans",
    ),
    path(
        "assignments/<int:pk>/submit/",
        assignments.AssignmentSubmit.as_view(),
        name="assignment-submit",
    ),
    path(
        "assignments/<int:pk>/take-back/",
        assignments.AssignmentTakeBack.as_view(),
        name="assignment-take-back",
    ),
    path(
        "assignments/<int:pk>/facts/",
        page_facts.AssignmentFacts.as_view(),
        name="assignment-facts",
    ),
    path(
        "assignments/<int:pk>/boxes/",
        page_facts.AssignmentBoxes.as_view(),
        name="assignment-boxes",
    ),
    path(
        "assignments/<int:pk>/warnings/",
        page_facts.AssignmentWarnings.as_view(),
        name="assignment-warnings",
    ),
    path(
        "assignments/<int:pk>/revisions/",
        history.RevisionList.as_view(),
        name="assignment-revisions",
    ),
    path(
        "assignments/<int:pk>/revisions/<int:number>/",
        history.RevisionDetailView.as_view(),
        name="assignment-revision",
    ),
    path(
        "assignments/<int:pk>/revisions/<int:number>/restore/",
        history.RevisionRestoreView.as_view(),
        name="assignment-restore",
    ),
    path(
        "assignments/<int:pk>/comments/",
        remarks.CommentList.as_view(),
        name="assignment-comments",
    ),
    path(
        "assignments/<int:pk>/comments/<int:comment>/",
        remarks.CommentDetail.as_view(),
        name="assignment-comment",
    ),
    path(
        "assignments/<int:pk>/flag/", remarks.AssignmentFlagView.as_view(), name="assignment-flag"
    ),
    path(
        "assignments/<int:pk>/export/", files.AssignmentExport.as_view(), name="assignment-export"
    ),
    path(
        "assignments/<int:pk>/import/", files.AssignmentImport.as_view(), name="assignment-import"
    ),
    path("assignments/<int:pk>/gold/", AssignmentGold.as_view(), name="assignment-gold"),
    path("campaigns/", CampaignList.as_view(), name="campaigns"),
    path("campaigns/<slug:slug>/", CampaignDetailView.as_view(), name="campaign"),
    path(
        "campaigns/<slug:slug>/guidelines/",
        guidelines.CampaignGuidelinesView.as_view(),
        name="campaign-guidelines",
    ),
    path(
        "campaigns/<slug:slug>/guidelines/seen/",
        guidelines.CampaignGuidelinesSeen.as_view(),
        name="campaign-guidelines-seen",
    ),
    path(
        "campaigns/<slug:slug>/suggestions/",
        suggestions.CampaignSuggestionsView.as_view(),
        name="campaign-suggestions",
    ),
    path(
        "campaigns/<slug:slug>/suggestions/uploads/",
        suggestions.SuggestionUploads.as_view(),
        name="suggestion-uploads",
    ),
    path(
        "campaigns/<slug:slug>/settings/",
        CampaignSettingsView.as_view(),
        name="campaign-settings",
    ),
    path(
        "campaigns/<slug:slug>/documents/",
        CampaignDocuments.as_view(),
        name="campaign-documents",
    ),
    path(
        "campaigns/<slug:slug>/documents/calibration/",
        CampaignCalibration.as_view(),
        name="campaign-calibration",
    ),
    path(
        "campaigns/<slug:slug>/documents/overlap/",
        CampaignOverlap.as_view(),
        name="campaign-overlap",
    ),
    path(
        "campaigns/<slug:slug>/assignments/",
        CampaignAssignmentsView.as_view(),
        name="campaign-assignments",
    ),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/hand-over/",
        AssignmentHandOver.as_view(),
        name="assignment-hand-over",
    ),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/return/",
        AssignmentReturn.as_view(),
        name="assignment-return",
    ),
    path(
        "campaigns/<slug:slug>/annotators/<int:pk>/hand-over/",
        AnnotatorHandOver.as_view(),
        name="annotator-hand-over",
    ),
    path(
        "campaigns/<slug:slug>/screening/",
        screening.CampaignScreening.as_view(),
        name="campaign-screening",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/",
        screening.ScreeningPageView.as_view(),
        name="screening-page",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/undo/",
        screening.ScreeningUndo.as_view(),
        name="screening-undo",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/bring-back/",
        screening.ScreeningBack.as_view(),
        name="screening-back",
    ),
    path(
        "campaigns/<slug:slug>/validation/",
        validation.CampaignValidation.as_view(),
        name="campaign-validation",
    ),
    path(
        "campaigns/<slug:slug>/validation/<str:name>/send-back/",
        validation.ValidationBack.as_view(),
        name="validation-back",
    ),
    path(
        "campaigns/<slug:slug>/validation/<str:name>/let-pass/",
        validation.ValidationPass.as_view(),
        name="validation-pass",
    ),
    path("campaigns/<slug:slug>/open/", CampaignOpen.as_view(), name="campaign-open"),
    path("campaigns/<slug:slug>/close/", CampaignClose.as_view(), name="campaign-close"),
    path("campaigns/<slug:slug>/reopen/", CampaignReopen.as_view(), name="campaign-reopen"),
    path("campaigns/<slug:slug>/assign/", CampaignAssign.as_view(), name="campaign-assign"),
    path("campaigns/<slug:slug>/people/", CampaignPeople.as_view(), name="campaign-people"),
    path(
        "campaigns/<slug:slug>/people/<int:pk>/",
        CampaignPerson.as_view(),
        name="campaign-person",
    ),
    path(
        "campaigns/<slug:slug>/invitations/",
        people.CampaignInvitations.as_view(),
        name="campaign-invitations",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/",
        people.CampaignInvitationDetail.as_view(),
        name="campaign-invitation",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/link/",
        people.CampaignInvitationLink.as_view(),
        name="campaign-invitation-link",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/resend/",
        people.CampaignInvitationResend.as_view(),
        name="campaign-invitation-resend",
    ),
    path("campaigns/<slug:slug>/leave/", people.CampaignLeave.as_view(), name="campaign-leave"),
    path(
        "campaigns/<slug:slug>/waiting/", people.CampaignWaiting.as_view(), name="campaign-waiting"
    ),
    path(
        "campaigns/<slug:slug>/waiting/remind/",
        people.CampaignRemindAll.as_view(),
        name="campaign-remind-all",
    ),
    path(
        "campaigns/<slug:slug>/waiting/<int:pk>/remind/",
        people.CampaignRemind.as_view(),
        name="campaign-remind",
    ),
    path(
        "campaigns/<slug:slug>/agreement/",
        agreement.CampaignAgreementView.as_view(),
        name="campaign-agreement",
    ),
    path(
        "campaigns/<slug:slug>/agreement/export/",
        agreement.CampaignAgreementExport.as_view(),
        name="campaign-agreement-export",
    ),
    path("campaigns/<slug:slug>/cases/", cases.CaseList.as_view(), name="cases"),
    path("campaigns/<slug:slug>/cases/<int:pk>/", cases.CaseDetailView.as_view(), name="case"),
    path(
        "campaigns/<slug:slug>/cases/<int:pk>/decide/",
        cases.CaseDecide.as_view(),
        name="case-decide",
    ),
    path(
        "campaigns/<slug:slug>/cases/<int:pk>/reopen/",
        cases.CaseReopen.as_view(),
        name="case-reopen",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<str:name>/",
        cases.AdjudicationPageView.as_view(),
        name="adjudication-page",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<str:name>/reopen/",
        cases.AdjudicationReopen.as_view(),
        name="adjudication-reopen",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<str:name>/readings/",
        cases.AdjudicationReadings.as_view(),
        name="adjudication-readings",
    ),
    path("campaigns/<slug:slug>/review/", CampaignReview.as_view(), name="review"),
    path(
        "campaigns/<slug:slug>/review/<int:number>/",
        CampaignReviewRound.as_view(),
        name="review-round",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/items/",
        ReviewItemList.as_view(),
        name="review-items",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/items/<int:position>/",
        ReviewItemDetailView.as_view(),
        name="review-item",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/items/<int:position>/decide/",
        ReviewItemDecide.as_view(),
        name="review-decide",
    ),
    path(
        "campaigns/<slug:slug>/qualification/",
        qualification.CampaignQualificationView.as_view(),
        name="campaign-qualification",
    ),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/try/",
        qualification.QualificationTryView.as_view(),
        name="qualification-try",
    ),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/qualify/",
        qualification.QualificationDecision.as_view(),
        name="qualification-decision",
    ),
    path(
        "campaigns/<slug:slug>/quality/",
        qualification.CampaignAnnotatorQuality.as_view(),
        name="campaign-annotator-quality",
    ),
    path(
        "campaigns/<slug:slug>/export/",
        transfers.CampaignExport.as_view(),
        name="campaign-export",
    ),
    path(
        "campaigns/<slug:slug>/import/",
        transfers.CampaignImports.as_view(),
        name="campaign-import",
    ),
    path(
        "campaigns/<slug:slug>/release/", quality.CampaignRelease.as_view(), name="campaign-release"
    ),
]
