"""Invitations in tests: sent, and read from the outbox."""

import re
from datetime import timedelta

from django.core import mail
from django.utils import timezone

from portal.accounts.invitations.services import make_invitation
from portal.accounts.models import ApiToken, Invitation, User
from portal.jobs.worker import run_due_jobs

ORIGIN = "https://facts.example.org"


def email_to(address: str) -> str:
    """The text of the latest email to this email address."""
    emails = [str(message.body) for message in mail.outbox if message.to == [address]]
    assert emails, f"no email to {address}"
    return emails[-1]


def secret_for(address: str) -> str:
    """The secret in the link of the latest email to this email address."""
    link = re.search(rf"{ORIGIN}/invitations/([\w-]+)/", email_to(address))
    assert link is not None
    return link[1]


def invite(address: str, actor: User) -> tuple[Invitation, str]:
    """A delivered invitation to the site, and the secret of its link."""
    invitation = make_invitation(email=address, actor=actor, origin=ORIGIN)
    run_due_jobs()
    invitation.refresh_from_db()
    secret = secret_for(invitation.email)
    assert invitation.digest == ApiToken.digest_of(secret)
    return invitation, secret


def expire(invitation: Invitation) -> None:
    Invitation.objects.filter(pk=invitation.pk).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
