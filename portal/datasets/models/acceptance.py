"""Quality acceptance: batches of records, each checked field by field on a random sample."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .datasets import Dataset
from .documents import Document


class Batch(models.Model):
    """Documents of a dataset that are accepted or rejected together."""

    class State(models.TextChoices):
        OPEN = "open", "under inspection"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField()
    fields = models.JSONField(help_text="{fields, sums, orders}: the schema of the records.")
    threshold = models.FloatField(
        default=0.97, help_text="Accuracy that every field must reach, 0 to 1."
    )
    seed = models.PositiveBigIntegerField(help_text="The same seed gives the same sample.")
    sample_size = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    report = models.JSONField(
        default=dict,
        help_text="Accuracy by field with n, and the validation's faults; set at the end.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["dataset", "number"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="batch_number_once"),
            models.CheckConstraint(
                condition=Q(threshold__gt=0, threshold__lte=1), name="batch_threshold_0_to_1"
            ),
            models.CheckConstraint(
                condition=Q(state="open", closed_at__isnull=True)
                | (~Q(state="open") & Q(closed_at__isnull=False)),
                name="batch_closed_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.number} of {self.dataset}"


class BatchDocument(models.Model):
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="documents")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="batches")
    is_sampled = models.BooleanField(default=False)
    faults = models.JSONField(
        default=list, help_text="[{field, code, message}, …] of the automatic validation."
    )

    class Meta:
        ordering = ["batch", "id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "document"], name="batch_document_once")
        ]

    def __str__(self) -> str:
        return f"{self.document_id} in {self.batch}"


class Inspection(models.Model):
    """A person's check of one field of a sampled document."""

    batch_document = models.ForeignKey(
        BatchDocument, on_delete=models.CASCADE, related_name="inspections"
    )
    field = models.CharField(max_length=80)
    is_right = models.BooleanField()
    correct_value = models.JSONField(null=True, help_text="The correct value, if it is wrong.")
    comment = models.TextField(blank=True)
    inspector = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    inspected_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["batch_document", "field"]
        constraints = [
            models.UniqueConstraint(fields=["batch_document", "field"], name="inspection_once")
        ]

    def __str__(self) -> str:
        return f"{self.field} of {self.batch_document_id}"
