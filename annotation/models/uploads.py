"""Uploaded files of a campaign: labels to import, and suggestions of a model."""

from typing import Any

from django.conf import settings
from django.db import models

from .campaigns import Campaign, CampaignDocument


class Upload(models.Model):
    """A file that a worker reads, with its result."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    source_name = models.CharField(max_length=300, help_text="The file's name.")
    upload: Any  # a FileField of each kind, with a folder of its own
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    documents = models.PositiveIntegerField(default=0, help_text="Documents with placed labels.")
    fault_count = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, help_text="Why the whole file failed.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED}


class CampaignImport(Upload):
    """An import of labels into a campaign."""

    class Form(models.TextChoices):
        LABEL_STUDIO = "labelstudio", "Label Studio JSON"
        TAGS = "tags", "HTML with inline tags (ZIP)"
        JSONL = "jsonl", "JSON Lines with offsets"
        FULL = "full", "whole campaign (ZIP)"

    class Layer(models.TextChoices):
        ANNOTATIONS = "annotations", "work of an annotator"
        GOLD = "gold", "gold"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="imports")
    upload = models.FileField(upload_to="campaign-imports/%Y/%m/", max_length=200, blank=True)
    form = models.CharField(max_length=12, choices=Form)
    layer = models.CharField(max_length=12, choices=Layer, blank=True)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The annotator whose work the labels become.",
    )
    spans = models.PositiveIntegerField(default=0, help_text="Spans in those documents.")
    moved = models.PositiveIntegerField(
        default=0, help_text="Spans placed at other offsets than the file says."
    )
    faults = models.JSONField(
        default=list, help_text="One sentence per problem, at most a thousand."
    )

    def __str__(self) -> str:
        return f"import {self.pk} from {self.source_name}"


class SuggestionUpload(Upload):
    """An uploaded file with a model's labels, shown as suggestions."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="suggestion_uploads"
    )
    upload = models.FileField(upload_to="suggestions/%Y/%m/", max_length=200, blank=True)
    spans = models.PositiveIntegerField(default=0, help_text="Suggestions in those documents.")
    faults = models.JSONField(
        default=list, help_text="One sentence per document not placed, at most a thousand."
    )

    def __str__(self) -> str:
        return f"suggestions {self.pk} from {self.source_name}"


class ModelSuggestions(models.Model):
    """A model's suggestions for one document, read and replaced as a whole."""

    campaign_document = models.OneToOneField(
        CampaignDocument,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="model_suggestions",
    )
    upload = models.ForeignKey(SuggestionUpload, on_delete=models.CASCADE, related_name="+")
    spans = models.JSONField(help_text="[[start, end, label], …] in text order, code points.")

    def __str__(self) -> str:
        return f"suggestions for {self.campaign_document_id}"
