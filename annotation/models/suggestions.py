"""What a model marked in the documents of a campaign, uploaded by its lead."""

from django.conf import settings
from django.db import models

from .campaigns import Campaign, CampaignDocument


class SuggestionUpload(models.Model):
    """A file with a model's marks, and what became of it."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="suggestion_uploads"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    source_name = models.CharField(max_length=300, help_text="The file's name.")
    upload = models.FileField(upload_to="suggestions/%Y/%m/", max_length=200, blank=True)
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    documents = models.PositiveIntegerField(default=0, help_text="Documents that were placed.")
    spans = models.PositiveIntegerField(default=0, help_text="Suggestions in those documents.")
    faults = models.JSONField(
        default=list, help_text="A sentence for each document not placed, the first thousand."
    )
    fault_count = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, help_text="Why the whole file failed.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"suggestions {self.pk} from {self.source_name}"

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED}


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
