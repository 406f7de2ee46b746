"""Submissions with their predictions, attempts that count against limits, approvals of people,
similar submissions, and webhooks."""

import json
from typing import Any

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from portal.accounts.models import TeamMember, user_field
from portal.datasets.models import ReleaseItem
from portal.web.fields import LinkField

from .boards import Board, Phase


class Category(models.TextChoices):
    """The papers' groups of systems."""

    OCR_PIPELINE = "ocr_pipeline", "OCR pipeline"
    OCR_MODEL = "ocr_model", "OCR model"
    OPEN_VLM = "open_vlm", "Open-source vision-language model"
    PROPRIETARY_VLM = "proprietary_vlm", "Proprietary vision-language model"
    FINE_TUNED = "fine_tuned", "Fine-tuned for the task"
    OTHER = "other", "Other"


class Architecture(models.TextChoices):
    DENSE = "dense", "Dense"
    MIXTURE = "mixture", "Mixture of experts"


class Reasoning(models.TextChoices):
    """How the model reasoned before it answered, as in FCMBench's figure A7."""

    NONE = "none", "No reasoning mode"
    OFF = "off", "Off"
    MINIMAL = "minimal", "Minimal, cannot be turned off"
    ON = "on", "On"


class ModelCard(models.Model):
    """The description of the system behind a row of the leaderboard."""

    name = models.CharField(max_length=120, help_text="Name of the model on the leaderboard.")
    organisation = models.CharField(max_length=120, blank=True)
    size = models.CharField(
        "parameters", max_length=20, blank=True, help_text="Number of parameters, such as 7B."
    )
    category = models.CharField(max_length=20, choices=Category, default=Category.OTHER)
    link = LinkField(blank=True, help_text="Paper or model page.")
    code_link = LinkField(blank=True, help_text="Link to the code.")
    notes = models.TextField(blank=True, help_text="Other information for readers.")
    open_weights = models.BooleanField(
        null=True, blank=True, help_text="Whether anyone can download the weights."
    )
    architecture = models.CharField(max_length=10, choices=Architecture, blank=True)
    reasoning = models.CharField(
        "reasoning mode",
        max_length=10,
        choices=Reasoning,
        blank=True,
        help_text="Reasoning mode of the model in this run.",
    )
    licence = models.CharField(
        max_length=120, blank=True, help_text="Licence of the model or program."
    )
    released_on = models.DateField(
        null=True, blank=True, help_text="Release date of this version of the model."
    )
    training_data = models.TextField(
        blank=True,
        help_text="Training data, and whether it may contain documents of this board.",
    )
    training_until = models.DateField(
        "training cutoff", null=True, blank=True, help_text="Date of the newest training data."
    )
    prompt = models.TextField(blank=True, help_text="The full prompt.")
    decoding = models.TextField(
        blank=True,
        help_text="Decoding settings, for example temperature 0 and at most 8,192 tokens.",
    )
    output_tokens = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Total number of output tokens for all items."
    )
    cost = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Cost of the whole run, in US dollars.",
    )

    class Meta:
        abstract = True

    def card(self) -> dict[str, Any]:
        """The fields of the card, for copying it to another row."""
        return {field.name: getattr(self, field.name) for field in ModelCard._meta.local_fields}


# The fields of a model card, in the order of the model.
CARD_FIELDS = [field.name for field in ModelCard._meta.local_fields]
# The form shows these fields first; the others are one click away.
SHORT_CARD = ("name", "organisation", "size", "category", "link", "notes")


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def of(self, user: Any) -> "SubmissionQuerySet":
        return self.filter(owner=user)

    def kept_by(self, user: Any) -> "SubmissionQuerySet":
        """Submissions of the user and of their current teams."""
        teams = TeamMember.objects.filter(user=user).values("team")
        return self.filter(Q(owner=user) | Q(team__in=teams))

    def private(self) -> "SubmissionQuerySet":
        return self.filter(publication=Submission.Publication.PRIVATE)

    def public(self) -> "SubmissionQuerySet":
        """Published submissions on published boards."""
        return self.filter(publication=Submission.Publication.PUBLIC).exclude(
            phase__board__state=Board.State.DRAFT
        )


class Submission(ModelCard):
    class Publication(models.TextChoices):
        PRIVATE = "private"
        PUBLIC = "public"

    class Verdict(models.TextChoices):
        """The organisers' verdict."""

        NONE = "", "not reviewed"
        VERIFIED = "verified", "verified"
        DISQUALIFIED = "disqualified", "disqualified"

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions"
    )
    team = models.ForeignKey(
        "accounts.Team",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="submissions",
        help_text="The team it belongs to; empty: only the owner.",
    )
    upload = models.FileField(upload_to="submissions/%Y/%m/", max_length=200)
    filename = models.CharField(max_length=200, help_text="The owner's name for the file.")
    publication = models.CharField(max_length=10, choices=Publication, default=Publication.PRIVATE)
    form_key = models.CharField(
        max_length=40, blank=True, help_text="Identifies the form, so that it submits only once."
    )
    email_origin = models.CharField(
        max_length=200,
        blank=True,
        help_text="Base URL for links in the email that the owner gets when the grading ends; "
        "empty: no email.",
    )
    replaces = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="replaced_by",
        help_text="The previous version.",
    )
    version = models.PositiveIntegerField(default=1)
    withdrawn_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=12, choices=Verdict, blank=True, default=Verdict.NONE)
    verdict_reason = models.TextField(blank=True, help_text="Shown publicly.")
    is_pinned = models.BooleanField(
        default=False, help_text="Shown on the leaderboard whatever the filters."
    )
    has_open_items = models.BooleanField(
        default=False, help_text="Whether anyone can read its individual items while it is public."
    )
    accepted_terms = models.TextField(
        blank=True, help_text="The board's terms that the submitter accepted; empty: none."
    )
    rerun_of = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="reruns",
        help_text="For a re-run by organisers: the submission that it repeats. It never has a row.",
    )
    sample_seed = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="For a human baseline: the seed of its items. Empty: predictions of a model.",
    )
    sample_items = models.JSONField(
        default=list, blank=True, help_text="For a human baseline: the IDs of its items."
    )
    is_sample = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "form_key"],
                condition=~Q(form_key=""),
                name="submission_once_per_form",
            ),
            models.CheckConstraint(
                condition=~Q(verdict="disqualified") | ~Q(verdict_reason=""),
                name="submission_disqualified_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True) | Q(publication="private"),
                name="submission_withdrawn_is_private",
            ),
            models.CheckConstraint(
                condition=Q(rerun_of__isnull=True) | Q(publication="private"),
                name="submission_rerun_is_private",
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}: {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:submission", args=[self.pk])

    @property
    def is_human_run(self) -> bool:
        """Whether people answered a drawn sample of the items."""
        return self.sample_seed is not None

    def items_of(self, release_id: int) -> models.QuerySet[ReleaseItem]:
        """The items to grade in this release: those of the phase, or of the sample."""
        items = self.phase.items_of(release_id)
        return items.filter(name__in=self.sample_items) if self.is_human_run else items


class Manifest(models.Model):
    """How a submission was made, as its run manifest states. Untrusted; see `answering.manifest`.

    It is in a table of its own, so that no list of submissions reads it.
    """

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="manifest")
    about = models.JSONField(help_text="The manifest without its items.")
    items = models.JSONField(help_text="The items of the manifest. Large: defer it.")
    states = models.JSONField(default=dict, help_text="How many items ended in each state.")
    warnings = models.JSONField(
        default=list, help_text="Where it differs from the phase, as sentences."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["submission"]

    def __str__(self) -> str:
        return f"manifest of submission {self.submission_id}"

    def as_json(self) -> bytes:
        """The whole manifest, as it was uploaded apart from its layout."""
        return json.dumps(self.about | {"items": self.items}, ensure_ascii=False).encode()


class Prediction(models.Model):
    """One line of a submission: the model's answer to one item."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="predictions")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField(help_text="The benchmark's canonical prediction line.")
    digest = models.CharField(  # noqa: DJ001 - null and empty have different meanings
        max_length=32,
        null=True,
        help_text="Digest of the prediction's text; empty: too short to compare, null: not "
        "computed yet.",
    )

    class Meta:
        ordering = ["submission", "item"]
        indexes = [models.Index(fields=["item", "digest"], name="prediction_item_digest")]
        constraints = [
            models.UniqueConstraint(fields=["submission", "item"], name="prediction_once")
        ]

    def __str__(self) -> str:
        return f"prediction {self.pk}"


class Attempt(models.Model):
    """One use of a phase's limits: held during grading, charged with the score.

    An attempt without a score is released and counts as failed. An attempt on hidden gold outlives
    its submission and its account, because what was learnt from its score does too. It also has
    traces that reveal several accounts of one person; see `scoring.boards.alike`.
    """

    class State(models.TextChoices):
        HELD = "held", "held during grading"
        CHARGED = "charged", "charged for a score"
        FAILED = "failed", "ended without a score"

    submission = models.OneToOneField(
        Submission,
        null=True,
        on_delete=models.SET_NULL,
        related_name="attempt",
        help_text="Empty: deleted with its account.",
    )
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="attempts")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    person = models.CharField(
        max_length=64,
        blank=True,
        help_text="Keyed hash of the user's email address; see `person_key`.",
    )
    file_sha256 = models.CharField(max_length=64, blank=True, help_text="Of the file.")
    network = models.CharField(
        max_length=64,
        blank=True,
        help_text="Keyed hash of the network that sent it; see `network_key`.",
    )
    items = models.PositiveIntegerField(null=True, help_text="How many items there are.")
    answered = models.PositiveIntegerField(
        null=True, help_text="How many items have an answer that is not empty."
    )
    repeated = models.PositiveIntegerField(
        null=True, help_text="How many items have the most common answer of the file."
    )
    sketch = models.CharField(
        max_length=64, blank=True, help_text="Of the words of its answers; see `word_sketch`."
    )
    team = models.ForeignKey(
        "accounts.Team",
        null=True,
        on_delete=models.PROTECT,
        related_name="attempts",
        help_text="The team of the submission; it counts against the team's limits too.",
    )
    state = models.CharField(max_length=8, choices=State, default=State.HELD)
    held_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, help_text="When it was charged or failed.")
    bits = models.FloatField(
        null=True,
        help_text="The most that its scores say about hidden gold; see `scoring.boards.ledger`.",
    )
    facts = models.PositiveIntegerField(null=True, help_text="How many facts the gold has.")

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["phase", "user", "state"], name="attempt_standing"),
            models.Index(fields=["person", "phase"], name="attempt_person"),
            models.Index(fields=["phase", "team", "state"], name="attempt_team_standing"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="held", settled_at__isnull=True)
                | (~Q(state="held") & Q(settled_at__isnull=False)),
                name="attempt_settled_has_time",
            )
        ]

    def __str__(self) -> str:
        return f"attempt of submission {self.submission_id or '(deleted)'}: {self.state}"


class Approval(models.Model):
    """Whether a person may receive scores on hidden gold, as an organiser decides.

    With a submission it is the request of a person's first submission, which waits ungraded until
    the decision. Without one, an organiser approved an account.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for approval"
        APPROVED = "approved"
        REFUSED = "refused", "rejected"

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="approvals")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="approvals"
    )
    person = models.CharField(
        max_length=64, help_text="Keyed hash of the user's email address; see `person_key`."
    )
    submission = models.OneToOneField(
        Submission, null=True, on_delete=models.CASCADE, related_name="approval"
    )
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    reason = models.TextField(blank=True, help_text="Why it was rejected. The submitter sees it.")
    decided_by = user_field()
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["person", "state"], name="approval_person")]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="waiting", decided_at__isnull=True)
                | (~Q(state="waiting") & Q(decided_at__isnull=False)),
                name="approval_decided_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="refused") | ~Q(reason=""), name="approval_refused_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"approval {self.pk}: {self.state}"


class Similarity(models.Model):
    """Two submissions with `same` equal predictions among `compared` items that both answered.

    On hidden gold, `words` is the share of words that differ, if it is very small.
    """

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="similarities"
    )
    counterpart = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    same = models.PositiveIntegerField()
    compared = models.PositiveIntegerField()
    words = models.FloatField(null=True, help_text="Estimated share of words that differ.")
    found_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "similarities"
        constraints = [
            models.UniqueConstraint(fields=["submission", "counterpart"], name="likeness_once"),
            models.CheckConstraint(
                condition=Q(submission__gt=F("counterpart")), name="likeness_later_first"
            ),
            models.CheckConstraint(
                condition=Q(compared__gt=0, same__lte=F("compared")), name="likeness_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"submissions {self.submission_id} and {self.counterpart_id}"

    @property
    def share(self) -> float:
        return self.same / self.compared


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def of(self, user: Any) -> "WebhookQuerySet":
        return self.filter(user=user)


class Webhook(models.Model):
    """A URL that gets a message when a grading of its owner's submissions ends."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.URLField("URL", max_length=500)
    secret = models.CharField(max_length=64, help_text="The key that signs every message.")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="webhook_url_once")]

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class Delivery(models.Model):
    """One message to a webhook, with its outcome."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    body = models.TextField(help_text="The JSON that is sent and signed.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    status = models.PositiveSmallIntegerField(
        null=True, help_text="HTTP status of the last answer."
    )
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"delivery {self.pk}: {self.state}"
