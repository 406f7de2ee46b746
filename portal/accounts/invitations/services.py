"""Create, resend, revoke and accept invitations.

The secret appears only in the email. The job that sends the email generates it, so that neither
the job nor the invitation stores it; only its hash is kept.
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
    inviter_holds,
    is_addressed_to,
    offer_of,
    pending,
    sent_at,
    to_the_site,
    unanswered,
)

# Resending invalidates the link in the previous email, which may not have arrived yet.
RESEND_AFTER = timedelta(minutes=10)
# About twenty minutes of retries: most mail servers recover within that time.
EMAIL_ATTEMPTS = 8


@transaction.atomic
def make_invitation(*, email: str, actor: User, origin: str) -> Invitation:
    """Invite an email address and enqueue the email. `origin` is the base URL for its link."""
    invitation = Invitation.objects.create(
        email=email.strip().lower(),
        # A placeholder: the job that sends the email replaces it.
        digest=ApiToken.digest_of(secrets.token_urlsafe(32)),
        invited_by=actor,
        expires_at=timezone.now() + LIFETIME,
    )
    record_event(verb="make_invitation", subject=invitation, actor=actor)
    _order_email(invitation, origin)
    return invitation


def _order_email(invitation: Invitation, origin: str) -> None:
    # A worker has no request, so it needs the origin to build links.
    enqueue(
        kind="send_invitation",
        payload={"invitation": invitation.pk, "origin": origin},
        group=email_group(invitation),
        max_attempts=EMAIL_ATTEMPTS,
    )


@transaction.atomic
def invite_to_site(
    *, emails: Sequence[str], actor: User, origin: str
) -> tuple[list[str], list[str]]:
    """Invite email addresses without an account or invitation. Returns the invited and skipped."""
    known = set(accounts_of(emails))
    known |= set(to_the_site().filter(pk__in=pending()).values_list("email", flat=True))
    new = [email for email in emails if email not in known]
    for email in new:
        make_invitation(email=email, actor=actor, origin=origin)
    return new, [email for email in emails if email in known]


def mint_secret(invitation: Invitation) -> str:
    """Return a new secret for the invitation; earlier links stop working.

    Raises InvitationRefused if the invitation was answered or revoked.
    """
    secret = secrets.token_urlsafe(32)
    digest = ApiToken.digest_of(secret)
    if not unanswered().filter(pk=invitation.pk).update(digest=digest):
        raise InvitationRefused(
            "The invitation was already accepted or withdrawn.", code="answered"
        )
    return secret


@transaction.atomic
def resend_invitation(*, invitation: Invitation, actor: User, origin: str) -> Invitation:
    """Send a new email with a link valid for LIFETIME; earlier links stop working.

    Raises InvitationRefused if the invitation was accepted or revoked, or an email was just sent.
    """
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    state = invitation_state(locked)
    if state in {ACCEPTED, REVOKED}:
        words = "accepted" if state == ACCEPTED else "withdrawn"
        raise InvitationRefused(f"The invitation for {locked.email} was {words}.", code=state)
    email_state = email_states([locked])[locked.pk]
    just_sent = email_state == SENT and timezone.now() < sent_at(locked) + RESEND_AFTER
    if email_state == WAITING or just_sent:
        raise InvitationRefused(
            f"An email to {locked.email} was just sent. Allow ten minutes for it to arrive.",
            code="too_soon",
        )
    # The user who resends it becomes the inviter.
    locked.expires_at, locked.invited_by = timezone.now() + LIFETIME, actor
    locked.save(update_fields=["expires_at", "invited_by"])
    record_event(verb="resend_invitation", subject=locked, actor=actor)
    _order_email(locked, origin)
    return locked


@transaction.atomic
def make_link(*, invitation: Invitation, actor: User, origin: str) -> str:
    """Return a link to share by other means, valid for LIFETIME; earlier links stop working.

    Only available if the site sends no email, or sending failed. The user of the link still needs
    an account with the invited email address. The inviter stays, unless they may no longer make the
    offer: then the actor becomes the inviter. Raises InvitationRefused otherwise, and if the
    invitation was answered or revoked.
    """
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if email_states([locked])[locked.pk] not in {FAILED, PRINTED}:
        raise InvitationRefused(
            f"The link was emailed to {locked.email}. If it was lost, resend the invitation.",
            code="sent",
        )
    secret = mint_secret(locked)
    locked.expires_at = timezone.now() + LIFETIME
    if not inviter_holds(locked):
        locked.invited_by = actor
    locked.save(update_fields=["expires_at", "invited_by"])
    record_event(verb="make_invitation_link", subject=locked, actor=actor)
    return origin + reverse("invitations:invitation", args=[secret])


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: User) -> None:
    """Invalidate the link. Idempotent. Raises InvitationRefused if it was accepted."""
    if unanswered().filter(pk=invitation.pk).update(revoked_at=timezone.now()):
        record_event(verb="revoke_invitation", subject=invitation, actor=actor)
        return
    invitation.refresh_from_db()
    if invitation.accepted_at:
        raise InvitationRefused(
            f"{invitation.email} has already accepted the invitation.", code=ACCEPTED
        )


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Offer:
    """Grant the offer to the account, which must have the invited email address. Works once.

    Raises InvitationRefused without changing anything.
    """
    if not is_addressed_to(invitation, user):
        raise InvitationRefused(
            f"This invitation is for {invitation.email}, but you are logged in as {user.email}.",
            code="other_account",
        )
    # A conditional update, so that only one of two simultaneous requests succeeds.
    taken = pending().filter(pk=invitation.pk).update(accepted_at=timezone.now(), accepted_by=user)
    invitation.refresh_from_db()
    if not taken:
        state = invitation_state(invitation)
        words = {ACCEPTED: "was already used", REVOKED: "was withdrawn", EXPIRED: "has expired"}
        raise InvitationRefused(f"This invitation {words[state]}.", code=state)
    give_offer(invitation, user)
    record_event(verb="accept_invitation", subject=invitation, actor=user)
    return offer_of(invitation)
