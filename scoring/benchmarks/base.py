"""What every benchmark consists of. Plain values and functions: the site and `manage.py grade` use
the same.

What each kind of chart draws stands in docs/charts.md.
"""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from .items import Combined, Contribution, ItemSummary, Sides, only_stratum
from .judging import Judging
from .reading import ReadFault, ReadLimits, Source


@dataclass(frozen=True)
class TreeTask:
    """A task: its key, which gold lines name, and what it asks, in a sentence."""

    key: str
    title: str
    asks: str


@dataclass(frozen=True)
class TreeStage:
    """A step of the work, what is done in it, and the keys of the tasks that are taken from it."""

    title: str
    description: str
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class TreeItem:
    """What a gold line says of itself: its task's key, the kind of question, the condition of the
    picture, and the answer."""

    task: str
    subtask: str
    condition: str
    answer: str


@dataclass(frozen=True)
class TaskTree:
    """`work` names the work in words; a task can stand in several stages. `task_field` is the key
    of a gold line under which its task stands."""

    work: str
    stages: tuple[TreeStage, ...]
    tasks: tuple[TreeTask, ...]
    task_field: str
    read: Callable[[Mapping[str, Any]], TreeItem]


Kind = Literal[
    "ranks", "pair", "profile", "shares", "parts", "size", "tokens", "cost", "released", "history"
]


@dataclass(frozen=True)
class Chart:
    """A chart by the keys of the figures that it shows; a figure that the board's options do not
    have is left out of it.

    `description` is the sentence below its title. `reference` is a value to compare a profile
    with, such as 1 for "as good as before".
    """

    key: str
    kind: Kind
    title: str
    description: str
    figures: tuple[str, ...] = ()
    reference: float | None = None


def common_charts(deciding: str) -> tuple[Chart, ...]:
    """Those that every benchmark has, of the figure by which its board is ordered."""
    return (
        Chart(
            "size",
            "size",
            "Size and score",
            "The score of each system against its number of parameters, as far as it is known.",
            (deciding,),
        ),
        Chart(
            "tokens",
            "tokens",
            "Output tokens and score",
            "The score against the tokens written per item, as the card states them or else as "
            "the lines of the submission do; on the line are the systems that no other beats with "
            "as few.",
            (deciding,),
        ),
        Chart(
            "cost",
            "cost",
            "Cost and score",
            "The score against the cost of the whole run; on the line stand the systems that no "
            "other beats for as little.",
            (deciding,),
        ),
        Chart(
            "released",
            "released",
            "Release date and score",
            "The score of each system against the day it came out, dense models and mixtures of "
            "experts apart.",
            (deciding,),
        ),
        Chart(
            "history",
            "history",
            "Best score over time",
            "Every result on the day it was published here; the line is the best one so far.",
            (deciding,),
        ),
    )


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

    - `columns_for(options)`: the figures of the main table and of the details.
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

    @cached_property
    def default_options(self) -> Options:
        return self.check_options({})

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Those of the default options."""
        return self.columns_for(self.default_options)

    def judge_model(self, options: Options) -> str:
        """The judge that is asked under these options; empty where none is."""
        return self.judging.model(options) if self.judging else ""

    def figures_for(self, options: Options) -> dict[str, Column]:
        """Every column by its key: the benchmark's own, and those of its views."""
        figures = {c.key: c for view in self.views_for(options) for c in view.columns}
        return {**figures, **{column.key: column for column in self.columns_for(options)}}


@dataclass(frozen=True)
class Option:
    """An option: its name, its default, and either the words it may be or a function that makes
    it canonical."""

    name: str
    default: str
    choices: tuple[str, ...] = ()
    canonical: Callable[[object], str] | None = None

    def check(self, value: object) -> str:
        """The canonical form of a value; raises OptionError."""
        if self.canonical is not None:
            return self.canonical(value)
        if value in self.choices:
            return str(value)
        allowed = " or ".join(self.choices)
        raise OptionError(f"option {self.name} must be {allowed}, not {value!r}")


def complete_options(options: tuple[Option, ...], raw: Mapping[str, object]) -> Options:
    """Complete options in canonical form; raises OptionError for unknown names and wrong values."""
    by_name = {option.name: option for option in options}
    for name in raw:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(by_name)}"
            raise OptionError(f"there is no option {name!r}; {hint}")
    return {
        name: option.check(raw[name]) if name in raw else option.default
        for name, option in by_name.items()
    }


_CARD = (
    "name",
    "organisation",
    "size",
    "category",
    "protocol",
    "provenance",
    "provenance_url",
    "notes",
)


def load_reported(path: Path, *, counts: Collection[str] = ()) -> tuple[ReportedRow, ...]:
    """The rows of a CSV file whose other columns are score columns, `counts` as they are and the
    rest in per cent; an empty cell is no score."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_row(row, counts) for row in csv.DictReader(file))


def _row(row: dict[str, str], counts: Collection[str]) -> ReportedRow:
    scores = {
        key: float(value) / (1 if key in counts else 100)
        for key, value in row.items()
        if key not in _CARD and value != ""
    }
    return ReportedRow(**{key: row[key] for key in _CARD}, scores=scores)
