"""The account page (profile, log-in, teams, API tokens), data exports and account deletion."""

from datetime import timedelta
from typing import Any

from allauth.core import ratelimit
from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.accounts.teams.selectors import own_teams
from portal.web.refusals import ShowRefusals, errors_in, post_action

from .access import UserRequest, issue_token, revoke_token
from .account_data import (
    counted,
    delete_account,
    end_sessions,
    export_file,
    fate_of,
    request_export,
)
from .emails import is_email_confirmed
from .models import AccountExport, ApiToken, User
from .second_factor import has_second_factor


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["name", "affiliation"]
        # The page explains it next to the form.
        help_texts = {"name": ""}


# Lifetime of a token in days; 0 means that it never expires.
LIFETIMES = {"30": "30 days", "90": "90 days", "365": "1 year", "0": "No expiration"}
USUAL_LIFETIME = "365"


class PresetField(forms.ChoiceField):
    """A choice field that uses its initial value if no value is sent."""

    def clean(self, value: Any) -> Any:
        return super().clean(value or self.initial)


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    scope = PresetField(label="Scope", choices=ApiToken.Scope.choices, initial=ApiToken.Scope.FULL)
    lifetime = PresetField(label="Expiration", choices=LIFETIMES.items(), initial=USUAL_LIFETIME)

    class Meta:
        model = ApiToken
        fields = ["name", "scope"]
        labels = {"name": "Token name"}
        help_texts = {"name": "For example, “grading script”."}

    def clean_lifetime(self) -> timedelta | None:
        days = int(self.cleaned_data["lifetime"])
        return timedelta(days=days) if days else None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The profile form on the same page also has a field called name.
        kwargs["auto_id"] = "token_%s"
        super().__init__(*args, **kwargs)


class DeleteAccountForm(forms.Form):
    """Asks for the password, and for the email address as a confirmation."""

    password = forms.CharField(
        label="Your password",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        strip=False,
    )
    email = forms.CharField(
        label="Your email address",
        help_text="Enter the email address of this account to confirm the deletion.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        self._user = user
        super().__init__(*args, **kwargs)

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        if not self._user.check_password(password):
            raise forms.ValidationError("The password is incorrect.")
        return password

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"])
        if email.lower() != self._user.email.lower():
            raise forms.ValidationError("This is not the email address of this account.")
        return email


@login_required
def account(request: UserRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Profile saved.")
        return redirect("accounts:account")
    return _account_page(request, form=form)


def _account_page(
    request: UserRequest,
    *,
    form: ProfileForm | None = None,
    token_form: TokenForm | None = None,
    secret: str = "",
) -> HttpResponse:
    context = {
        "form": form or ProfileForm(instance=request.user),
        "token_form": token_form or TokenForm(),
        "tokens": request.user.api_tokens.all(),
        "teams": own_teams(request.user),
        "is_confirmed": is_email_confirmed(request.user),
        "has_second_factor": has_second_factor(request.user),
        "secret": secret,
        "example_url": request.build_absolute_uri(reverse("api:account")),
    }
    response = render(request, "accounts/account.html", context)
    if secret:
        response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def create_token(request: UserRequest) -> HttpResponse:
    token_form = TokenForm(request.POST)
    if token_form.is_valid():
        with errors_in(token_form):
            _, secret = issue_token(user=request.user, **token_form.cleaned_data)
            return _account_page(request, secret=secret)
    return _account_page(request, token_form=token_form)


@login_required
@post_action("accounts:account")
def revoke(request: UserRequest, pk: int) -> str:
    token = get_object_or_404(request.user.api_tokens, pk=pk)
    revoke_token(token=token, actor=request.user)
    return f"Token “{token.name}” revoked."


@login_required
@post_action("accounts:account")
def end_others(request: UserRequest) -> str:
    ended = end_sessions(request.user, keep=request.session.session_key)
    if not ended:
        messages.info(request, "There are no other sessions.")
        return ""
    return f"Logged out of {counted(ended, 'other session')}."


@login_required
@post_action("accounts:exports")
def order_export(request: UserRequest) -> str:
    # The page lists the export and its state.
    request_export(user=request.user)
    return ""


@never_cache
@login_required
@require_safe
def exports(request: UserRequest) -> HttpResponse:
    """The page refreshes its list while a file is being created."""
    found = list(request.user.data_exports.all())
    context = {
        "exports": found,
        "is_waiting": any(each.state == AccountExport.State.WAITING for each in found),
    }
    htmx = getattr(request, "htmx", False)
    template = "accounts/exports.html#list" if htmx else "accounts/exports.html"
    return render(request, template, context)


@never_cache
@login_required
@require_safe
def download_export(request: UserRequest, pk: int) -> FileResponse:
    return export_file(request.user, pk)


@sensitive_post_parameters("password")
@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest) -> HttpResponse:
    """Explain what is deleted and what is kept, and ask for the password."""
    user = request.user
    form = DeleteAccountForm(request.POST if request.method == "POST" else None, user=user)
    if request.method == "POST" and user.has_usable_password():
        # Limits password guesses, as the log-in does.
        limited = ratelimit.consume_or_429(request, action="reauthenticate", user=user)
        if limited is not None:
            return HttpResponse(limited.content, status=limited.status_code)
        if form.is_valid():
            with ShowRefusals(request):
                delete_account(user=user)
                logout(request)
                messages.success(
                    request, "Account deleted. Remaining data will be deleted in a few minutes."
                )
                return redirect("home:home")
    return render(request, "accounts/delete.html", {"form": form, "fate": fate_of(user)})
