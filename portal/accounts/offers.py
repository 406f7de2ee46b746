"""What comes with an invitation. Accounts do not know; who does, registers here when it starts.

An invitation that nobody knows more about is one to the site: it brings an account and no more.
"""

from dataclasses import dataclass
from typing import Protocol

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from .models import Invitation, User


@dataclass(frozen=True)
class Offer:
    """What the invited person gets, in words."""

    what: str
    """Ends the sentence “… invites you to be”, such as “annotator in the campaign “Spring””."""
    about: str
    """One or two sentences for somebody who has never heard of it."""
    url: str
    """The path of the page to go to once it is accepted."""


class InvitationRefused(Exception):
    """Why an invitation cannot be sent or accepted. The message is for people."""

    def __init__(self, message: str, *, code: str = "refused") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class OfferSource(Protocol):
    """An app whose rows point at invitations, each at one."""

    relation: str
    """From an invitation to that row: the name for a lookup."""

    def describe(self, invitation: Invitation) -> Offer | None:
        """None where the invitation is not one of its own."""

    def give(self, invitation: Invitation, user: User) -> None:
        """Gives what was offered, in the transaction in which the invitation is accepted.

        Raises InvitationRefused when it may no longer be given; then nothing is accepted. Does
        nothing where the invitation is not one of its own.
        """


_sources: list[OfferSource] = []


def register_offers(source: OfferSource) -> None:
    """Called once by each app, from its AppConfig."""
    _sources.append(source)


def described() -> "QuerySet[Invitation]":
    """Invitations with what `offer_of` and lists read of them."""
    relations = [source.relation for source in _sources]
    return Invitation.objects.select_related("invited_by", *relations)


def to_the_site() -> "QuerySet[Invitation]":
    """Those that bring an account and no more."""
    return described().filter(**{f"{source.relation}__isnull": True for source in _sources})


def offer_of(invitation: Invitation) -> Offer:
    for source in _sources:
        offer = source.describe(invitation)
        if offer is not None:
            return offer
    return Offer(
        what=f"a member of {settings.SITE_NAME}",
        about="With an account you can submit a model’s predictions and take part in campaigns.",
        url=reverse("home:start"),
    )


def give_offer(invitation: Invitation, user: User) -> None:
    for source in _sources:
        source.give(invitation, user)
