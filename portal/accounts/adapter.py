"""Where our rules differ from allauth’s: who may sign up, and whose address counts as confirmed."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import Resolver404, resolve

from .invitations import PENDING, find_invitation, invitation_state
from .models import Invitation


def invitation_behind(request: HttpRequest) -> Invitation | None:
    """The pending invitation that led to this page: its page is where the visitor goes on to.

    The address that sign-up and log-in hand on as `next` is all there is to remember, so that an
    invitation opened once in a browser has no effect on what is done there later.
    """
    target = str(request.POST.get("next") or request.GET.get("next") or "")
    try:
        match = resolve(target.partition("?")[0])
    except Resolver404:
        return None
    if match.view_name != "invitations:invitation":
        return None
    invitation = find_invitation(match.kwargs["secret"])
    return invitation if invitation and invitation_state(invitation) == PENDING else None


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.SIGN_UP == "open" or invitation_behind(request) is not None

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        """Who has the link has read the letter, so the address is theirs."""
        invitation = invitation_behind(request)
        if invitation is not None and invitation.email.lower() == email.lower():
            return True
        return bool(super().is_email_verified(request, email))
