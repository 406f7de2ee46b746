"""Submissions: what was uploaded, by whom, for which phase.

With them are the attempts that count against limits, pairs of submissions that are almost the same,
and webhooks.
"""

from typing import Any

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from portal.accounts.models import TeamMember
from portal.datasets.models import ReleaseItem
from portal.web.fields import LinkField

from .boards import Board, Phase


class Category(models.TextChoices):
    """Kinds of systems, as the papers group them."""

    OCR_PIPELINE = "ocr_pipeline", "OCR pipeline"
    OCR_MODEL = "ocr_model", "OCR model"
    OPEN_VLM = "open_vlm", "Open-source VL model"
    PROPRIETARY_VLM = "proprietary_vlm", "Proprietary VL model"
    OTHER = "other", "Other"


class Architecture(models.TextChoices):
    DENSE = "dense", "Dense"
    MIXTURE = "mixture", "Mixture of experts"


class ModelCard(models.Model):
    """What a row of the leaderboard says of the system that produced it."""

    name = models.CharField(max_length=120, help_text="The system's name on the leaderboard.")
    organisation = models.CharField(max_length=120, blank=True)
    size = models.CharField(max_length=20, blank=True, help_text="Parameters, such as 7B.")
    category = models.CharField(max_length=20, choices=Category, default=Category.OTHER)
    link = LinkField(blank=True, help_text="Paper or model page.")
    code_link = LinkField(blank=True, help_text="Where the code is.")
    notes = models.TextField(blank=True, help_text="Anything else a reader needs.")
    open_weights = models.BooleanField(
        null=True, blank=True, help_text="Whether anybody can download the weights."
    )
    architecture = models.CharField(max_length=10, choices=Architecture, blank=True)
    licence = models.CharField(max_length=120, blank=True, help_text="Of the model or program.")
    released_on = models.DateField(
        null=True, blank=True, help_text="When this version of the system came out."
    )
    prompt = models.TextField(blank=True, help_text="What the model was asked, word for word.")
    decoding = models.TextField(
        blank=True, help_text="Decoding settings, such as temperature 0, at most 8,192 tokens."
    )
    output_tokens = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Tokens written for all items together."
    )
    cost = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Of the whole run, in US dollars.",
    )

    class Meta:
        abstract = True

    def card(self) -> dict[str, Any]:
        """The card alone, to be copied to another row that carries one."""
        return {field.name: getattr(self, field.name) for field in ModelCard._meta.local_fields}


# The fields of a model card, in the order of the model.
CARD_FIELDS = [field.name for field in ModelCard._meta.local_fields]
# What everybody is asked for at first; the rest of the card is one click away.
SHORT_CARD = ("name", "organisation", "size", "category", "link", "notes")


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def of(self, user: Any) -> "SubmissionQuerySet":
        return self.filter(owner=user)

    def kept_by(self, user: Any) -> "SubmissionQuerySet":
        """What the user submitted, and what belongs to a team they are in now."""
        teams = TeamMember.objects.filter(user=user).values("team")
        return self.filter(Q(owner=user) | Q(team__in=teams))

    def private(self) -> "SubmissionQuerySet":
        return self.filter(publication=Submission.Publication.PRIVATE)

    def public(self) -> "SubmissionQuerySet":
        """What anyone may read: published, on a board that is published itself."""
        return self.filter(publication=Submission.Publication.PUBLIC).exclude(
            phase__board__state=Board.State.DRAFT
        )


class Submission(ModelCard):
    class Publication(models.TextChoices):
        PRIVATE = "private"
        PUBLIC = "public"

    class Verdict(models.TextChoices):
        """What organisers found out about it."""

        NONE = "", "not looked at"
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
        help_text="The team it belongs to; empty: its owner alone.",
    )
    upload = models.FileField(upload_to="submissions/%Y/%m/", max_length=200)
    filename = models.CharField(max_length=200, help_text="As the owner named it.")
    publication = models.CharField(max_length=10, choices=Publication, default=Publication.PRIVATE)
    form_key = models.CharField(
        max_length=40, blank=True, help_text="Made with the form; a second click finds the first."
    )
    email_origin = models.CharField(
        max_length=200,
        blank=True,
        help_text="The owner gets an e-mail when the grading ends, with links to this address of "
        "the site; empty: none.",
    )
    replaces = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="replaced_by",
        help_text="The version before.",
    )
    version = models.PositiveIntegerField(default=1)
    withdrawn_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=12, choices=Verdict, blank=True, default=Verdict.NONE)
    verdict_reason = models.TextField(blank=True, help_text="Public.")
    is_pinned = models.BooleanField(
        default=False, help_text="Kept in sight on the board, whatever is filtered."
    )
    has_open_items = models.BooleanField(
        default=False, help_text="Everybody may read its single items while it is public."
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
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}: {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:submission", args=[self.pk])


class Prediction(models.Model):
    """One line of a submission: the model's answer to one item."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="predictions")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField(help_text="The benchmark's canonical prediction line.")
    digest = models.CharField(  # noqa: DJ001 - null says another thing than empty
        max_length=32,
        null=True,
        help_text="Of what the answer says; empty where it says too little to be compared, null "
        "while nobody has looked.",
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
    """One place in a phase's limits: held while the submission is graded, used up by its score.

    An attempt that ends without a score gives its place back and counts as a failed one.
    """

    class State(models.TextChoices):
        HELD = "held", "held while it is graded"
        CHARGED = "charged", "used up by a score"
        FAILED = "failed", "ended without a score"

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="attempt")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="attempts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey(
        "accounts.Team",
        null=True,
        on_delete=models.PROTECT,
        related_name="attempts",
        help_text="The team of the submission, whose limits it uses up as well.",
    )
    state = models.CharField(max_length=8, choices=State, default=State.HELD)
    held_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, help_text="When it was charged, or failed.")

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["phase", "user", "state"], name="attempt_standing"),
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
        return f"attempt of submission {self.submission_id}: {self.state}"


class Likeness(models.Model):
    """Of `compared` items that both answered, `same` have the same answer in both."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="likenesses")
    counterpart = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    same = models.PositiveIntegerField()
    compared = models.PositiveIntegerField()
    found_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "likenesses"
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
    """An address that is told of the gradings of its owner's submissions."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.URLField("address", max_length=500)
    secret = models.CharField(max_length=64, help_text="With it every message is signed.")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="webhook_url_once")]

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class Delivery(models.Model):
    """One message to a webhook, and what became of it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    body = models.TextField(help_text="JSON, as it is sent and signed.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    status = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"delivery {self.pk}: {self.state}"
