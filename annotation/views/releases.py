"""Freezing a release of a campaign's gold."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Standing, managed_campaign
from annotation.forms import ReleaseForm, posted
from annotation.selectors.releases import release_state
from annotation.services.errors import Refused
from annotation.services.releasing import release_gold
from portal.accounts.access import UserRequest
from portal.datasets.models import Release
from portal.datasets.services.releases import ReleaseError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    state = release_state(standing.campaign)
    form = ReleaseForm(
        posted(request),
        may_leave_out=standing.is_organiser and bool(state.unfinished),
        initial={"version": state.next_version},
    )
    if form.is_valid():
        frozen = _freeze(request, standing, form)
        if frozen is not None:
            messages.success(request, f"Release {frozen.version} is frozen.")
            return redirect("annotation:release", slug)
    context = {"standing": standing, "state": state, "form": form}
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
            actor=request.user,
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
    except ReleaseError as error:
        form.add_error(None, error.faults)
    return None
