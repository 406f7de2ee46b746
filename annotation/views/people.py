"""The people of a campaign."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import managed_campaign
from annotation.forms import MemberForm, posted
from annotation.selectors.people import campaign_people
from annotation.services.errors import Refused
from annotation.services.members import add_member, remove_member
from portal.accounts.access import UserRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: UserRequest, slug: str) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    form = MemberForm(posted(request), standing=standing)
    if form.is_valid():
        user, role = form.cleaned_data["email"], form.cleaned_data["role"]
        add_member(campaign=standing.campaign, user=user, role=role, actor=request.user)
        messages.success(request, f"{user} is {role} of this campaign now.")
        return redirect("annotation:people", slug)
    context = {"standing": standing, "form": form, "people": campaign_people(standing)}
    return render(request, "annotation/people.html", context)


@login_required
@require_POST
def remove(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    standing = managed_campaign(request.user, slug)
    membership = get_object_or_404(standing.campaign.memberships.select_related("user"), pk=pk)
    if not standing.may_give(membership.role):
        raise PermissionDenied("Only organisers choose who leads a campaign.")
    try:
        handed_over = remove_member(membership=membership, actor=request.user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        gone = f"{membership.user} is no longer {membership.role}."
        moved = f" {handed_over} documents went to the other annotators." if handed_over else ""
        messages.success(request, gone + moved)
    return redirect("annotation:people", slug)
