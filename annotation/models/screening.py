"""Screening of pages, and qualification of annotators."""

from django.conf import settings
from django.db import models

from .assignments import Assignment
from .campaigns import CampaignDocument


class Screening(models.Model):
    """A verdict on a page before it is labelled. Append-only; the latest one applies."""

    class Verdict(models.TextChoices):
        INTACT = "intact", "intact"
        FAULTY = "faulty", "faulty"

    class Fault(models.TextChoices):
        STRUCTURE = "structure", "broken structure: tables, order or parts of the page"
        OCR = "ocr", "misread or garbled text"
        LAYOUT = "layout", "layout that hides or merges values"
        IMAGE = "image", "image and text show different pages"
        CONTENT = "content", "no facts to label"
        OTHER = "other", "something else"

    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="screenings"
    )
    verdict = models.CharField(max_length=6, choices=Verdict)
    faults = models.JSONField(default=list, help_text="Codes of Fault; empty for an intact page.")
    reason = models.TextField(blank=True)
    screened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    screened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign_document", "id"]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.campaign_document_id}"


class KnownGold(models.Model):
    """The gold of a qualification page, hidden from annotators. Never changes."""

    campaign_document = models.OneToOneField(
        CampaignDocument, on_delete=models.CASCADE, primary_key=True, related_name="known_gold"
    )
    spans = models.JSONField(help_text="[[start, end, label], …] in text order.")
    source = models.CharField(max_length=200, help_text="The source, such as a release.")

    def __str__(self) -> str:
        return f"known gold of {self.campaign_document_id}"


class QualificationResult(models.Model):
    """The result of an attempt at a qualification page. Append-only: one row per attempt."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="qualification_results"
    )
    attempt = models.PositiveSmallIntegerField()
    matched = models.PositiveIntegerField(help_text="Spans with the gold's offsets and label.")
    marked = models.PositiveIntegerField(help_text="Spans the annotator marked.")
    expected = models.PositiveIntegerField(help_text="Spans of the gold.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "attempt"], name="qualification_attempt_once"
            )
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} at assignment {self.assignment_id}"
