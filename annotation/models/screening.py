"""Before annotation: whether a page is fit for it, and whether an annotator is."""

from django.conf import settings
from django.db import models

from .assignments import Assignment
from .campaigns import CampaignDocument


class Screening(models.Model):
    """Somebody's verdict on a page before it is labelled. Append-only; the last one holds."""

    class Verdict(models.TextChoices):
        INTACT = "intact", "intact"
        FAULTY = "faulty", "faulty"

    class Fault(models.TextChoices):
        STRUCTURE = "structure", "broken structure: tables, order or parts of the page"
        OCR = "ocr", "misread or garbled text"
        LAYOUT = "layout", "layout that hides or runs values together"
        IMAGE = "image", "image and text are not the same page"
        CONTENT = "content", "no facts to label"
        OTHER = "other", "something else"

    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="screenings"
    )
    verdict = models.CharField(max_length=6, choices=Verdict)
    faults = models.JSONField(default=list, help_text="Codes of Fault; none for an intact page.")
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
    """The right answer to a qualification page, hidden from annotators. Never changes."""

    campaign_document = models.OneToOneField(
        CampaignDocument, on_delete=models.CASCADE, primary_key=True, related_name="known_gold"
    )
    spans = models.JSONField(help_text="[[start, end, label], …] in text order.")
    source = models.CharField(max_length=200, help_text="Where it comes from, such as a release.")

    def __str__(self) -> str:
        return f"known gold of {self.campaign_document_id}"


class QualificationResult(models.Model):
    """How one try at a qualification page went. Append-only: a further try is a further row."""

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
