"""Creates and changes boards and their phases."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from django.db import transaction
from django.utils.text import capfirst, slugify

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.benchmarks import BENCHMARKS, Benchmark, OptionError
from scoring.leaderboard.services import refresh_shown_scores
from scoring.models import Board, Phase
from scoring.models.boards import phase_windows

from .protection import NewPhase, disclosure, disclosures

MOST_DECIMALS = 6
# Settings of a board that can change, and settings of a phase that cannot once it has submissions.
BOARD_SETTINGS = (
    "title", "description", "rules", "terms", "card_fields", "default_sort", "column_groups",
)  # fmt: skip
GRADED_BY = frozenset({"release", "split", "options", "public_share"})


class BoardRefused(Exception):
    """A board or phase cannot be changed like this. The message gives the reason."""


class DisclosureUnconfirmed(BoardRefused):
    """The change makes information about a private release public, and needs
    `confirm_disclosure`. The message names the information."""


def phase_slug(title: str) -> str:
    """The phase's slug in URLs."""
    return slugify(title)[:40].strip("-") or "phase"


def phase_faults(benchmark: str, phase: NewPhase, *, former: Phase | None = None) -> dict[str, str]:
    """Error messages by field for a phase of a board with this benchmark. `former` is the stored
    phase, if any."""
    faults = {}
    if phase.release.benchmark != benchmark:
        faults["release"] = (
            f"This release is for another benchmark. Choose one for {BENCHMARKS[benchmark].title}."
        )
    if fault := _option_fault(BENCHMARKS[benchmark], phase.options, former):
        faults["options"] = capfirst(fault) + ("" if fault.endswith("?") else ".")
    if phase.opens_at and phase.closes_at and phase.opens_at >= phase.closes_at:
        faults["closes_at"] = "The phase must close after it opens."
    if phase.split and not phase.release.items.filter(split=phase.split).exists():
        faults["split"] = f"The release has no items in the split “{phase.split}”."
    if phase.score_decimals is not None and phase.score_decimals > MOST_DECIMALS:
        faults["score_decimals"] = (
            f"Enter at most {MOST_DECIMALS}, or leave the field empty to show exact scores."
        )
    if is_showing_more(phase):
        faults["diagnostics"] = (
            "Choose “totals only”. With rounded scores or a public share, individual items would "
            "reveal the hidden scores."
        )
    if phase.public_share is not None and (fault := _part_fault(phase)):
        faults["public_share"] = fault
    return faults | _limit_faults(phase)


def _limit_faults(phase: NewPhase) -> dict[str, str]:
    faults = {
        name: "Enter 1 or more, or leave the field empty for no limit."
        for name in ("per_day", "in_total", "failed_per_day")
        if getattr(phase, name) == 0
    }
    if phase.closing_share is not None and not 1 <= phase.closing_share <= 100:
        faults["closing_share"] = (
            "Enter a percentage from 1 to 100, or leave the field empty for no limit."
        )
    return faults


def _option_fault(spec: Benchmark, options: Mapping[str, Any], former: Phase | None) -> str:
    """Why these options are invalid or need a model that is not set up. Unchanged options of a
    stored phase are accepted, so that it can be edited after a model was removed."""
    try:
        chosen = spec.check_options(options)
    except OptionError as error:
        return str(error)
    is_kept = former is not None and former.options == options
    return "" if is_kept else spec.lacking(chosen)


def is_showing_more(phase: NewPhase) -> bool:
    """Whether individual items are shown although the totals are rounded or split in parts."""
    is_holding_back = phase.score_decimals is not None or phase.public_share is not None
    return is_holding_back and phase.diagnostics != Phase.Diagnostics.AGGREGATES


def _part_fault(phase: NewPhase) -> str:
    assert phase.public_share is not None
    if not 1 <= phase.public_share <= 99:
        return "Enter a percentage from 1 to 99, or leave the field empty to score all items."
    items = phase.release.items.all()
    if phase.split:
        items = items.filter(split=phase.split)
    return (
        ""
        if items.count() > 1
        else "Leave the field empty. A public share requires at least two items."
    )


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
    """Creates a draft with its first phase. Only organisers see it until it is opened."""
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
    """Adds a phase. Options are stored with their defaults, so that later defaults do not change
    them. The labels are the release's unless the options name others.

    Raises OptionError, and DisclosureUnconfirmed for a private release on a board that is not a
    draft.
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


def _require_public(disclosed: Iterable[str]) -> None:
    """Raises DisclosureUnconfirmed if anything would become public."""
    if words := " ".join(each for each in disclosed if each):
        raise DisclosureUnconfirmed(words)


def _slugs(wanted: str) -> Iterator[str]:
    """The wanted slug, then the same with -2, -3 … appended."""
    yield wanted
    for number in count(2):
        yield f"{wanted[:36]}-{number}"


@transaction.atomic
def edit_phase(
    *, phase: Phase, wanted: NewPhase, actor: User | None, confirm_disclosure: bool = False
) -> Phase:
    """Writes the settings that differ and logs their former values. Published rows are rounded
    again if the decimals or the limits change.

    Raises BoardRefused if settings of GRADED_BY would change although there are submissions, and
    DisclosureUnconfirmed if a board that is not a draft moves to a private release.
    """
    stored = Phase.objects.select_for_update(of=("self",)).select_related("board").get(pk=phase.pk)
    changes = wanted.settings() | {"options": _complete_options(stored.board, wanted)}
    changes["slug"] = stored.slug
    if changes["options"] == stored.board.spec.check_options(stored.options):
        # An option that a later version added with its default is not a change.
        changes["options"] = stored.options
    before = {
        name: getattr(stored, name)
        for name, value in changes.items()
        if getattr(stored, name) != value
    }
    if GRADED_BY & before.keys() and stored.submissions.exists():
        raise BoardRefused(
            "This phase has submissions, so its release, split, options and public share cannot "
            "change. Add a new phase instead."
        )
    shows_more = not stored.board.is_draft and {"release", "diagnostics"} & before.keys()
    if shows_more and not confirm_disclosure:
        _require_public([disclosure(wanted)])
    for name in before:
        setattr(stored, name, changes[name])
    if before:
        stored.save(update_fields=list(before))
        logged = {name: str(value) for name, value in before.items()}
        record_event(
            verb="edit_phase", subject=stored.board, actor=actor, phase=stored.slug, before=logged
        )
    if {"score_decimals", "per_day", "in_total"} & before.keys():
        refresh_shown_scores(stored)
    return stored


@transaction.atomic
def edit_board(*, board: Board, changes: Mapping[str, Any], actor: User | None) -> Board:
    """Writes the fields of BOARD_SETTINGS that differ and logs their former values."""
    stored = Board.objects.select_for_update().get(pk=board.pk)
    before = {
        name: getattr(stored, name)
        for name in BOARD_SETTINGS
        if name in changes and getattr(stored, name) != changes[name]
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
    """Publishes, archives or hides a board. Hidden boards keep their entries.

    Raises DisclosureUnconfirmed if a draft with a private release would be published.
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
