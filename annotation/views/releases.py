"""Freezing a release of a campaign's gold."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Standing, managed_campaign
from annotation.forms import ReleaseForm
from annotation.selectors.releases import release_state
from annotation.services.errors import Refused
from annotation.services.releasing import draft_release_notes, release_gold
from portal.accounts.access import UserRequest
from portal.datasets.models import Release
from portal.datasets.selectors.dispute_notes import unsettled_disputes
from portal.datasets.selectors.freeze_reports import freeze_remarks, freeze_warnings
from portal.datasets.selectors.open_gold import open_gold_of_dataset
from portal.datasets.services.releases import ReleaseError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    state = release_state(standing.campaign)
    form = ReleaseForm(
        request.POST if request.method == "POST" else None,
        warned=len(state.doubtful),
        may_leave_out=standing.is_organiser and bool(state.unfinished),
        initial={"version": state.next_version},
    )
    if form.is_valid():
        frozen = None
        if "draft" in request.POST:
            _draft(request, standing, form)
        else:
            frozen = _freeze(request, standing, form)
        if frozen is not None:
            messages.success(request, f"Release {frozen.version} is frozen.")
            for remark in freeze_remarks(frozen):
                messages.info(request, remark)
            for warning in freeze_warnings(frozen):
                messages.warning(request, warning)
            return redirect("annotation:release", slug)
    disputes = unsettled_disputes(standing.campaign.dataset)
    context = {
        "standing": standing,
        "state": state,
        "form": form,
        "accepted_disputes": disputes,
        "open_gold": open_gold_of_dataset(standing.campaign.dataset).words(),
    }
    return render(request, "annotation/release.html", context)


def _freeze(request: UserRequest, standing: Standing, form: ReleaseForm) -> Release | None:
    """The release; None, with the form's errors, when it was refused."""
    try:
        return release_gold(
            campaign=standing.campaign,
            version=form.cleaned_data["version"],
            notes=form.cleaned_data["notes"],
            visibility=form.cleaned_data["visibility"],
            leave_out_unfinished=form.cleaned_data.get("leave_out_unfinished", False),
            licence=form.cleaned_data["licence"],
            citation=form.citation(),
            draw=form.draw(),
            split_is_told=form.split_is_told,
            accept_warnings=form.accepted_warnings(),
            actor=request.user,
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
    except ReleaseError as error:
        form.add_error(None, error.faults)
    return None


def _draft(request: UserRequest, standing: Standing, form: ReleaseForm) -> None:
    """Writes drafted change notes into the form."""
    try:
        notes = draft_release_notes(
            campaign=standing.campaign,
            visibility=form.cleaned_data["visibility"],
            draw=form.draw(),
            split_is_told=form.split_is_told,
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
    except ReleaseError as error:
        form.add_error(None, error.faults)
    else:
        if notes:
            form.show_notes(notes)
            messages.info(request, "The notes are drafted. Read them over before you freeze.")
        else:
            messages.info(request, "This is the first release: nothing to compare it with.")
