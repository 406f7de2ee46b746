"""Work that a worker does for a dataset: imports with the outcome for each file, and tasks."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.accounts.models import user_field
from portal.jobs.models import Work, WorkQuerySet

from .documents import Dataset, Document


class DatasetWork(Work):
    """An import or a task. Its events are named after `noun`."""

    noun: ClassVar[str]
    total = models.PositiveIntegerField(default=0, help_text="Files or documents to work on.")
    error = models.TextField(blank=True, help_text="Why all of the work failed.")
    created_by = user_field()

    class Meta(Work.Meta):
        abstract = True


class ImportRun(DatasetWork):
    """One import of an uploaded archive, or of a path given to a command."""

    noun = "import"

    class Form(models.TextChoices):
        """The supported layouts."""

        PAGES = "pages", "HTML documents with images and metadata"
        FILING = "filing", "SEC filings (split into documents on import)"
        FINCRITICALED = "fincriticaled", "FinCriticalED (CSV or Parquet)"
        LABEL_STUDIO = "labelstudio", "Label Studio JSON"
        FCMBENCH = "fcmbench", "FCMBench (JSON Lines and images)"
        CCOCR = "ccocr", "CC-OCR (index, labels and images)"
        RECEIPTS = "receipts", "receipts (JSON files and images)"
        PARQUET = "parquet", "Parquet with embedded images"

    class Differences(models.TextChoices):
        """Images and metadata of existing documents that differ from the source."""

        KEEP = "keep", "Keep the document as it is"
        UPDATE = "update", "Update the document"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="imports")
    form = models.CharField(max_length=14, choices=Form, default=Form.PAGES)
    options = models.JSONField(
        default=dict, help_text="{benchmark: key} if the layout serves several benchmarks."
    )
    # Also {differences: "update"} and {dry_run: true}, if they were chosen.
    source_name = models.CharField(max_length=300, help_text="The archive's or folder's name.")
    upload = models.FileField(upload_to="imports/%Y/%m/", max_length=200, blank=True)
    ignored = models.JSONField(
        default=dict, help_text="Counts of files that were not read, by folder."
    )

    objects = WorkQuerySet["ImportRun"].as_manager()

    def __str__(self) -> str:
        return f"import {self.pk} of {self.source_name}"

    def get_absolute_url(self) -> str:
        return reverse("datasets:import-run", args=[self.dataset.slug, self.pk])

    @property
    def job_group(self) -> str:
        return f"import:{self.pk}"

    @property
    def updates(self) -> bool:
        """Whether images and metadata of existing documents are replaced by different ones."""
        return bool(self.options.get("differences") == self.Differences.UPDATE)

    @property
    def is_dry_run(self) -> bool:
        return bool(self.options.get("dry_run"))

    @property
    def can_be_carried_out(self) -> bool:
        """Whether this is a finished preview whose files are still stored."""
        return self.is_dry_run and self.state == self.State.DONE and bool(self.upload)

    @property
    def source_file(self) -> str:
        """The name of the archive or folder, without the path that a command was given."""
        return self.source_name.rstrip("/").rpartition("/")[2] or self.source_name

    @property
    def files_left_out(self) -> int:
        """The number of files that were not read."""
        return sum(self.ignored.values())


class ImportItem(models.Model):
    """The outcome of one file of an import, or of one line of its metadata."""

    class Outcome(models.TextChoices):
        """The source compared with an existing document: `updated`, if it got an image, gold or
        metadata that it lacked, or different ones by choice; `unchanged`, if it is the same;
        `kept`, if it differs."""

        IMPORTED = "imported"
        UPDATED = "updated"
        UNCHANGED = "unchanged"
        KEPT = "kept", "differs, kept"
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


class DatasetTask(DatasetWork):
    """A worker's task on many documents, such as rendering or scanning, with its report."""

    noun = "dataset_task"

    class Kind(models.TextChoices):
        RENDER = "render", "render page images"
        PII = "pii", "find personal data"
        DUPLICATES = "duplicates", "find near-duplicates"
        DERIVE = "derive", "derive a stress variant"
        CONTENT = "content", "check required content"
        FREEZE = "freeze", "freeze a release"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="tasks")
    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(max_length=10, choices=Work.State, default=Work.State.QUEUED)
    options = models.JSONField(default=dict)
    upload = models.FileField(upload_to="tasks/%Y/%m/", max_length=200, blank=True)
    done = models.PositiveIntegerField(default=0)
    report = models.JSONField(
        default=dict,
        help_text="{counts: {what: number}, faults: [{name, code, reason}, …], faults_left_out}",
    )

    objects = WorkQuerySet["DatasetTask"].as_manager()

    class Meta(DatasetWork.Meta):
        constraints = [
            # A repeated request finds the running task.
            models.UniqueConstraint(
                fields=["dataset", "kind"],
                condition=Q(state__in=["queued", "running"]),
                name="dataset_task_one_of_a_kind",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of {self.dataset}"

    def get_absolute_url(self) -> str:
        return reverse("datasets:task", args=[self.dataset.slug, self.pk])

    @property
    def job_group(self) -> str:
        return f"dataset-task:{self.pk}"
