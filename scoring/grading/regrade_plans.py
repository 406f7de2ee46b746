"""Plans and progress of re-grades.

A plan lists the phases with their submissions and the changes of their gold.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404

from portal.datasets.models import Release
from portal.datasets.releases.publishing.diff import ItemChange
from portal.datasets.releases.selectors import compare
from scoring.access import is_release_open
from scoring.boards.protection import move_words
from scoring.models import Board, Grading, ItemScore, Phase, Regrade, RegradedPhase, Submission

from .change_log import SignatureChange, signature_change

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
            for each in self.signatures
            if (change := signature_change(each, self.signature)).differs
        ]


@dataclass(frozen=True)
class RegradePlan:
    board: Board
    phases: tuple[PhasePlan, ...]

    @property
    def submissions(self) -> int:
        return sum(each.submissions for each in self.phases)


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
    found = list(releases.select_related("dataset"))
    if not found:
        raise RegradeRefused(f"The board's datasets have no release {version}.")
    if len(found) > 1:
        raise RegradeRefused(f"Several datasets have a release {version}. Choose a phase.")
    return found[0]


def regrade_plan(
    board: Board, *, phase: Phase | None = None, release: Release | None = None
) -> RegradePlan:
    """The plan to re-grade one phase, or all with scores, on their releases or another one.

    Another release must belong to the phase's dataset and have the same items. For the whole board
    it applies only to the phases of its dataset. Raises RegradeRefused.
    """
    chosen = [phase] if phase else list(board.phases.select_related("release__dataset"))
    for each in chosen:
        each.board = board
    if release is not None and all(
        each.release.dataset_id != release.dataset_id for each in chosen
    ):
        raise RegradeRefused(
            f"{release} belongs to another dataset, whose results cannot replace the current ones."
            " Add a phase for it."
        )
    plans = [_phase_plan(each, release) for each in chosen]
    plans = [each for each in plans if each.submissions]
    if not plans:
        raise RegradeRefused("No submission has a score to grade again.")
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
        raise RegradeRefused(f"{release} was made for {release.benchmark}.")
    _check_items(phase, release)
    names = set(phase.items.values_list("name", flat=True))
    diff = compare(phase.release, release)
    changed = [item for item in diff.items if item.name in names]
    opened = [item for item in changed if _is_open(phase.release, release, item)]
    facts = sum(_values_changed(item) for item in opened)
    return GoldChange(len(changed), None if changed and not opened else facts)


def _check_items(phase: Phase, release: Release) -> None:
    before = set(phase.items.values_list("name", flat=True))
    after = set(phase.items_of(release.pk).values_list("name", flat=True))
    if before != after:
        differences = [
            f"{words}: {_listed(names)}"
            for words, names in (("without", before - after), ("new", after - before))
            if names
        ]
        part = f" in the part “{phase.get_split_display()}”" if phase.split else ""
        raise RegradeRefused(
            f"{release} has other items than {phase.release.version}{part}"
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


def _values_changed(item: ItemChange) -> int:
    """The number of changed facts; for gold without facts, of changed fields."""
    return len(item.facts) or len(item.fields)


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
