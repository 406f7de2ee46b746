"""The LLM judge: a board's endpoint and spending, its verdicts, and experts' reviews of them."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from portal.accounts.models import user_field
from portal.datasets.models import Release, ReleaseItem
from portal.jobs.models import Work
from portal.web.fields import SealedField, Unsealable, seal, unseal
from scoring.benchmarks.options import MOST_NAME, read_judge
from scoring.judge.endpoint import read_header

from .boards import Board, Phase
from .submissions import Submission

MOST_URL, MOST_KEY, MOST_HEADERS = 300, 500, 4_000
MOST_AMOUNT = 1_000_000
MOST_CALLS = 100_000
NO_PRICES = "A budget needs prices: calls that cost nothing would never reach it."


def check_url(url: str) -> None:
    """Validates the base URL of a judge. A key must not be part of it, because it is shown."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValidationError("Enter a valid URL.") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValidationError("The URL must begin with http:// or https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise ValidationError("The URL must not contain a user name or password.")
    try:
        parts.hostname.encode("idna")
    except UnicodeError as error:
        raise ValidationError(f"“{parts.hostname}” is not a valid host name.") from error
    if "?" in url or "#" in url or not url.isprintable() or " " in url:
        raise ValidationError("The URL must not contain “?”, “#” or spaces.")


def check_url_and_query(url: str) -> None:
    """Validates a URL that may have a query, which is stored apart and never shown."""
    base, _, query = url.partition("?")
    if "#" in url or " " in url or not url.isprintable():
        raise ValidationError("The URL must not contain “#” or spaces.")
    check_url(base)
    if not query.isascii():
        raise ValidationError("The query must contain only ASCII characters.")


def normalised_url(url: str) -> str:
    return url.rstrip("/")


def parted_url(url: str) -> tuple[str, str | None]:
    """The URL without its query, and the query; None if the URL has no “?”.

    >>> parted_url("https://h.example/v1/?api-version=1"), parted_url("https://h.example/v1")
    (('https://h.example/v1', 'api-version=1'), ('https://h.example/v1', None))
    """
    base, mark, query = url.partition("?")
    return normalised_url(base), query if mark else None


def read_headers(text: str) -> dict[str, str]:
    """Request headers, one per line. Raises ValidationError, without the values."""
    headers = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                name, headers[name] = read_header(line)
            except ValueError as error:
                raise ValidationError(f"Line {number}: {error}.") from error
    return headers


def check_model_name(name: str) -> None:
    """Validates that options can name the judge as `judge(NAME)`."""
    found = read_judge(f"judge({name})", lambda _: "-")
    if found is None or found[0] != name:
        raise ValidationError(
            f"Use at most {MOST_NAME} characters, without spaces, commas, semicolons, "
            "parentheses and |."
        )


def check_key(key: str) -> None:
    """Validates that the key can be sent in an HTTP header."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValidationError("Use only printable ASCII characters, without spaces.")


def check_amount(value: float) -> None:
    """Rejects NaN as well."""
    if not 0 <= value <= MOST_AMOUNT:
        raise ValidationError(f"Enter a number from 0 to {MOST_AMOUNT:,}.")


class Purpose(models.TextChoices):
    """The use of a board's endpoint. Each use has its own budget."""

    JUDGE = "judge", "the board's judge"
    MODEL = "model", "models that organisers run"


class Extras(NamedTuple):
    """The query and headers of every request. `{key}` in the value of a header is replaced by the
    key."""

    query: str = ""
    headers: Mapping[str, str] = {}


class JudgeEndpoint(models.Model):
    """An endpoint of one board: of its judge, used instead of the one in the settings, or of the
    models that organisers run."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="endpoints")
    purpose = models.CharField(max_length=5, choices=Purpose, default=Purpose.JUDGE)
    base_url = models.CharField("URL", max_length=MOST_URL, validators=[check_url])
    model = models.CharField(
        max_length=MOST_NAME,
        validators=[check_model_name],
        help_text="The name of the model at the endpoint.",
    )
    sealed_key = SealedField(blank=True, editable=False)
    sealed_extras = SealedField(blank=True, editable=False)
    price_input = models.FloatField(
        default=0, validators=[check_amount], help_text="Money per million tokens."
    )
    price_output = models.FloatField(default=0, validators=[check_amount])
    calls_per_minute = models.PositiveIntegerField(default=0, help_text="0: no limit.")
    budget = models.FloatField(
        null=True,
        blank=True,
        validators=[check_amount],
        help_text="Per calendar month (UTC), in the currency of the prices.",
    )
    set_by = user_field()
    set_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            # Without prices, spending would never reach the budget.
            models.CheckConstraint(
                condition=Q(budget=None) | Q(price_input__gt=0) | Q(price_output__gt=0),
                name="judge_endpoint_budget_has_prices",
            ),
            models.UniqueConstraint(fields=["board", "purpose"], name="endpoint_once_per_purpose"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} endpoint of board {self.board_id}"

    @property
    def has_key(self) -> bool:
        return bool(self.sealed_key)

    @property
    def is_key_lost(self) -> bool:
        """Whether the key, query or headers cannot be read because SECRET_KEY has changed."""
        try:
            self.read_key()
            self.read_extras()
        except Unsealable:
            return True
        return False

    def keep_key(self, key: str) -> None:
        """Stores the key sealed; an empty key removes it."""
        self.sealed_key = seal(key) if key else ""

    def read_key(self) -> str:
        """Only for calls to the judge. Raises `portal.web.fields.Unsealable`."""
        return unseal(self.sealed_key) if self.sealed_key else ""

    def keep_extras(self, extras: Extras) -> None:
        """Stores the query and the headers sealed, because they may contain keys."""
        is_set = extras.query or extras.headers
        self.sealed_extras = seal(json.dumps(extras._asdict())) if is_set else ""

    def read_extras(self) -> Extras:
        """Only for calls to the endpoint. Raises `portal.web.fields.Unsealable`."""
        return Extras(**json.loads(unseal(self.sealed_extras))) if self.sealed_extras else Extras()

    @property
    def extra_names(self) -> Sequence[str]:
        """The names of the parameters of the query and of the headers; their values stay hidden."""
        try:
            extras = self.read_extras()
        except Unsealable:
            return ()
        return [name for name, _ in parse_qsl(extras.query, keep_blank_values=True)] + [
            *extras.headers
        ]


def month_of_now() -> date:
    """The first day of the current month, UTC."""
    return timezone.now().date().replace(day=1)


class JudgeSpendingQuerySet(models.QuerySet["JudgeSpending"]):
    def of(self, board_id: int, purpose: Purpose, month: date) -> "JudgeSpendingQuerySet":
        return self.filter(board=board_id, purpose=purpose, month=month)

    def total(self) -> float:
        found: float | None = self.aggregate(total=models.Sum("amount"))["total"]
        return found or 0.0


class JudgeSpending(models.Model):
    """The spending of one group of jobs in one month of a board, for one purpose.

    While the jobs run, the row is open and its amount includes money reserved for the next calls.
    If they are killed, the row stays open and all of it counts as spent.
    """

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="judge_spending")
    purpose = models.CharField(max_length=5, choices=Purpose, default=Purpose.JUDGE)
    month = models.DateField(help_text="Its first day, UTC.")
    what = models.CharField(max_length=80, blank=True, help_text="The group of the jobs.")
    amount = models.FloatField(help_text="In the currency of the prices.")
    is_open = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JudgeSpendingQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["board", "month"], name="judge_spending_month")]

    def __str__(self) -> str:
        return f"spending {self.pk} of board {self.board_id}"


class JudgeRun(Work):
    """One judge's pass over a submission. Verdicts are never overwritten: another version of the
    judge or another release of the gold needs a new run."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="judge_runs")
    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="+", help_text="The release with the gold."
    )
    model = models.CharField(max_length=120, help_text="The judge's model.")
    prompt_version = models.CharField(max_length=40)
    options = models.JSONField(default=dict, help_text="Options of the benchmark.")
    budget = models.FloatField(
        null=True, validators=[MinValueValidator(0)], help_text="In the currency of the prices."
    )
    state = models.CharField(max_length=10, choices=Work.State, default=Work.State.QUEUED)
    items_total = models.PositiveIntegerField(default=0)
    summary = models.JSONField(
        default=dict, help_text="The judge's scores of the submission, in the paper's form."
    )
    usage = models.JSONField(default=dict, help_text="Calls, tokens and their cost.")
    unscored = models.JSONField(
        default=dict, help_text="Pages without a verdict and the reasons; they are not counted."
    )
    is_sample = models.BooleanField(default=False, help_text="Scripted, without a model.")
    created_by = user_field()

    def __str__(self) -> str:
        return f"{self.version} on submission {self.submission_id}"

    @property
    def job_group(self) -> str:
        return f"judge:{self.pk}"

    @property
    def version(self) -> str:
        """Model and prompt of the judge."""
        return f"{self.model}, {self.prompt_version}"


class JudgeVerdict(models.Model):
    """A judge's checked answer for one page. Pages without a verdict are unscored."""

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="verdicts")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    result = models.JSONField(
        help_text="Like an item score's, with the judge's reasons, scores and overruled claims."
    )

    class Meta:
        ordering = ["run", "item"]
        constraints = [models.UniqueConstraint(fields=["run", "item"], name="judge_verdict_once")]

    def __str__(self) -> str:
        return f"verdict {self.pk} of run {self.run_id}"


class JudgeExpert(models.Model):
    """A user who reviews the judge of a board. They see the gold of their pages."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="judge_experts")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="judge_boards"
    )
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["board", "id"]
        constraints = [models.UniqueConstraint(fields=["board", "user"], name="judge_expert_once")]

    def __str__(self) -> str:
        return f"{self.user_id} on {self.board_id}"


class JudgeSample(models.Model):
    """A sample of a phase's pages for experts. `scoring.judge.reliability` can repeat the draw."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="judge_samples")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    seed = models.CharField(max_length=80)
    percent = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    pool = models.PositiveIntegerField(help_text="Number of pages it was drawn from.")
    is_open = models.BooleanField(default=True, help_text="Whether experts can review its pages.")
    created_by = user_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["phase"], condition=Q(is_open=True), name="judge_sample_one_open"
            )
        ]

    def __str__(self) -> str:
        return f"sample {self.pk} of {self.phase_id}"


class JudgeCase(models.Model):
    """One page of one submission in a sample."""

    sample = models.ForeignKey(JudgeSample, on_delete=models.CASCADE, related_name="cases")
    position = models.PositiveIntegerField(help_text="Position in the draw, from 1.")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["sample", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "submission", "item"], name="judge_case_once")
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"

    def get_absolute_url(self) -> str:
        """The URL of the page that compares judge and experts."""
        return reverse("scoring:judge-case", args=[self.sample.phase.board.slug, self.pk])


class ExpertReview(models.Model):
    """One expert's decisions on the facts of a case; a draft until it is submitted, then final."""

    case = models.ForeignKey(JudgeCase, on_delete=models.CASCADE, related_name="reviews")
    expert = user_field()
    facts = models.JSONField(default=dict, help_text="Number of the fact to true (right) or false.")
    wrong = models.JSONField(
        default=dict, help_text="Fact type to the number of wrong facts that the expert counted."
    )
    structure = models.TextField(blank=True, help_text="Comment on the page's structure.")
    reasoning = models.JSONField(
        default=dict,
        help_text="Version of the judge to the expert's opinion of its verdict, given after the "
        "review: {decision, reasoning: true if right, comment}.",
    )
    comment = models.TextField(blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["case", "id"]
        constraints = [
            models.UniqueConstraint(fields=["case", "expert"], name="expert_review_once")
        ]

    def __str__(self) -> str:
        return f"review {self.pk} of case {self.case_id}"

    def says(self, n: int) -> Any:
        """The decision on fact `n`; None without one."""
        return self.facts.get(str(n))
