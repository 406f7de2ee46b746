"""Notifies submitters by email and webhook when a grading ends.

Messages contain only what the owner may know: scores are rounded if the phase rounds them, and left
out if they are shown later.
"""

import hashlib
import hmac
import json
import secrets
from datetime import datetime

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from django.utils.text import capfirst

from portal.accounts.emails import send_email
from portal.accounts.models import User, display_name
from portal.audit.models import record_event
from portal.jobs.services import enqueue
from portal.web.outgoing import OutgoingError, check_url, post
from scoring.models import Delivery, Grading, Webhook

from .selectors import grading_as_shown

NOTICE_KIND = "notify_of_grading"
DELIVERY_KIND = "deliver_webhook"
WEBHOOKS = 10
SIGNATURE = "X-Factboard-Signature"


class WebhookRefused(Exception):
    """The URL is not accepted. The message gives the reason."""


@transaction.atomic
def add_webhook(*, user: User, url: str) -> Webhook:
    """Raises WebhookRefused for an invalid or repeated URL, and if there are too many."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    try:
        check_url(url)
    except OutgoingError as error:
        raise WebhookRefused(f"{capfirst(str(error))}.") from error
    if Webhook.objects.of(user).filter(url=url).exists():
        raise WebhookRefused("You already have a webhook with this URL.")
    if Webhook.objects.of(user).count() >= WEBHOOKS:
        raise WebhookRefused(f"You can have at most {WEBHOOKS} webhooks. Remove one first.")
    webhook = Webhook.objects.create(user=user, url=url, secret=secrets.token_hex(32))
    record_event(verb="add_webhook", subject=webhook, actor=user)
    return webhook


@transaction.atomic
def remove_webhook(*, webhook: Webhook, actor: User) -> None:
    record_event(verb="remove_webhook", subject=webhook, actor=actor)
    webhook.delete()


def queue_notice(grading: Grading) -> None:
    """Queues the notice if the owner wants an email or has webhooks.

    Call it in the transaction that ends the grading, so that no notice is sent after a rollback.
    """
    submission = grading.submission
    hooks = Webhook.objects.filter(user=submission.owner_id, is_active=True)
    if not submission.email_origin and not hooks.exists():
        return
    enqueue(
        kind=NOTICE_KIND, payload={"grading": grading.pk}, group=f"notices:{grading.submission_id}"
    )


def prepare_deliveries(grading: Grading) -> None:
    """Creates a message and its job for every active webhook of the owner."""
    submission = grading.submission
    for webhook in Webhook.objects.of(submission.owner).filter(is_active=True):
        delivery = Delivery.objects.create(
            webhook=webhook, submission=submission, body=json.dumps(message(grading))
        )
        enqueue(
            kind=DELIVERY_KIND,
            payload={"delivery": delivery.pk},
            group=f"webhook:{webhook.pk}",
            max_attempts=5,
        )


def message(grading: Grading) -> dict[str, object]:
    """The body for webhooks. Scores are rates in [0, 1]; empty if they are shown later."""
    submission = grading.submission
    shown = grading_as_shown(submission.owner, submission.phase, grading)
    return {
        "event": "grading.regraded" if grading.regrade_id else f"grading.{grading.state}",
        "submission": submission.pk,
        "name": submission.name,
        "version": submission.version,
        "board": submission.phase.board.slug,
        "phase": submission.phase.slug,
        "path": submission.get_absolute_url(),
        "state": grading.state,
        "error": grading.error,
        "signature": grading.signature,
        "scores": dict(shown.scores),
        "finished_at": _time(shown.finished_at),
    }


def _time(when: datetime | None) -> str | None:
    return when.isoformat() if when else None


def signed(webhook: Webhook, body: bytes) -> str:
    """The value of the signature header: HMAC-SHA-256 of the body with the secret, in hex."""
    return "sha256=" + hmac.new(webhook.secret.encode(), body, hashlib.sha256).hexdigest()


def deliver(delivery: Delivery) -> int:
    """Sends a message and returns the HTTP status. Raises OutgoingError unless it is 2xx."""
    body = delivery.body.encode()
    headers = {"Content-Type": "application/json", SIGNATURE: signed(delivery.webhook, body)}
    status = post(delivery.webhook.url, body, headers)
    if not 200 <= status < 300:
        raise OutgoingError(f"the response has status {status}")
    return status


def end_delivery(delivery: Delivery, *, status: int | None = None, error: str = "") -> None:
    delivery.state = Delivery.State.FAILED if error else Delivery.State.DELIVERED
    delivery.status, delivery.error, delivery.ended_at = status, error, timezone.now()
    delivery.save(update_fields=["state", "status", "error", "ended_at"])


def send_notice(grading: Grading) -> None:
    """Sends the email if the owner wants it. Passes on errors of the mail server."""
    submission = grading.submission
    if not submission.email_origin or not submission.owner.is_active:
        return
    words = "re-graded" if grading.regrade_id else f"grading is {grading.state}"
    send_email(
        to=submission.owner.email,
        subject=f"“{submission.name}”: {words}",
        template="scoring/grading/graded.txt",
        origin=submission.email_origin,
        context={
            "name": display_name(submission.owner),
            "submission": submission,
            "grading": grading,
            "link": submission.email_origin + submission.get_absolute_url(),
        },
    )


LATEST = 5


def webhooks_of(user: User) -> QuerySet[Webhook]:
    """The user's webhooks, with their deliveries as `latest`, newest first. Two queries."""
    deliveries = Delivery.objects.defer("body").order_by("-id")[:LATEST]
    return Webhook.objects.of(user).prefetch_related(
        Prefetch("deliveries", deliveries, to_attr="latest")
    )
