"""What every benchmark consists of. Plain values and functions: the site and `manage.py grade`
use the same."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .charts import Chart
from .contributions import Combined, Contribution, only_stratum
from .items import ItemSummary, Sides
from .judging import Judging
from .reading import ReadFault, ReadLimits, Source
from .task_tree import TaskTree

# The canonical line of one item, as plain JSON: what a release, a prediction or a JSON Lines file
# holds.
Payload = dict[str, Any]
# What the item scorer says of one item, as plain JSON.
ItemResult = dict[str, Any]
# Options by name, complete and checked: what can change a figure.
Options = dict[str, str]


class OptionError(ValueError):
    """An option that does not exist or cannot have this value; the message names both."""


@dataclass(frozen=True)
class GoldLine:
    """One gold item: its id, its canonical line, and the file and line it was read from."""

    id: str
    payload: Payload
    file: str
    line: int


@dataclass(frozen=True)
class PredictionLine:
    """One prediction: its id, its canonical line, and the file and line it was read from."""

    id: str
    payload: Payload
    file: str
    line: int


@dataclass(frozen=True)
class Column:
    """A figure of the leaderboard.

    `unit` is "%" for a rate in [0, 1] that is shown times 100, else empty. `direction` says which
    way is better. A column that is not `headline` is shown in details, not in the leaderboard's
    own table. `rank` says whether entries are ranked by it, best first: "group" puts the rank
    beside the figures of its group; "board" does so too, and the whole table is ordered by it,
    which one headline column of a table must say.
    """

    key: str
    label: str
    group: str
    help: str
    unit: Literal["%", ""] = "%"
    direction: Literal["up", "down"] = "up"
    decimals: int = 2
    headline: bool = True
    rank: Literal["", "group", "board"] = ""

    @property
    def is_count(self) -> bool:
        """Whether it is a number of things, which rounding leaves exact."""
        return not self.unit and not self.decimals


def deciding_column(columns: Iterable[Column]) -> Column:
    """The column that a table is ordered by. Raises ValueError if there is none or another."""
    (column,) = (column for column in columns if column.rank == "board")
    return column


@dataclass(frozen=True)
class Scores:
    """The figures of a whole submission.

    `items` counts the gold items, `missing` those without a prediction. `scores` has every column
    of the benchmark and of its views: a rate in [0, 1], unrounded, or None where nothing was there
    to score. `subsets` holds figures of parts that only the data know, by name of the part and of
    the figure.
    """

    items: int
    missing: int
    scores: dict[str, float | None]
    counts: dict[str, int] = field(default_factory=dict)
    subsets: dict[str, dict[str, float | int | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportedRow:
    """A row of a published table: the system as the table names it, and its scores as rates in
    [0, 1].

    `protocol` tells apart rows that cannot be compared with each other, such as two releases of a
    dataset.
    """

    name: str
    organisation: str
    size: str
    category: str
    protocol: str
    scores: dict[str, float]
    provenance: str
    provenance_url: str
    notes: str = ""


@dataclass(frozen=True)
class View:
    """A part of the figures as a table of its own, such as one that a paper prints.

    Its figures stand in `Scores.scores` beside the others, so that one pass over the results gives
    all of them; a column may also be one of the benchmark's own under another label. `reported`
    has the rows of the published table.
    """

    key: str
    title: str
    help: str
    columns: tuple[Column, ...]
    reported: tuple[ReportedRow, ...] = ()


@dataclass(frozen=True)
class RuleTable:
    """A table that belongs to the rules, such as weights, to be shown where the rules are."""

    title: str
    help: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class GoldReader(Protocol):
    def __call__(
        self, source: Source, *, options: Options | None = None, limits: ReadLimits = ...
    ) -> Iterator[GoldLine | ReadFault]: ...


class PredictionReader(Protocol):
    def __call__(
        self, source: Source, *, limits: ReadLimits = ...
    ) -> Iterator[PredictionLine | ReadFault]: ...


class OptionChecker(Protocol):
    def __call__(self, raw: Mapping[str, object]) -> Options: ...


class ItemScorer(Protocol):
    def __call__(
        self, gold: Payload, prediction: Payload | None, options: Options
    ) -> ItemResult: ...


class Aggregator(Protocol):
    def __call__(self, results: Iterable[ItemResult], options: Options) -> Scores: ...


class SignatureWriter(Protocol):
    def __call__(self, options: Options) -> str: ...


class ColumnLister(Protocol):
    def __call__(self, options: Options) -> tuple[Column, ...]: ...


class ViewLister(Protocol):
    def __call__(self, options: Options) -> tuple[View, ...]: ...


class Contributor(Protocol):
    def __call__(
        self, result: Mapping[str, Any], options: Mapping[str, str]
    ) -> Iterable[Contribution]: ...


class Summariser(Protocol):
    def __call__(self, result: Mapping[str, Any], options: Mapping[str, str]) -> ItemSummary: ...


class SideReader(Protocol):
    def __call__(
        self, gold: Payload, prediction: Payload | None, options: Mapping[str, str]
    ) -> Sides | None: ...


def no_sides(
    gold: Payload,  # noqa: ARG001 - nothing can be laid beside it
    prediction: Payload | None,  # noqa: ARG001
    options: Mapping[str, str],  # noqa: ARG001
) -> Sides | None:
    """Of a benchmark whose gold and predictions are of different kinds."""
    return None


def no_contributions(
    result: Mapping[str, Any],  # noqa: ARG001 - none of any item
    options: Mapping[str, str],  # noqa: ARG001
) -> Iterable[Contribution]:
    """Of a benchmark without intervals."""
    return ()


def no_views(options: Options) -> tuple[View, ...]:  # noqa: ARG001 - none under any of them
    """Of a benchmark whose figures make up one table."""
    return ()


def no_words(options: Options) -> tuple[str, ...]:  # noqa: ARG001 - the options say it
    """Of a benchmark whose options speak for themselves."""
    return ()


def nothing_lacking(options: Options) -> str:  # noqa: ARG001 - all of them can be had anywhere
    """Of a benchmark that needs nothing but itself."""
    return ""


def frozen_as_it_is(line: GoldLine, options: Options) -> GoldLine:  # noqa: ARG001 - see above
    """Of a benchmark whose gold is frozen as its files have it."""
    return line


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. Any change of a figure bumps `version`, which stands in every signature.

    - `columns`: those of the default options; `columns_for(options)` those of others.
    - `check_options(raw)`: complete, canonical options from what a person wrote; raises
      OptionError.
    - `as_frozen(line, options)`: a gold line of a file as a release would hold it, or why none
      would.
    - `read_gold`, `read_predictions`: lines, and a ReadFault for each that cannot be used; they
      go on after a fault.
    - `score_item(gold, prediction, options)`: pure and deterministic; None stands for "no
      prediction".
    - `aggregate(results, options)`: pure, in any order of the results, which may be a stream.
    - `contributions(result, options)`: what an item adds to each figure that has an interval, of
      which the deciding column is one; `combined` are figures computed from these; documents are
      drawn within `stratum(result)`.
    - `summarise(result, options)`: an item's own score, its part, such as a task, and its kinds of
      errors; `part_name` says what the parts are.
    - `sides(gold, prediction, options)`: both as texts or objects that can be compared; never
      raises.
    - `reported`: rows of the published table that has the same columns.
    - `views_for(options)`: further tables; their keys differ from each other.
    - `charts`: of its own figures; those that all benchmarks have come by themselves.
    - `id_keys`: the keys of a prediction line that name its item, joined by colons.
    - `names_every_id`: whether a submission must have a prediction for every id.
    - `example`: a prediction line, as JSON; `layouts`: what else a submission may be, in words.
    - `rules`: tables to be shown with the rules.
    - `task_tree`: how the tasks come out of the work they are taken from.
    - `words(options)`: sentences for readers on what the options do not say by themselves.
    - `judging`: how an LLM judge takes part, if it can.
    - `lacking(options)`: what scoring under these options needs and is not set up here, such as a
      model; empty if nothing is. Reading what was scored with it needs nothing.
    """

    key: str
    version: str
    title: str
    columns: tuple[Column, ...]
    default_options: Mapping[str, str]
    check_options: OptionChecker
    columns_for: ColumnLister
    read_gold: GoldReader
    read_predictions: PredictionReader
    score_item: ItemScorer
    aggregate: Aggregator
    signature: SignatureWriter
    summarise: Summariser
    sides: SideReader = no_sides
    part_name: str = ""
    contributions: Contributor = no_contributions
    combined: Mapping[str, Combined] = field(default_factory=dict)
    stratum: Callable[[Mapping[str, Any]], str] = only_stratum
    reported: tuple[ReportedRow, ...] = ()
    views_for: ViewLister = no_views
    charts: tuple[Chart, ...] = ()
    id_keys: tuple[str, ...] = ("id",)
    names_every_id: bool = False
    example: str = ""
    layouts: tuple[str, ...] = ()
    rules: tuple[RuleTable, ...] = ()
    task_tree: TaskTree | None = None
    words: Callable[[Options], tuple[str, ...]] = no_words
    judging: Judging | None = None
    lacking: Callable[[Options], str] = nothing_lacking
    as_frozen: Callable[[GoldLine, Options], GoldLine | ReadFault] = frozen_as_it_is

    def judge_model(self, options: Options) -> str:
        """The judge that is asked under these options; empty where none is."""
        return self.judging.model(options) if self.judging else ""

    def figures_for(self, options: Options) -> dict[str, Column]:
        """Every column by its key: the benchmark's own, and those of its views."""
        figures = {c.key: c for view in self.views_for(options) for c in view.columns}
        return {**figures, **{column.key: column for column in self.columns_for(options)}}
