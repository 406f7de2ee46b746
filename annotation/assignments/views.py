"""Pages of assignments and documents, for leads and organisers."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from annotation.access import CampaignAccess, managed_assignment, managed_campaign
from annotation.api_base import (
    action,
    campaign_page,
    choose,
    form_view,
    named,
    page_view,
    post_view,
    posted,
    refusals_in,
    refusals_shown,
)
from annotation.models import Assignment, CampaignDocument
from portal.accounts.access import UserRequest
from portal.accounts.models import User, display_name

from . import handing_over, selectors, sharing

_FILTER_LABELS = {"begun": "in progress", "untouched": "not started"}


class AssignmentFilterForm(forms.Form):
    """The filter of the assignments table. Invalid values are ignored."""

    idle = forms.IntegerField(
        required=False, min_value=0, max_value=10_000, label="Idle for more than (days)"
    )
    annotator = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label="Annotator"
    )

    def __init__(self, *args: Any, annotators: list[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "annotator", [("", "All annotators"), *annotators])


class DrawForm(forms.Form):
    """The number of calibration documents to draw, and the seed."""

    count = forms.IntegerField(label="Documents to draw", min_value=1, max_value=10_000, initial=10)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**53 - 1,
        help_text="The same seed draws the same documents.",
    )


class DocumentTeamForm(forms.Form):
    """The documents selected in the table, and the action for them."""

    documents = forms.MultipleChoiceField(
        error_messages={"required": "Select documents in the table first."}
    )
    action = forms.ChoiceField(choices=[("calibration", ""), ("ordinary", ""), ("overlap", "")])
    overlap = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label="Annotators per document",
        choices=[
            ("", "Campaign default"),
            *((n, str(n)) for n in range(1, sharing.MAX_OVERLAP + 1)),
        ],
    )

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "documents", named(names))


ASSIGNMENTS_PER_PAGE = 50


@page_view
def assignments(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    campaign = access.campaign
    show = request.GET.get("show", "")
    show = show if show in selectors.FILTERS else selectors.FILTERS[0]
    annotators = selectors.campaign_annotators(campaign)
    form = AssignmentFilterForm(request.GET, annotators=annotators)
    form.full_clean()
    chosen = {name: form.cleaned_data.get(name) for name in ("annotator", "idle")}
    rows = selectors.assignment_rows(
        campaign, show=show, annotator=chosen["annotator"], idle=chosen["idle"] or 0
    )
    page = Paginator(rows, ASSIGNMENTS_PER_PAGE).get_page(request.GET.get("page"))
    counts = selectors.assignment_counts(campaign)
    further = urlencode({name: value for name, value in chosen.items() if value})
    leaving = chosen["annotator"] if campaign.state == campaign.State.OPEN else None
    context = {
        "form": form,
        "all_of": next((one for one in annotators if one[0] == leaving), None),
        "page": page,
        "rows": selectors.with_heirs(campaign, list(page.object_list)),
        "show": show,
        "filters": [
            (name, _FILTER_LABELS.get(name, name), counts[name]) for name in selectors.FILTERS
        ],
        "further": further,
        "query": f"show={show}&{further}".rstrip("&"),
        "is_filtered": bool(further),
    }
    return campaign_page(request, access, "assignments", "assignments/assignments.html", context)


def _table(request: UserRequest, slug: str, **_: Any) -> str:
    """The URL of the table with its current filter."""
    table = reverse("annotation:assignments", args=[slug])
    query = request.POST.get("query", "")
    url = f"{table}?{query}" if query else table
    safe = url_has_allowed_host_and_scheme(url, allowed_hosts=None)
    return url if safe and "\n" not in query else table


@action(managed_assignment, _table)
def hand_over_(request: UserRequest, work: Assignment) -> str:
    """Gives one assignment to `heir` (a primary key), or to the annotator with the least work."""
    chosen = request.POST.get("heir", "")
    heir = User.objects.filter(pk=chosen).first() if chosen.isdecimal() else None
    former, name = display_name(work.annotator), work.campaign_document.document.name
    handed = handing_over.hand_over(assignment=work, heir=heir, actor=request.user)
    if handed.assignment is None:
        return f"{name} was withdrawn from {former}. All other annotators have it."
    return f"{name} reassigned from {former} to {display_name(handed.assignment.annotator)}."


@action(managed_assignment, _table)
def return_(request: UserRequest, work: Assignment) -> str:
    """Returns a submitted page to its annotator, with a `reason`."""
    reason = request.POST.get("reason", "")
    handing_over.return_submission(assignment=work, reason=reason, actor=request.user)
    return f"{work.campaign_document.document.name} was returned to {display_name(work.annotator)}."


@action(selectors.annotator_for, "annotation:assignments")
def hand_over_all(request: UserRequest, access: CampaignAccess, annotator: User) -> str:
    """Gives all unfinished work of one annotator (a user's primary key) to the others."""
    handed = handing_over.hand_over_everything(
        campaign=access.campaign, annotator=annotator, actor=request.user
    )
    count = f"{handed} document{'' if handed == 1 else 's'}"
    return f"{count} of {display_name(annotator)} reassigned to other annotators."


DOCUMENTS_PER_PAGE = 100


@form_view
def documents(request: UserRequest, slug: str) -> HttpResponse:
    """The table of documents; a POST changes the selected ones."""
    access = managed_campaign(request.user, slug)
    campaign = access.campaign
    stage = request.GET.get("stage", "")
    stage = stage if stage in CampaignDocument.Stage.values else ""
    purpose = "calibration" if "calibration" in request.GET else ""
    rows = selectors.document_rows(campaign, stage=stage, purpose=purpose)
    page = Paginator(rows, DOCUMENTS_PER_PAGE).get_page(request.GET.get("page"))
    form = DocumentTeamForm(posted(request), names=[row.name for row in page])
    if form.is_valid() and _change(request, access, form):
        return redirect(request.get_full_path())
    query = f"stage={stage}" if stage else "calibration" if purpose else ""
    context = {
        "form": form,
        "draw": DrawForm(),
        "page": page,
        "counts": selectors.document_counts(campaign),
        "stages": CampaignDocument.Stage.choices,
        "stage": stage,
        "purpose": purpose,
        "query": query,
    }
    return campaign_page(
        request, access, "documents", "assignments/documents.html", context, name="Documents"
    )


def _change(request: UserRequest, access: CampaignAccess, form: DocumentTeamForm) -> bool:
    """Whether the change was made; otherwise adds the error to the form."""
    names, action = form.cleaned_data["documents"], form.cleaned_data["action"]
    given = {"campaign": access.campaign, "names": names, "actor": request.user}
    with refusals_in(form):
        if action == "calibration":
            done = sharing.choose_calibration(**given)
            text = "{} added to the calibration set."
        elif action == "ordinary":
            done = sharing.end_calibration(**given)
            text = "{} removed from the calibration set."
        else:
            done = sharing.set_document_overlap(**given, overlap=form.cleaned_data["overlap"])
            text = "Number of annotators set for {}."
        count = f"{len(done)} document{'' if len(done) == 1 else 's'}"
        messages.success(request, text.format(count))
    return not form.errors


@post_view
def draw(request: UserRequest, slug: str) -> HttpResponse:
    """Draws calibration documents with a seed."""
    access = managed_campaign(request.user, slug)
    form = DrawForm(posted(request))
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {errors[0]}")
        return redirect("annotation:documents", slug)
    with refusals_shown(request):
        drawn = sharing.draw_calibration(
            campaign=access.campaign, actor=request.user, **form.cleaned_data
        )
        seed = form.cleaned_data["seed"]
        messages.success(request, f"Drawn with seed {seed}: {', '.join(drawn)}.")
    return redirect("annotation:documents", slug)
