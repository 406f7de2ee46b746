"""Invitations: storage, emails and acceptance."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from portal.accounts.invitations.selectors import (
    InvitationRefused,
    accounts_of,
    email_states,
    find_invitation,
    invitation_state,
)
from portal.accounts.invitations.services import (
    RESEND_AFTER,
    accept_invitation,
    invite_to_site,
    make_invitation,
    resend_invitation,
    revoke_invitation,
)
from portal.accounts.models import Invitation, User
from portal.audit.models import Event
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs

from .emails import ORIGIN, email_to, expire, invite, secret_for

pytestmark = pytest.mark.django_db
NORA = "nora@example.org"


@pytest.fixture
def nora(db: None) -> User:
    return User.objects.create_user(email=NORA, password="x", name="Nora")


def later(monkeypatch: pytest.MonkeyPatch, wait: timedelta) -> None:
    """As if `wait` had passed since the email was requested."""
    now = timezone.now()
    monkeypatch.setattr("django.utils.timezone.now", lambda: now + wait)


def test_letter_says_who_invites_to_what_and_until_when(organiser: User) -> None:
    invitation, secret = invite(NORA, organiser)
    text = email_to(NORA)
    assert "Olga invited you to become a member of Factboard" in text
    assert f"{ORIGIN}/invitations/{secret}/" in text
    assert f"{invitation.expires_at:%H:%M}" in text
    assert mail.outbox[0].subject == "[Factboard] Olga invited you to become a member of Factboard"


def test_only_the_hash_is_kept_anywhere(organiser: User) -> None:
    invitation, secret = invite(NORA, organiser)
    rows: list[Any] = [*Invitation.objects.values(), *Job.objects.values(), *Event.objects.values()]
    assert secret not in str(rows)
    assert len(secret) >= 43
    assert find_invitation(secret) == invitation


def test_no_letter_blocks_the_page_that_orders_it(organiser: User) -> None:
    make_invitation(email=NORA, actor=organiser, origin=ORIGIN)
    assert mail.outbox == []
    assert Job.objects.get().kind == "send_invitation"


def test_a_name_cannot_add_headers_to_the_email(organiser: User) -> None:
    organiser.name = "Olga\r\nBcc: everybody@example.org"
    organiser.save()
    invite(NORA, organiser)
    assert "\n" not in mail.outbox[0].subject
    assert mail.outbox[0].recipients() == [NORA]


@pytest.mark.parametrize("secret", ["", "x", "A" * 43, "é", "' OR 1=1 --"])
def test_guessing_finds_nothing(organiser: User, secret: str) -> None:
    invite(NORA, organiser)
    assert find_invitation(secret) is None


def test_digest_is_no_key(organiser: User) -> None:
    """The stored digest cannot be used to accept an invitation."""
    invitation, _ = invite(NORA, organiser)
    assert find_invitation(invitation.digest) is None


def test_acceptance_is_recorded_and_works_once(organiser: User, nora: User) -> None:
    invitation, _ = invite(NORA, organiser)
    offer = accept_invitation(invitation=invitation, user=nora)
    assert offer.url == "/start/"
    invitation.refresh_from_db()
    assert (invitation.accepted_by, invitation_state(invitation)) == (nora, "accepted")
    with pytest.raises(InvitationRefused, match="was already used") as refusal:
        accept_invitation(invitation=invitation, user=nora)
    assert refusal.value.code == "accepted"
    assert Event.objects.filter(verb="accept_invitation", actor=nora).count() == 1


def test_another_account_is_refused(organiser: User, nora: User, stranger: User) -> None:
    invitation, _ = invite(NORA, organiser)
    with pytest.raises(InvitationRefused, match=r"you are logged in as sam@example\.org"):
        accept_invitation(invitation=invitation, user=stranger)
    invitation.refresh_from_db()
    assert invitation.accepted_at is None


def test_address_counts_in_any_case_and_when_it_was_added_and_confirmed(
    organiser: User, stranger: User
) -> None:
    added = EmailAddress.objects.create(user=stranger, email=NORA, verified=False)
    invitation, _ = invite("Nora@Example.org", organiser)
    with pytest.raises(InvitationRefused):
        accept_invitation(invitation=invitation, user=stranger)
    added.verified = True
    added.save()
    accept_invitation(invitation=invitation, user=stranger)


def test_expired_and_revoked_ones_are_refused(organiser: User, nora: User) -> None:
    old, _ = invite(NORA, organiser)
    expire(old)
    with pytest.raises(InvitationRefused, match="has expired"):
        accept_invitation(invitation=old, user=nora)
    taken_back, _ = invite(NORA, organiser)
    revoke_invitation(invitation=taken_back, actor=organiser)
    with pytest.raises(InvitationRefused, match="was withdrawn"):
        accept_invitation(invitation=taken_back, user=nora)


def test_new_letter_ends_the_former_link_and_lives_on(
    organiser: User, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    invitation, former = invite(NORA, organiser)
    expire(invitation)
    invitation.refresh_from_db()
    later(monkeypatch, RESEND_AFTER)
    resend_invitation(invitation=invitation, actor=lead, origin=ORIGIN)
    assert find_invitation(former) == invitation, "it works until the new email is sent"
    run_due_jobs()
    assert find_invitation(former) is None
    found = find_invitation(secret_for(NORA))
    assert found is not None
    assert (found, found.invited_by, invitation_state(found)) == (invitation, lead, "pending")


def test_second_click_on_send_again_sends_nothing(
    organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    invitation, _ = invite(NORA, organiser)
    with pytest.raises(InvitationRefused, match="ten minutes") as refusal:
        resend_invitation(invitation=invitation, actor=organiser, origin=ORIGIN)
    assert refusal.value.code == "too_soon"
    later(monkeypatch, RESEND_AFTER + timedelta(seconds=1))
    resend_invitation(invitation=invitation, actor=organiser, origin=ORIGIN)
    with pytest.raises(InvitationRefused):
        resend_invitation(invitation=invitation, actor=organiser, origin=ORIGIN)


def test_answered_ones_are_neither_sent_again_nor_revoked(organiser: User, nora: User) -> None:
    invitation, _ = invite(NORA, organiser)
    accept_invitation(invitation=invitation, user=nora)
    with pytest.raises(InvitationRefused, match="was accepted"):
        resend_invitation(invitation=invitation, actor=organiser, origin=ORIGIN)
    with pytest.raises(InvitationRefused, match="has already accepted"):
        revoke_invitation(invitation=invitation, actor=organiser)


def test_revoking_twice_is_revoking_once(organiser: User) -> None:
    invitation, _ = invite(NORA, organiser)
    for _ in range(2):
        revoke_invitation(invitation=invitation, actor=organiser)
    assert Event.objects.filter(verb="revoke_invitation").count() == 1


def test_revoked_before_the_letter_is_sent_no_letter_goes(organiser: User) -> None:
    invitation = make_invitation(email=NORA, actor=organiser, origin=ORIGIN)
    revoke_invitation(invitation=invitation, actor=organiser)
    run_due_jobs()
    assert mail.outbox == []
    assert Job.objects.get().state == Job.State.DONE


def test_letter_that_fails_is_tried_again_and_then_shown(
    organiser: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_BACKEND = "tests.accounts.invitations.test_inviting.BrokenServer"
    invitation = make_invitation(email=NORA, actor=organiser, origin=ORIGIN)
    assert email_states([invitation]) == {invitation.pk: "waiting"}
    run_due_jobs()
    job = Job.objects.get()
    assert (job.state, job.attempts) == (Job.State.QUEUED, 1)
    assert "no such server" in job.error
    Job.objects.update(attempts=job.max_attempts - 1, not_before=timezone.now())
    run_due_jobs()
    assert email_states([invitation]) == {invitation.pk: "failed"}
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    # Emails that were never sent can be resent without delay.
    resend_invitation(invitation=invitation, actor=organiser, origin=ORIGIN)
    run_due_jobs()
    assert email_states([invitation]) == {invitation.pk: "sent"}
    assert find_invitation(secret_for(NORA)) == invitation


class BrokenServer:
    def __init__(self, **_: object) -> None:
        pass

    def send_messages(self, _messages: object) -> int:
        raise ConnectionRefusedError("no such server")


def test_site_invites_only_whom_it_does_not_know(organiser: User, nora: User) -> None:
    emails = [NORA, "new@example.org", "waiting@example.org"]
    make_invitation(email="waiting@example.org", actor=organiser, origin=ORIGIN)
    invited, known = invite_to_site(emails=emails, actor=organiser, origin=ORIGIN)
    assert (invited, known) == (["new@example.org"], [NORA, "waiting@example.org"])


def test_accounts_are_looked_up_together(
    nora: User, stranger: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    User.objects.filter(pk=nora.pk).update(email="NORA@example.org")
    with django_assert_num_queries(2):
        found = accounts_of([NORA, "sam@example.org", "nobody@example.org"])
    assert found == {NORA: User.objects.get(pk=nora.pk), "sam@example.org": stranger}
