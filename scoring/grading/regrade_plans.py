"""What a re-grade would do, and how far one is.

A plan names the phases, counts the submissions, and says what differs in their gold.
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
    """The board cannot be graded again like this. The message says why."""


@dataclass(frozen=True)
class GoldChange:
    """What differs between two releases in the items of a phase; see RegradedPhase."""

    items: int = 0
    facts: int | None = 0


@dataclass(frozen=True)
class PhasePlan:
    """One phase: the release it is graded on then, and the signatures that its results bear now."""

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
        """What is set otherwise because the other release hides its gold; or nothing."""
        return move_words(self.phase, self.release)

    @property
    def changes(self) -> list[SignatureChange]:
        """What differs in how it is graded, once for every signature there is now."""
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
    """Those with a score that counts, published or not, that were not withdrawn; oldest first."""
    scored = Grading.objects.in_force().done().filter(submission=OuterRef("pk"))
    submitted = Submission.objects.filter(phase=phase, withdrawn_at__isnull=True)
    return submitted.filter(Exists(scored)).order_by("pk")


def find_release(board: Board, phase: Phase | None, version: str) -> Release | None:
    """The release of this version that the phase, or one of the board's, could be graded on; none
    for no version. Raises RegradeRefused."""
    if not version:
        return None
    phases = Phase.objects.filter(pk=phase.pk) if phase else board.phases.all()
    releases = Release.objects.filter(
        dataset__releases__phases__in=phases, version=version
    ).distinct()
    found = list(releases.select_related("dataset"))
    if not found:
        raise RegradeRefused(f"No dataset that was graded has a release {version}.")
    if len(found) > 1:
        raise RegradeRefused(f"Several datasets have a release {version}: name the phase.")
    return found[0]


def regrade_plan(
    board: Board, *, phase: Phase | None = None, release: Release | None = None
) -> RegradePlan:
    """A re-grade of one phase, or of all that have scores; on their releases, or on another one.

    Another release must be of the phase's dataset and have its items. With the whole board it is
    for the phases of its dataset, and the others stay on theirs. Raises RegradeRefused.
    """
    chosen = [phase] if phase else list(board.phases.select_related("release__dataset"))
    for each in chosen:
        each.board = board
    if release is not None and all(
        each.release.dataset_id != release.dataset_id for each in chosen
    ):
        raise RegradeRefused(
            f"{release} is of another dataset than what was graded: results on other pages cannot"
            " take each other’s place. Add a phase for it."
        )
    plans = [_phase_plan(each, release) for each in chosen]
    plans = [each for each in plans if each.submissions]
    if not plans:
        raise RegradeRefused("There is nothing to grade again: no submission has a score.")
    return RegradePlan(board, tuple(plans))


def _phase_plan(phase: Phase, release: Release | None) -> PhasePlan:
    moves = release is not None and release.dataset_id == phase.release.dataset_id
    target = release if release is not None and moves else phase.release
    if not phase.board.is_draft and is_release_open(phase.release) and not is_release_open(target):
        raise RegradeRefused(
            f"{target} is private and the board is not a draft. Add a phase for it: that asks what "
            "may become public."
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
        told = [
            f"{words}: {_listed(names)}"
            for words, names in (("without", before - after), ("new", after - before))
            if names
        ]
        part = f" in the part “{phase.get_split_display()}”" if phase.split else ""
        raise RegradeRefused(
            f"{release} has other items than {phase.release.version}{part} ({'; '.join(told)})."
            " Submissions answer the items they were made for: add a phase for it."
        )


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - NAMES_SHOWN
    return ", ".join(ordered[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _is_open(before: Release, after: Release, item: ItemChange) -> bool:
    """Whether everybody may see the gold of the item in both."""
    sides = [(before, item.before), (after, item.after)]
    return all(side is not None and release.opens(side.split) for release, side in sides)


def _values_changed(item: ItemChange) -> int:
    """Facts that came, went or changed; of gold without facts its fields."""
    return len(item.facts) or len(item.fields)


@dataclass(frozen=True)
class RegradeProgress:
    """How far a batch is. The number of its submissions may still grow."""

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
