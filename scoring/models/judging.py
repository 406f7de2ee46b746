"""What an LLM judge said of submissions, and what experts said of the same pages without it."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.datasets.models import Release, ReleaseItem

from .boards import Board, Phase
from .submissions import Submission


class JudgeRun(models.Model):
    """One judge's pass over a submission. What it said is never rewritten: another version, or
    another release of the gold, is another run."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="judge_runs")
    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="+", help_text="Whose gold was judged by."
    )
    model = models.CharField(max_length=120, help_text="Of the judge, as its endpoint names it.")
    prompt_version = models.CharField(max_length=40)
    options = models.JSONField(default=dict, help_text="Under which pages are judged.")
    budget = models.FloatField(
        null=True, validators=[MinValueValidator(0)], help_text="In the currency of the prices."
    )
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    items_total = models.PositiveIntegerField(default=0)
    summary = models.JSONField(
        default=dict, help_text="The judge's scores of the submission, as the paper gives them."
    )
    usage = models.JSONField(default=dict, help_text="Calls, tokens and their cost.")
    unscored = models.JSONField(
        default=dict, help_text="Names of pages without a verdict, and why; they count nowhere."
    )
    error = models.TextField(blank=True)
    is_sample = models.BooleanField(default=False, help_text="Scripted, no model was asked.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.version} on submission {self.submission_id}"

    @property
    def job_group(self) -> str:
        return f"judge:{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}

    @property
    def version(self) -> str:
        """What decides how it judges: model and prompt."""
        return f"{self.model}, {self.prompt_version}"


class JudgeVerdict(models.Model):
    """What stands of a judge's answer for one page. Pages without a verdict are unscored."""

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="verdicts")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    result = models.JSONField(
        help_text="As an item score's, with the judge's reasons, scores and what was overruled."
    )

    class Meta:
        ordering = ["run", "item"]
        constraints = [models.UniqueConstraint(fields=["run", "item"], name="judge_verdict_once")]

    def __str__(self) -> str:
        return f"verdict {self.pk} of run {self.run_id}"


class JudgeExpert(models.Model):
    """Somebody who checks the judge of a board. They see the gold of the pages they are given."""

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
    """Pages of a phase drawn for experts. It is repeatable: see `scoring.metrics.reliability`."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="judge_samples")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    seed = models.CharField(max_length=80)
    percent = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    pool = models.PositiveIntegerField(help_text="Pages of submissions it was drawn from.")
    is_open = models.BooleanField(default=True, help_text="Whether experts still review.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
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
    position = models.PositiveIntegerField(help_text="In the order of drawing, from 1.")
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
        """Of the page that shows judge and experts side by side."""
        return reverse("scoring:judge-case", args=[self.sample.phase.board.slug, self.pk])


class ExpertReview(models.Model):
    """What one expert says of a case, fact by fact; a draft until it is submitted, then final."""

    case = models.ForeignKey(JudgeCase, on_delete=models.CASCADE, related_name="reviews")
    expert = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    facts = models.JSONField(default=dict, help_text="Number of the fact to whether it is right.")
    wrong = models.JSONField(
        default=dict, help_text="Fact type to the number of wrong ones, as the expert counted."
    )
    structure = models.TextField(blank=True, help_text="On the page's structure.")
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
        """True, False, or None where the expert has not said."""
        return self.facts.get(str(n))
