"""What the endpoints share."""

from django.core.exceptions import ValidationError
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from portal.accounts.access import IsOrganiser
from portal.accounts.models import User


class OrganisersChange(IsOrganiser):
    """Reading is open, as far as the objects are; changing is for organisers."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


def actor_of(request: Request) -> User:
    """Who does it, behind a permission that only people with an account pass."""
    assert isinstance(request.user, User)
    return request.user


def refused(error: ValidationError) -> serializers.ValidationError:
    """What a service refuses, by field, as the API answers it."""
    return serializers.ValidationError(serializers.as_serializer_error(error))
