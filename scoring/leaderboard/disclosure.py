"""Which figures of a grading a reader may see.

A phase may round its scores, publish them later, or publish the scores of a public part of its
items while it is open and those of the private part after it closes. Organisers see everything.
Figures that would undo the rounding or the split are left out: counts, figures of subsets, and
scores of individual items. On hidden gold, what is shown is derived from what each figure is a rate
over, and from the number of items and facts (docs/decisions/044).

No one can find out which items are in which part. They are drawn with a secret of the phase, so the
draw is repeatable. Each subset, task or document type contributes the same share.
"""

import hmac
from collections.abc import Container, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from math import floor, sqrt
from typing import Any, NamedTuple, TypeVar

from django.utils import timezone

from portal.accounts.access import is_organiser
from scoring.access import Viewer, are_scores_shown, is_rounding
from scoring.benchmarks import Benchmark, Column, Options, View, deciding_column
from scoring.benchmarks.items import Share
from scoring.figures import columns_of, show
from scoring.models import Entry, Grading, Phase, Window

from .columns import RANK_PREFIX, BoardColumn

PUBLIC, PRIVATE, ALL = "public", "private", "all"
PARTS = {PUBLIC: "Public part", PRIVATE: "Private part", ALL: "All items"}
# Gold fields that define the strata. Missing fields make no difference.
_STRATA = ("gold__subset", "gold__task", "document__doc_type")


def shown_part(phase: Phase, now: datetime) -> str:
    """Return the part whose scores are shown now: the private part from the closing time on."""
    return PRIVATE if phase.window(now) == Window.CLOSED else PUBLIC


def public_count(total: int, share: int) -> int:
    """Return the number of public items: `share` percent, rounded half up, at least one in each
    part.

    >>> public_count(10, 25), public_count(3, 1), public_count(3, 99)
    (3, 1, 2)
    """
    return min(max((total * share + 50) // 100, 1), total - 1)


def public_items(phase: Phase, release: int) -> frozenset[int]:
    """Return the keys of the public items of this release, or of all items if the phase has no
    parts. One query."""
    items = phase.items_of(release)
    rows: list[tuple[Any, ...]] = list(items.values_list("pk", "name", *_STRATA))
    if phase.public_share is None or len(rows) < 2:
        return frozenset(row[0] for row in rows)
    rows.sort(key=lambda row: (_stratum(row), _place(phase.part_salt, row[1])))
    left, places = public_count(len(rows), phase.public_share), len(rows)
    drawn: set[int] = set()
    for _, members in groupby(rows, key=_stratum):
        stratum = list(members)
        # Carry the rounding remainder to the next strata, so that the sum is exact.
        here = round(left * len(stratum) / places)
        drawn.update(row[0] for row in stratum[:here])
        left, places = left - here, places - len(stratum)
    return frozenset(drawn)


def _stratum(row: tuple[Any, ...]) -> list[str]:
    return [str(value or "") for value in row[2:]]


def _place(salt: str, name: str) -> str:
    return hmac.digest(salt.encode(), name.encode(), "sha256").hex()


# More decimals than any column shows.
ALL_DECIMALS = 20
AnyColumn = TypeVar("AnyColumn", Column, BoardColumn)


def hides_gold(phase: Phase, grading: Grading | None = None) -> bool:
    """Whether the scores of the phase are protected and say something about hidden gold: that of
    the phase, or of the release that was graded."""
    if phase.score_decimals is None:
        return False
    is_other = grading is not None and grading.release_id != phase.release_id
    releases = [phase.release, *([grading.release] if grading and is_other else [])]
    return not all(release.opens(phase.split) for release in releases)


# Ten people who use up their attempts learn less than this share of the facts of hidden gold.
ACCOUNTS, LEARNT = 10, 0.01
# The main score may give away most of that; all other scores together the rest.
_MAIN = LEARNT * 3 / 4
# A score in larger steps would mislead readers.
COARSEST = 0.05
_DAYS = 365
# 1, 2 and 5 times a power of ten: steps of which a whole number makes 100%.
_LADDER = tuple(1 / (10**power * part) for power in range(6, -1, -1) for part in (5, 2, 1))
EXACT = 0.0


def steps(phase: Phase, grading: Grading, part: str = "") -> dict[str, float | None]:
    """Return the step of each figure of the grading: it is shown as a multiple of this. EXACT if
    all digits are shown, None if the figure is withheld. Units are those of the scores.

    `part` is one of PARTS; by default the one that the phase shows first.
    """
    spec, options = _rules(phase, grading)
    figures = spec.figures_for(options)
    if phase.score_decimals is None:
        return dict.fromkeys(figures, EXACT)
    if not hides_gold(phase, grading):
        finest = _finest(phase)
        return {key: None if column.is_count else finest for key, column in figures.items()}
    coarse = _coarse_steps(phase, grading, part or _first_part(phase))
    return {key: step if (step := coarse.get(key, 1.0)) <= COARSEST else None for key in figures}


def rank_step(phase: Phase, grading: Grading, part: str) -> float | None:
    """Return the step that ranks a grading whose main score is withheld; None if the main score is
    shown, or nothing ranks."""
    spec, options = _rules(phase, grading)
    main = deciding_column(spec.columns_for(options)).key
    step = _coarse_steps(phase, grading, part).get(main) if hides_gold(phase, grading) else None
    return step if step is not None and step > COARSEST else None


def _rules(phase: Phase, grading: Grading) -> tuple[Benchmark, Options]:
    spec = phase.board.spec
    return spec, spec.check_options(grading.options)


def _first_part(phase: Phase) -> str:
    return PUBLIC if phase.has_parts else ALL


def _finest(phase: Phase) -> float:
    """The last decimal of a percentage that the phase shows, as a rate."""
    return float(10.0 ** -((phase.score_decimals or 0) + 2))


def _coarse_steps(phase: Phase, grading: Grading, part: str) -> dict[str, float]:
    """Return the steps of the rates over hidden gold, however large.

    One item moves a figure by one step at most, and all attempts together say no more about the
    facts than the figure's part of LEARNT; see `_informing_step`.
    """
    spec, options = _rules(phase, grading)
    main = deciding_column(spec.columns_for(options)).key
    gold = spec.gold_figures(options)
    kept = grading.shares.get(part, {})
    shares = {key: Share(*pair) for key, pair in kept.items() if key in gold}
    if main not in shares:
        return {}
    attempts, facts = _attempts(phase), 1 / shares[main].fact
    rest = (LEARNT - _MAIN) / max(len(shares) - 1, 1)
    return {
        key: _step(
            _finest(phase),
            share.item,
            _informing_step(share.fact, attempts, facts * (_MAIN if key == main else rest)),
        )
        for key, share in shares.items()
    }


def _informing_step(fact: float, attempts: int, most: float) -> float:
    """Return the step at which this number of attempts says no more than `most` facts are worth.

    `fact` is what one fact adds to the figure. The best files of an attacker guess as many facts as
    there are attempts, each with an even chance, and solve the linear equations. The sum of a file
    has the variance `attempts * fact**2 / 4`, random rounding adds `step**2 / 6`, and such a value
    says at most `log2(1 + ratio) / 2` bits, the capacity of a channel with noise. A fact with two
    readings is worth one bit.

    >>> [round(_informing_step(1 / 4000, attempts, most=30), 4) for attempts in (20, 200, 2000)]
    [0.0005, 0.009, 0.0945]
    """
    if not attempts:
        return 0.0
    ratio: float = 2 ** (2 * most / attempts) - 1
    return fact * sqrt(1.5 * attempts / ratio)


def _attempts(phase: Phase) -> int:
    """The scores that ACCOUNTS people get within a year; 0 if the organiser set no limit, which
    the page warns of."""
    each = _DAYS * (phase.per_day or 0) if phase.in_total is None else phase.in_total
    return ACCOUNTS * each


def _step(*least: float) -> float:
    """Return the smallest step of the ladder that is not below any of these.

    >>> _step(0.001, 0.0015), _step(0.05), _step(0.3), _step(7)
    (0.002, 0.05, 0.5, 1.0)
    """
    wanted = max(least) * (1 - 1e-9)
    return next((step for step in _LADDER if step >= wanted), 1.0)


def rounded_scores(phase: Phase, grading: Grading, part: str = ALL) -> dict[str, Any]:
    """Return the figures of a grading, over the items of a part, as everyone except organisers may
    see them. Withheld figures are left out. This is the one rule for pages, files, the API, charts
    and messages.

    - Without decimals: all digits.
    - Public gold: rounded to the phase's decimals of a percentage. Scores are rates in [0, 1], so
      one decimal is the third decimal of the rate. Counts are left out, as they would undo it.
    - Hidden gold: only the rates over gold whose step is small enough; see `steps`.
    """
    scores = grading.scores if part == ALL else grading.parts.get(part, {})
    if phase.score_decimals is None:
        return dict(scores)
    if hides_gold(phase, grading):
        coarse = _coarse_scores(phase, grading, part)
        return {key: value for key, (value, step) in coarse.items() if step <= COARSEST}
    places, counts = phase.score_decimals + 2, phase.counting_figures
    return {
        key: None if value is None else round(value, places)
        for key, value in scores.items()
        if key not in counts
    }


class _Coarse(NamedTuple):
    value: float | None
    step: float


def _coarse_scores(phase: Phase, grading: Grading, part: str) -> dict[str, _Coarse]:
    scores = grading.scores if part == ALL else grading.parts.get(part, {})
    return {
        key: _Coarse(
            None
            if (value := scores.get(key)) is None
            else random_rounding(value, step, _draw(phase, grading, part, key)),
            step,
        )
        for key, step in _coarse_steps(phase, grading, part).items()
    }


def random_rounding(value: float, step: float, draw: float) -> float:
    """Round a rate to the multiple of a step below or above it. `draw`, in [0, 1), decides which.

    Over all draws, the mean is the value. Who does not know the draw cannot bring a file to the
    point where one more right answer is sure to show. 0 and 1 stay as they are. The method is
    known from official statistics, as random rounding.

    >>> [random_rounding(0.42, 0.05, draw) for draw in (0.0, 0.59, 0.61)]
    [0.4, 0.4, 0.45]
    """
    places = round(1 / step)
    return min(max(floor(value * places + draw), 0), places) / places


def _draw(phase: Phase, grading: Grading, part: str, figure: str) -> float:
    """Return a number in [0, 1) that no one can guess and that is the same for the same answers."""
    message = f"round\n{part}\n{figure}\n{grading.answers_sha256}"
    digest = hmac.digest(phase.part_salt.encode(), message.encode(), "sha256")
    return (int.from_bytes(digest[:8]) >> 11) / 2**53


def as_shown(user: Viewer, phase: Phase, grading: Grading) -> Grading:
    """Return the grading with the figures that this user may see. Do not save it."""
    shown = copy(grading)
    if not are_scores_shown(user, phase):
        shown.scores, shown.counts, shown.subsets = {}, {}, {}
    elif is_shown_in_parts(user, phase):
        shown.scores = rounded_scores(phase, grading, shown_part(phase, timezone.now()))
        shown.counts, shown.subsets = {}, {}
    elif is_rounding(user, phase):
        shown.scores = rounded_scores(phase, grading)
        shown.counts, shown.subsets = {}, {}
    return shown


def is_shown_in_parts(user: Viewer, phase: Phase) -> bool:
    """Whether the user sees the scores of one part only. Organisers see both parts and the
    total."""
    return phase.has_parts and not is_organiser(user)


def shows_exact_scores(user: Viewer, phase: Phase) -> bool:
    """Whether the user sees unrounded scores over all items."""
    return (
        are_scores_shown(user, phase)
        and not is_rounding(user, phase)
        and not is_shown_in_parts(user, phase)
    )


def part_words(phase: Phase, part: str) -> str:
    """Describe in a sentence which items a part counts. Empty if the phase has no parts."""
    if not phase.has_parts:
        return ""
    if part == PUBLIC:
        return (
            f"Scores cover the public part of the phase, {phase.public_share}% of its items. "
            "Scores for the other items are published when the phase closes."
        )
    if part == PRIVATE:
        return (
            "Scores cover the private part of the phase: all items except the "
            f"{phase.public_share}% whose scores were published while it was open."
        )
    return "Scores cover all items, public and private."


def shown_scores(phase: Phase, grading: Grading) -> dict[str, Any]:
    """Return the scores of a new leaderboard entry. For a phase in parts, those of the public
    part."""
    return _entry_scores(phase, grading, _first_part(phase))


def shown_parts(phase: Phase, grading: Grading) -> dict[str, dict[str, Any]]:
    """Return the scores by part that an entry stores, so that a phase can close automatically."""
    if not phase.has_parts:
        return {}
    return {part: _entry_scores(phase, grading, part) for part in (*grading.parts, ALL)}


def _entry_scores(phase: Phase, grading: Grading, part: str) -> dict[str, Any]:
    """Return what an entry stores: the shown scores and, if the main score is withheld, its step,
    which ranks the entry and is not shown."""
    scores = rounded_scores(phase, grading, part)
    if hides_gold(phase, grading):
        spec, options = _rules(phase, grading)
        main = deciding_column(spec.columns_for(options)).key
        coarse = _coarse_scores(phase, grading, part)
        if main in coarse and main not in scores:
            scores[RANK_PREFIX + main] = coarse[main].value
    return scores


def entry_as_shown(entry: Entry, phase: Phase | None, now: datetime, *, part: str = "") -> Entry:
    """Return the entry with the scores that are shown now, or those of `part`. Do not save it."""
    if phase is not None and phase.has_parts and entry.is_graded:
        entry.scores = entry.parts.get(part or shown_part(phase, now), {})
    return entry


def rounding_words(phase: Phase | None, *, is_scored: bool) -> str:
    """Describe in two sentences how the main score of a phase with hidden gold is shown. Empty for
    other phases."""
    if phase is None or not hides_gold(phase):
        return ""
    if is_scored:
        return (
            "The gold is hidden, so scores are rounded up or down at random to steps that no "
            "single item can change by itself. Scores that would reveal gold are withheld."
        )
    return (
        "The gold is hidden and has too few items to show scores: they would reveal which answers "
        "are right. Ranks follow scores that were rounded at random to large steps, so similar "
        "models may share a rank or change places."
    )


WITHHELD = "These scores are withheld, because they would reveal hidden gold."


def is_withheld(phase: Phase, view: View | None) -> bool:
    """Whether the view shows nothing of graded rows: on hidden gold, if it ranks by another figure
    than a rate over gold; else, where scores are rounded, if it has only counts."""
    if view is None or phase.score_decimals is None:
        return False
    if hides_gold(phase):
        return deciding_column(view.columns).key not in phase.gold_figures
    return all(column.is_count for column in view.columns)


def shown_views(phase: Phase, views: Iterable[View], scores: Container[str]) -> tuple[View, ...]:
    """Return the views with a figure that is shown, each with `shown_columns`."""
    limited = (
        replace(view, columns=shown_columns(phase, view.columns, scores))
        for view in views
        if not is_withheld(phase, view)
    )
    return tuple(view for view in limited if view.columns)


def shown_columns(
    phase: Phase, columns: tuple[AnyColumn, ...], scores: Container[str] | None = None
) -> tuple[AnyColumn, ...]:
    """Limit the columns' decimals to those that the phase shows. On hidden gold, only the columns
    of `scores`, if these are given."""
    is_cut = scores is not None and hides_gold(phase)
    return tuple(
        replace(column, decimals=min(column.decimals, shown_decimals(phase, column.unit)))
        for column in columns
        if not is_cut or column.key in (scores or ())
    )


def shown_decimals(phase: Phase, unit: str) -> int:
    """Return the number of decimals that `rounded_scores` leaves; for percentages two fewer."""
    places = ALL_DECIMALS if phase.score_decimals is None else phase.score_decimals
    return places if unit == "%" else places + 2


@dataclass(frozen=True)
class PartFigure:
    """A headline figure of a submission, over the items of each part and over all."""

    label: str
    help: str
    public: str
    private: str
    both: str


def part_figures(phase: Phase, grading: Grading) -> list[PartFigure]:
    """Return the headline figures by part. Empty if the phase has no parts."""
    if not phase.has_parts:
        return []
    scores = {**grading.parts, ALL: grading.scores}
    columns = columns_of(phase.board.spec, grading.options)
    return [
        PartFigure(
            label=column.label,
            help=column.help,
            public=_shown(column, scores, PUBLIC),
            private=_shown(column, scores, PRIVATE),
            both=_shown(column, scores, ALL),
        )
        for column in columns
        if column.headline
    ]


def _shown(column: Column, scores: Mapping[str, Mapping[str, Any]], part: str) -> str:
    value = scores.get(part, {}).get(column.key)
    return show(value, unit=column.unit, decimals=column.decimals)


def shown_part_words(user: Viewer, phase: Phase) -> str:
    """Describe which items the figures count that this user sees."""
    part = shown_part(phase, timezone.now()) if is_shown_in_parts(user, phase) else ALL
    return part_words(phase, part)
