"""The append-only audit log."""

from typing import Any

from django.conf import settings
from django.db import models


class Event(models.Model):
    """Who did what to which row, and when. Never changed or deleted."""

    verb = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=60)
    subject_id = models.CharField(max_length=60)
    # Null for jobs and commands. PROTECT would prevent deleting accounts.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    data = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["subject_type", "subject_id", "-id"], name="event_subject")]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject_type} {self.subject_id}"


def record_event(
    *, verb: str, subject: models.Model, actor: models.Model | None = None, **data: Any
) -> Event:
    """Write the event in the caller's transaction, so that both succeed or fail together."""
    return Event.objects.create(
        verb=verb,
        subject_type=subject._meta.label_lower,
        subject_id=str(subject.pk),
        actor_id=actor.pk if actor is not None else None,
        data=data,
    )
