"""Settings of a phase, how they protect hidden gold, and warnings about those that reveal it.

Each score reveals whether a file is right. A submitter who gets many scores, exact scores or scores
of individual items can work out the gold, although no page shows it. Pages, API, commands and
re-grades all use these rules.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias

from portal.datasets.models import Dataset, Release
from scoring.access import is_release_open
from scoring.models import Phase

# The value of a setting that was not chosen.
UNSET: Any = object()
# Twenty scores with one decimal reveal little. Counts and individual items are hidden with them.
PROTECTED: Mapping[str, Any] = MappingProxyType(
    {
        "score_decimals": 1,
        "per_day": 3,
        "in_total": 20,
        "takes_incomplete": False,
        "closing_share": 50,
    }
)
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "score_decimals": f"{PROTECTED['score_decimals']} decimal and no counts",
        "per_day": f"{PROTECTED['per_day']} scored submissions per day",
        "in_total": f"{PROTECTED['in_total']} scored submissions in total",
        "takes_incomplete": "no incomplete files",
        "closing_share": f"closed to people who can know {PROTECTED['closing_share']}% of it",
        "diagnostics": "totals only",
    }
)
UNPROTECTED: Mapping[str, Any] = MappingProxyType(
    {
        "score_decimals": None,
        "per_day": None,
        "in_total": None,
        "takes_incomplete": True,
        "closing_share": None,
    }
)
TOTALS = Phase.Diagnostics.AGGREGATES
Settings: TypeAlias = "Phase | NewPhase"


@dataclass(frozen=True)
class NewPhase:
    """The settings of a phase. Limits, decimals and incomplete files that are UNSET get safe values
    on hidden gold, and no limits on public gold."""

    slug: str
    title: str
    release: Release
    _: KW_ONLY
    split: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    diagnostics: str = Phase.Diagnostics.AGGREGATES
    time_zone: str = "UTC"
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    per_day: int | None = UNSET
    in_total: int | None = UNSET
    failed_per_day: int | None = None
    takes_incomplete: bool = UNSET
    score_decimals: int | None = UNSET
    closing_share: int | None = UNSET
    scores_after: datetime | None = None
    public_share: int | None = None
    approves_first: bool = False

    def __post_init__(self) -> None:
        for name, value in default_settings(self).items():
            object.__setattr__(self, name, value)

    def settings(self) -> dict[str, Any]:
        """Keyword arguments of Phase, without the options, which are completed first."""
        names = ("slug", *PHASE_SETTINGS)
        return {name: getattr(self, name) for name in names if name != "options"}


# The settings of a phase, in the order of its form.
PHASE_SETTINGS = tuple(setting.name for setting in fields(NewPhase) if setting.name != "slug")
# Those that are times, in the phase's time zone.
TIMES = ("opens_at", "closes_at", "scores_after")


@dataclass(frozen=True)
class Leak:
    """A setting, and a sentence about how it reveals hidden gold."""

    setting: str
    words: str


def is_unprotected(setting: str, value: object) -> bool:
    """Whether this is the setting's value without protection."""
    return setting in UNPROTECTED and UNPROTECTED[setting] == value


def is_gold_hidden(release: Release, split: str) -> bool:
    """Whether the gold of the graded items is hidden."""
    return not release.opens(split)


def default_settings(phase: Settings) -> dict[str, Any]:
    """Values for the settings that are UNSET.

    Where individual items are shown they reveal the gold anyway, so that scores are not rounded.
    Scores that are not rounded would close the phase to everyone after the first.
    """
    defaults = PROTECTED if is_gold_hidden(phase.release, phase.split) else UNPROTECTED
    unset = {name: value for name, value in defaults.items() if getattr(phase, name) is UNSET}
    if "score_decimals" in unset and phase.diagnostics != TOTALS:
        unset["score_decimals"] = None
    if "closing_share" in unset and unset.get("score_decimals", phase.score_decimals) is None:
        unset["closing_share"] = None
    return unset


def outgrown_settings(phase: Phase, release: Release, split: str) -> dict[str, Any]:
    """Settings that must change, with their new values, when the phase moves from public to hidden
    gold."""
    was_hidden = is_gold_hidden(phase.release, phase.split)
    if was_hidden or not is_gold_hidden(release, split):
        return {}
    changes = {
        name: value
        for name, value in PROTECTED.items()
        if is_unprotected(name, getattr(phase, name))
    }
    return changes if phase.diagnostics == TOTALS else {**changes, "diagnostics": TOTALS}


def move_words(phase: Phase, release: Release) -> str:
    """A sentence about the settings that a re-grade on this release changes to protect its gold;
    empty if there are none."""
    changes = outgrown_settings(phase, release, phase.split)
    if not changes:
        return ""
    return (
        f"The gold of {release.version} is hidden, so the phase changes to protected settings: "
        f"{', '.join(_WORDS[name] for name in changes)}. Scores already published are also rounded."
    )


def disclosure(phase: Settings) -> str:
    """Describes what an open board makes public about a private release; empty for a public one."""
    release = phase.release
    if is_release_open(release):
        return ""
    where = "dataset" if release.dataset.visibility == Dataset.Visibility.PRIVATE else "release"
    ids = "stay private" if phase.diagnostics == TOTALS else "are visible to submitters"
    return (
        f"The {where} “{release}” is private. An open board shows everyone the title and URL of "
        f"the dataset, the version, the number of items ({release.item_count:,}) and the names of "
        f"all subsets with scores. Item IDs {ids}."
    )


def warnings(phase: Phase) -> list[str]:
    """Warnings for organisers: what the phase makes public, and how it reveals hidden gold."""
    leaked = [
        *leaks(phase, names_every_id=phase.board.spec.names_every_id),
        *_figure_leaks(phase),
    ]
    return [words for words in (disclosure(phase), *(leak.words for leak in leaked)) if words]


def disclosures(phases: Iterable[Phase]) -> list[str]:
    """Describes what publishing a board with these phases makes public about private releases."""
    return list(dict.fromkeys(words for phase in phases if (words := disclosure(phase))))


def all_warnings(phases: Iterable[Phase]) -> list[tuple[Phase, list[str]]]:
    """The phases with warnings. They need their boards and releases loaded."""
    by_phase = [(phase, warnings(phase)) for phase in phases]
    return [(phase, sentences) for phase, sentences in by_phase if sentences]


def leaks(phase: Settings, *, names_every_id: bool = False) -> list[Leak]:
    """How the settings reveal more of hidden gold than the protected defaults.

    With `names_every_id` the benchmark refuses incomplete files, whatever the phase's setting.
    """
    if not is_gold_hidden(phase.release, phase.split):
        return []
    listed = [*_item_leaks(phase), *_score_leaks(phase), *_limit_leaks(phase)]
    if phase.takes_incomplete and not names_every_id:
        words = "The score of a file with a single answer reveals whether that answer is correct"
        listed.append(Leak("takes_incomplete", f"{words}."))
    return listed


def _item_leaks(phase: Settings) -> Iterator[Leak]:
    if phase.diagnostics == Phase.Diagnostics.FACTS:
        yield Leak(
            "diagnostics",
            "Submitters can see every fact with its gold value, which reveals all gold.",
        )
    elif phase.diagnostics != TOTALS:
        yield Leak(
            "diagnostics",
            "Submitters can see the score of each item, and so which of their answers are correct.",
        )
    if phase.diagnostics != TOTALS and not is_release_open(phase.release):
        yield Leak("diagnostics", "Submitters can see the IDs of all items, which are private.")


def _score_leaks(phase: Settings) -> Iterator[Leak]:
    most = PROTECTED["score_decimals"]
    if phase.score_decimals is None:
        yield Leak(
            "score_decimals",
            "Scores are exact, and the number of correct answers is shown. Submitters can change "
            "one answer at a time and see whether it is correct.",
        )
    elif phase.score_decimals > most:
        yield Leak(
            "score_decimals",
            f"Scores have {phase.score_decimals} decimal places. Submitters may be able to change "
            "one answer at a time and see whether it is correct.",
        )


# Scores named in a warning; the others are counted.
NAMED = 5


def _figure_leaks(phase: Phase) -> Iterator[Leak]:
    """The scores that a protected phase withholds, because the submitter chooses what they are
    shares of."""
    if phase.score_decimals is not None or not is_gold_hidden(phase.release, phase.split):
        return
    spec = phase.board.spec
    options = spec.check_options(phase.options)
    gold = spec.gold_figures(options)
    labels = list(
        dict.fromkeys(
            column.label
            for key, column in spec.figures_for(options).items()
            if key not in gold and not column.is_count
        )
    )
    if labels:
        more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
        yield Leak(
            "score_decimals",
            f"Some scores are shares of what a file answers: {', '.join(labels[:NAMED])}{more}. "
            "Submitters can send a few guesses and empty answers, and see which guesses are "
            "correct.",
        )


def _limit_leaks(phase: Settings) -> Iterator[Leak]:
    for name, period in (("per_day", "per day"), ("in_total", "in total")):
        limit = getattr(phase, name)
        if limit is None:
            words = f"The number of scored submissions {period} is not limited"
        elif limit > PROTECTED[name]:
            words = f"Each submitter can make {limit} scored submissions {period}"
        else:
            continue
        yield Leak(name, f"{words}. Submitters can try answers until the score improves.")
    most = PROTECTED["closing_share"]
    if phase.score_decimals is None:
        return
    if phase.closing_share is None or phase.closing_share > most:
        until = "never" if phase.closing_share is None else f"only at {phase.closing_share}%"
        words = f"The phase closes {until} to a person whose scores can have revealed many facts"
        yield Leak("closing_share", f"{words}.")
