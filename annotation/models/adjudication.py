"""Adjudication: cases on which annotators differ, decisions, and the resulting gold."""

from collections import defaultdict

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from portal.facts import Span as TextSpan

from .campaigns import CampaignDocument


class Case(models.Model):
    """A cluster of overlapping spans on which the annotators of a document differ."""

    class Kind(models.TextChoices):
        BOUNDARY = "boundary", "boundary differs"
        LABEL = "label", "label differs"
        MISSING = "missing", "missed by some"
        EXTRA = "extra", "labelled by a minority"
        VALUE = "value", "value missing or differs"
        REVIEW = "review", "reopened for correction"

    class State(models.TextChoices):
        OPEN = "open"
        DECIDED = "decided"

    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="cases"
    )
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind)
    proposals = models.JSONField(
        help_text="[{assignment, spans: [{label, start, end, quote, value, sign}]}, …], one per "
        "annotator."
    )
    score = models.FloatField(
        default=0,
        help_text="Agreement on the entity, 0 to 1: the largest share of annotators with the same "
        "marks; for boundaries the mean F1 of the characters marked.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    decision = models.JSONField(
        default=list, help_text="The spans that become gold; an empty list is a valid decision."
    )
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["campaign_document", "start"]
        constraints = [
            models.UniqueConstraint(fields=["campaign_document", "start"], name="case_start_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="case_not_empty"),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True)
                | Q(state="decided", decided_at__isnull=False),
                name="case_decided_has_time",
            ),
        ]
        indexes = [models.Index(fields=["campaign_document", "state"], name="case_state")]

    def __str__(self) -> str:
        return f"case {self.pk} ({self.kind})"

    def get_absolute_url(self) -> str:
        return reverse("annotation:case", args=[self.campaign_document.campaign.slug, self.pk])


class Decision(models.Model):
    """A decision on a case, or its reopening. Append-only; the case holds the latest one."""

    class Choice(models.TextChoices):
        PROPOSAL = "proposal", "one annotator's labels"
        MAJORITY = "majority", "the majority's labels"
        BOTH = "both", "the labels of both"
        NEITHER = "neither", "no fact"
        EDIT = "edit", "edited"
        REOPENED = "reopened", "reopened"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="decisions")
    choice = models.CharField(max_length=10, choices=Choice)
    proposal = models.PositiveSmallIntegerField(
        null=True, help_text="The place of the chosen annotator, from 0."
    )
    spans = models.JSONField(default=list, help_text="[{label, start, end, quote, value, sign}, …]")
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty for decisions of the majority rule.",
    )
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["case", "id"]

    def __str__(self) -> str:
        return f"{self.choice} for case {self.case_id}"


class GoldSpanQuerySet(models.QuerySet["GoldSpan"]):
    def by_document(self) -> defaultdict[int, list[TextSpan]]:
        """The spans without their values, by document (primary key) and in text order."""
        found: defaultdict[int, list[TextSpan]] = defaultdict(list)
        columns = ("campaign_document__document", "start", "end", "label")
        for document, *span in self.order_by("start").values_list(*columns):
            found[document].append(TextSpan(*span))
        return found


class GoldSpan(models.Model):
    """A span of gold: marked alike by all annotators, adjudicated, reviewed or imported."""

    class Origin(models.TextChoices):
        AGREED = "agreed"
        MAJORITY = "majority"
        ADJUDICATED = "adjudicated"
        REVIEWED = "reviewed"
        IMPORTED = "imported"

    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="gold_spans"
    )
    label = models.CharField(max_length=64)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    value = models.TextField(blank=True, help_text="As in Span.")
    sign = models.CharField(max_length=20, blank=True, help_text="As in Span.")
    origin = models.CharField(max_length=12, choices=Origin)
    case = models.ForeignKey(Case, null=True, on_delete=models.CASCADE, related_name="gold_spans")

    objects = GoldSpanQuerySet.as_manager()

    class Meta:
        ordering = ["campaign_document", "start"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign_document", "start"], name="gold_span_start_once"
            ),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="gold_span_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.label} [{self.start}, {self.end})"
