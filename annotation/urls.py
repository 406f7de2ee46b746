"""URLs of annotation: pages, and endpoints below /api/v1/, by feature."""

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, path

from .adjudication import api as adjudication_api
from .adjudication import views as adjudication
from .agreement import api as agreement_api
from .agreement import views as agreement
from .assignments import api as assignments_api
from .assignments import views as assignments
from .campaigns import api as campaigns_api
from .campaigns import people_api
from .campaigns import people_views as people
from .campaigns import views as campaigns
from .exchange import api as exchange_api
from .exchange import views as exchange
from .qualification import api as qualification_api
from .qualification import views as qualification
from .review import api as review_api
from .review import views as review
from .screening import api as screening_api
from .screening import views as screening
from .workbench import api as workbench_api
from .workbench import page_api
from .workbench import views as workbench

app_name = "annotation"

CAMPAIGN = "campaigns/<slug:slug>/"


def _below(prefix: str, *routes: tuple[str, Any, str]) -> list[URLPattern]:
    """URLs below the prefix: route, view and name. A view is a function, or a class of the API."""
    return [path(prefix + route, _function(view), name=name) for route, view, name in routes]


def _function(view: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = view.as_view() if hasattr(view, "as_view") else view
    return function


urlpatterns = [
    *_below(
        "",
        ("annotate/", workbench.tasks, "tasks"),
        ("campaigns/", campaigns.campaigns, "campaigns"),
        ("campaigns/new/", campaigns.new_campaign, "campaign-new"),
    ),
    *_below(
        "annotate/<int:pk>/",
        ("", workbench.workbench, "workbench"),
        ("take-back/", workbench.take_back_, "assignment-take-back"),
        ("html/", workbench.assignment_html, "assignment-html"),
        ("images/<int:image>/", workbench.assignment_image, "assignment-image"),
        ("gold/", workbench.own_gold_page, "own-gold"),
    ),
    *_below(
        CAMPAIGN,
        ("suggestions/", workbench.suggestions, "suggestions"),
        ("suggestions/acceptance/", workbench.suggestions_csv, "suggestions-csv"),
        ("", campaigns.overview, "campaign"),
        ("open/", campaigns.open_, "campaign-open"),
        ("close/", campaigns.close, "campaign-close"),
        ("reopen/", campaigns.reopen, "campaign-reopen"),
        ("assign/", campaigns.assign, "campaign-assign"),
        ("settings/", campaigns.settings, "campaign-settings"),
        ("guidelines/", campaigns.guidelines, "guidelines"),
        ("people/", people.people, "people"),
        ("people/<int:pk>/remove/", people.remove, "person-remove"),
        ("leave/", people.leave, "leave"),
        ("release/", campaigns.release, "release"),
        ("documents/", assignments.documents, "documents"),
        ("documents/draw/", assignments.draw, "calibration-draw"),
        ("annotators/<int:pk>/hand-over/", assignments.hand_over_all, "hand-over-all"),
        ("validation/", adjudication.validation, "validation"),
        ("agreement/", agreement.agreement, "agreement"),
        ("agreement/export/", agreement.agreement_export, "agreement-export"),
        ("quality/", qualification.annotator_quality, "annotator-quality"),
        ("quality/csv/", qualification.annotator_quality_csv, "annotator-quality-csv"),
        ("export/", exchange.in_and_out, "export"),
    ),
    *_below(
        f"{CAMPAIGN}invitations/",
        ("<int:pk>/resend/", people.resend, "invitation-resend"),
        ("<int:pk>/link/", people.link, "invitation-link"),
        ("<int:pk>/revoke/", people.revoke, "invitation-revoke"),
    ),
    *_below(
        f"{CAMPAIGN}waiting/",
        ("", people.waiting, "waiting"),
        ("remind/", people.remind_all, "remind-all"),
        ("<int:pk>/remind/", people.remind, "remind"),
    ),
    *_below(
        f"{CAMPAIGN}assignments/",
        ("", assignments.assignments, "assignments"),
        ("<int:pk>/hand-over/", assignments.hand_over_, "hand-over"),
        ("<int:pk>/return/", assignments.return_, "assignment-return"),
    ),
    *_below(
        f"{CAMPAIGN}screening/",
        ("", screening.queue, "screening"),
        ("<str:name>/", screening.page, "screening-page"),
        ("<str:name>/undo/", screening.undo, "screening-undo"),
        ("<str:name>/html/", screening.page_html, "screening-html"),
        ("<str:name>/images/<int:image>/", screening.page_image, "screening-image"),
    ),
    *_below(
        f"{CAMPAIGN}adjudication/",
        ("", adjudication.queue, "adjudication"),
        ("<int:pk>/", adjudication.case, "case"),
        ("<int:pk>/reopen/", adjudication.case_reopen, "case-reopen"),
        ("warnings/", adjudication.open_doubtful, "open-doubtful"),
        ("pages/<str:name>/", adjudication.page, "adjudication-page"),
        ("pages/<str:name>/html/", adjudication.page_html, "adjudication-html"),
        ("pages/<str:name>/images/<int:image>/", adjudication.page_image, "adjudication-image"),
    ),
    *_below(
        f"{CAMPAIGN}review/",
        ("", review.rounds, "review"),
        ("open/", review.open_now, "review-open"),
        ("<int:number>/", review.round_, "review-round"),
        ("<int:number>/<int:position>/", review.item, "review-item"),
        ("<int:number>/<int:position>/html/", review.item_html, "review-html"),
        ("<int:number>/<int:position>/images/<int:image>/", review.item_image, "review-image"),
    ),
    *_below(
        f"{CAMPAIGN}qualification/",
        ("", qualification.qualification, "qualification"),
        ("<int:pk>/try/", qualification.grant_try, "qualification-try"),
        ("<int:pk>/qualify/", qualification.qualify, "qualification-qualify"),
    ),
]
api_urlpatterns = [
    *_below(
        "",
        ("assignments/", workbench_api.AssignmentList, "assignments"),
        ("assignments/former/", workbench_api.FormerSubmissionList, "former-submissions"),
        ("campaigns/", campaigns_api.CampaignList, "campaigns"),
    ),
    *_below(
        "assignments/<int:pk>/",
        ("", workbench_api.AssignmentDetailView, "assignment"),
        ("content/", workbench_api.AssignmentContent, "assignment-content"),
        ("spans/", workbench_api.AssignmentSpans, "assignment-spans"),
        ("submit/", workbench_api.AssignmentSubmit, "assignment-submit"),
        ("take-back/", workbench_api.AssignmentTakeBack, "assignment-take-back"),
        ("facts/", page_api.AssignmentFacts, "assignment-facts"),
        ("boxes/", page_api.AssignmentBoxes, "assignment-boxes"),
        ("warnings/", page_api.AssignmentWarnings, "assignment-warnings"),
        ("revisions/", workbench_api.RevisionList, "assignment-revisions"),
        ("revisions/<int:number>/", workbench_api.RevisionDetailView, "assignment-revision"),
        (
            "revisions/<int:number>/restore/",
            workbench_api.RevisionRestoreView,
            "assignment-restore",
        ),
        ("comments/", page_api.CommentList, "assignment-comments"),
        ("comments/<int:comment>/", page_api.CommentDetail, "assignment-comment"),
        ("flag/", page_api.AssignmentFlagView, "assignment-flag"),
        ("export/", page_api.AssignmentExport, "assignment-export"),
        ("import/", page_api.AssignmentImport, "assignment-import"),
        ("gold/", workbench_api.AssignmentGold, "assignment-gold"),
    ),
    *_below(
        CAMPAIGN,
        ("", campaigns_api.CampaignDetailView, "campaign"),
        ("guidelines/", campaigns_api.CampaignGuidelinesView, "campaign-guidelines"),
        ("guidelines/seen/", campaigns_api.CampaignGuidelinesSeen, "campaign-guidelines-seen"),
        ("settings/", campaigns_api.CampaignSettingsView, "campaign-settings"),
        ("open/", campaigns_api.CampaignOpen, "campaign-open"),
        ("close/", campaigns_api.CampaignClose, "campaign-close"),
        ("reopen/", campaigns_api.CampaignReopen, "campaign-reopen"),
        ("assign/", campaigns_api.CampaignAssign, "campaign-assign"),
        ("people/", people_api.CampaignPeople, "campaign-people"),
        ("people/<int:pk>/", people_api.CampaignPerson, "campaign-person"),
        ("leave/", people_api.CampaignLeave, "campaign-leave"),
        ("release/", campaigns_api.CampaignRelease, "campaign-release"),
        (
            "annotators/<int:pk>/hand-over/",
            assignments_api.AnnotatorHandOver,
            "annotator-hand-over",
        ),
        ("agreement/", agreement_api.CampaignAgreementView, "campaign-agreement"),
        ("agreement/export/", agreement_api.CampaignAgreementExport, "campaign-agreement-export"),
        ("quality/", qualification_api.CampaignAnnotatorQuality, "campaign-annotator-quality"),
        ("export/", exchange_api.CampaignExport, "campaign-export"),
        ("import/", exchange_api.CampaignImports, "campaign-import"),
    ),
    *_below(
        f"{CAMPAIGN}suggestions/",
        ("", page_api.CampaignSuggestionsView, "campaign-suggestions"),
        ("uploads/", page_api.SuggestionUploads, "suggestion-uploads"),
        ("acceptance/", page_api.SuggestionAcceptanceView, "suggestion-acceptance"),
        ("acceptance/csv/", page_api.SuggestionAcceptanceFile, "suggestion-acceptance-csv"),
    ),
    *_below(
        f"{CAMPAIGN}invitations/",
        ("", people_api.CampaignInvitations, "campaign-invitations"),
        ("<int:pk>/", people_api.CampaignInvitationDetail, "campaign-invitation"),
        ("<int:pk>/link/", people_api.CampaignInvitationLink, "campaign-invitation-link"),
        ("<int:pk>/resend/", people_api.CampaignInvitationResend, "campaign-invitation-resend"),
    ),
    *_below(
        f"{CAMPAIGN}waiting/",
        ("", people_api.CampaignWaitingView, "campaign-waiting"),
        ("remind/", people_api.CampaignRemindAll, "campaign-remind-all"),
        ("<int:pk>/remind/", people_api.CampaignRemind, "campaign-remind"),
    ),
    *_below(
        f"{CAMPAIGN}documents/",
        ("", assignments_api.CampaignDocuments, "campaign-documents"),
        ("calibration/", assignments_api.CampaignCalibration, "campaign-calibration"),
        ("overlap/", assignments_api.CampaignOverlap, "campaign-overlap"),
    ),
    *_below(
        f"{CAMPAIGN}assignments/",
        ("", assignments_api.CampaignAssignmentsView, "campaign-assignments"),
        ("<int:pk>/hand-over/", assignments_api.AssignmentHandOver, "assignment-hand-over"),
        ("<int:pk>/return/", assignments_api.AssignmentReturn, "assignment-return"),
    ),
    *_below(
        f"{CAMPAIGN}screening/",
        ("", screening_api.CampaignScreening, "campaign-screening"),
        ("<str:name>/", screening_api.ScreeningPageView, "screening-page"),
        ("<str:name>/undo/", screening_api.ScreeningUndo, "screening-undo"),
        ("<str:name>/bring-back/", screening_api.ScreeningBack, "screening-back"),
    ),
    *_below(
        f"{CAMPAIGN}validation/",
        ("", adjudication_api.CampaignValidation, "campaign-validation"),
        ("<str:name>/send-back/", adjudication_api.ValidationBack, "validation-back"),
        ("<str:name>/let-pass/", adjudication_api.ValidationPass, "validation-pass"),
    ),
    *_below(
        f"{CAMPAIGN}cases/",
        ("", adjudication_api.CaseList, "cases"),
        ("warnings/", adjudication_api.CasesOfWarnings, "cases-of-warnings"),
        ("<int:pk>/", adjudication_api.CaseDetailView, "case"),
        ("<int:pk>/decide/", adjudication_api.CaseDecide, "case-decide"),
        ("<int:pk>/reopen/", adjudication_api.CaseReopen, "case-reopen"),
    ),
    *_below(
        f"{CAMPAIGN}adjudication/",
        ("<str:name>/", adjudication_api.AdjudicationPageView, "adjudication-page"),
        ("<str:name>/reopen/", adjudication_api.AdjudicationReopen, "adjudication-reopen"),
        ("<str:name>/readings/", adjudication_api.AdjudicationReadings, "adjudication-readings"),
    ),
    *_below(
        f"{CAMPAIGN}review/",
        ("", review_api.CampaignReview, "review"),
        ("<int:number>/", review_api.CampaignReviewRound, "review-round"),
        ("<int:number>/items/", review_api.ReviewItemList, "review-items"),
        ("<int:number>/items/<int:position>/", review_api.ReviewItemDetailView, "review-item"),
        ("<int:number>/items/<int:position>/decide/", review_api.ReviewItemDecide, "review-decide"),
    ),
    *_below(
        f"{CAMPAIGN}qualification/",
        ("", qualification_api.CampaignQualificationView, "campaign-qualification"),
        ("<int:pk>/try/", qualification_api.QualificationTryView, "qualification-try"),
        ("<int:pk>/qualify/", qualification_api.QualificationDecision, "qualification-decision"),
    ),
]
