"""The guidelines of a campaign: read by everybody in it, written by leads and organisers."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Standing, campaign_for, managed_campaign
from annotation.forms import GuidelinesForm
from annotation.selectors.guidelines import changes_of, guidelines_version, guidelines_versions
from annotation.services.campaigns import edit_guidelines, mark_guidelines_seen
from portal.accounts.access import UserRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def guidelines(request: UserRequest, slug: str) -> HttpResponse:
    """The newest version, or `?version=N` with what it changed; `?edit` writes a new one.

    Who opens the newest version has seen it: the workbench stops saying that it is new.
    """
    standing = campaign_for(request.user, slug)
    if request.method == "POST":
        standing = managed_campaign(request.user, slug)
    form = GuidelinesForm(
        request.POST if request.method == "POST" else None,
        initial={"guidelines": standing.campaign.guidelines},
    )
    if form.is_valid():
        text, note = form.cleaned_data["guidelines"], form.cleaned_data["note"]
        edit_guidelines(campaign=standing.campaign, text=text, note=note, actor=request.user)
        messages.success(request, "Guidelines saved.")
        return redirect("annotation:guidelines", slug)
    if standing.may_manage and ("edit" in request.GET or form.is_bound):
        context = {"standing": standing, "form": form}
        return render(request, "annotation/guidelines_edit.html", context)
    return render(request, "annotation/guidelines.html", _reading(request, standing))


def _reading(request: UserRequest, standing: Standing) -> dict[str, Any]:
    campaign = standing.campaign
    number = _number(request.GET.get("version", ""), campaign.guidelines_version)
    version = guidelines_version(campaign, number)
    mark_guidelines_seen(campaign=campaign, version=number, user=request.user)
    return {
        "standing": standing,
        "version": version,
        "is_newest": number == campaign.guidelines_version,
        "changes": changes_of(version),
        "versions": guidelines_versions(campaign),
    }


def _number(asked: str, newest: int) -> int:
    """The version asked for; Django's integers end at nine digits, so do ours."""
    if not asked:
        return newest
    if not asked.isascii() or not asked.isdigit() or len(asked) > 9:
        raise Http404("No such version.")
    return int(asked)
