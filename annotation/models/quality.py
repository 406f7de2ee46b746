"""From submitted labels to gold: screening, qualification, adjudication and domain review."""

from collections import defaultdict

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from portal.facts import FactValue
from portal.facts import Span as TextSpan
from portal.facts.spans import characters

from .assignments import Assignment
from .campaigns import Campaign, CampaignDocument


class Screening(models.Model):
    """A verdict on a page before it is labelled. Append-only; the latest one applies."""

    class Verdict(models.TextChoices):
        INTACT = "intact", "intact"
        FAULTY = "faulty", "faulty"

    class Fault(models.TextChoices):
        STRUCTURE = "structure", "broken structure: tables, order or parts of the document"
        OCR = "ocr", "misread or garbled text"
        LAYOUT = "layout", "layout that hides or merges values"
        IMAGE = "image", "image and text show different pages"
        CONTENT = "content", "no facts to label"
        OTHER = "other", "other problem"

    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="screenings"
    )
    verdict = models.CharField(max_length=6, choices=Verdict)
    faults = models.JSONField(
        default=list, help_text="Codes of Fault; empty for an intact document."
    )
    reason = models.TextField(blank=True)
    screened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    screened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign_document", "id"]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.campaign_document_id}"


class KnownGold(models.Model):
    """The gold of a qualification page, hidden from annotators. Never changes."""

    campaign_document = models.OneToOneField(
        CampaignDocument, on_delete=models.CASCADE, primary_key=True, related_name="known_gold"
    )
    spans = models.JSONField(help_text="[[start, end, label], …] in text order.")
    source = models.CharField(max_length=200, help_text="The source, such as a release.")

    def __str__(self) -> str:
        return f"known gold of {self.campaign_document_id}"

    @property
    def facts(self) -> int:
        return len(self.spans)


class QualificationResult(models.Model):
    """The result of an attempt at a qualification page. Append-only: one row per attempt."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="qualification_results"
    )
    attempt = models.PositiveSmallIntegerField()
    matched = models.PositiveIntegerField(help_text="Spans with the gold's offsets and label.")
    marked = models.PositiveIntegerField(help_text="Spans the annotator marked.")
    expected = models.PositiveIntegerField(help_text="Spans of the gold.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "attempt"], name="qualification_attempt_once"
            )
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} at assignment {self.assignment_id}"


class Case(models.Model):
    """A cluster of overlapping spans on which the annotators of a document differ, or a fact with
    a warning that they labelled alike."""

    class Kind(models.TextChoices):
        BOUNDARY = "boundary", "different start or end"
        LABEL = "label", "different label"
        MISSING = "missing", "missed by some annotators"
        EXTRA = "extra", "labelled by only a few annotators"
        VALUE = "value", "different or missing value"
        DOUBTFUL = "doubtful", "labelled alike, with a warning"
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

    def meanings_by_document(self) -> defaultdict[int, dict[tuple[int, int], FactValue]]:
        """The values and signs by place, for each document (primary key)."""
        found: defaultdict[int, dict[tuple[int, int], FactValue]] = defaultdict(dict)
        columns = ("campaign_document__document", "start", "end", "value", "sign")
        for document, start, end, *meaning in self.values_list(*columns):
            found[document][start, end] = FactValue(*meaning)
        return found


class GoldSpan(models.Model):
    """A span of gold: marked alike by all annotators, adjudicated, reviewed or imported."""

    class Origin(models.TextChoices):
        AGREED = "agreed"
        MAJORITY = "majority"
        ADJUDICATED = "adjudicated"
        REVIEWED = "reviewed"
        IMPORTED = "imported"

    # A person decided on this very fact.
    SIGNED = frozenset({Origin.ADJUDICATED, Origin.REVIEWED})

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
        return f"{self.label}, {characters(self.start, self.end)}"


class ReviewRound(models.Model):
    """A draw of `share` of the facts on the gold pages that no earlier round covered."""

    class State(models.TextChoices):
        OPEN = "open"
        DONE = "done"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="review_rounds")
    number = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField(help_text="The same seed gives the same draw.")
    share = models.FloatField()
    pages = models.PositiveIntegerField(help_text="Gold documents drawn from.")
    facts = models.PositiveIntegerField(help_text="Gold facts on those documents.")
    population = models.JSONField(
        default=dict,
        help_text="{document name: [start, …]} of those facts, to repeat the draw.",
    )
    guidelines_version = models.PositiveIntegerField(
        help_text="The version when the round was opened."
    )
    state = models.CharField(max_length=4, choices=State, default=State.OPEN)
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty for a round that was opened automatically.",
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="review_round_once"),
            models.CheckConstraint(
                condition=Q(state="open", closed_at__isnull=True)
                | Q(state="done", closed_at__isnull=False),
                name="review_round_done_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"review {self.number} of {self.campaign}"

    def get_absolute_url(self) -> str:
        return reverse("annotation:review-round", args=[self.campaign.slug, self.number])


class ReviewItem(models.Model):
    """A drawn gold fact, as it was at the draw, with the reviewer's verdict."""

    class Verdict(models.TextChoices):
        PENDING = "pending", "to review"
        ACCEPTED = "accepted", "accepted"
        CORRECTED = "corrected", "corrected"
        SENT_BACK = "sent_back", "sent back"

    round = models.ForeignKey(ReviewRound, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField(help_text="From 1, in the order of documents and text.")
    campaign_document = models.ForeignKey(
        CampaignDocument, on_delete=models.CASCADE, related_name="review_items"
    )
    label = models.CharField(max_length=64)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    value = models.TextField(blank=True)
    sign = models.CharField(max_length=20, blank=True)
    verdict = models.CharField(max_length=9, choices=Verdict, default=Verdict.PENDING)
    correction = models.JSONField(
        null=True, help_text="{label, start, end, quote, value, sign}, or null to remove the fact."
    )
    reason = models.TextField(blank=True)
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="The version when the item was decided."
    )
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["round", "position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "position"], name="review_item_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="review_item_not_empty"),
            models.CheckConstraint(
                condition=Q(verdict="pending", decided_at__isnull=True)
                | (~Q(verdict="pending") & Q(decided_at__isnull=False)),
                name="review_item_decided_has_time",
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=["pending", "accepted"]) | ~Q(reason=""),
                name="review_item_change_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.position} of {self.round}"
