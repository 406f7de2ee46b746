"""The qualification round: an annotator's own results; for leads, its pages and everybody's."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import Standing, managed_campaign, qualified_campaign
from annotation.models import Membership
from annotation.qualification_forms import MAX_REASON, QualificationForm
from annotation.selectors.qualification import campaign_qualification, own_round
from annotation.selectors.qualification_findings import page_findings
from annotation.services.errors import Refused
from annotation.services.qualifying import (
    add_qualification,
    grant_qualification_try,
    qualify_by_decision,
)
from portal.accounts.access import UserRequest
from portal.accounts.models import User


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def qualification(request: UserRequest, slug: str) -> HttpResponse:
    """A form that is sent adds pages to the round."""
    standing = qualified_campaign(request.user, slug)
    if request.method == "POST":
        standing = managed_campaign(request.user, slug)
    form = None
    if standing.may_manage:
        form = QualificationForm(
            request.POST if request.method == "POST" else None, user=request.user, standing=standing
        )
        if _added(request, standing, form):
            return redirect("annotation:qualification", slug)
    own = own_round(standing, request.user.pk)
    context = {
        "standing": standing,
        "form": form,
        "own": own,
        "findings": page_findings(standing.campaign, own) if own else (),
        "round": campaign_qualification(standing.campaign) if standing.may_manage else None,
        "max_reason": MAX_REASON,
    }
    return render(request, "annotation/qualification.html", context)


def _added(request: UserRequest, standing: Standing, form: QualificationForm) -> bool:
    if not form.is_valid():
        return False
    try:
        pages = add_qualification(
            campaign=standing.campaign, actor=request.user, **form.cleaned_data
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return False
    messages.success(
        request, f"Added to the round: {', '.join(pages)}. Who annotates finds it under Annotate."
    )
    return True


@login_required
@require_POST
def grant_try(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    def act(standing: Standing, user: User) -> str:
        pages = grant_qualification_try(campaign=standing.campaign, user=user, actor=request.user)
        return f"{user} has another try at {pages} page{'' if pages == 1 else 's'}."

    return _changed(request, slug, pk, act)


@login_required
@require_POST
def qualify(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    reason = request.POST.get("reason", "")[:MAX_REASON]

    def act(standing: Standing, user: User) -> str:
        qualify_by_decision(
            campaign=standing.campaign, user=user, reason=reason, actor=request.user
        )
        return f"{user} is qualified."

    return _changed(request, slug, pk, act)


def _changed(
    request: UserRequest, slug: str, pk: int, act: Callable[[Standing, User], str]
) -> HttpResponse:
    """Carries out `act` on an annotator, by membership, and says on the page how it went."""
    standing = managed_campaign(request.user, slug)
    members = standing.campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    member = get_object_or_404(members.select_related("user"), pk=pk)
    try:
        messages.success(request, act(standing, member.user))
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("annotation:qualification", slug)
