"""Curation and acceptance: personal data, near duplicates, random selections, and batches of
records, each checked field by field on a random sample.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from portal.accounts.models import user_field

from .documents import Dataset, Document


class PiiFinding(models.Model):
    """Possible personal data in a document, and the decision about it."""

    class Kind(models.TextChoices):
        EMAIL = "email", "email address"
        PHONE = "phone", "telephone number"
        SSN = "ssn", "social security number"
        CARD = "card", "card number"
        ACCOUNT = "account", "IBAN or bank routing number"

    class Decision(models.TextChoices):
        OPEN = "open", "undecided"
        KEPT = "kept", "kept"
        MASKED = "masked", "masked"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pii_findings")
    kind = models.CharField(max_length=8, choices=Kind)
    rule = models.CharField(max_length=40, blank=True, help_text="The rule that found it.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    decision = models.CharField(max_length=6, choices=Decision, default=Decision.OPEN)
    reason = models.TextField(blank=True)
    decided_by = user_field()
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
        OPEN = "open", "undecided"
        KEPT = "kept", "both kept"
        HELD = "held", "second document held back"
        HELD_FIRST = "held_first", "first document held back"

    first = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="near_duplicates")
    similarity = models.FloatField(help_text="Similarity of their texts, 0 to 1.")
    decision = models.CharField(max_length=10, choices=Decision, default=Decision.OPEN)
    decided_by = user_field()
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
    created_by = user_field()
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
    created_by = user_field()
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
