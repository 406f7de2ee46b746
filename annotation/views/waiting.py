"""What is waiting for whom, and reminders."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import Standing, managed_campaign
from annotation.people_forms import RemindForm
from annotation.selectors.waiting import campaign_waiting
from annotation.services.errors import Refused
from annotation.services.reminding import Reminded, remind_person, remind_waiting
from portal.accounts.access import UserRequest
from portal.accounts.emails import origin_of
from portal.accounts.models import User


@login_required
@require_safe
def waiting(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, managed_campaign(request.user, slug), RemindForm())


def _page(request: UserRequest, standing: Standing, form: RemindForm) -> HttpResponse:
    context = {"standing": standing, "waiting": campaign_waiting(standing.campaign), "form": form}
    return render(request, "annotation/waiting.html", context)


@login_required
@require_POST
def remind(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """`pk` is the person's."""
    standing = managed_campaign(request.user, slug)
    members = User.objects.filter(memberships__campaign=standing.campaign).distinct()
    user = get_object_or_404(members, pk=pk)
    try:
        remind_person(
            campaign=standing.campaign, user=user, actor=request.user, origin=origin_of(request)
        )
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"A letter goes to {user}.")
    return redirect("annotation:waiting", slug)


@login_required
@require_POST
def remind_all(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    form = RemindForm(request.POST)
    if not form.is_valid():
        return _page(request, standing, form)
    reminded = remind_waiting(
        campaign=standing.campaign,
        days=form.cleaned_data["days"],
        actor=request.user,
        origin=origin_of(request),
    )
    _tell(request, reminded)
    return redirect("annotation:waiting", slug)


def _tell(request: UserRequest, reminded: Reminded) -> None:
    if reminded.sent:
        messages.success(request, f"Letters go to {', '.join(reminded.sent)}.")
    if reminded.lately:
        names = ", ".join(reminded.lately)
        messages.info(request, f"No letter to {names}: the last one went out within a day.")
    if not reminded.sent and not reminded.lately:
        messages.info(request, "Nobody else has let anything wait that long.")
