"""What the endpoints share."""

from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from portal.accounts.access import IsOrganiser
from portal.accounts.models import User


class OrganisersChange(IsOrganiser):
    """Reading is open, as far as the objects are; changing is for organisers."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class ConflictError(APIException):
    """What was asked for cannot be done in the state things are in."""

    status_code = 409
    default_code = "conflict"


def actor_of(request: Request) -> User:
    """Who does it, behind a permission that only people with an account pass."""
    assert isinstance(request.user, User)
    return request.user
