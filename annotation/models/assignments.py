"""Assignments: the work of one annotator on one document, with its spans and history."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from portal.facts.spans import characters

from .campaigns import Campaign, CampaignDocument, SuggestionSource, SuggestionUpload


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of(self, user: Any) -> "AssignmentQuerySet":
        """The user's own assignments. An annotator never sees any others."""
        return self.filter(annotator=user)

    def workable(self) -> "AssignmentQuerySet":
        """Assignments not yet submitted, for documents in annotation, in open campaigns."""
        return self.filter(
            state__in=[Assignment.State.ASSIGNED, Assignment.State.IN_PROGRESS],
            campaign_document__stage=CampaignDocument.Stage.ANNOTATION,
            campaign_document__campaign__state=Campaign.State.OPEN,
        )

    def active(self) -> "AssignmentQuerySet":
        """All assignments but those that were withdrawn."""
        return self.exclude(state=Assignment.State.WITHDRAWN)

    def submitted(self) -> "AssignmentQuerySet":
        return self.filter(state=Assignment.State.SUBMITTED)


class Assignment(models.Model):
    class State(models.TextChoices):
        ASSIGNED = "assigned", "assigned"
        IN_PROGRESS = "in_progress", "in progress"
        SUBMITTED = "submitted", "submitted"
        # Started, then given to another annotator. Kept, but neither shown nor counted.
        WITHDRAWN = "withdrawn", "withdrawn"

    class Flag(models.TextChoices):
        """A mark for the lead's attention. Skipped assignments come last in the queue."""

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
    # Increases by one with every accepted save. A save names the revision it is based on.
    revision = models.PositiveIntegerField(default=0)
    active_seconds = models.PositiveIntegerField(
        default=0, help_text="Active time on the document, measured by the browser."
    )
    flag = models.CharField(max_length=7, choices=Flag, blank=True, default=Flag.NONE)
    flag_reason = models.TextField(blank=True)
    return_reason = models.TextField(
        blank=True, help_text="Why a lead returned the document, shown to the annotator."
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
        """Whether the annotator may change it now."""
        document = self.campaign_document
        return (
            self.state in {self.State.ASSIGNED, self.State.IN_PROGRESS}
            and document.stage == CampaignDocument.Stage.ANNOTATION
            and document.campaign.state == Campaign.State.OPEN
        )

    @property
    def may_return(self) -> bool:
        """Whether a lead may return the submission, as far as loaded rows show."""
        document, stages = self.campaign_document, CampaignDocument.Stage
        return (
            self.is_submitted
            and document.campaign.state == Campaign.State.OPEN
            and document.purpose != CampaignDocument.Purpose.QUALIFICATION
            and document.stage in {stages.ANNOTATION, stages.ADJUDICATION, stages.GOLD}
            and document.review_round_id is None
        )


class Span(models.Model):
    """A labelled range of the canonical text: `[start, end)` in code points."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="spans")
    # Set by the browser and stable across saves: comments and decisions refer to it.
    key = models.CharField(max_length=36)
    label = models.CharField(max_length=64)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField(help_text="text[start:end], stored to detect drift.")
    value = models.TextField(
        blank=True, help_text="Decimal, ISO date or ISO 8601 duration; empty if there is none."
    )
    sign = models.CharField(
        max_length=20, blank=True, help_text="How the sign is written; empty if there is none."
    )
    edited = models.BooleanField(
        default=False,
        help_text="Whether the annotator set value and sign; otherwise they are derived.",
    )

    class Meta:
        ordering = ["assignment", "start"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "key"], name="span_key_once"),
            models.UniqueConstraint(fields=["assignment", "start"], name="span_start_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="span_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.label}, {characters(self.start, self.end)}"


class FirstSubmission(models.Model):
    """The labels as first submitted. Agreement is computed from them. Never changes."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, primary_key=True, related_name="first_submission"
    )
    spans = models.JSONField(help_text="[[start, end, label, value, sign], …] in text order.")
    submitted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"first submission of assignment {self.assignment_id}"


class Comment(models.Model):
    """A comment of an annotator on a span or on the whole page."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="comments")
    # A key, not a foreign key: the comment survives when its span is removed and restored.
    span_key = models.CharField(
        max_length=36, blank=True, help_text="Empty for the whole document."
    )
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["assignment", "id"]

    def __str__(self) -> str:
        return f"comment {self.pk} on assignment {self.assignment_id}"


class Revision(models.Model):
    """An accepted save, with the spans it added and removed. Append-only."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    # Set by the browser: makes a repeated request idempotent.
    save_key = models.CharField(max_length=36)
    digest = models.CharField(
        max_length=64,
        help_text="SHA-256 of the saved spans, to detect a different save with the same key.",
    )
    added = models.JSONField(default=list)
    removed = models.JSONField(default=list)
    active_seconds = models.PositiveIntegerField(
        default=0, help_text="Active time since the save before."
    )
    note = models.CharField(
        max_length=200, blank=True, help_text="The source of a save that was not made by hand."
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


class SuggestionOutcome(models.Model):
    """The outcomes of the suggestions of one source in a first submission."""

    submission = models.ForeignKey(
        FirstSubmission, on_delete=models.CASCADE, related_name="suggestion_outcomes"
    )
    source = models.CharField(max_length=8, choices=SuggestionSource)
    upload = models.ForeignKey(
        SuggestionUpload, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    unchanged = models.PositiveIntegerField(help_text="Submitted with the same offsets and label.")
    changed = models.PositiveIntegerField(help_text="A submitted span overlaps it.")
    dismissed = models.PositiveIntegerField(help_text="Dismissed by the annotator.")
    left = models.PositiveIntegerField(help_text="Neither accepted nor dismissed.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "source"], name="suggestion_outcome_once")
        ]

    def __str__(self) -> str:
        return f"{self.source} in submission {self.submission_id}"
