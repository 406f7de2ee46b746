"""Where our rules differ from allauth’s: who may sign up, and whose address counts as confirmed."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.core import context
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils import timezone

from portal.accounts.invitations.selectors import (
    PENDING,
    find_invitation,
    invitation_state,
    was_handed_over,
)
from portal.accounts.teams.services import opens_sign_up

from .models import DELETED_DOMAIN, Invitation


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
        if settings.SIGN_UP == "open":
            return True
        invitation = invitation_behind(request)
        return invitation is not None and opens_sign_up(invitation)

    def clean_email(self, email: str) -> str:
        """What deleted accounts are called by is no address, and shall be nobody’s."""
        if email.lower().endswith(f"@{DELETED_DOMAIN}"):
            raise ValidationError("This is not an e-mail address that letters can be sent to.")
        return str(super().clean_email(email))

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        """Who has the link has read the letter, so the address is theirs; not with a link that was
        handed over by other means.
        """
        invitation = invitation_behind(request)
        if invitation is not None and invitation.email.lower() == email.lower():
            return not was_handed_over(invitation)
        return bool(super().is_email_verified(request, email))


class SignupForm(AllauthSignupForm):  # type: ignore[misc]  # allauth ships no types
    """Sign-up also asks for the name that others will see.

    Who comes from an invitation signs up with the address it was sent to.
    """

    field_order = ["name", "email", "password1", "password2"]
    name = forms.CharField(max_length=120, label="Name", help_text="Shown beside your work.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        invitation = invitation_behind(context.request) if context.request else None
        if invitation is not None:
            # Django takes the initial value of a disabled field, whatever is sent.
            self.initial["email"] = invitation.email
            self.fields["email"].disabled = True
            self.fields["email"].help_text = "Your invitation is for this address."

    def save(self, request: HttpRequest) -> Any:
        user = super().save(request)
        if user is not None:  # None: the address has an account already, and allauth told its owner
            user.name = self.cleaned_data["name"]
            # The page says that signing up is accepting them.
            user.terms_accepted_at = timezone.now()
            user.save(update_fields=["name", "terms_accepted_at"])
        return user
