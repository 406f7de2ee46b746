"""What is to be read of invitations, and what comes with them. What is done is in `services`.

Accounts do not know what comes with an invitation; who does, registers an offer here when it
starts. An invitation that nobody knows more about is one to the site: it brings an account and no
more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.conf import settings
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from portal.accounts.models import ApiToken, Invitation, User, display_name
from portal.audit.models import Event
from portal.jobs.models import Job

LIFETIME = timedelta(days=14)
PENDING, ACCEPTED, REVOKED, EXPIRED = "pending", "accepted", "revoked", "expired"
STATES = (PENDING, ACCEPTED, REVOKED, EXPIRED)
# A site without a mail server prints emails on its console: then nobody receives them.
WAITING, SENT, FAILED, PRINTED = "waiting", "sent", "failed", "printed"
LETTERS = (WAITING, SENT, FAILED, PRINTED)
_UNSENT_BACKENDS = ("console", "dummy", "filebased")


def invitation_state(invitation: Invitation) -> str:
    """One of STATES."""
    if invitation.accepted_at:
        return ACCEPTED
    if invitation.revoked_at:
        return REVOKED
    return PENDING if invitation.expires_at > timezone.now() else EXPIRED


def unanswered() -> "QuerySet[Invitation]":
    """Neither accepted nor revoked; some of them may have expired."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None)


def pending() -> "QuerySet[Invitation]":
    """Those that can be accepted now."""
    return unanswered().filter(expires_at__gt=timezone.now())


def find_invitation(secret: str) -> Invitation | None:
    """The invitation of this secret, whatever its state. Found by hash: nothing to time."""
    return (
        Invitation.objects.select_related("invited_by")
        .filter(digest=ApiToken.digest_of(secret))
        .first()
    )


def accounts_of(emails: Iterable[str]) -> dict[str, User]:
    """By address in lower case the account that has it, switched off ones too. Two queries.

    An address that was added to an account counts once it is confirmed.
    """
    # Loaded here: what runs jobs alone, without any pages, has no allauth installed.
    from allauth.account.models import EmailAddress

    wanted = {email.strip().lower() for email in emails}
    if not wanted:
        return {}
    added = EmailAddress.objects.filter(email__in=wanted, verified=True).select_related("user")
    # Accounts made by commands may have an address with capitals, so that case must not count.
    main = Q()
    for email in wanted:
        main |= Q(email__iexact=email)
    found = {address.email.lower(): address.user for address in added}
    return found | {user.email.lower(): user for user in User.objects.filter(main)}


def is_addressed_to(invitation: Invitation, user: User) -> bool:
    owner = accounts_of([invitation.email]).get(invitation.email.lower())
    return owner is not None and owner.pk == user.pk


def sent_at(invitation: Invitation) -> datetime:
    """When the newest letter was ordered: its link works for LIFETIME from then on."""
    return invitation.expires_at - LIFETIME


def emails_are_sent() -> bool:
    """Whether emails leave the site at all, or are only printed or written to files."""
    return settings.EMAIL_BACKEND.split(".")[-2] not in _UNSENT_BACKENDS


def was_handed_over(invitation: Invitation) -> bool:
    """Whether somebody made a link to copy: then its user need not have read the emails."""
    return Event.objects.filter(
        verb="make_invitation_link",
        subject_type=Invitation._meta.label_lower,
        subject_id=str(invitation.pk),
    ).exists()


def email_group(invitation: Invitation) -> str:
    """The group of the jobs that send its letters."""
    return f"invitation-{invitation.pk}"


def email_states(invitations: Sequence[Invitation]) -> dict[int, str]:
    """By primary key how the newest letter fares, one of LETTERS. One query."""
    done = SENT if emails_are_sent() else PRINTED
    groups = {email_group(invitation): invitation.pk for invitation in invitations}
    words = {Job.State.DONE: done, Job.State.FAILED: FAILED, Job.State.CANCELLED: FAILED}
    # Jobs that are gone were done long ago.
    found = dict.fromkeys(groups.values(), done)
    jobs = Job.objects.filter(group__in=groups).order_by("id").values_list("group", "state")
    return found | {groups[group]: words.get(Job.State(state), WAITING) for group, state in jobs}


@dataclass(frozen=True)
class InvitationRow:
    """An invitation without an answer, as lists show it."""

    pk: int
    email: str
    role: str
    """Empty for an invitation to the site."""
    letter: str
    """One of LETTERS."""
    sent_at: datetime
    expires_at: datetime
    is_expired: bool
    invited_by: str
    resend_url: str = ""
    """Empty where the reader may not change it, as `revoke_url`."""
    revoke_url: str = ""
    link_url: str = ""
    """To make a link to copy; empty where the letter arrives as well."""


def invitation_row(
    invitation: Invitation,
    *,
    letter: str,
    role: str = "",
    urls: tuple[str, str, str] = ("", "", ""),
) -> InvitationRow:
    """`urls` are those to send it again, to withdraw it, and to make a link to copy."""
    inviter = invitation.invited_by
    return InvitationRow(
        pk=invitation.pk,
        email=invitation.email,
        role=role,
        letter=letter,
        sent_at=sent_at(invitation),
        expires_at=invitation.expires_at,
        is_expired=invitation_state(invitation) == EXPIRED,
        invited_by=display_name(inviter) if inviter else "",
        resend_url=urls[0],
        revoke_url=urls[1],
        link_url=urls[2] if letter in {FAILED, PRINTED} else "",
    )


def site_rows(to_the_site: "QuerySet[Invitation]") -> list[InvitationRow]:
    """The unanswered ones among invitations to the site, the newest first. Two queries."""
    waiting = list(to_the_site.filter(accepted_at=None, revoked_at=None))
    letters = email_states(waiting)
    return [
        invitation_row(
            each,
            letter=letters[each.pk],
            urls=(
                reverse("invitations:resend", args=[each.pk]),
                reverse("invitations:revoke", args=[each.pk]),
                reverse("invitations:link", args=[each.pk]),
            ),
        )
        for each in waiting
    ]


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
