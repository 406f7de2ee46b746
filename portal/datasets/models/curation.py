"""Curation: long tasks, personal data, near duplicates and random selections of documents."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from .datasets import Dataset
from .documents import Document


class DatasetTaskQuerySet(models.QuerySet["DatasetTask"]):
    def unfinished(self) -> "DatasetTaskQuerySet":
        return self.filter(state__in=[DatasetTask.State.QUEUED, DatasetTask.State.RUNNING])


class DatasetTask(models.Model):
    """A worker's task on many documents, such as rendering or scanning, with its report."""

    class Kind(models.TextChoices):
        RENDER = "render", "render pages"
        PII = "pii", "find personal data"
        DUPLICATES = "duplicates", "find near duplicates"
        DERIVE = "derive", "derive a stress variant"
        CONTENT = "content", "check required content"
        FREEZE = "freeze", "freeze a release"

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="tasks")
    kind = models.CharField(max_length=10, choices=Kind)
    options = models.JSONField(default=dict)
    upload = models.FileField(upload_to="tasks/%Y/%m/", max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    report = models.JSONField(
        default=dict,
        help_text="{counts: {what: number}, faults: [{name, code, reason}, …], faults_left_out}",
    )
    error = models.TextField(blank=True, help_text="Why the whole task failed.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = DatasetTaskQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
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

    @property
    def is_finished(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}


class PiiFinding(models.Model):
    """Possible personal data in a document, and the decision about it."""

    class Kind(models.TextChoices):
        EMAIL = "email", "email address"
        PHONE = "phone", "telephone number"
        SSN = "ssn", "social security number"
        CARD = "card", "card number"
        ACCOUNT = "account", "account number (IBAN or routing)"

    class Decision(models.TextChoices):
        OPEN = "open", "to decide"
        KEPT = "kept", "kept"
        MASKED = "masked", "masked"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pii_findings")
    kind = models.CharField(max_length=8, choices=Kind)
    rule = models.CharField(max_length=40, blank=True, help_text="The rule that found it.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    decision = models.CharField(max_length=6, choices=Decision, default=Decision.OPEN)
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["document", "start"]
        constraints = [
            models.UniqueConstraint(fields=["document", "kind", "start"], name="pii_finding_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="pii_finding_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in {self.document_id} at {self.start}"


class NearDuplicate(models.Model):
    """Two documents of a dataset with nearly the same text."""

    class Decision(models.TextChoices):
        OPEN = "open", "to decide"
        KEPT = "kept", "both kept"
        HELD = "held", "the second held back"
        HELD_FIRST = "held_first", "the first held back"

    first = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="near_duplicates")
    similarity = models.FloatField(help_text="Similarity of their texts, 0 to 1.")
    decision = models.CharField(max_length=10, choices=Decision, default=Decision.OPEN)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-similarity", "id"]
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="near_duplicate_once"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="near_duplicate_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id}"

    def get_absolute_url(self) -> str:
        return reverse("datasets:duplicate", args=[self.second.dataset.slug, self.pk])


class Selection(models.Model):
    """A stratified sample of documents; the same seed and spec give the same sample."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="selections")
    title = models.CharField(max_length=160)
    seed = models.PositiveBigIntegerField()
    spec = models.JSONField(help_text="{strata: [field, …], per_stratum or size, filters}")
    documents = models.ManyToManyField(Document, related_name="selections")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "title"], name="selection_title_once")
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("datasets:selection", args=[self.dataset.slug, self.pk])
