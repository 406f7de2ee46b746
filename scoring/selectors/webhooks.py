"""One's webhooks with what was last sent to them."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from portal.accounts.models import User
from scoring.models import Delivery, Webhook

LATEST = 5


@dataclass(frozen=True)
class WebhookLine:
    webhook: Webhook
    deliveries: list[Delivery]
    """The latest first."""


def webhook_lines(user: User) -> list[WebhookLine]:
    """Two queries, however much was sent."""
    hooks = list(Webhook.objects.of(user))
    number = Window(RowNumber(), partition_by=F("webhook"), order_by=F("id").desc())
    latest = Delivery.objects.filter(webhook__in=hooks).annotate(number=number)
    sent: dict[int, list[Delivery]] = defaultdict(list)
    for delivery in latest.filter(number__lte=LATEST).defer("body").order_by("-id"):
        sent[delivery.webhook_id].append(delivery)
    return [WebhookLine(hook, sent[hook.pk]) for hook in hooks]
