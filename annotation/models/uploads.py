"""Files brought into a campaign: labels to become work or gold, and what a model marked."""

from typing import Any

from django.conf import settings
from django.db import models

from .campaigns import Campaign, CampaignDocument


class Upload(models.Model):
    """A file and what became of it: a worker reads it."""

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
    documents = models.PositiveIntegerField(default=0, help_text="Documents that were placed.")
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
    """Labels brought into a campaign; all of the file is placed or none."""

    class Form(models.TextChoices):
        LABEL_STUDIO = "labelstudio", "Label Studio JSON"
        TAGS = "tags", "HTML with inline tags, zipped"
        JSONL = "jsonl", "JSON Lines with offsets"
        FULL = "full", "a whole campaign"

    class Layer(models.TextChoices):
        ANNOTATIONS = "annotations", "the work of an annotator"
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
        help_text="Whose work the labels become.",
    )
    spans = models.PositiveIntegerField(default=0, help_text="Spans in those documents.")
    moved = models.PositiveIntegerField(
        default=0, help_text="Spans found elsewhere than their offsets said."
    )
    faults = models.JSONField(
        default=list, help_text="A sentence for whatever was not placed, the first thousand."
    )

    def __str__(self) -> str:
        return f"import {self.pk} from {self.source_name}"


class SuggestionUpload(Upload):
    """A file with a model's marks, and what became of it."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="suggestion_uploads"
    )
    upload = models.FileField(upload_to="suggestions/%Y/%m/", max_length=200, blank=True)
    spans = models.PositiveIntegerField(default=0, help_text="Suggestions in those documents.")
    faults = models.JSONField(
        default=list, help_text="A sentence for each document not placed, the first thousand."
    )

    def __str__(self) -> str:
        return f"suggestions {self.pk} from {self.source_name}"


class ModelSuggestions(models.Model):
    """A model's marks in one document. Read and replaced as a whole, so they are one row."""

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
