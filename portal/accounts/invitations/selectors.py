"""Queries on invitations, and the registry of what invitations offer.

Apps register their offers when they start. An invitation without an offer is to the site itself:
it only opens sign-up.
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
from portal.web.refusals import Refused

LIFETIME = timedelta(days=14)
PENDING, ACCEPTED, REVOKED, EXPIRED = "pending", "accepted", "revoked", "expired"
STATES = (PENDING, ACCEPTED, REVOKED, EXPIRED)
# PRINTED: the site has no mail server and prints emails on its console.
WAITING, SENT, FAILED, PRINTED = "waiting", "sent", "failed", "printed"
EMAIL_STATES = (WAITING, SENT, FAILED, PRINTED)
_UNSENT_BACKENDS = ("console", "dummy", "filebased")


def invitation_state(invitation: Invitation) -> str:
    """Return one of STATES."""
    if invitation.accepted_at:
        return ACCEPTED
    if invitation.revoked_at:
        return REVOKED
    return PENDING if invitation.expires_at > timezone.now() else EXPIRED


def unanswered() -> "QuerySet[Invitation]":
    """Invitations neither accepted nor revoked, including expired ones."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None)


def pending() -> "QuerySet[Invitation]":
    """Invitations that can be accepted now."""
    return unanswered().filter(expires_at__gt=timezone.now())


def find_invitation(secret: str) -> Invitation | None:
    """Return the invitation with this secret, in any state.

    The lookup by hash prevents timing attacks.
    """
    return (
        Invitation.objects.select_related("invited_by")
        .filter(digest=ApiToken.digest_of(secret))
        .first()
    )


def accounts_of(emails: Iterable[str]) -> dict[str, User]:
    """Map lower-case email addresses to their accounts, including inactive ones. Two queries.

    Secondary email addresses count only if they are confirmed.
    """
    # Imported here because allauth is not installed in processes that only run jobs.
    from allauth.account.models import EmailAddress

    wanted = {email.strip().lower() for email in emails}
    if not wanted:
        return {}
    added = EmailAddress.objects.filter(email__in=wanted, verified=True).select_related("user")
    # Accounts created by commands may have capitals in their email address.
    main = Q()
    for email in wanted:
        main |= Q(email__iexact=email)
    accounts = {address.email.lower(): address.user for address in added}
    return accounts | {user.email.lower(): user for user in User.objects.filter(main)}


def is_addressed_to(invitation: Invitation, user: User) -> bool:
    owner = accounts_of([invitation.email]).get(invitation.email.lower())
    return owner is not None and owner.pk == user.pk


def sent_at(invitation: Invitation) -> datetime:
    """When the latest email was requested; its link is valid for LIFETIME from then."""
    return invitation.expires_at - LIFETIME


def emails_are_sent() -> bool:
    """Whether emails are sent, not only printed or written to files."""
    return settings.EMAIL_BACKEND.split(".")[-2] not in _UNSENT_BACKENDS


def was_handed_over(invitation: Invitation) -> bool:
    """Whether a link was created for copying, so that its user may not own the email address."""
    return Event.objects.filter(
        verb="make_invitation_link",
        subject_type=Invitation._meta.label_lower,
        subject_id=str(invitation.pk),
    ).exists()


def email_group(invitation: Invitation) -> str:
    """The job group of the invitation's emails."""
    return f"invitation-{invitation.pk}"


def email_states(invitations: Sequence[Invitation]) -> dict[int, str]:
    """Map primary keys to the state of the latest email, one of EMAIL_STATES. One query."""
    done = SENT if emails_are_sent() else PRINTED
    groups = {email_group(invitation): invitation.pk for invitation in invitations}
    words = {Job.State.DONE: done, Job.State.FAILED: FAILED, Job.State.CANCELLED: FAILED}
    # Missing jobs were done and deleted long ago.
    states = dict.fromkeys(groups.values(), done)
    jobs = Job.objects.filter(group__in=groups).order_by("id").values_list("group", "state")
    return states | {groups[group]: words.get(Job.State(state), WAITING) for group, state in jobs}


@dataclass(frozen=True)
class InvitationRow:
    """A pending invitation in a list."""

    pk: int
    email: str
    role: str
    """Empty for an invitation to the site."""
    email_state: str
    """One of EMAIL_STATES."""
    sent_at: datetime
    expires_at: datetime
    is_expired: bool
    invited_by: str
    resend_url: str = ""
    """Empty if the reader may not change the invitation, like `revoke_url`."""
    revoke_url: str = ""
    link_url: str = ""
    """Creates a link to copy. Empty if the email was sent."""


def invitation_row(
    invitation: Invitation,
    *,
    email_state: str,
    role: str = "",
    urls: tuple[str, str, str] = ("", "", ""),
) -> InvitationRow:
    """`urls`: resend, withdraw, and create a link to copy."""
    inviter = invitation.invited_by
    return InvitationRow(
        pk=invitation.pk,
        email=invitation.email,
        role=role,
        email_state=email_state,
        sent_at=sent_at(invitation),
        expires_at=invitation.expires_at,
        is_expired=invitation_state(invitation) == EXPIRED,
        invited_by=display_name(inviter) if inviter else "",
        resend_url=urls[0],
        revoke_url=urls[1],
        link_url=urls[2] if email_state in {FAILED, PRINTED} else "",
    )


def unanswered_rows(
    invitations: "QuerySet[Invitation]", namespace: str, *place: str
) -> list[InvitationRow]:
    """The unanswered invitations, newest first. Two queries.

    The URLs of their actions are in `namespace`, with `place` before the primary key.
    """
    waiting = list(invitations.filter(accepted_at=None, revoked_at=None))
    states = email_states(waiting)

    def url(action: str, invitation: Invitation) -> str:
        return reverse(f"{namespace}:{action}", args=[*place, invitation.pk])

    return [
        invitation_row(
            invitation,
            email_state=states[invitation.pk],
            urls=(url("resend", invitation), url("revoke", invitation), url("link", invitation)),
        )
        for invitation in waiting
    ]


@dataclass(frozen=True)
class Offer:
    """The offer of an invitation, as text."""

    what: str
    """Completes “… invited you to become”, for example “annotator in the campaign “Spring””."""
    about: str
    """One or two sentences for newcomers."""
    url: str
    """Path of the page shown after acceptance."""


class InvitationRefused(Refused):
    """The invitation cannot be sent or accepted."""


class OfferSource(Protocol):
    """An app with a model that has a one-to-one relation to Invitation."""

    relation: str
    """Name of the reverse relation on Invitation."""

    def describe(self, invitation: Invitation) -> Offer | None:
        """Return None if the invitation belongs to another app."""

    def may_give(self, invitation: Invitation) -> bool:
        """Whether the inviter, who is active, may still make the offer; also if it is another
        app's.
        """

    def give(self, invitation: Invitation, user: User) -> None:
        """Grant the offer, in the transaction that accepts the invitation.

        Raises InvitationRefused if the offer is no longer valid. Does nothing if the invitation
        belongs to another app.
        """


_sources: list[OfferSource] = []


def register_offers(source: OfferSource) -> None:
    """Register an app's offers. Called once, from its AppConfig."""
    _sources.append(source)


def described() -> "QuerySet[Invitation]":
    """Invitations with the relations that `offer_of` and lists need."""
    relations = [source.relation for source in _sources]
    return Invitation.objects.select_related("invited_by", *relations)


def to_the_site() -> "QuerySet[Invitation]":
    """Invitations without an offer from any app."""
    return described().filter(**{f"{source.relation}__isnull": True for source in _sources})


def offer_of(invitation: Invitation) -> Offer:
    for source in _sources:
        offer = source.describe(invitation)
        if offer is not None:
            return offer
    return Offer(
        what=f"a member of {settings.SITE_NAME}",
        about="With an account, you can submit model predictions and take part in campaigns.",
        url=reverse("home:start"),
    )


def inviter_holds(invitation: Invitation) -> bool:
    """Whether the inviter may still make the offer, so that it can be accepted."""
    inviter = invitation.invited_by
    return bool(inviter and inviter.is_active) and all(
        source.may_give(invitation) for source in _sources
    )


def give_offer(invitation: Invitation, user: User) -> None:
    for source in _sources:
        source.give(invitation, user)
