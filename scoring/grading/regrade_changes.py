"""Changes by a re-grade: the plan before it, the progress, and the change log after it.

A plan lists the phases with their submissions and the changes of their gold; the public log of a
board lists rank changes and their reasons.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404
from django.utils.text import capfirst

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.publishing.diff import ItemChange
from portal.datasets.releases.selectors import compare
from scoring.access import Viewer, is_release_open
from scoring.benchmarks import Column, deciding_column
from scoring.boards.protection import is_gold_hidden, move_words
from scoring.figures import show
from scoring.models import (
    Board,
    Grading,
    ItemScore,
    Phase,
    RankMove,
    Regrade,
    RegradedPhase,
    Submission,
)


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
    def items_changed(self) -> int | None:
        return None if hides_gold(self.part) else self.part.items_changed

    @property
    def facts_changed(self) -> int | None:
        return None if hides_gold(self.part) else self.part.facts_changed

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


def log_entries(user: Viewer, board: Board, regrades: Iterable[Regrade]) -> list[LogEntry]:
    """The public log. Rows that are no longer public are counted but not named."""
    return [_entry(user, board, regrade) for regrade in regrades]


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
    public = [
        move for move in moves if move.submission.publication == Submission.Publication.PUBLIC
    ]
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


def _line(column: Column, move: RankMove) -> MoveLine:
    def text(score: float | None) -> str:
        return show(score, unit=column.unit, decimals=column.decimals)

    return MoveLine(move, text(move.score_before), text(move.score_after))


def _reasons(part: RegradedPhase, moves: Sequence[RankMove]) -> list[str]:
    """Changes of the gold, then of scorer and options."""
    reasons = [gold_words(part)] if part.changes_release else []
    pairs = {(move.grading_before.signature, move.grading_after.signature) for move in moves}
    changes = [signature_change(*pair).words for pair in sorted(pairs)]
    reasons += dict.fromkeys(capfirst(words) for words in changes if words)
    return reasons or ["Gold, metric version and options are unchanged."]


def hides_gold(part: RegradedPhase) -> bool:
    """Whether the gold of the phase's items is hidden before or after."""
    releases = (part.release_before, part.release_after)
    return any(is_gold_hidden(release, part.phase.split) for release in releases)


def gold_words(part: RegradedPhase) -> str:
    """The change of the gold in words; how much of hidden gold changed is not said."""
    text = f"Gold {part.release_before.version} → {part.release_after.version}"
    if not part.items_changed:
        return f"{text}: no facts changed"
    if hides_gold(part):
        return f"{text}: hidden gold changed"
    items = f"{part.items_changed:,} item{'' if part.items_changed == 1 else 's'}"
    facts = f"{part.facts_changed:,} fact{'' if part.facts_changed == 1 else 's'}"
    return f"{text}: {facts} changed in {items}"


def _sees_releases(user: Viewer, part: RegradedPhase) -> bool:
    if is_organiser(user):
        return True
    releases = (part.release_before, part.release_after)
    return part.release_after.dataset.visibility == Dataset.Visibility.PUBLIC and all(
        release.visibility != Release.Visibility.PRIVATE for release in releases
    )


NAMES_SHOWN = 10


class RegradeRefused(Exception):
    """The board cannot be graded again like this. The message gives the reason."""


@dataclass(frozen=True)
class GoldChange:
    """The difference between two releases in the items of a phase; see RegradedPhase."""

    items: int = 0
    facts: int | None = 0


@dataclass(frozen=True)
class PhasePlan:
    """One phase with its new release and signature, and the current signatures of its results."""

    phase: Phase
    release: Release
    submissions: int
    signature: str
    signatures: tuple[str, ...]
    gold: GoldChange

    @property
    def changes_release(self) -> bool:
        return self.release != self.phase.release

    @property
    def protection(self) -> str:
        """The settings that change because the new release hides its gold; or nothing."""
        return move_words(self.phase, self.release)

    @property
    def changes(self) -> list[SignatureChange]:
        """The differences of the new signature to each current one."""
        return [
            change
            for current in self.signatures
            if (change := signature_change(current, self.signature)).differs
        ]


@dataclass(frozen=True)
class RegradePlan:
    board: Board
    phases: tuple[PhasePlan, ...]

    @property
    def submissions(self) -> int:
        return sum(phase.submissions for phase in self.phases)


def scored_submissions(phase: Phase) -> QuerySet[Submission]:
    """Submissions with a score that counts, published or not, without withdrawn ones; oldest
    first."""
    scored = Grading.objects.in_force().done().filter(submission=OuterRef("pk"))
    submitted = Submission.objects.filter(phase=phase, withdrawn_at__isnull=True)
    return submitted.filter(Exists(scored)).order_by("pk")


def find_release(board: Board, phase: Phase | None, version: str) -> Release | None:
    """The release with this version in a dataset of the phase, or of any phase of the board; None
    without a version. Raises RegradeRefused."""
    if not version:
        return None
    phases = Phase.objects.filter(pk=phase.pk) if phase else board.phases.all()
    releases = Release.objects.filter(
        dataset__releases__phases__in=phases, version=version
    ).distinct()
    matching = list(releases.select_related("dataset"))
    if not matching:
        raise RegradeRefused(f"The board's datasets have no release {version}.")
    if len(matching) > 1:
        raise RegradeRefused(f"Several datasets have a release {version}. Choose a phase.")
    return matching[0]


def regrade_plan(
    board: Board, *, phase: Phase | None = None, release: Release | None = None
) -> RegradePlan:
    """The plan to re-grade one phase, or all with scores, on their releases or another one.

    Another release must belong to the phase's dataset and have the same items. For the whole board
    it applies only to the phases of its dataset. Raises RegradeRefused.
    """
    chosen = [phase] if phase else list(board.phases.select_related("release__dataset"))
    for target in chosen:
        target.board = board
    if release is not None and all(
        target.release.dataset_id != release.dataset_id for target in chosen
    ):
        raise RegradeRefused(
            f"{release} belongs to another dataset, so its results cannot replace the current "
            "results. Add a phase for it instead."
        )
    plans = [_phase_plan(target, release) for target in chosen]
    plans = [plan for plan in plans if plan.submissions]
    if not plans:
        raise RegradeRefused("There are no scored submissions to grade again.")
    return RegradePlan(board, tuple(plans))


def _phase_plan(phase: Phase, release: Release | None) -> PhasePlan:
    moves = release is not None and release.dataset_id == phase.release.dataset_id
    target = release if release is not None and moves else phase.release
    if not phase.board.is_draft and is_release_open(phase.release) and not is_release_open(target):
        raise RegradeRefused(
            f"{target} is private and the board is not a draft. Add a phase for it, where you can "
            "confirm what becomes public."
        )
    spec = phase.board.spec
    gradings = (
        Grading.objects.in_force()
        .done()
        .filter(submission__phase=phase, submission__withdrawn_at__isnull=True)
    )
    return PhasePlan(
        phase=phase,
        release=target,
        submissions=scored_submissions(phase).count(),
        signature=spec.signature(spec.check_options(phase.options)),
        signatures=tuple(
            gradings.order_by("signature").values_list("signature", flat=True).distinct()
        ),
        gold=GoldChange() if target == phase.release else _gold_change(phase, target),
    )


def _gold_change(phase: Phase, release: Release) -> GoldChange:
    """Raises RegradeRefused unless the releases have the same items, of the same benchmark."""
    if release.benchmark != phase.release.benchmark:
        raise RegradeRefused(f"{release} is for another benchmark. Choose another release.")
    _check_items(phase, release)
    names = set(phase.items.values_list("name", flat=True))
    diff = compare(phase.release, release)
    changed = [item for item in diff.items if item.name in names]
    opened = [item for item in changed if _is_open(phase.release, release, item)]
    # Items without facts have fields.
    facts = sum(len(item.facts) or len(item.fields) for item in opened)
    return GoldChange(len(changed), None if changed and not opened else facts)


def _check_items(phase: Phase, release: Release) -> None:
    before = set(phase.items.values_list("name", flat=True))
    after = set(phase.items_of(release.pk).values_list("name", flat=True))
    if before != after:
        differences = [
            f"{words}: {_listed(names)}"
            for words, names in (("removed", before - after), ("added", after - before))
            if names
        ]
        part = f" in the split “{phase.get_split_display()}”" if phase.split else ""
        raise RegradeRefused(
            f"{release} and {phase.release.version} have different items{part}"
            f" ({'; '.join(differences)}). Add a phase for it."
        )


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - NAMES_SHOWN
    return ", ".join(ordered[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _is_open(before: Release, after: Release, item: ItemChange) -> bool:
    """Whether the gold of the item is public in both releases."""
    sides = [(before, item.before), (after, item.after)]
    return all(side is not None and release.opens(side.split) for release, side in sides)


@dataclass(frozen=True)
class RegradeProgress:
    """The progress of a batch. Its number of submissions can still grow."""

    submissions: int
    submissions_done: int
    items: int
    items_done: int


@dataclass(frozen=True)
class RegradePage:
    regrade: Regrade
    phases: Sequence[RegradedPhase]
    progress: RegradeProgress


def board_regrades(board: Board) -> QuerySet[Regrade]:
    """Newest first, with their phases and releases. Two queries."""
    return (
        board.regrades.select_related("board", "started_by")
        .prefetch_related("phases__phase", "phases__release_before", "phases__release_after")
        .order_by("-id")
    )


def regrade_page(board: Board, pk: int) -> RegradePage:
    regrade = get_object_or_404(board_regrades(board), pk=pk)
    phases = sorted(regrade.phases.all(), key=lambda part: part.phase_id)
    return RegradePage(regrade, phases, _progress(regrade))


def _progress(regrade: Regrade) -> RegradeProgress:
    """Two queries."""
    gradings = regrade.gradings.filter(submission__withdrawn_at__isnull=True)
    counted = gradings.aggregate(
        submissions=Count("pk"),
        done=Count("pk", filter=Q(state=Grading.State.DONE)),
        items=Sum("items_total", default=0),
    )
    scored = ItemScore.objects.filter(
        grading__regrade=regrade, grading__submission__withdrawn_at__isnull=True
    )
    return RegradeProgress(
        submissions=counted["submissions"],
        submissions_done=counted["done"],
        items=counted["items"],
        items_done=scored.count(),
    )
