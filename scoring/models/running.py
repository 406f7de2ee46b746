"""Runs of models that organisers start: their settings, and every answer as it arrived."""

from django.core.validators import MinValueValidator
from django.db import models
from django.urls import reverse

from portal.accounts.models import user_field
from portal.datasets.models import Release, ReleaseItem
from portal.jobs.models import Work

from .boards import Phase
from .submissions import Submission

MOST_CONCURRENCY = 64


class ModelRun(Work):
    """A model that is asked about every item of a phase, at the board's model endpoint.

    Its settings never change: what is asked again after an interruption is the same.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="model_runs")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=120, help_text="The name of its submission.")
    model = models.CharField(max_length=120, help_text="The model's name at the endpoint.")
    base_url = models.CharField("URL", max_length=300, help_text="The endpoint's, at the start.")
    prompts = models.JSONField(
        help_text="{version, texts: {name: text}}, as they were at the start."
    )
    system_prompt = models.TextField(blank=True)
    is_raw = models.BooleanField(
        default=False, help_text="Whether answers are submitted as they arrived, without repairs."
    )
    decoding = models.JSONField(default=dict)
    concurrency = models.PositiveSmallIntegerField(default=4)
    budget = models.FloatField(
        null=True, validators=[MinValueValidator(0)], help_text="In the currency of the prices."
    )
    items_total = models.PositiveIntegerField()
    rerun_of = models.ForeignKey(
        Submission,
        null=True,
        on_delete=models.CASCADE,
        related_name="model_reruns",
        help_text="The submission that it repeats; empty: it makes a row of its own.",
    )
    submission = models.OneToOneField(
        Submission, null=True, on_delete=models.SET_NULL, related_name="model_run"
    )
    created_by = user_field()

    class Meta(Work.Meta):
        pass

    def __str__(self) -> str:
        return f"run {self.pk} of {self.model}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:model-run", args=[self.phase.board.slug, self.pk])

    @property
    def job_group(self) -> str:
        return f"run:{self.pk}"

    @property
    def prompt_texts(self) -> list[tuple[str, str]]:
        """Headings and texts, with the system prompt."""
        texts = sorted(self.prompts["texts"].items())
        named = [(f"Prompt {self.prompts['version']}/{name}", text) for name, text in texts]
        return [*named, ("System prompt", self.system_prompt)] if self.system_prompt else named

    @property
    def may_go_on(self) -> bool:
        """Whether it ended without a submission, so that the rest can be asked."""
        return self.state in {self.State.FAILED, self.State.CANCELLED} and not self.submission_id


class RunAnswer(models.Model):
    """The last outcome of one item of a run."""

    run = models.ForeignKey(ModelRun, on_delete=models.CASCADE, related_name="answers")
    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, help_text="As in a run manifest.")
    text = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    seconds = models.FloatField(null=True)
    attempts = models.PositiveIntegerField(default=1)
    usage = models.JSONField(default=dict, help_text="Of all attempts, also of failed ones.")
    at = models.DateTimeField()

    class Meta:
        ordering = ["run", "item"]
        constraints = [models.UniqueConstraint(fields=["run", "item"], name="run_answer_once")]

    def __str__(self) -> str:
        return f"answer {self.pk} of run {self.run_id}"
