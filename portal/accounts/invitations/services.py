"""Invitations: make, send again, revoke, accept.

The secret exists in the letter alone. The job that sends it makes it, so that it stands neither in
the table of jobs nor in that of invitations; only its hash is kept.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from portal.accounts.models import ApiToken, Invitation, User
from portal.audit.models import record_event
from portal.jobs.services import enqueue

from .selectors import (
    ACCEPTED,
    EXPIRED,
    FAILED,
    LIFETIME,
    PRINTED,
    REVOKED,
    SENT,
    WAITING,
    InvitationRefused,
    Offer,
    accounts_of,
    email_group,
    email_states,
    give_offer,
    invitation_state,
    is_addressed_to,
    offer_of,
    pending,
    sent_at,
    to_the_site,
    unanswered,
)

# A second click on “send again” would make the letter that is under way worthless.
RESEND_AFTER = timedelta(minutes=10)
# About twenty minutes of trying, in which most mail servers come back.
LETTER_ATTEMPTS = 8


@transaction.atomic
def make_invitation(*, email: str, actor: User, origin: str) -> Invitation:
    """Invites an address and orders the letter. `origin` is the site's, as the inviter sees it."""
    invitation = Invitation.objects.create(
        email=email.strip().lower(),
        # Nobody knows the secret of this hash: the letter's own replaces it.
        digest=ApiToken.digest_of(secrets.token_urlsafe(32)),
        invited_by=actor,
        expires_at=timezone.now() + LIFETIME,
    )
    record_event(verb="make_invitation", subject=invitation, actor=actor)
    _order_email(invitation, origin)
    return invitation


def _order_email(invitation: Invitation, origin: str) -> None:
    # A worker knows no request and so no address of the site: the letter's links begin with origin.
    enqueue(
        kind="send_invitation",
        payload={"invitation": invitation.pk, "origin": origin},
        group=email_group(invitation),
        max_attempts=LETTER_ATTEMPTS,
    )


@transaction.atomic
def invite_to_site(
    *, emails: Sequence[str], actor: User, origin: str
) -> tuple[list[str], list[str]]:
    """Invites whoever has neither an account nor an invitation; returns these and the others."""
    known = set(accounts_of(emails))
    known |= set(to_the_site().filter(pk__in=pending()).values_list("email", flat=True))
    new = [email for email in emails if email not in known]
    for email in new:
        make_invitation(email=email, actor=actor, origin=origin)
    return new, [email for email in emails if email in known]


def mint_secret(invitation: Invitation) -> str:
    """A new secret for the letter that is about to be sent; that of a former letter dies.

    Raises InvitationRefused when there is nothing to send any more.
    """
    secret = secrets.token_urlsafe(32)
    digest = ApiToken.digest_of(secret)
    if not unanswered().filter(pk=invitation.pk).update(digest=digest):
        raise InvitationRefused("The invitation was answered or revoked.", code="answered")
    return secret


@transaction.atomic
def resend_invitation(*, invitation: Invitation, actor: User, origin: str) -> Invitation:
    """Sends a new letter, good for LIFETIME from now on; the former link ends when it is sent.

    Raises InvitationRefused when it was answered or revoked, or when a letter has just been sent.
    """
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    state = invitation_state(locked)
    if state in {ACCEPTED, REVOKED}:
        raise InvitationRefused(f"The invitation of {locked.email} was {state}.", code=state)
    letter = email_states([locked])[locked.pk]
    just_sent = letter == SENT and timezone.now() < sent_at(locked) + RESEND_AFTER
    if letter == WAITING or just_sent:
        raise InvitationRefused(
            f"A letter to {locked.email} has just been sent. Give it ten minutes to arrive.",
            code="too_soon",
        )
    # Whoever sends it again answers for it from now on.
    locked.expires_at, locked.invited_by = timezone.now() + LIFETIME, actor
    locked.save(update_fields=["expires_at", "invited_by"])
    record_event(verb="resend_invitation", subject=locked, actor=actor)
    _order_email(locked, origin)
    return locked


@transaction.atomic
def make_link(*, invitation: Invitation, actor: User, origin: str) -> str:
    """A link to hand over by other means than email, good for LIFETIME; former ones end.

    Only where no email arrives: the site prints emails, or sending failed. Whoever has the link
    still needs an account with the invitation's address. Raises InvitationRefused otherwise, and
    when it was answered or revoked.
    """
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    letter = email_states([locked])[locked.pk]
    if letter not in {FAILED, PRINTED}:
        raise InvitationRefused(
            f"The email to {locked.email} brings the link. Send it again if it was lost.",
            code="sent",
        )
    secret = mint_secret(locked)
    locked.expires_at, locked.invited_by = timezone.now() + LIFETIME, actor
    locked.save(update_fields=["expires_at", "invited_by"])
    record_event(verb="make_invitation_link", subject=locked, actor=actor)
    return origin + reverse("invitations:invitation", args=[secret])


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: User) -> None:
    """Its link ends at once. Raises InvitationRefused when it was accepted; twice is once."""
    if unanswered().filter(pk=invitation.pk).update(revoked_at=timezone.now()):
        record_event(verb="revoke_invitation", subject=invitation, actor=actor)
        return
    invitation.refresh_from_db()
    if invitation.accepted_at:
        raise InvitationRefused(
            f"{invitation.email} has accepted the invitation already.", code=ACCEPTED
        )


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Offer:
    """Gives the account what was offered. Works once, and for an account with the address only.

    Raises InvitationRefused, and then changes nothing.
    """
    if not is_addressed_to(invitation, user):
        raise InvitationRefused(
            f"This invitation is for {invitation.email}, and you are logged in as {user.email}.",
            code="other_account",
        )
    # Of two clicks one changes the row; the other finds it changed.
    taken = pending().filter(pk=invitation.pk).update(accepted_at=timezone.now(), accepted_by=user)
    invitation.refresh_from_db()
    if not taken:
        state = invitation_state(invitation)
        words = {ACCEPTED: "was used already", REVOKED: "was withdrawn", EXPIRED: "has expired"}
        raise InvitationRefused(f"This invitation {words[state]}.", code=state)
    give_offer(invitation, user)
    record_event(verb="accept_invitation", subject=invitation, actor=user)
    return offer_of(invitation)
