"""Campaigns: mine, new, overview, and what changes their state."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import Standing, campaign_for, managed_campaign
from annotation.forms import CampaignForm
from annotation.selectors.campaigns import campaign_overview, campaign_rows, flagged_work
from annotation.selectors.steps import next_steps, stage_lines
from annotation.services.assigning import assign_documents
from annotation.services.campaign_settings import CampaignSettings
from annotation.services.campaigns import (
    close_campaign,
    create_campaign,
    open_campaign,
    reopen_campaign,
)
from annotation.services.errors import Refused
from portal.accounts.access import UserRequest, organiser_required

CAMPAIGN_FIELDS = ("dataset", "selection", "title", "labels", "overlap", "guidelines")


@login_required
@require_safe
def campaigns(request: UserRequest) -> HttpResponse:
    return render(request, "annotation/campaigns.html", {"rows": campaign_rows(request.user)})


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_campaign(request: UserRequest) -> HttpResponse:
    form = CampaignForm(
        request.POST if request.method == "POST" else None,
        initial={
            "dataset": request.GET.get("dataset"),
            "selection": request.GET.get("selection"),
            "overlap": 2,
        },
    )
    if form.is_valid():
        chosen = CampaignSettings(**form.chosen_settings())
        named = {name: form.cleaned_data[name] for name in CAMPAIGN_FIELDS}
        campaign = create_campaign(**named, settings=chosen, actor=request.user)
        messages.success(request, "Campaign made. Add its people, then open it.")
        return redirect("annotation:people", campaign.slug)
    return render(request, "annotation/campaign_new.html", {"form": form})


@login_required
@require_safe
def overview(request: UserRequest, slug: str) -> HttpResponse:
    standing = campaign_for(request.user, slug)
    figures = campaign_overview(standing.campaign)
    steps = next_steps(standing, figures, request.user.pk)
    flagged = flagged_work(standing.campaign) if standing.may_manage else []
    context = {
        "standing": standing,
        "overview": figures,
        "steps": steps,
        "stages": stage_lines(standing, figures),
        "flagged": flagged,
    }
    return render(request, "annotation/campaign.html", context)


@login_required
@require_POST
def open_(request: UserRequest, slug: str) -> HttpResponse:
    def act(standing: Standing) -> str:
        open_campaign(campaign=standing.campaign, actor=request.user)
        if standing.campaign.screening:
            return "The campaign is open: annotators get each document once it passed screening."
        return "The campaign is open: annotators find their documents under Annotate."

    return _changed(request, slug, act)


@login_required
@require_POST
def close(request: UserRequest, slug: str) -> HttpResponse:
    def act(standing: Standing) -> str:
        close_campaign(campaign=standing.campaign, actor=request.user)
        return "The campaign is closed. What was not submitted can be read but not changed."

    return _changed(request, slug, act)


@login_required
@require_POST
def reopen(request: UserRequest, slug: str) -> HttpResponse:
    def act(standing: Standing) -> str:
        reopen_campaign(campaign=standing.campaign, actor=request.user)
        return "The campaign is open again."

    return _changed(request, slug, act)


@login_required
@require_POST
def assign(request: UserRequest, slug: str) -> HttpResponse:
    def act(standing: Standing) -> str:
        documents = assign_documents(campaign=standing.campaign, actor=request.user)
        return f"{documents} document{'' if documents == 1 else 's'} shared out."

    return _changed(request, slug, act)


def _changed(request: UserRequest, slug: str, act: Callable[[Standing], str]) -> HttpResponse:
    """Carries out `act` for a lead or organiser and says on the overview how it went."""
    standing = managed_campaign(request.user, slug)
    try:
        messages.success(request, act(standing))
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(standing.campaign)
