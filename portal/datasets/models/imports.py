"""Imports into a dataset and the outcome for each file."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from .datasets import Dataset
from .documents import Document


class ImportRunQuerySet(models.QuerySet["ImportRun"]):
    def unfinished(self) -> "ImportRunQuerySet":
        return self.filter(state__in=[ImportRun.State.QUEUED, ImportRun.State.RUNNING])


class ImportRun(models.Model):
    """One import of an uploaded archive, or of a path given to a command."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Form(models.TextChoices):
        """The supported layouts."""

        PAGES = "pages", "pages with images and metadata"
        FILING = "filing", "SEC filings"
        FINCRITICALED = "fincriticaled", "FinCriticalED's CSV or Parquet"
        LABEL_STUDIO = "labelstudio", "Label Studio JSON"
        FCMBENCH = "fcmbench", "FCMBench's JSON Lines with images"
        CCOCR = "ccocr", "CC-OCR's index and label files"
        RECEIPTS = "receipts", "receipts: images with JSON"
        PARQUET = "parquet", "Parquet with embedded images"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="imports")
    form = models.CharField(max_length=14, choices=Form, default=Form.PAGES)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    options = models.JSONField(
        default=dict, help_text="{benchmark: key} if the layout serves several benchmarks."
    )
    source_name = models.CharField(max_length=300, help_text="The archive's or folder's name.")
    upload = models.FileField(upload_to="imports/%Y/%m/", max_length=200, blank=True)
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    total = models.PositiveIntegerField(default=0, help_text="Files found in pages/.")
    ignored = models.JSONField(
        default=dict, help_text="Counts of files that were not read, by folder."
    )
    error = models.TextField(blank=True, help_text="Why the whole import failed.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = ImportRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.source_name}"

    def get_absolute_url(self) -> str:
        return reverse("datasets:import-run", args=[self.dataset.slug, self.pk])

    @property
    def job_group(self) -> str:
        return f"import:{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}


class ImportItem(models.Model):
    """The outcome of one file of an import, or of one line of its metadata."""

    class Outcome(models.TextChoices):
        """`updated`: an existing document got an image or gold that it lacked."""

        IMPORTED = "imported"
        UPDATED = "updated"
        UNCHANGED = "unchanged"
        REFUSED = "refused"

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="items")
    name = models.CharField(
        max_length=300, help_text="The file's name in the source, or meta.jsonl:LINE."
    )
    document = models.ForeignKey(
        Document,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The imported document, or the one that it conflicts with.",
    )
    outcome = models.CharField(max_length=10, choices=Outcome)
    code = models.CharField(max_length=40, blank=True, help_text="The reason as a stable code.")
    reason = models.TextField(blank=True, help_text="The reason as text.")

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="import_item_once_per_run")
        ]
        indexes = [models.Index(fields=["run", "outcome"], name="import_item_outcome")]

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"
