"""Webhooks: programs of submitters that are told when a grading ends."""

from typing import Any

from django.conf import settings
from django.db import models

from .submissions import Submission


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def of(self, user: Any) -> "WebhookQuerySet":
        return self.filter(user=user)


class Webhook(models.Model):
    """An address that is told of the gradings of its owner's submissions."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.URLField("address", max_length=500)
    secret = models.CharField(max_length=64, help_text="With it every message is signed.")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="webhook_url_once")]

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class Delivery(models.Model):
    """One message to a webhook, and what became of it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    body = models.TextField(help_text="JSON, as it is sent and signed.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    status = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"delivery {self.pk}: {self.state}"
