"""Boards, their phases, and when a phase is open."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from portal.accounts.models import user_field
from portal.datasets.models import Release, ReleaseItem
from scoring.benchmarks import BENCHMARKS, Benchmark, Column, OptionError, get_benchmark


class BoardQuerySet(models.QuerySet["Board"]):
    def published(self) -> "BoardQuerySet":
        return self.exclude(state=Board.State.DRAFT)


class Board(models.Model):
    """A public leaderboard of one benchmark."""

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        ARCHIVED = "archived"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=160)
    benchmark = models.CharField(max_length=40, help_text="A key of scoring.benchmarks.")
    description = models.TextField(blank=True, help_text="Markdown.")
    rules = models.TextField(blank=True, help_text="The rules for submitters, in Markdown.")
    terms = models.TextField(
        blank=True, help_text="Terms that submitters must accept, in Markdown. Empty: none."
    )
    card_fields = models.JSONField(
        default=list, blank=True, help_text="Required fields of the model card."
    )
    default_sort = models.CharField(
        max_length=60, blank=True, help_text="A column's key; empty: by the main rank."
    )
    column_groups = models.JSONField(
        default=list, blank=True, help_text="Groups of columns that are shown; empty: all."
    )
    revision = models.PositiveBigIntegerField(
        default=0, help_text="Increases when the leaderboard changes."
    )
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    has_judge = models.BooleanField(
        default=False, help_text="Whether a sample of pages was drawn for judge experts."
    )
    is_sample = models.BooleanField(default=False)
    created_by = user_field()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BoardQuerySet.as_manager()

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("scoring:board", args=[self.slug])

    def clean(self) -> None:
        if self.benchmark not in BENCHMARKS:
            known = ", ".join(BENCHMARKS)
            raise ValidationError({"benchmark": f"Unknown benchmark. Choose one of {known}."})

    @property
    def is_draft(self) -> bool:
        """Whether only organisers see it."""
        return self.state == self.State.DRAFT

    @property
    def spec(self) -> Benchmark:
        """The board's benchmark."""
        return get_benchmark(self.benchmark)

    @property
    def windows(self) -> "list[PhaseWindow]":
        """The board's phases with their current states."""
        return windows_of(self, self.phases.all())


class Window(models.TextChoices):
    """The state of a phase at a given time."""

    UPCOMING = "upcoming"
    OPEN = "open"
    CLOSED = "closed"


def new_salt() -> str:
    return secrets.token_hex(16)


class Phase(models.Model):
    """A board's window for submissions against one release."""

    class Diagnostics(models.TextChoices):
        AGGREGATES = "aggregates", "totals only"
        ITEMS = "items", "scores per item"
        FACTS = "facts", "every fact"

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="phases")
    slug = models.SlugField(max_length=40)
    title = models.CharField(max_length=80)
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="phases")
    split = models.CharField(
        max_length=4,
        choices=ReleaseItem.Split,
        blank=True,
        help_text="The part of the release that is graded; empty: all of it.",
    )
    options = models.JSONField(default=dict, blank=True, help_text="Options of the benchmark.")
    diagnostics = models.CharField(
        max_length=12,
        choices=Diagnostics,
        default=Diagnostics.AGGREGATES,
        help_text="How much a submitter sees of the individual items.",
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    time_zone = models.CharField(
        max_length=40,
        default="UTC",
        help_text="Used to show the phase's times. Example: Asia/Tokyo.",
    )
    per_day = models.PositiveIntegerField(
        null=True, blank=True, help_text="Scores within 24 hours; empty: no limit."
    )
    in_total = models.PositiveIntegerField(
        null=True, blank=True, help_text="Scores in total; empty: no limit."
    )
    failed_per_day = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Attempts without a score within 24 hours; empty: no limit.",
    )
    score_decimals = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Decimals of percentages. Organisers see all digits; empty: everyone does.",
    )
    closing_share = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Percent of the facts of hidden gold. Who can have learnt that many from scores "
        "cannot submit any more; empty: no limit.",
    )
    scores_after = models.DateTimeField(
        null=True, blank=True, help_text="When scores become visible; empty: at once."
    )
    public_share = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(99)],
        help_text="Percent of the items that count while the phase is open; the others count once "
        "it has closed. Empty: all items count at once.",
    )
    takes_incomplete = models.BooleanField(
        default=True, help_text="Whether a file may lack predictions for some items."
    )
    approves_first = models.BooleanField(
        default=False,
        help_text="Whether the first submission of a person to this hidden gold is graded only "
        "after an organiser approved it.",
    )
    part_salt = models.CharField(
        max_length=32,
        default=new_salt,
        editable=False,
        help_text="Chooses the public items. Secret.",
    )

    class Meta:
        ordering = ["board", "id"]
        constraints = [
            models.UniqueConstraint(fields=["board", "slug"], name="phase_slug_in_board"),
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True)
                | Q(closes_at__isnull=True)
                | Q(opens_at__lt=F("closes_at")),
                name="phase_opens_before_it_closes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.board} · {self.title}"

    def clean(self) -> None:
        """Checks the options, and that only a re-grade changes the release of graded
        submissions."""
        if self.board.benchmark in BENCHMARKS:
            try:
                self.board.spec.check_options(self.options)
            except OptionError as error:
                raise ValidationError({"options": f"{error}."}) from error
        if self.pk and self.submissions.exclude(phase__release=self.release_id).exists():
            raise ValidationError(
                {
                    "release": "Submissions were graded against another release. Add a phase or"
                    " start a re-grade instead."
                }
            )

    @property
    def name(self) -> str:
        """The title as a name in running text: “Test phase”, but “Phase 2”."""
        return self.title if "phase" in self.title.lower() else f"{self.title} phase"

    @property
    def items(self) -> "models.QuerySet[ReleaseItem]":
        """The items to grade: those of the release, or of its split."""
        return self.items_of(self.release_id)

    def items_of(self, release_id: int) -> "models.QuerySet[ReleaseItem]":
        """The items to grade in another release of the dataset."""
        items = ReleaseItem.objects.filter(release_id=release_id)
        return items.filter(split=self.split) if self.split else items

    @property
    def columns(self) -> tuple[Column, ...]:
        """All figures of the benchmark under the phase's options."""
        spec = self.board.spec
        return spec.columns_for(spec.check_options(self.options))

    @property
    def counting_figures(self) -> frozenset[str]:
        """The keys of all figures, views included, that are counts instead of rates."""
        spec = self.board.spec
        figures = spec.figures_for(spec.check_options(self.options))
        return frozenset(key for key, column in figures.items() if column.is_count)

    @property
    def gold_figures(self) -> frozenset[str]:
        """The keys of all figures that are rates over gold; see `Column.over`."""
        spec = self.board.spec
        return spec.gold_figures(spec.check_options(self.options))

    @property
    def completeness_rule(self) -> str:
        """Why a submission must answer every item, as a sentence; empty if it need not."""
        if self.board.spec.names_every_id:
            return "This benchmark accepts only files with a prediction for every item."
        return (
            ""
            if self.takes_incomplete
            else "This phase accepts only files with a prediction for every item."
        )

    @property
    def missing_words(self) -> str:
        """How items without a prediction are scored, if a submission need not answer every item."""
        is_skipped = self.options.get("missing") == "skip"
        return "left out of the score" if is_skipped else "scored as zero"

    @property
    def has_parts(self) -> bool:
        """Whether its items are split into a public and a private part."""
        return self.public_share is not None

    def window(self, now: datetime) -> "Window":
        """The state at the time `now`. The phase includes `opens_at` and excludes `closes_at`."""
        if self.opens_at is not None and now < self.opens_at:
            return Window.UPCOMING
        if self.closes_at is not None and now >= self.closes_at:
            return Window.CLOSED
        return Window.OPEN


def moment(phase: Phase, when: datetime | None) -> str:
    """A time in the phase's time zone, such as “21 November 2026, 14:05 UTC”."""
    if when is None:
        return ""
    zone = UTC if phase.time_zone == "UTC" else ZoneInfo(phase.time_zone)
    return f"{when.astimezone(zone):%-d %B %Y, %H:%M} {phase.time_zone}"


def local_time(when: datetime, zone: str) -> datetime:
    """The time in UTC that clocks of this time zone show as `when`, whose own zone is ignored.
    Raises ValueError for a time that clocks skip."""
    local = when.replace(tzinfo=ZoneInfo(zone))
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(fold=0) != local:
        raise ValueError(
            f"This time does not exist in {zone}: the clocks change. Enter another time."
        )
    return local.astimezone(UTC)


@dataclass(frozen=True)
class PhaseWindow:
    """A phase and its current state."""

    phase: Phase
    window: Window

    @property
    def opens_at(self) -> str:
        """In the phase's time zone, with its name."""
        return moment(self.phase, self.phase.opens_at)

    @property
    def closes_at(self) -> str:
        return moment(self.phase, self.phase.closes_at)


def phase_windows(board: Board) -> list[PhaseWindow]:
    """The board's phases, oldest first, with their releases. One query."""
    return windows_of(board, with_releases(board.phases.all()))


def with_releases(phases: QuerySet[Phase]) -> QuerySet[Phase]:
    """Oldest first, with their releases."""
    return phases.select_related("release__dataset").order_by("id")


def windows_of(board: Board, phases: Iterable[Phase]) -> list[PhaseWindow]:
    """The board's phases with their current states."""
    now = timezone.now()
    windows = []
    for phase in phases:
        phase.board = board
        windows.append(PhaseWindow(phase, phase.window(now)))
    return windows


def phase_window(phase: Phase) -> PhaseWindow:
    """The phase with its current state."""
    return PhaseWindow(phase, phase.window(timezone.now()))


def choose_phase(windows: Sequence[PhaseWindow], slug: str) -> Phase | None:
    """The phase with this slug; the newest if there is none."""
    phases = [each.phase for each in windows]
    return next((phase for phase in phases if phase.slug == slug), phases[-1] if phases else None)
