"""The second factor: no session of an account that has one exists without it.

allauth asks for it at log-in. The receivers here refuse any other way into such an account, and end
the sessions that began before the second factor was turned on.
"""

from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.signals import authenticator_added
from django.contrib import admin
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from .account_data import end_sessions
from .models import User


def has_second_factor(user: User) -> bool:
    # Imported here, as in `invitations.selectors.accounts_of`.
    from allauth.mfa.models import Authenticator

    app = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP)
    return bool(app.exists())


def admin_login(request: HttpRequest) -> HttpResponse:
    """The admin has no log-in of its own: Django's knows neither second factors nor limits."""
    if admin.site.has_permission(request):
        return redirect("admin:index")
    if request.user.is_authenticated:
        raise PermissionDenied("This page is for the operators of the site.")
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


def refuse_half_login(*, request: HttpRequest, user: User, **_: Any) -> None:
    """When a session begins: with a second factor if the account has one, or not at all."""
    passed = any(each["method"] == "mfa" for each in get_authentication_records(request, user))
    if not passed and has_second_factor(user):
        logout(request)
        raise PermissionDenied("This account requires its second factor. Log in again.")


def end_older_sessions(*, request: HttpRequest, user: User, **_: Any) -> None:
    """When a second factor is turned on: the other sessions began without it."""
    end_sessions(user, keep=request.session.session_key)


def connect() -> None:
    user_logged_in.connect(refuse_half_login)
    authenticator_added.connect(end_older_sessions)
