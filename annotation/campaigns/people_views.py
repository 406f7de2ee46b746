"""Pages of a campaign's people: members, invitations, leaving, open tasks and reminders."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.access import (
    CampaignAccess,
    invitation_for,
    joined_campaign,
    managed_campaign,
    member_for,
    membership_for,
)
from annotation.api_base import (
    action,
    campaign_page,
    choose,
    form_view,
    page_view,
    post_view,
    posted,
)
from annotation.errors import Refused
from annotation.models import Membership
from portal.accounts.access import UserRequest
from portal.accounts.emails import origin_of
from portal.accounts.invitations.selectors import InvitationRefused, emails_are_sent
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.invitations.views import NO_EMAILS, EmailsField, never_stored, resent
from portal.accounts.models import Invitation, User

from .people import (
    MAX_DAYS,
    Invited,
    Reminded,
    campaign_invitations,
    campaign_people,
    invite_people,
    leave_campaign,
    leaving_work,
    remind_person,
    remind_waiting,
    remove_member,
)
from .waiting import campaign_waiting


class InviteMembersForm(forms.Form):
    """Email addresses and the role to grant, limited to roles that the user may grant."""

    emails = EmailsField(help_text="One per line. Existing users join immediately.")
    role = forms.ChoiceField(help_text="Annotators label documents. Reviewers check the gold.")

    def __init__(self, *args: Any, access: CampaignAccess, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "role", [row for row in Membership.Role.choices if access.may_give(row[0])])


class RemindForm(forms.Form):
    days = forms.IntegerField(
        label="Minimum waiting time (days)",
        initial=3,
        min_value=0,
        max_value=MAX_DAYS,
    )


@form_view
def people(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    form = InviteMembersForm(posted(request), access=access)
    if form.is_valid():
        try:
            invited = invite_people(
                **form.cleaned_data,
                campaign=access.campaign,
                actor=request.user,
                origin=origin_of(request),
            )
        except Refused as refusal:
            form.add_error("emails", refusal.message)
        else:
            _confirm_invited(request, invited, form.cleaned_data["role"])
            return redirect("annotation:people", slug)
    return _people_page(request, access, form)


def _people_page(
    request: UserRequest, access: CampaignAccess, form: InviteMembersForm, **more: object
) -> HttpResponse:
    context = {
        "form": form,
        "people": campaign_people(access.campaign),
        "removable": [role for role in Membership.Role.values if access.may_give(role)],
        "invitations": campaign_invitations(access),
    }
    return campaign_page(request, access, "people", "campaigns/people.html", context | more)


def _confirm_invited(request: UserRequest, invited: Invited, role: str) -> None:
    if invited.added:
        messages.success(request, f"Added as {role}: {', '.join(invited.added)}.")
    if invited.invited:
        by_email = emails_are_sent()
        how = "by email as" if by_email else "as"
        messages.success(request, f"Invited {how} {role}: {', '.join(invited.invited)}.")
        if not by_email:
            messages.warning(request, NO_EMAILS)
    if invited.known:
        messages.info(request, f"Already {role} or invited: {', '.join(invited.known)}.")


@post_view
def remove(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    access, membership = membership_for(request.user, slug, pk)
    begun = request.POST.get("begun") == "on"
    try:
        handed_over = remove_member(membership=membership, actor=request.user, begun=begun)
    except Refused as refusal:
        if refusal.code == "holds_work":
            form = InviteMembersForm(access=access)
            return _people_page(request, access, form, held=membership, refusal=refusal.message)
        messages.error(request, refusal.message)
    else:
        gone = f"{membership.user} is no longer {membership.role}."
        plural = "" if handed_over == 1 else "s"
        moved = (
            f" {handed_over} document{plural} reassigned to other annotators."
            if handed_over
            else ""
        )
        messages.success(request, gone + moved)
    return redirect("annotation:people", slug)


@action(invitation_for, "annotation:people")
def resend(request: UserRequest, _: CampaignAccess, invitation: Invitation) -> str:
    resend_invitation(invitation=invitation, actor=request.user, origin=origin_of(request))
    return resent(invitation)


@action(invitation_for, "annotation:people")
def revoke(request: UserRequest, _: CampaignAccess, invitation: Invitation) -> str:
    revoke_invitation(invitation=invitation, actor=request.user)
    return f"The invitation for {invitation.email} was withdrawn."


@post_view
def link(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Shows a link to copy. It cannot be shown again, because only its hash is stored."""
    access, invitation = invitation_for(request.user, slug, pk)
    try:
        made = make_link(invitation=invitation, actor=request.user, origin=origin_of(request))
    except InvitationRefused as refusal:
        messages.error(request, refusal.message)
        return redirect("annotation:people", slug)
    form = InviteMembersForm(access=access)
    return never_stored(_people_page(request, access, form, link=made, link_for=invitation.email))


@form_view
def leave(request: UserRequest, slug: str) -> HttpResponse:
    """Asks for confirmation (GET), then removes all roles of the user (POST)."""
    access = joined_campaign(request.user, slug)
    if request.method == "POST":
        try:
            leave_campaign(campaign=access.campaign, user=request.user)
        except Refused as refusal:
            messages.error(request, refusal.message)
            return redirect("annotation:leave", slug)
        messages.success(request, f"You left “{access.campaign}”.")
        return redirect("home:start")
    own = leaving_work(access.campaign, request.user)
    return render(request, "annotation/campaigns/leave.html", {"access": access, "own": own})


@page_view
def waiting(request: UserRequest, slug: str) -> HttpResponse:
    return _waiting_page(request, managed_campaign(request.user, slug), RemindForm())


def _waiting_page(request: UserRequest, access: CampaignAccess, form: RemindForm) -> HttpResponse:
    context = {"waiting": campaign_waiting(access.campaign), "form": form}
    return campaign_page(request, access, "waiting", "campaigns/waiting.html", context)


@action(member_for, "annotation:waiting")
def remind(request: UserRequest, access: CampaignAccess, user: User) -> str:
    """Reminds one member, by the primary key of the user."""
    origin = origin_of(request)
    remind_person(campaign=access.campaign, user=user, actor=request.user, origin=origin)
    return f"Reminder sent to {user}."


@post_view
def remind_all(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    form = RemindForm(request.POST)
    if not form.is_valid():
        return _waiting_page(request, access, form)
    reminded = remind_waiting(
        campaign=access.campaign,
        days=form.cleaned_data["days"],
        actor=request.user,
        origin=origin_of(request),
    )
    _confirm_reminded(request, reminded)
    return redirect("annotation:waiting", slug)


def _confirm_reminded(request: UserRequest, reminded: Reminded) -> None:
    if reminded.sent:
        messages.success(request, f"Reminders sent to {', '.join(reminded.sent)}.")
    if reminded.lately:
        names = ", ".join(reminded.lately)
        messages.info(request, f"Already reminded in the last 24 hours: {names}.")
    if not reminded.sent and not reminded.lately:
        messages.info(request, "No one else has tasks that have waited that long.")
