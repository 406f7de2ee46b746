"""Addresses of annotation: an annotator's tasks, and campaigns."""

from django.urls import path

from .adjudication import views as adjudication
from .adjudication import views as validation
from .agreement import views as agreement
from .assignments import views as assignments
from .assignments import views as documents
from .campaigns import people_views as people
from .campaigns import people_views as waiting
from .campaigns import views as campaign_settings
from .campaigns import views as campaigns
from .campaigns import views as guidelines
from .campaigns import views as releases
from .exchange import views as transfers
from .qualification import views as annotator_quality
from .qualification import views as qualification
from .review import views as review
from .screening import views as screening
from .workbench import views as own_gold
from .workbench import views as suggestions
from .workbench import views as tasks

app_name = "annotation"
urlpatterns = [
    path("annotate/", tasks.tasks, name="tasks"),
    path("annotate/<int:pk>/", tasks.workbench, name="workbench"),
    path("annotate/<int:pk>/take-back/", tasks.take_back_, name="assignment-take-back"),
    path("annotate/<int:pk>/html/", tasks.assignment_html, name="assignment-html"),
    path("annotate/<int:pk>/images/<int:number>/", tasks.assignment_image, name="assignment-image"),
    path("annotate/<int:pk>/gold/", own_gold.own_gold_page, name="own-gold"),
    path("campaigns/", campaigns.campaigns, name="campaigns"),
    path("campaigns/new/", campaigns.new_campaign, name="campaign-new"),
    path("campaigns/<slug:slug>/", campaigns.overview, name="campaign"),
    path("campaigns/<slug:slug>/open/", campaigns.open_, name="campaign-open"),
    path("campaigns/<slug:slug>/close/", campaigns.close, name="campaign-close"),
    path("campaigns/<slug:slug>/reopen/", campaigns.reopen, name="campaign-reopen"),
    path("campaigns/<slug:slug>/assign/", campaigns.assign, name="campaign-assign"),
    path("campaigns/<slug:slug>/settings/", campaign_settings.settings, name="campaign-settings"),
    path("campaigns/<slug:slug>/documents/", documents.documents, name="documents"),
    path("campaigns/<slug:slug>/documents/draw/", documents.draw, name="calibration-draw"),
    path("campaigns/<slug:slug>/assignments/", assignments.assignments, name="assignments"),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/hand-over/",
        assignments.hand_over_,
        name="hand-over",
    ),
    path(
        "campaigns/<slug:slug>/assignments/<int:pk>/return/",
        assignments.return_,
        name="assignment-return",
    ),
    path(
        "campaigns/<slug:slug>/annotators/<int:pk>/hand-over/",
        assignments.hand_over_all,
        name="hand-over-all",
    ),
    path("campaigns/<slug:slug>/screening/", screening.queue, name="screening"),
    path("campaigns/<slug:slug>/screening/<str:name>/", screening.page, name="screening-page"),
    path("campaigns/<slug:slug>/screening/<str:name>/undo/", screening.undo, name="screening-undo"),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/html/",
        screening.page_html,
        name="screening-html",
    ),
    path(
        "campaigns/<slug:slug>/screening/<str:name>/images/<int:number>/",
        screening.page_image,
        name="screening-image",
    ),
    path("campaigns/<slug:slug>/validation/", validation.validation, name="validation"),
    path("campaigns/<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
    path("campaigns/<slug:slug>/suggestions/", suggestions.suggestions, name="suggestions"),
    path("campaigns/<slug:slug>/people/", people.people, name="people"),
    path("campaigns/<slug:slug>/people/<int:pk>/remove/", people.remove, name="person-remove"),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/resend/",
        people.resend,
        name="invitation-resend",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/link/",
        people.link,
        name="invitation-link",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/revoke/",
        people.revoke,
        name="invitation-revoke",
    ),
    path("campaigns/<slug:slug>/leave/", people.leave, name="leave"),
    path("campaigns/<slug:slug>/waiting/", waiting.waiting, name="waiting"),
    path("campaigns/<slug:slug>/waiting/remind/", waiting.remind_all, name="remind-all"),
    path("campaigns/<slug:slug>/waiting/<int:pk>/remind/", waiting.remind, name="remind"),
    path("campaigns/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path(
        "campaigns/<slug:slug>/agreement/export/",
        agreement.agreement_export,
        name="agreement-export",
    ),
    path("campaigns/<slug:slug>/adjudication/", adjudication.queue, name="adjudication"),
    path("campaigns/<slug:slug>/adjudication/<int:pk>/", adjudication.case, name="case"),
    path(
        "campaigns/<slug:slug>/adjudication/<int:pk>/reopen/",
        adjudication.case_reopen,
        name="case-reopen",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/pages/<str:name>/",
        adjudication.page,
        name="adjudication-page",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/pages/<str:name>/html/",
        adjudication.page_html,
        name="adjudication-html",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/pages/<str:name>/images/<int:number>/",
        adjudication.page_image,
        name="adjudication-image",
    ),
    path("campaigns/<slug:slug>/review/", review.rounds, name="review"),
    path("campaigns/<slug:slug>/review/open/", review.open_now, name="review-open"),
    path("campaigns/<slug:slug>/review/<int:number>/", review.round_, name="review-round"),
    path(
        "campaigns/<slug:slug>/review/<int:number>/<int:position>/",
        review.item,
        name="review-item",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/<int:position>/html/",
        review.item_html,
        name="review-html",
    ),
    path(
        "campaigns/<slug:slug>/review/<int:number>/<int:position>/images/<int:image>/",
        review.item_image,
        name="review-image",
    ),
    path("campaigns/<slug:slug>/qualification/", qualification.qualification, name="qualification"),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/try/",
        qualification.grant_try,
        name="qualification-try",
    ),
    path(
        "campaigns/<slug:slug>/qualification/<int:pk>/qualify/",
        qualification.qualify,
        name="qualification-qualify",
    ),
    path(
        "campaigns/<slug:slug>/quality/",
        annotator_quality.annotator_quality,
        name="annotator-quality",
    ),
    path(
        "campaigns/<slug:slug>/quality/csv/",
        annotator_quality.annotator_quality_csv,
        name="annotator-quality-csv",
    ),
    path("campaigns/<slug:slug>/export/", transfers.in_and_out, name="export"),
    path("campaigns/<slug:slug>/release/", releases.release, name="release"),
]
