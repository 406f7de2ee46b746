"""Who has which document: the leads' table, from which abandoned work is handed over."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from annotation.access import managed_campaign
from annotation.models import Assignment
from annotation.selectors.assignments import (
    FILTERS,
    assignment_counts,
    assignment_lines,
    assignment_rows,
    campaign_annotators,
)
from annotation.services.errors import Refused
from annotation.services.reassigning import HandedOver, hand_over, hand_over_everything
from annotation.services.returning import return_submission
from annotation.workflow_forms import AssignmentFilterForm
from portal.accounts.access import UserRequest
from portal.accounts.models import User, display_name

PER_PAGE = 50


@login_required
@require_safe
def assignments(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    campaign = standing.campaign
    show = request.GET.get("show", "")
    show = show if show in FILTERS else FILTERS[0]
    annotators = campaign_annotators(campaign)
    form = AssignmentFilterForm(request.GET, annotators=annotators)
    form.full_clean()
    chosen = {name: form.cleaned_data.get(name) for name in ("annotator", "idle")}
    rows = assignment_rows(
        campaign, show=show, annotator=chosen["annotator"], idle=chosen["idle"] or 0
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    counts = assignment_counts(campaign)
    further = urlencode({name: value for name, value in chosen.items() if value})
    leaving = chosen["annotator"] if campaign.state == campaign.State.OPEN else None
    context = {
        "standing": standing,
        "form": form,
        "all_of": next((one for one in annotators if one[0] == leaving), None),
        "page": page,
        "lines": assignment_lines(campaign, list(page.object_list)),
        "show": show,
        "filters": [(name, counts[name]) for name in FILTERS],
        "further": further,
        "query": f"show={show}&{further}".rstrip("&"),
        "is_filtered": bool(further),
    }
    return render(request, "annotation/assignments.html", context)


@login_required
@require_POST
def hand_over_(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Gives one assignment to the `heir` sent (a primary key), or to the least loaded."""
    work = _work(request, slug, pk)
    chosen = request.POST.get("heir", "")
    heir = User.objects.filter(pk=chosen).first() if chosen.isdecimal() else None
    try:
        handed = hand_over(assignment=work, heir=heir, actor=request.user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _told(work, handed))
    return redirect(_back(request, slug))


@login_required
@require_POST
def return_(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Returns a submitted page to its annotator, with the `reason` sent."""
    work = _work(request, slug, pk)
    try:
        return_submission(
            assignment=work, reason=request.POST.get("reason", ""), actor=request.user
        )
    except Refused as refusal:
        messages.error(request, f"Not returned. {refusal.message}")
    else:
        name = work.campaign_document.document.name
        messages.success(request, f"{name} went back to {display_name(work.annotator)}.")
    return redirect(_back(request, slug))


@login_required
@require_POST
def hand_over_all(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Gives all unfinished work of one annotator (a user's primary key) to the others."""
    standing = managed_campaign(request.user, slug)
    annotators = dict(campaign_annotators(standing.campaign))
    if pk not in annotators:
        raise Http404("Nobody with work here.")
    try:
        handed = hand_over_everything(
            campaign=standing.campaign, annotator=User.objects.get(pk=pk), actor=request.user
        )
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        count = f"{handed} document{'' if handed == 1 else 's'}"
        messages.success(request, f"{count} of {annotators[pk]} went to the other annotators.")
    return redirect("annotation:assignments", slug)


def _work(request: UserRequest, slug: str, pk: int) -> Assignment:
    """An assignment of a campaign that the user manages."""
    standing = managed_campaign(request.user, slug)
    works = Assignment.objects.select_related("campaign_document__document", "annotator")
    return get_object_or_404(works, pk=pk, campaign_document__campaign=standing.campaign)


def _told(work: Assignment, handed: HandedOver) -> str:
    name = work.campaign_document.document.name
    former = display_name(work.annotator)
    if handed.assignment is None:
        return f"{name} was taken from {former}; every other annotator has it."
    return f"{name} went from {former} to {display_name(handed.assignment.annotator)}."


def _back(request: UserRequest, slug: str) -> str:
    """The table as it was filtered."""
    table = reverse("annotation:assignments", args=[slug])
    query = request.POST.get("query", "")
    address = f"{table}?{query}" if query else table
    safe = url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if safe and "\n" not in query else table
