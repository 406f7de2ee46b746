"""Pages of teams."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from portal.accounts.access import UserRequest
from portal.accounts.emails import origin_of
from portal.accounts.invitations.selectors import emails_are_sent
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.invitations.views import NO_EMAILS, InviteForm, never_stored, resent
from portal.accounts.models import Invitation, Team, TeamMember
from portal.web.refusals import ShowRefusals, errors_in, post_action

from . import services
from .selectors import (
    TeamAccess,
    managed_team,
    own_membership,
    own_teams,
    peopled_team,
    team_for,
    team_invitations,
    team_people,
)


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = ["name", "about", "link"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["about"].widget.attrs["rows"] = 6


@login_required
@require_safe
def teams(request: UserRequest) -> HttpResponse:
    return render(request, "accounts/teams/teams.html", {"teams": own_teams(request.user)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_team(request: UserRequest) -> HttpResponse:
    form = TeamForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with errors_in(form, field="name"):
            made = services.make_team(**form.cleaned_data, actor=request.user)
            messages.success(request, f"Team “{made}” created. Invite its members here.")
            return redirect("teams:people", made.slug)
    return render(request, "accounts/teams/new.html", {"form": form})


@require_safe
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """Public; the list of members is shown to members and organisers only."""
    access = team_for(request.user, slug)
    people = None
    if access.may_see_people and request.user.is_authenticated:
        people = team_people(access)
    return render(request, "accounts/teams/team.html", {"access": access, "people": people})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: UserRequest, slug: str) -> HttpResponse:
    """The members of a team; owners can invite others."""
    if request.method == "POST":
        return _invite(request, managed_team(request.user, slug))
    return _people_page(request, peopled_team(request.user, slug), InviteForm())


def _invite(request: UserRequest, access: TeamAccess) -> HttpResponse:
    form = InviteForm(request.POST)
    if form.is_valid():
        with errors_in(form, field="emails"):
            done = services.invite_to_team(
                team=access.team,
                emails=form.cleaned_data["emails"],
                actor=request.user,
                origin=origin_of(request),
            )
            if done.invited:
                by_email = emails_are_sent()
                how = " by email" if by_email else ""
                messages.success(request, f"Invited{how}: {', '.join(done.invited)}.")
                if not by_email:
                    messages.warning(request, NO_EMAILS)
            if done.known:
                messages.info(request, f"Already members or invited: {', '.join(done.known)}.")
            return redirect("teams:people", access.team.slug)
    return _people_page(request, access, form)


def _people_page(
    request: UserRequest, access: TeamAccess, form: InviteForm, **more: str
) -> HttpResponse:
    context = {
        "access": access,
        "form": form,
        "people": team_people(access),
        "invitations": team_invitations(access) if access.may_manage else [],
    }
    return render(request, "accounts/teams/people.html", context | more)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_team(request.user, slug)
    # A copy, so that an invalid name does not appear in the page heading.
    form = TeamForm(
        request.POST if request.method == "POST" else None,
        instance=managed_team(request.user, slug).team,
    )
    if form.is_valid():
        with errors_in(form, field="name"):
            services.change_team(team=access.team, **form.cleaned_data, actor=request.user)
            messages.success(request, "Saved.")
            return redirect("teams:team", slug)
    return render(request, "accounts/teams/edit.html", {"access": access, "form": form})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: UserRequest, slug: str) -> HttpResponse:
    """Asks for confirmation."""
    member = own_membership(request.user, slug)
    if request.method == "POST":
        with ShowRefusals(request):
            services.remove_from_team(member=member, actor=request.user)
            messages.success(request, f"You have left “{member.team}”.")
            return redirect("teams:list")
        return redirect("teams:leave", slug)
    others = member.team.members.filter(role=TeamMember.Role.OWNER).exclude(pk=member.pk)
    context = {"team": member.team, "is_only_owner": member.is_owner and not others.exists()}
    return render(request, "accounts/teams/leave.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def close(request: UserRequest, slug: str) -> HttpResponse:
    """Asks for confirmation."""
    access = managed_team(request.user, slug)
    if request.method == "POST":
        services.close_team(team=access.team, actor=request.user)
        messages.success(request, f"Team “{access.team}” closed.")
        return redirect("teams:list")
    return render(request, "accounts/teams/close.html", {"access": access})


_people_action = post_action("teams:people", "slug")


def _managed_member(request: UserRequest, slug: str, pk: int) -> TeamMember:
    access = managed_team(request.user, slug)
    return get_object_or_404(access.team.members.select_related("user", "team"), pk=pk)


@login_required
@_people_action
def remove(request: UserRequest, slug: str, pk: int) -> str:
    member = _managed_member(request, slug, pk)
    services.remove_from_team(member=member, actor=request.user)
    return f"{member.user} is no longer in the team."


@login_required
@_people_action
def promote(request: UserRequest, slug: str, pk: int) -> str:
    member = _managed_member(request, slug, pk)
    services.make_owner(member=member, actor=request.user)
    return f"{member.user} is now an owner of the team."


@login_required
@_people_action
def step_down(request: UserRequest, slug: str) -> str:
    """Give up ownership and remain a member."""
    services.give_up_ownership(member=own_membership(request.user, slug), actor=request.user)
    return "You are no longer an owner of the team, but still a member."


def _invitation(access: TeamAccess, pk: int) -> Invitation:
    return get_object_or_404(Invitation, pk=pk, team_invitation__team=access.team)


@login_required
@_people_action
def resend(request: UserRequest, slug: str, pk: int) -> str:
    found = _invitation(managed_team(request.user, slug), pk)
    resend_invitation(invitation=found, actor=request.user, origin=origin_of(request))
    return resent(found)


@login_required
@_people_action
def revoke(request: UserRequest, slug: str, pk: int) -> str:
    found = _invitation(managed_team(request.user, slug), pk)
    revoke_invitation(invitation=found, actor=request.user)
    return f"Invitation for {found.email} withdrawn."


@login_required
@_people_action
def link(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Show a link to copy. It cannot be shown again, because only its hash is stored."""
    access = managed_team(request.user, slug)
    found = _invitation(access, pk)
    made = make_link(invitation=found, actor=request.user, origin=origin_of(request))
    page = _people_page(request, access, InviteForm(), link=made, link_for=found.email)
    return never_stored(page)
