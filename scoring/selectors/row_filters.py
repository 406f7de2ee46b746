"""Which rows of a leaderboard are shown. Ranks and best figures are those of the whole table."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, date

from scoring.models import Category, Entry

from .model_sizes import parameters

OPEN, CLOSED = "open", "closed"
# What the kind of system says of the weights where its card says nothing, as of reported rows.
_OPEN_BY_CATEGORY: dict[str, bool] = {Category.OPEN_VLM: True, Category.PROPRIETARY_VLM: False}

Query = dict[str, str | list[str]]


@dataclass(frozen=True)
class RowFilter:
    """What is looked for; an empty field filters nothing.

    `q` is a part of the system's name or organisation, ignoring case. `size_from` and `size_to`
    are sizes such as 7B, both inclusive; `weights` is OPEN or CLOSED. `published_from` is about
    rows graded here alone. A row that does not say what is asked for is left out.
    """

    q: str = ""
    category: str = ""
    size_from: str = ""
    size_to: str = ""
    weights: str = ""
    verified: bool = False
    kind: tuple[str, ...] = ()
    released_from: date | None = None
    published_from: date | None = None

    @property
    def is_set(self) -> bool:
        return self != ALL_ROWS

    @property
    def query(self) -> Query:
        """What is set, as parameters of an address."""
        return {name: _parameter(value) for name, value in asdict(self).items() if value}

    def keeps(self, entry: Entry) -> bool:
        """Whether the row is shown. What is pinned always is."""
        return entry.is_pinned or all(test(self, entry) for test in _TESTS)


ALL_ROWS = RowFilter()


def _parameter(value: object) -> str | list[str]:
    if value is True:
        return "on"
    return list(value) if isinstance(value, tuple) else str(value)


def _is_named(wanted: RowFilter, entry: Entry) -> bool:
    sought = wanted.q.casefold()
    return sought in entry.name.casefold() or sought in entry.organisation.casefold()


def _is_of_kind(wanted: RowFilter, entry: Entry) -> bool:
    return (not wanted.kind or entry.kind in wanted.kind) and (
        wanted.category in ("", entry.category)
    )


def _is_sized(wanted: RowFilter, entry: Entry) -> bool:
    least, most = parameters(wanted.size_from), parameters(wanted.size_to)
    if least is None and most is None:
        return True
    size = parameters(entry.size)
    if size is None:
        return False
    return (least is None or size >= least) and (most is None or size <= most)


def _has_weights(wanted: RowFilter, entry: Entry) -> bool:
    stated = entry.open_weights
    is_open = _OPEN_BY_CATEGORY.get(entry.category) if stated is None else stated
    return not wanted.weights or is_open is (wanted.weights == OPEN)


def _is_verified(wanted: RowFilter, entry: Entry) -> bool:
    return entry.is_verified or not wanted.verified


def _is_dated(wanted: RowFilter, entry: Entry) -> bool:
    is_graded = entry.kind == Entry.Kind.GRADED
    published = entry.published_at.astimezone(UTC).date() if is_graded else None
    return _is_since(entry.released_on, wanted.released_from) and _is_since(
        published, wanted.published_from
    )


def _is_since(day: date | None, first: date | None) -> bool:
    return first is None or (day is not None and day >= first)


_TESTS: tuple[Callable[[RowFilter, Entry], bool], ...] = (
    _is_named,
    _is_of_kind,
    _is_sized,
    _has_weights,
    _is_verified,
    _is_dated,
)
