"""The documents of a campaign, its calibration set, and how many annotators each document gets."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import Standing, managed_campaign
from annotation.models import CampaignDocument
from annotation.selectors.documents import document_counts, document_line, document_rows
from annotation.services.errors import Refused
from annotation.services.teams import (
    choose_calibration,
    draw_calibration,
    end_calibration,
    set_document_overlap,
)
from annotation.workflow_forms import DocumentTeamForm, DrawForm
from portal.accounts.access import UserRequest

PER_PAGE = 100


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def documents(request: UserRequest, slug: str) -> HttpResponse:
    """The table; a POST does something to the documents chosen in it."""
    standing = managed_campaign(request.user, slug)
    campaign = standing.campaign
    stage = request.GET.get("stage", "")
    stage = stage if stage in CampaignDocument.Stage.values else ""
    purpose = "calibration" if "calibration" in request.GET else ""
    rows = document_rows(campaign, stage=stage, purpose=purpose)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    lines = [document_line(campaign, row) for row in page.object_list]
    form = DocumentTeamForm(
        request.POST if request.method == "POST" else None, names=[line.name for line in lines]
    )
    if form.is_valid() and _change(request, standing, form):
        return redirect(request.get_full_path())
    query = f"stage={stage}" if stage else "calibration" if purpose else ""
    context = {
        "standing": standing,
        "form": form,
        "draw": DrawForm(),
        "page": page,
        "lines": lines,
        "counts": document_counts(campaign),
        "stages": CampaignDocument.Stage.choices,
        "stage": stage,
        "purpose": purpose,
        "query": query,
    }
    return render(request, "annotation/documents.html", context)


def _change(request: UserRequest, standing: Standing, form: DocumentTeamForm) -> bool:
    """Whether it was done; else the form says why not."""
    names, action = form.cleaned_data["documents"], form.cleaned_data["action"]
    given = {"campaign": standing.campaign, "names": names, "actor": request.user}
    try:
        if action == "calibration":
            done = choose_calibration(**given)
            text = "Every annotator gets {}."
        elif action == "ordinary":
            done = end_calibration(**given)
            text = "No longer in the calibration set: {}."
        else:
            done = set_document_overlap(**given, overlap=form.cleaned_data["overlap"])
            text = "The number of annotators is set for {}."
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return False
    count = f"{len(done)} document{'' if len(done) == 1 else 's'}"
    messages.success(request, text.format(count))
    return True


@login_required
@require_POST
def draw(request: UserRequest, slug: str) -> HttpResponse:
    """Draws a calibration set by a seed."""
    standing = managed_campaign(request.user, slug)
    form = DrawForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {errors[0]}")
        return redirect("annotation:documents", slug)
    try:
        drawn = draw_calibration(
            campaign=standing.campaign, actor=request.user, **form.cleaned_data
        )
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        seed = form.cleaned_data["seed"]
        messages.success(request, f"Drawn with seed {seed}: {', '.join(drawn)}.")
    return redirect("annotation:documents", slug)
