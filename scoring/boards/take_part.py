"""How to take part in a board: the data and limits of each phase, the format, who sees what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count
from django.template.defaultfilters import pluralize
from django.urls import reverse

from portal.datasets.models import ReleaseItem
from scoring.access import Viewer, are_scores_due, may_open_items, may_open_release
from scoring.leaderboard.disclosure import hides_gold
from scoring.models import Board, Phase, Window
from scoring.models.boards import PhaseWindow, moment, phase_windows

from .selectors import ExampleFile, example_file, is_open_to

NO, YES = "no", "yes"
_SEEN = {
    Phase.Diagnostics.ITEMS: "yes, scores only",
    Phase.Diagnostics.FACTS: "yes, for every fact",
}


class Sight(NamedTuple):
    """Who sees one thing: the submitter with their team, and everyone else, in words."""

    what: str
    submitter: str
    everyone: str


@dataclass(frozen=True)
class PhaseToEnter:
    window: PhaseWindow
    items: int
    kit_url: str
    """The starter kit; empty if the gold is public, or the release private."""
    release_url: str
    """Empty if the user may not open the release."""

    @property
    def phase(self) -> Phase:
        return self.window.phase

    @property
    def limits(self) -> Sequence[str]:
        phase = self.phase
        limits = (
            (phase.per_day, "scored submission{} per day"),
            (phase.in_total, "scored submission{} in total"),
            (phase.failed_per_day, "failed attempt{} per day"),
        )
        return [
            f"{limit} {words.format(pluralize(limit))}"
            for limit, words in limits
            if limit is not None
        ]

    @property
    def missing(self) -> str:
        """How the phase treats items without a prediction."""
        if self.phase.completeness_rule:
            return "Not allowed"
        return self.phase.missing_words.capitalize()

    @property
    def sights(self) -> Sequence[Sight]:
        phase = self.phase
        gold = YES if phase.release.opens(phase.split) else NO
        items_open = may_open_items(phase, phase.release)
        return (
            Sight("Your file", YES, NO),
            Sight("Your model card", YES, "once you publish"),
            Sight("Overall scores", _scores(phase), "once you publish"),
            Sight(
                "Per-item results",
                _items(phase),
                "if you publish them" if items_open else NO,
            ),
            Sight("Gold", gold, gold),
        )


def _scores(phase: Phase) -> str:
    """When the submitter sees scores, and how exact they are."""
    due = "once graded" if are_scores_due(phase) else f"from {moment(phase, phase.scores_after)}"
    words = [due]
    if phase.public_share is not None:
        words.append(f"for {phase.public_share}% of the items until the phase closes")
    if hides_gold(phase):
        words.append("rounded at random, or only a rank where they would reveal gold")
    elif phase.score_decimals is not None:
        decimals = phase.score_decimals
        words.append(f"rounded to {decimals} decimal{pluralize(decimals)}")
    return ", ".join(words)


def _items(phase: Phase) -> str:
    """As `scoring.access.diagnostics_for` decides for the submitter."""
    if phase.score_decimals is not None or phase.has_parts:
        return NO
    if phase.diagnostics == Phase.Diagnostics.AGGREGATES:
        return NO
    return _SEEN[Phase.Diagnostics(phase.diagnostics)]


@dataclass(frozen=True)
class TakePartPage:
    board: Board
    phases: Sequence[PhaseToEnter]
    """Open and upcoming ones; if there are none, the latest."""
    example: ExampleFile | None
    may_submit: bool

    @property
    def format_lines(self) -> Sequence[str]:
        """The rules for a file; the page puts the benchmark’s example line before them."""
        return [
            "A JSON Lines file in UTF-8 with one object per line, optionally gzipped, or a ZIP of "
            "such files.",
            *(f"Also accepted: {layout.rstrip('.;')}." for layout in self.board.spec.layouts),
            f"Maximum file size: {settings.UPLOAD_LIMIT // settings.MEGABYTE} MB.",
        ]

    @property
    def has_limits(self) -> bool:
        return any(entered.limits for entered in self.phases)

    @property
    def card_fields(self) -> Sequence[str]:
        """The required fields of the model card, besides the name."""
        return [field for field in self.board.card_fields if field != "name"]

    @property
    def submitted_phase(self) -> Phase | None:
        """The phase that the commands name: the first open one, or else the first."""
        by_state = sorted(self.phases, key=lambda entered: entered.window.window != Window.OPEN)
        return by_state[0].phase if by_state else None


def take_part_page(user: Viewer, board: Board) -> TakePartPage:
    """One query for the phases; one more for splits, and one more on a sample board."""
    windows = phase_windows(board)
    shown = [window for window in windows if window.window != Window.CLOSED] or windows[-1:]
    counts = _item_counts(shown)
    return TakePartPage(
        board=board,
        phases=[_to_enter(user, window, counts) for window in shown],
        example=example_file(board),
        may_submit=any(is_open_to(window, user) for window in windows),
    )


def _to_enter(
    user: Viewer, window: PhaseWindow, counts: dict[tuple[int, str], int]
) -> PhaseToEnter:
    phase = window.phase
    release = phase.release
    is_seen = may_open_release(user, release)
    has_kit = is_seen and not release.opens(phase.split)
    kit = reverse("datasets:starter-kit", args=[release.dataset.slug, release.version])
    return PhaseToEnter(
        window=window,
        items=counts.get((release.pk, phase.split), 0) if phase.split else release.item_count,
        kit_url=kit if has_kit else "",
        release_url=release.get_absolute_url() if is_seen else "",
    )


def _item_counts(windows: Sequence[PhaseWindow]) -> dict[tuple[int, str], int]:
    """The number of items by release and split. One query, or none if no phase has a split."""
    releases = {window.phase.release_id for window in windows if window.phase.split}
    if not releases:
        return {}
    counted = (
        ReleaseItem.objects.filter(release__in=releases)
        .order_by()
        .values_list("release", "split")
        .annotate(n=Count("pk"))
    )
    return {(release, split): n for release, split, n in counted}
