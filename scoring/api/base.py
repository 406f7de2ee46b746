"""What the endpoints share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from portal.accounts.access import IsOrganiser
from portal.accounts.models import User
from scoring.services.boards import BoardRefused, DisclosureUnconfirmed


class OrganisersChange(IsOrganiser):
    """Reading is open, as far as the objects are; changing is for organisers."""

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or super().has_permission(request, view)


class CsvRenderer(BaseRenderer):
    """A table that was written already. Of a refusal the sentence alone."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        text = data if isinstance(data, str) else str(data.get("detail", data))
        return text.encode()


class ConflictError(APIException):
    """What was asked for cannot be done in the state things are in."""

    status_code = 409
    default_code = "conflict"


@contextmanager
def board_refusals() -> Iterator[None]:
    """Answers 409 with the reason of the service, and names the field that confirms a change."""
    try:
        yield
    except DisclosureUnconfirmed as refusal:
        detail = f"{refusal} To go on, send confirm_disclosure=true."
        raise ConflictError(detail) from refusal
    except BoardRefused as refusal:
        raise ConflictError(str(refusal)) from refusal


def actor_of(request: Request) -> User:
    """Who does it, behind a permission that only people with an account pass."""
    assert isinstance(request.user, User)
    return request.user
