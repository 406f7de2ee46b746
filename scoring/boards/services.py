"""Opening and closing boards and their phases."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import count
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Release
from scoring.benchmarks import BENCHMARKS, Benchmark, OptionError
from scoring.leaderboard.services import refresh_shown_scores
from scoring.models import Board, Phase
from scoring.models.boards import phase_windows

from .protection import UNSAID, disclosure, disclosures, unsaid_settings

MOST_DECIMALS = 6
# What may change of a board, and of a phase once something was submitted to it.
BOARD_SETTINGS = frozenset(
    {"title", "description", "rules", "card_fields", "default_sort", "column_groups"}
)
GRADED_BY = frozenset({"release", "split", "options", "public_share"})


class BoardRefused(Exception):
    """Why a board or phase cannot be changed like this. The message is for people."""


class DisclosureUnconfirmed(BoardRefused):
    """The change makes something of a private release public. The message says what; with
    `confirm_disclosure` the change is made."""


@dataclass(frozen=True)
class NewPhase:
    """What an organiser says of a phase. Options are the benchmark's, checked by the form.

    What is not said of limits, decimals and incomplete files is filled in: on hidden gold with safe
    values, elsewhere without limits.
    """

    slug: str
    title: str
    release: Release
    diagnostics: str = Phase.Diagnostics.AGGREGATES
    options: dict[str, Any] = field(default_factory=dict)
    split: str = ""
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    time_zone: str = "UTC"
    per_day: int | None = UNSAID
    in_total: int | None = UNSAID
    failed_per_day: int | None = None
    score_decimals: int | None = UNSAID
    scores_after: datetime | None = None
    public_share: int | None = None
    takes_incomplete: bool = UNSAID

    def __post_init__(self) -> None:
        for name, value in unsaid_settings(self).items():
            object.__setattr__(self, name, value)

    def settings(self) -> dict[str, Any]:
        """As keyword arguments of Phase, but for the options, which are completed first."""
        return {
            each.name: getattr(self, each.name) for each in fields(self) if each.name != "options"
        }


def phase_slug(title: str) -> str:
    """The phase's word in addresses."""
    return slugify(title)[:40].strip("-") or "phase"


def phase_faults(benchmark: str, phase: NewPhase, *, former: Phase | None = None) -> dict[str, str]:
    """What is wrong with a phase for a board of this benchmark, by field; `former` is the phase as
    it is stored, if it is."""
    faults = {}
    if phase.release.benchmark != benchmark:
        faults["release"] = f"This release was made for {phase.release.benchmark}."
    if fault := _option_fault(BENCHMARKS[benchmark], phase.options, former):
        faults["options"] = f"{fault}."
    if phase.opens_at and phase.closes_at and phase.opens_at >= phase.closes_at:
        faults["closes_at"] = "The phase must close after it opens."
    if phase.split and not phase.release.items.filter(split=phase.split).exists():
        faults["split"] = f"The release has no items of the split “{phase.split}”."
    if phase.score_decimals is not None and phase.score_decimals > MOST_DECIMALS:
        faults["score_decimals"] = f"At most {MOST_DECIMALS}; leave it empty for all digits."
    if is_showing_more(phase):
        faults["diagnostics"] = (
            "Scores that are rounded, or told in parts, need totals only: items would undo it."
        )
    if phase.public_share is not None and (fault := _part_fault(phase)):
        faults["public_share"] = fault
    for name in ("per_day", "in_total"):
        if getattr(phase, name) == 0:
            faults[name] = "At least one; leave it empty for no limit."
    return faults


def _option_fault(spec: Benchmark, options: Mapping[str, Any], former: Phase | None) -> str:
    """What is wrong with these options, or cannot be had here. What a phase has already is no
    fault: it can still be closed when a model is gone."""
    try:
        chosen = spec.check_options(options)
    except OptionError as error:
        return str(error)
    is_kept = former is not None and former.options == options
    return "" if is_kept else spec.lacking(chosen)


def is_showing_more(phase: NewPhase) -> bool:
    """Whether single items are shown although the totals are rounded or told in parts."""
    is_holding_back = phase.score_decimals is not None or phase.public_share is not None
    return is_holding_back and phase.diagnostics != Phase.Diagnostics.AGGREGATES


def _part_fault(phase: NewPhase) -> str:
    assert phase.public_share is not None
    if not 1 <= phase.public_share <= 99:
        return "From 1 to 99 percent; leave it empty for all items."
    items = phase.release.items.all()
    if phase.split:
        items = items.filter(split=phase.split)
    return "" if items.count() > 1 else "Parts need two items at least."


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
def add_phase(
    *, board: Board, phase: NewPhase, actor: User | None, confirm_disclosure: bool = False
) -> Phase:
    """A window for submissions. Options are stored complete: no later default changes them.

    The label set is the release's unless the options name another. Raises OptionError, and
    DisclosureUnconfirmed for a private release on a board that is not a draft.
    """
    if not board.is_draft and not confirm_disclosure:
        _require_public([disclosure(phase)])
    taken = set(board.phases.values_list("slug", flat=True))
    created = Phase(board=board, options=_complete_options(board, phase), **phase.settings())
    created.slug = next(slug for slug in _slugs(phase.slug) if slug not in taken)
    created.save()
    record_event(
        verb="add_phase", subject=board, actor=actor, phase=created.slug, release=phase.release.pk
    )
    return created


def _require_public(told: Iterable[str]) -> None:
    """Raises DisclosureUnconfirmed if any words tell what would become public."""
    if words := " ".join(each for each in told if each):
        raise DisclosureUnconfirmed(words)


def _slugs(wanted: str) -> Iterator[str]:
    """The word itself, then with 2, 3 … after it."""
    yield wanted
    for number in count(2):
        yield f"{wanted[:36]}-{number}"


@transaction.atomic
def edit_phase(
    *, phase: Phase, wanted: NewPhase, actor: User | None, confirm_disclosure: bool = False
) -> Phase:
    """Writes what differs; the log keeps what it was. Published rows are rounded anew if need be.

    Raises BoardRefused when something was submitted and what it was graded by would change, and
    DisclosureUnconfirmed when a board that is not a draft moves to a private release.
    """
    stored = Phase.objects.select_for_update(of=("self",)).select_related("board").get(pk=phase.pk)
    changes = wanted.settings() | {"options": _complete_options(stored.board, wanted)}
    changes["slug"] = stored.slug
    if changes["options"] == stored.board.spec.check_options(stored.options):
        # An option of a later version that has its default is no change.
        changes["options"] = stored.options
    before = {
        name: getattr(stored, name)
        for name, value in changes.items()
        if getattr(stored, name) != value
    }
    if GRADED_BY & before.keys() and stored.submissions.exists():
        raise BoardRefused(
            "Submissions were graded in this phase: its release, split, options and public share "
            "stay."
        )
    tells_more = not stored.board.is_draft and {"release", "diagnostics"} & before.keys()
    if tells_more and not confirm_disclosure:
        _require_public([disclosure(wanted)])
    for name in before:
        setattr(stored, name, changes[name])
    if before:
        stored.save(update_fields=list(before))
        told = {name: str(value) for name, value in before.items()}
        record_event(
            verb="edit_phase", subject=stored.board, actor=actor, phase=stored.slug, before=told
        )
    if "score_decimals" in before:
        refresh_shown_scores(stored)
    return stored


@transaction.atomic
def edit_board(*, board: Board, changes: Mapping[str, Any], actor: User | None) -> Board:
    """Writes the fields of BOARD_SETTINGS that differ; the log keeps what they were."""
    stored = Board.objects.select_for_update().get(pk=board.pk)
    before = {
        name: getattr(stored, name)
        for name in sorted(BOARD_SETTINGS & changes.keys())
        if getattr(stored, name) != changes[name]
    }
    for name in before:
        setattr(stored, name, changes[name])
    if before:
        stored.save(update_fields=list(before))
        record_event(verb="edit_board", subject=stored, actor=actor, before=before)
    return stored


def _complete_options(board: Board, phase: NewPhase) -> dict[str, Any]:
    options = dict(phase.options)
    if "labels" in board.spec.default_options and phase.release.labels:
        options.setdefault("labels", phase.release.labels)
    return board.spec.check_options(options)


@transaction.atomic
def set_board_state(
    *, board: Board, state: Board.State, actor: User | None, confirm_disclosure: bool = False
) -> Board:
    """Publishes, archives or withdraws a board. Withdrawing hides its entries, it deletes none.

    Raises DisclosureUnconfirmed when a draft with a private release is published.
    """
    before = board.state
    if board.is_draft and state != Board.State.DRAFT and not confirm_disclosure:
        _require_public(disclosures(each.phase for each in phase_windows(board)))
    board.state = state
    board.save(update_fields=["state"])
    record_event(
        verb="set_board_state", subject=board, actor=actor, before=before, after=state.value
    )
    return board
