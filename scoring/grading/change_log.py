"""The change log of a board: rank changes after re-grades, and their reasons."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.core.paginator import Page, Paginator
from django.db.models import Prefetch, QuerySet

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Release
from scoring.access import Viewer
from scoring.benchmarks import Column, deciding_column
from scoring.figures import show
from scoring.models import Board, Phase, RankMove, Regrade, RegradedPhase, Submission


@dataclass(frozen=True)
class SignatureChange:
    """The scorer's `version` before and after, if it differs, and the other `parts` that differ."""

    version: tuple[str, str] | None
    parts: tuple[tuple[str, str], ...]

    @property
    def differs(self) -> bool:
        return self.version is not None or bool(self.parts)

    @property
    def words(self) -> str:
        """Such as `scorer v1 → v2; missing:zero → missing:skip`; empty if nothing differs."""
        changes = [f"scorer {self.version[0]} → {self.version[1]}"] if self.version else []
        changes += [f"{before or 'nothing'} → {after or 'nothing'}" for before, after in self.parts]
        return "; ".join(changes)


def signature_change(before: str, after: str) -> SignatureChange:
    """The difference of two signatures `benchmark|version|name:value|…`; parts match by name.

    >>> signature_change("b|v1|missing:zero|text:all", "b|v2|missing:skip|text:all").words
    'scorer v1 → v2; missing:zero → missing:skip'
    >>> signature_change("b|v1|rule", "b|v1|rule|units:page").words
    'nothing → units:page'
    """
    (was_version, *was), (now_version, *now) = _split(before), _split(after)
    old, new = _by_name(was), _by_name(now)
    parts = [
        (old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    version = (was_version, now_version) if was_version != now_version else None
    return SignatureChange(version, tuple(parts))


def _split(signature: str) -> list[str]:
    """The version, then the parts; without the benchmark's name, which cannot differ."""
    return signature.split("|")[1:] or [""]


def _by_name(parts: Sequence[str]) -> dict[str, str]:
    return {part.partition(":")[0]: part for part in parts}


PER_PAGE = 10


@dataclass(frozen=True)
class MoveLine:
    """A row before and after, with its scores as shown on the board."""

    move: RankMove
    text_before: str
    text_after: str

    @property
    def places(self) -> int:
        """Ranks gained; negative if it fell, zero if it was or is not ranked."""
        if self.move.rank_before is None or self.move.rank_after is None:
            return 0
        return self.move.rank_before - self.move.rank_after

    @property
    def has_moved(self) -> bool:
        return self.move.rank_before != self.move.rank_after

    @property
    def is_changed(self) -> bool:
        return self.has_moved or self.text_before != self.text_after

    @property
    def places_words(self) -> str:
        if not self.places:
            return ""
        return f"{'up' if self.places > 0 else 'down'} {abs(self.places)}"


@dataclass(frozen=True)
class PhaseChange:
    """The changes of a re-grade in one phase."""

    part: RegradedPhase
    column: Column
    """The figure that decides the ranks."""
    reasons: Sequence[str]
    links_diff: bool
    """Whether the reader can open the comparison of the releases."""
    lines: Sequence[MoveLine]
    """Every row that is still public, in the order of the leaderboard."""
    left_out: int
    """The number of rows that are no longer public."""

    @property
    def phase(self) -> Phase:
        return self.part.phase

    @property
    def changed(self) -> list[MoveLine]:
        return [line for line in self.lines if line.is_changed]

    @property
    def moved(self) -> int:
        return sum(line.has_moved for line in self.lines)

    @property
    def unchanged(self) -> int:
        return len(self.lines) - len(self.changed)


@dataclass(frozen=True)
class LogEntry:
    """A finished re-grade."""

    regrade: Regrade
    phases: Sequence[PhaseChange]


@dataclass(frozen=True)
class ChangeLog:
    page: Page[Regrade]
    entries: Sequence[LogEntry]


def done_regrades(board: Board) -> QuerySet[Regrade]:
    """Newest first, with the data of the log. Three queries for a page."""
    parts = RegradedPhase.objects.select_related(
        "phase", "release_before__dataset", "release_after__dataset"
    )
    moves = RankMove.objects.select_related("submission").prefetch_related(
        "grading_before", "grading_after"
    )
    return (
        board.regrades.filter(state=Regrade.State.DONE)
        .prefetch_related(
            Prefetch("phases", queryset=parts.order_by("phase")),
            Prefetch("moves", queryset=moves.order_by("phase", "rank_after", "id")),
        )
        .order_by("-finished_at", "-id")
    )


def change_log(user: Viewer, board: Board, page: str) -> ChangeLog:
    """The public log. Rows that are no longer public are counted but not named."""
    shown = Paginator(done_regrades(board), PER_PAGE).get_page(page)
    return ChangeLog(shown, log_entries(user, board, shown))


def log_entries(user: Viewer, board: Board, regrades: Iterable[Regrade]) -> list[LogEntry]:
    return [_entry(user, board, each) for each in regrades]


def _entry(user: Viewer, board: Board, regrade: Regrade) -> LogEntry:
    moves: Mapping[int, list[RankMove]] = {
        phase: list(members)
        for phase, members in groupby(regrade.moves.all(), key=lambda move: move.phase_id)
    }
    phases = []
    for part in regrade.phases.all():
        part.phase.board = board
        phases.append(_phase_change(user, part, moves.get(part.phase_id, [])))
    return LogEntry(regrade, phases)


def _phase_change(user: Viewer, part: RegradedPhase, moves: Sequence[RankMove]) -> PhaseChange:
    column = deciding_column(part.phase.columns)
    public = [move for move in moves if _is_public(move)]
    sign = -1 if column.direction == "up" else 1
    public.sort(
        key=lambda move: (move.rank_after or math.inf, sign * (move.score_after or 0.0)),
    )
    return PhaseChange(
        part=part,
        column=column,
        reasons=_reasons(part, public),
        links_diff=part.changes_release and _sees_releases(user, part),
        lines=[_line(column, move) for move in public],
        left_out=len(moves) - len(public),
    )


def _is_public(move: RankMove) -> bool:
    return move.submission.publication == Submission.Publication.PUBLIC


def _line(column: Column, move: RankMove) -> MoveLine:
    def text(score: float | None) -> str:
        return show(score, unit=column.unit, decimals=column.decimals)

    return MoveLine(move, text(move.score_before), text(move.score_after))


def _reasons(part: RegradedPhase, moves: Sequence[RankMove]) -> list[str]:
    """Changes of the gold, then of scorer and options."""
    reasons = [gold_words(part)] if part.changes_release else []
    pairs = {(move.grading_before.signature, move.grading_after.signature) for move in moves}
    changes = [signature_change(*pair).words for pair in sorted(pairs)]
    reasons += dict.fromkeys(f"{words[0].upper()}{words[1:]}" for words in changes if words)
    return reasons or ["Gold, scorer and options did not change."]


def gold_words(part: RegradedPhase) -> str:
    """The change of the gold in words, without facts if the gold of all changed items is hidden."""
    text = f"Gold {part.release_before.version} → {part.release_after.version}"
    items = f"{part.items_changed:,} item{'' if part.items_changed == 1 else 's'}"
    if not part.items_changed:
        return f"{text}: the same facts"
    if part.facts_changed is None:
        return f"{text}: {items} changed (hidden gold)"
    facts = f"{part.facts_changed:,} fact{'' if part.facts_changed == 1 else 's'}"
    return f"{text}: {facts} changed in {items}"


def _sees_releases(user: Viewer, part: RegradedPhase) -> bool:
    if is_organiser(user):
        return True
    releases = (part.release_before, part.release_after)
    return part.release_after.dataset.visibility == Dataset.Visibility.PUBLIC and all(
        release.visibility != Release.Visibility.PRIVATE for release in releases
    )
