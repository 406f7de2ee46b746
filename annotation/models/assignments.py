"""Assignments: one annotator's work on one document, its spans and its history."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from .campaigns import Campaign, CampaignDocument


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of(self, user: Any) -> "AssignmentQuerySet":
        """The user's own work: the only assignments an annotator may ever see."""
        return self.filter(annotator=user)

    def workable(self) -> "AssignmentQuerySet":
        """Not submitted yet, of a document in annotation, in a campaign that is open."""
        return self.filter(
            state__in=[Assignment.State.ASSIGNED, Assignment.State.IN_PROGRESS],
            campaign_document__stage=CampaignDocument.Stage.ANNOTATION,
            campaign_document__campaign__state=Campaign.State.OPEN,
        )

    def active(self) -> "AssignmentQuerySet":
        """Those that count: work that was given to somebody else does not."""
        return self.exclude(state=Assignment.State.WITHDRAWN)

    def submitted(self) -> "AssignmentQuerySet":
        return self.filter(state=Assignment.State.SUBMITTED)


class Assignment(models.Model):
    class State(models.TextChoices):
        ASSIGNED = "assigned", "assigned"
        IN_PROGRESS = "in_progress", "in progress"
        SUBMITTED = "submitted", "submitted"
        # Begun, then given to somebody else. Kept, shown to nobody, counted nowhere.
        WITHDRAWN = "withdrawn", "withdrawn"

    class Flag(models.TextChoices):
        """What its annotator wants the lead to look at. Skipped work comes last in the queue."""

        NONE = "", "none"
        FLAGGED = "flagged", "flagged"
        SKIPPED = "skipped", "skipped"

    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="assignments"
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments"
    )
    state = models.CharField(max_length=12, choices=State, default=State.ASSIGNED)
    # Grows by one with every accepted save; a save names the revision it was made from.
    revision = models.PositiveIntegerField(default=0)
    active_seconds = models.PositiveIntegerField(
        default=0, help_text="Time at work on the page, as the browser saw it."
    )
    flag = models.CharField(max_length=7, choices=Flag, blank=True, default=Flag.NONE)
    flag_reason = models.TextField(blank=True)
    return_reason = models.TextField(
        blank=True, help_text="Why a lead sent the submitted work back, for its annotator."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign_document", "annotator"], name="assignment_once"
            ),
            models.CheckConstraint(
                condition=Q(state="submitted", submitted_at__isnull=False)
                | (~Q(state="submitted") & Q(submitted_at__isnull=True)),
                name="assignment_submitted_has_time",
            ),
            models.CheckConstraint(
                condition=Q(flag="", flag_reason="") | (~Q(flag="") & ~Q(flag_reason="")),
                name="assignment_flag_has_reason",
            ),
        ]
        indexes = [models.Index(fields=["annotator", "state"], name="assignment_annotator")]

    def __str__(self) -> str:
        return f"assignment {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("annotation:workbench", args=[self.pk])

    @property
    def is_submitted(self) -> bool:
        return self.state == self.State.SUBMITTED

    @property
    def is_workable(self) -> bool:
        """Whether its annotator may change it now."""
        document = self.campaign_document
        return (
            self.state in {self.State.ASSIGNED, self.State.IN_PROGRESS}
            and document.stage == CampaignDocument.Stage.ANNOTATION
            and document.campaign.state == Campaign.State.OPEN
        )


class Span(models.Model):
    """A labelled stretch of the canonical text: `[start, end)` in code points."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="spans")
    # Made by the browser and stable over saves, so that comments and decisions can point at it.
    key = models.CharField(max_length=36)
    label = models.CharField(max_length=64)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField(help_text="text[start:end], kept to notice any drift.")
    value = models.TextField(
        blank=True, help_text="Decimal, ISO date or ISO 8601 duration; empty if there is none."
    )
    sign = models.CharField(
        max_length=20, blank=True, help_text="How the sign is written; empty for what has none."
    )
    edited = models.BooleanField(
        default=False, help_text="Whether value and sign are the annotator's own, not derived."
    )

    class Meta:
        ordering = ["assignment", "start"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "key"], name="span_key_once"),
            models.UniqueConstraint(fields=["assignment", "start"], name="span_start_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="span_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.label} [{self.start}, {self.end})"


class FirstSubmission(models.Model):
    """The labels as they were first submitted, from which agreement is computed. Never changes."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, primary_key=True, related_name="first_submission"
    )
    spans = models.JSONField(help_text="[[start, end, label, value, sign], …] in text order.")
    submitted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"first submission of assignment {self.assignment_id}"


class Comment(models.Model):
    """What an annotator wrote about a span, or about the page as a whole."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="comments")
    # A key and no row: the comment stays when its span is removed, and when it comes back.
    span_key = models.CharField(max_length=36, blank=True, help_text="Empty for the whole page.")
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["assignment", "id"]

    def __str__(self) -> str:
        return f"comment {self.pk} on assignment {self.assignment_id}"


class Revision(models.Model):
    """One accepted save: what it added and removed. Append-only."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    # Sent by the browser: the same save arriving twice is answered, not done again.
    save_key = models.CharField(max_length=36)
    digest = models.CharField(
        max_length=64,
        help_text="SHA-256 of the spans saved: another save under the same key differs.",
    )
    added = models.JSONField(default=list)
    removed = models.JSONField(default=list)
    active_seconds = models.PositiveIntegerField(
        default=0, help_text="Time at work that came with this save."
    )
    note = models.CharField(
        max_length=200, blank=True, help_text="Where a save that was no typing came from."
    )
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "number"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "number"], name="revision_number_once"),
            models.UniqueConstraint(fields=["assignment", "save_key"], name="revision_save_once"),
        ]

    def __str__(self) -> str:
        return f"revision {self.number} of assignment {self.assignment_id}"
