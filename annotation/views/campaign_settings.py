"""The settings of a campaign's workflow."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Standing, managed_campaign
from annotation.services.campaign_settings import change_settings
from annotation.services.errors import Refused
from annotation.workflow_forms import CampaignSettingsForm
from portal.accounts.access import UserRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    form = CampaignSettingsForm(
        request.POST if request.method == "POST" else None, campaign=standing.campaign
    )
    if form.is_valid() and _change(request, standing, form):
        return redirect("annotation:campaign-settings", slug)
    return render(request, "annotation/settings.html", {"standing": standing, "form": form})


def _change(request: UserRequest, standing: Standing, form: CampaignSettingsForm) -> bool:
    """Whether the settings were taken; else the form says why not."""
    try:
        changes = form.changes()
        change_settings(campaign=standing.campaign, actor=request.user, **changes)
    except Refused as refusal:
        form.add_error(refusal.code if refusal.code in form.fields else None, refusal.message)
        return False
    messages.success(request, "Settings saved." if changes else "Nothing was changed.")
    return True
