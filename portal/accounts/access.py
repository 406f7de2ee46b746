"""Organiser permission checks for views and the API."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeGuard, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from .models import User

P = ParamSpec("P")


class UserRequest(HttpRequest):
    """A request with a logged-in user, for type checkers."""

    user: User


def is_organiser(user: Any) -> TypeGuard[User]:
    return bool(user.is_authenticated and user.is_organiser)


def organiser_required(
    view: Callable[Concatenate[UserRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Redirects anonymous visitors to log in; other users without the role get 403."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not is_organiser(request.user):
            raise PermissionDenied("This page is for organisers.")
        return view(cast("UserRequest", request), *args, **kwargs)

    return cast("Callable[Concatenate[HttpRequest, P], HttpResponseBase]", login_required(guarded))


class IsOrganiser(BasePermission):
    message = "Only organisers may do this."

    def has_permission(self, request: Request, view: object) -> bool:
        return is_organiser(request.user)
