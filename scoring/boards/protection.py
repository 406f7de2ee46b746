"""How a phase keeps hidden gold from being guessed, and what looser settings tell of it.

The one place that pages, API, commands and re-grades ask. A score is an answer to the question
whether a file is right. Whoever may ask often, exactly, or about one item at a time can work out
the gold, though no page shows it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from portal.datasets.models import Dataset, Release
from scoring.access import is_release_open
from scoring.models import Phase

# The value of a setting that nobody chose.
UNSAID: Any = object()
# Of 20 scores with one decimal nobody learns much; counts and single items are withheld with them.
PROTECTED: Mapping[str, Any] = MappingProxyType(
    {"score_decimals": 1, "per_day": 3, "in_total": 20, "takes_incomplete": False}
)
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "score_decimals": f"{PROTECTED['score_decimals']} decimal and no counts",
        "per_day": f"{PROTECTED['per_day']} scores a day",
        "in_total": f"{PROTECTED['in_total']} scores in total",
        "takes_incomplete": "no incomplete files",
        "diagnostics": "totals only",
    }
)
UNPROTECTED: Mapping[str, Any] = MappingProxyType(
    {"score_decimals": None, "per_day": None, "in_total": None, "takes_incomplete": True}
)
TOTALS = Phase.Diagnostics.AGGREGATES


class Settings(Protocol):
    """What of a Phase or a NewPhase is asked here."""

    @property
    def release(self) -> Any: ...

    @property
    def split(self) -> Any: ...

    @property
    def diagnostics(self) -> Any: ...

    @property
    def score_decimals(self) -> Any: ...

    @property
    def per_day(self) -> Any: ...

    @property
    def in_total(self) -> Any: ...

    @property
    def takes_incomplete(self) -> Any: ...


@dataclass(frozen=True)
class Leak:
    """A setting and what it tells of hidden gold, in a sentence."""

    setting: str
    words: str


def is_unprotected(setting: str, value: object) -> bool:
    """Whether this is what the setting has where nothing needs to be protected."""
    return setting in UNPROTECTED and UNPROTECTED[setting] == value


def is_gold_hidden(release: Release, split: str) -> bool:
    """Whether the gold of what is graded is not open to everybody."""
    return not release.opens(split)


def unsaid_settings(phase: Settings) -> dict[str, Any]:
    """The values of the settings that nobody chose.

    Gold is given away where single items are shown on purpose; to round the totals is no use then.
    """
    chosen = PROTECTED if is_gold_hidden(phase.release, phase.split) else UNPROTECTED
    unsaid = {name: value for name, value in chosen.items() if getattr(phase, name) is UNSAID}
    if "score_decimals" in unsaid and phase.diagnostics != TOTALS:
        unsaid["score_decimals"] = None
    return unsaid


def outgrown_settings(phase: Phase, release: Release, split: str) -> dict[str, Any]:
    """What was set for open gold and has to be protected when the phase moves to hidden gold: the
    settings, with their new values."""
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
    """What a re-grade on another release does to the phase, to protect its gold; or nothing."""
    changes = outgrown_settings(phase, release, phase.split)
    if not changes:
        return ""
    return (
        f"The gold of {release.version} is hidden, so the phase gets safe settings: "
        f"{', '.join(_WORDS[name] for name in changes)}. Published scores are rounded with them."
    )


def disclosure(phase: Settings) -> str:
    """What an open board makes public of a private release, in two sentences; empty for a release
    that is public as it is."""
    release: Release = phase.release
    if is_release_open(release):
        return ""
    where = "dataset" if release.dataset.visibility == Dataset.Visibility.PRIVATE else "release"
    ids = "stay private" if phase.diagnostics == TOTALS else "are shown to submitters"
    return (
        f"The {where} “{release}” is private. On an open board everyone sees the title and the "
        f"address of its dataset, its version, the number of its items ({release.item_count:,}) "
        f"and the names of the parts that scores are reported for; the ids of its items {ids}."
    )


def warnings(phase: Phase) -> list[str]:
    """What its organisers have to know of a phase, for pages and the API: what it makes public, and
    what it tells of hidden gold."""
    found = leaks(phase, names_every_id=phase.board.spec.names_every_id)
    return [words for words in (disclosure(phase), *(leak.words for leak in found)) if words]


def disclosures(phases: Iterable[Phase]) -> list[str]:
    """What a board with these phases makes public of private releases once it is published."""
    return list(dict.fromkeys(words for phase in phases if (words := disclosure(phase))))


def all_warnings(phases: Iterable[Phase]) -> list[tuple[Phase, list[str]]]:
    """Of these phases, which need their boards and releases, those with warnings."""
    found = [(phase, warnings(phase)) for phase in phases]
    return [(phase, sentences) for phase, sentences in found if sentences]


def leaks(phase: Settings, *, names_every_id: bool = False) -> list[Leak]:
    """What the settings tell of hidden gold beyond what is told by default; none of open gold.

    With `names_every_id` the benchmark refuses incomplete files, whatever the phase says.
    """
    if not is_gold_hidden(phase.release, phase.split):
        return []
    found = [*_item_leaks(phase), *_score_leaks(phase), *_limit_leaks(phase)]
    if phase.takes_incomplete and not names_every_id:
        words = "A file with a single answer gets a score, which shows whether that answer is right"
        found.append(Leak("takes_incomplete", f"{words}."))
    return found


def _item_leaks(phase: Settings) -> Iterator[Leak]:
    if phase.diagnostics == Phase.Diagnostics.FACTS:
        yield Leak("diagnostics", "Submitters see every fact with its gold value: all of the gold.")
    elif phase.diagnostics != TOTALS:
        yield Leak("diagnostics", "Submitters see which of their answers are right, item by item.")
    if phase.diagnostics != TOTALS and not is_release_open(phase.release):
        yield Leak("diagnostics", "Submitters see the ids of all items, which are private.")


def _score_leaks(phase: Settings) -> Iterator[Leak]:
    most = PROTECTED["score_decimals"]
    if phase.score_decimals is None:
        yield Leak(
            "score_decimals",
            "Scores have all digits, and right answers are counted: a file with one answer changed "
            "shows whether the change was right.",
        )
    elif phase.score_decimals > most:
        yield Leak(
            "score_decimals",
            f"Scores have {phase.score_decimals} decimals: a file with one answer changed can show "
            "whether the change was right.",
        )


def _limit_leaks(phase: Settings) -> Iterator[Leak]:
    for name, period in (("per_day", "a day"), ("in_total", "in total")):
        limit = getattr(phase, name)
        if limit is None:
            words = f"The number of scores {period} is not limited"
        elif limit > PROTECTED[name]:
            words = f"A submitter gets {limit} scores {period}"
        else:
            continue
        yield Leak(name, f"{words}: answers can be tried until the score goes up.")
