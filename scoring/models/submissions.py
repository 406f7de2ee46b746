"""Submissions: what was uploaded, by whom, for which phase."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.common.fields import LinkField
from portal.datasets.models import ReleaseItem

from .boards import Board, Phase


class Category(models.TextChoices):
    """Kinds of systems, as the papers group them."""

    OCR_PIPELINE = "ocr_pipeline", "OCR pipeline"
    OCR_MODEL = "ocr_model", "OCR model"
    OPEN_VLM = "open_vlm", "Open-source VL model"
    PROPRIETARY_VLM = "proprietary_vlm", "Proprietary VL model"
    OTHER = "other", "Other"


class ModelCard(models.Model):
    """What a row of the leaderboard says of the system that produced it."""

    name = models.CharField(max_length=120, help_text="The system's name on the leaderboard.")
    organisation = models.CharField(max_length=120, blank=True)
    size = models.CharField(max_length=20, blank=True, help_text="Parameters, such as 7B.")
    category = models.CharField(max_length=20, choices=Category, default=Category.OTHER)
    link = LinkField(blank=True, help_text="Paper, code or model page.")
    notes = models.TextField(blank=True, help_text="Prompt, decoding, anything a reader needs.")

    class Meta:
        abstract = True

    def card(self) -> dict[str, str]:
        """The card alone, to be copied to another row that carries one."""
        return {field.name: getattr(self, field.name) for field in ModelCard._meta.local_fields}


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def of(self, user: Any) -> "SubmissionQuerySet":
        return self.filter(owner=user)

    def public(self) -> "SubmissionQuerySet":
        """What anyone may read: published, on a board that is published itself."""
        return self.filter(publication=Submission.Publication.PUBLIC).exclude(
            phase__board__state=Board.State.DRAFT
        )


class Submission(ModelCard):
    class Publication(models.TextChoices):
        PRIVATE = "private"
        PUBLIC = "public"

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions"
    )
    upload = models.FileField(upload_to="submissions/%Y/%m/", max_length=200)
    filename = models.CharField(max_length=200, help_text="As the owner named it.")
    publication = models.CharField(max_length=10, choices=Publication, default=Publication.PRIVATE)
    form_key = models.CharField(
        max_length=40, blank=True, help_text="Made with the form; a second click finds the first."
    )
    is_sample = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "form_key"],
                condition=~Q(form_key=""),
                name="submission_once_per_form",
            )
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}: {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:submission", args=[self.pk])


class Prediction(models.Model):
    """One line of a submission: the model's answer to one item."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="predictions")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField(help_text="The benchmark's canonical prediction line.")

    class Meta:
        ordering = ["submission", "item"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "item"], name="prediction_once")
        ]

    def __str__(self) -> str:
        return f"prediction {self.pk}"
