"""Opening and closing boards and their phases."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS, OptionError
from scoring.models import Board, Phase


@dataclass(frozen=True)
class NewPhase:
    """What an organiser says of a phase. Options are the benchmark's, checked by the form."""

    slug: str
    title: str
    release: Release
    diagnostics: str = Phase.Diagnostics.AGGREGATES
    options: dict[str, Any] = field(default_factory=dict)
    opens_at: datetime | None = None
    closes_at: datetime | None = None


def phase_slug(title: str) -> str:
    """The phase's word in addresses."""
    return slugify(title)[:40].strip("-") or "phase"


def phase_faults(benchmark: str, phase: NewPhase) -> dict[str, str]:
    """What is wrong with a phase for a board of this benchmark, by field."""
    faults = {}
    if phase.release.benchmark != benchmark:
        faults["release"] = f"This release was made for {phase.release.benchmark}."
    try:
        BENCHMARKS[benchmark].check_options(phase.options)
    except OptionError as error:
        faults["options"] = f"{error}."
    if phase.opens_at and phase.closes_at and phase.opens_at >= phase.closes_at:
        faults["closes_at"] = "The phase must close after it opens."
    return faults


@transaction.atomic
def create_board(
    *,
    slug: str,
    title: str,
    benchmark: str,
    phase: NewPhase,
    actor: User | None,
    description: str = "",
    is_sample: bool = False,
) -> Board:
    """A draft with its first phase: seen by organisers alone until it is opened."""
    board = Board.objects.create(
        slug=slug,
        title=title,
        benchmark=benchmark,
        description=description,
        is_sample=is_sample,
        created_by=actor,
    )
    record_event(verb="create_board", subject=board, actor=actor, benchmark=benchmark)
    add_phase(board=board, phase=phase, actor=actor)
    return board


@transaction.atomic
def add_phase(*, board: Board, phase: NewPhase, actor: User | None) -> Phase:
    """A window for submissions. Options are stored complete: no later default changes them.

    The label set is the release's unless the options name another. Raises OptionError.
    """
    created = Phase.objects.create(
        board=board,
        slug=phase.slug,
        title=phase.title,
        release=phase.release,
        options=_complete_options(board, phase),
        diagnostics=phase.diagnostics,
        opens_at=phase.opens_at,
        closes_at=phase.closes_at,
    )
    record_event(
        verb="add_phase", subject=board, actor=actor, phase=created.slug, release=phase.release.pk
    )
    return created


def _complete_options(board: Board, phase: NewPhase) -> dict[str, Any]:
    options = dict(phase.options)
    if "labels" in board.spec.default_options and phase.release.labels:
        options.setdefault("labels", phase.release.labels)
    return board.spec.check_options(options)


@transaction.atomic
def set_board_state(*, board: Board, state: Board.State, actor: User | None) -> Board:
    """Publishes, archives or withdraws a board. Withdrawing hides its entries, it deletes none."""
    before = board.state
    board.state = state
    board.save(update_fields=["state"])
    record_event(
        verb="set_board_state", subject=board, actor=actor, before=before, after=state.value
    )
    return board
