"""The allauth adapter, which decides who may sign up, which email addresses count as confirmed and
by what log-ins are limited, and the forms of accounts."""

from typing import Any, ClassVar

from allauth.account import forms as allauth_forms
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.internal.ratelimit import get_ip
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
from .networks import client_of
from .sign_up_limits import sign_up_refusal


def invitation_behind(request: HttpRequest) -> Invitation | None:
    """Return the pending invitation whose page is the `next` URL of this request.

    Nothing is stored in the session, so opening an invitation does not affect later requests.
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


def _is_invited(request: HttpRequest) -> bool:
    """Whether the request follows an invitation that allows sign-up."""
    invitation = invitation_behind(request)
    return invitation is not None and opens_sign_up(invitation)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    error_messages: ClassVar[dict[str, Any]] = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": "The email address or password is incorrect."
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.SIGN_UP == "open" or _is_invited(request)

    def clean_email(self, email: str) -> str:
        """Reject the reserved domain of deleted accounts."""
        if email.lower().endswith(f"@{DELETED_DOMAIN}"):
            raise ValidationError("This email address cannot receive email.")
        return str(super().clean_email(email))

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        """An invitation link confirms the email address, unless the link was copied."""
        invitation = invitation_behind(request)
        if invitation is not None and invitation.email.lower() == email.lower():
            return not was_handed_over(invitation)
        return bool(super().is_email_verified(request, email))

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_of(request)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """By account and client, so that wrong passwords of others do not lock out the owner."""
        account = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{account}:{get_ip(request)}"


class Relabelled(forms.Form):
    """Labels of this site: those of allauth are in title case, and repeated in the fields."""

    labels: ClassVar[dict[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = self.labels.get(name, field.label)
            field.widget.attrs.pop("placeholder", None)
        if "password1" in self.fields:
            self.fields[
                "password1"
            ].help_text = "Use at least 8 characters. Common passwords are rejected."


class SignupForm(Relabelled, allauth_forms.SignupForm):  # type: ignore[misc]  # allauth ships no types
    """Sign-up with a display name. Invited users must use their invited email address."""

    field_order = ["name", "email", "password1", "password2"]
    labels = {"password2": "Confirm password"}
    name = forms.CharField(max_length=120, label="Name", help_text="Shown with your work.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        invitation = invitation_behind(context.request) if context.request else None
        if invitation is not None:
            # Django uses the initial value of a disabled field and ignores the input.
            self.initial["email"] = invitation.email
            self.fields["email"].disabled = True
            self.fields["email"].help_text = "Your invitation is for this email address."

    def clean(self) -> dict[str, Any]:
        """Counts the account last, so that a wrong entry does not use up a limit."""
        super().clean()
        request, data = context.request, self.cleaned_data
        is_limited = request is not None and not self.errors and not _is_invited(request)
        if is_limited and (refusal := sign_up_refusal(request, data["email"])):
            raise ValidationError(refusal)
        return data

    def save(self, request: HttpRequest) -> Any:
        user = super().save(request)
        if user is not None:  # None: the account exists, and allauth emailed its owner
            user.name = self.cleaned_data["name"]
            # The sign-up page says that signing up accepts the terms.
            user.terms_accepted_at = timezone.now()
            user.save(update_fields=["name", "terms_accepted_at"])
        return user


class LoginForm(Relabelled, allauth_forms.LoginForm):  # type: ignore[misc]
    labels = {"remember": "Remember me"}


class ChangePasswordForm(Relabelled, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    labels = {
        "oldpassword": "Current password",
        "password1": "New password",
        "password2": "Confirm new password",
    }


class ResetPasswordKeyForm(Relabelled, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    labels = {"password1": "New password", "password2": "Confirm new password"}
