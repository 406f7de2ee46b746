"""The account page: profile, log-in, teams and API tokens."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from .access import UserRequest
from .forms import ProfileForm, TokenForm
from .log_in import log_in_of
from .teams.selectors import own_teams
from .token_list import own_tokens
from .tokens import TokenRefused, issue_token, revoke_token


@login_required
def account(request: UserRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Profile saved.")
        return redirect("accounts:account")
    return _account_page(request, form=form, token_form=TokenForm())


def _account_page(
    request: UserRequest, *, form: ProfileForm, token_form: TokenForm, secret: str = ""
) -> HttpResponse:
    context = {
        "form": form,
        "token_form": token_form,
        "tokens": own_tokens(request.user),
        "teams": own_teams(request.user),
        "log_in": log_in_of(request.user),
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
    if not token_form.is_valid():
        return _account_page(
            request, form=ProfileForm(instance=request.user), token_form=token_form
        )
    try:
        _, secret = issue_token(user=request.user, **token_form.cleaned_data)
    except TokenRefused as refusal:
        token_form.add_error(None, str(refusal))
        return _account_page(
            request, form=ProfileForm(instance=request.user), token_form=token_form
        )
    return _account_page(
        request, form=ProfileForm(instance=request.user), token_form=TokenForm(), secret=secret
    )


@login_required
@require_POST
def revoke(request: UserRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(request.user.api_tokens, pk=pk)
    revoke_token(token=token, actor=request.user)
    messages.success(request, f"Token “{token.name}” revoked.")
    return redirect("accounts:account")
