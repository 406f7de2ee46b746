"""The parts of a benchmark: plain values and functions, for the site and `manage.py grade`."""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from .charts import Chart
from .graded import FieldGrades
from .items import Combined, Contribution, ItemSummary, Sides, only_stratum
from .judging import Judging
from .reading import ReadFault, ReadLimits, Source


@dataclass(frozen=True)
class TreeTask:
    """A task: its key as in gold lines, its title, and its question."""

    key: str
    title: str
    asks: str


@dataclass(frozen=True)
class TreeStage:
    """A step of the work, its description, and the keys of the tasks that are taken from it."""

    title: str
    description: str
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class TreeItem:
    """The data of a gold line that the task tree shows: the task's key, the kind of question, the
    condition of the image, and the answer."""

    task: str
    subtask: str
    condition: str
    answer: str


@dataclass(frozen=True)
class TaskTree:
    """`work` describes the work in words. A task can belong to several stages. `task_field` is the
    key of a gold line that holds its task."""

    work: str
    stages: tuple[TreeStage, ...]
    tasks: tuple[TreeTask, ...]
    task_field: str
    read: Callable[[Mapping[str, Any]], TreeItem]


# The canonical form of one item as plain JSON, as in a release, a prediction or a JSON Lines file.
Payload = dict[str, Any]
# The item scorer's result for one item, as plain JSON.
ItemResult = dict[str, Any]
# Options by name, complete and checked. They hold everything that can change a figure.
Options = dict[str, str]


class OptionError(ValueError):
    """An unknown option or an invalid value; the message names both."""


@dataclass(frozen=True)
class GoldLine:
    """A gold item: its id, its canonical form, and the file and line it was read from."""

    id: str
    payload: Payload
    file: str
    line: int


@dataclass(frozen=True)
class PredictionLine:
    """A prediction: its id, its canonical form, and the file and line it was read from."""

    id: str
    payload: Payload
    file: str
    line: int


@dataclass(frozen=True)
class Column:
    """A figure of the leaderboard.

    `unit` is "%" for a rate in [0, 1] that is shown times 100, else empty. `direction` is the
    better direction. A column that is not `headline` is shown in details, not in the leaderboard's
    own table. `rank` makes entries ranked by the column, best first: "group" adds the rank to the
    figures of its group; "board" does so too and orders the whole table, which exactly one headline
    column of a table must do.
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
        """Whether it counts things, so that rounding leaves it exact."""
        return not self.unit and not self.decimals


def deciding_column(columns: Iterable[Column]) -> Column:
    """Return the column that orders the table. Raises ValueError unless there is exactly one."""
    (column,) = (column for column in columns if column.rank == "board")
    return column


@dataclass(frozen=True)
class Scores:
    """The figures of a whole submission.

    `items` counts the gold items, `missing` those without a prediction. `scores` has every column
    of the benchmark and of its views: a rate in [0, 1], unrounded, or None if there was nothing to
    score. `subsets` holds figures of parts that only the data define, by name of the part and of
    the figure.
    """

    items: int
    missing: int
    scores: dict[str, float | None]
    counts: dict[str, int] = field(default_factory=dict)
    subsets: dict[str, dict[str, float | int | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportedRow:
    """A row of a published table: the system as named there, and its scores as rates in [0, 1].
    A release that is printed as a month is dated to its first day.

    `protocol` separates rows that cannot be compared with each other, such as those of two releases
    of a dataset.
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
    architecture: str = ""
    """dense, mixture, or empty if the publication does not say."""
    released_on: date | None = None


@dataclass(frozen=True)
class View:
    """Some of the figures as a separate table, such as one that a paper prints.

    Its figures are in `Scores.scores` with all others, so that one pass over the results computes
    everything. A column may also be one of the benchmark's own under another label. `reported` has
    the rows of the published table. A reported row without the figure `needs` is not in this table.
    """

    key: str
    title: str
    help: str
    columns: tuple[Column, ...]
    reported: tuple[ReportedRow, ...] = ()
    needs: str = ""


@dataclass(frozen=True)
class Headline:
    """The first view of a board.

    `measures` says in words what the deciding figure is; `{count} ` in it is the number of what is
    `counted`, and is left out where that number is not public. `supporting` are two or three
    further figures, from their keys to headings without abbreviations.
    """

    measures: str
    counted: Literal["facts", "items"]
    supporting: Mapping[str, str]


@dataclass(frozen=True)
class RuleTable:
    """A table that is shown with the rules, such as weights."""

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


class HeadlineWriter(Protocol):
    def __call__(self, options: Options) -> Headline | None: ...


class SideReader(Protocol):
    def __call__(
        self, gold: Payload, prediction: Payload | None, options: Mapping[str, str]
    ) -> Sides | None: ...


def no_sides(
    gold: Payload,  # noqa: ARG001 - nothing can be compared with it
    prediction: Payload | None,  # noqa: ARG001
    options: Mapping[str, str],  # noqa: ARG001
) -> Sides | None:
    """The default for benchmarks whose gold and predictions cannot be compared side by side."""
    return None


def no_contributions(
    result: Mapping[str, Any],  # noqa: ARG001 - none of any item
    options: Mapping[str, str],  # noqa: ARG001
) -> Iterable[Contribution]:
    """The default for benchmarks without intervals."""
    return ()


def no_headline(options: Options) -> Headline | None:  # noqa: ARG001 - none under any of them
    """The default for benchmarks whose first view shows the first figures of their table."""
    return None


def no_views(options: Options) -> tuple[View, ...]:  # noqa: ARG001 - none under any of them
    """The default for benchmarks whose figures fit one table."""
    return ()


def no_words(options: Options) -> tuple[str, ...]:  # noqa: ARG001 - the options say it
    """The default for benchmarks whose options need no explanation."""
    return ()


def nothing_missing(options: Options) -> str:  # noqa: ARG001 - all of them can be had anywhere
    """The default for benchmarks without external requirements."""
    return ""


def frozen_unchanged(line: GoldLine, options: Options) -> GoldLine:  # noqa: ARG001 - see above
    """The default for benchmarks whose gold is frozen unchanged."""
    return line


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. Any change of a figure bumps `version`, which is part of every signature.

    - `columns_for(options)`: the figures of the main table and of the details.
    - `check_options(raw)`: complete, canonical options from user input; raises OptionError.
    - `as_frozen(line, options)`: a gold line of a file as a release would hold it, or the reason
      why a release cannot hold it.
    - `read_gold`, `read_predictions`: lines, and a ReadFault for each unusable one; reading goes
      on after a fault.
    - `score_item(gold, prediction, options)`: pure and deterministic; None means "no prediction".
    - `aggregate(results, options)`: pure, for results in any order, which may be a stream.
    - `contributions(result, options)`: what an item adds to each figure that has an interval,
      including the deciding column; `combined` are figures computed from these; documents are
      drawn within `stratum(result)`.
    - `summarise(result, options)`: an item's own score, its part, such as a task, and its kinds of
      errors; `part_name` names the parts.
    - `sides(gold, prediction, options)`: both as texts or objects that can be compared; never
      raises.
    - `field_grades`: how it grades by field, if it does not grade facts.
    - `reported`: rows of the published table that has the same columns.
    - `headline_for(options)`: what the first view of a board shows.
    - `views_for(options)`: further tables, each with its own key.
    - `charts`: of its own figures; the common charts are added automatically.
    - `id_keys`: the keys of a prediction line that name its item, joined by colons.
    - `names_every_id`: whether a submission must have a prediction for every id.
    - `example`: a prediction line, as JSON; `layouts`: other accepted layouts, in words.
    - `rules`: tables to be shown with the rules.
    - `task_tree`: how the tasks relate to the work they are taken from.
    - `words(options)`: sentences for readers that explain the options.
    - `judging`: how an LLM judge takes part, if it can.
    - `lacking(options)`: what scoring under these options needs and is not set up here, such as a
      model; empty if nothing is missing. Reading stored scores needs nothing.
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
    field_grades: FieldGrades | None = None
    part_name: str = ""
    contributions: Contributor = no_contributions
    combined: Mapping[str, Combined] = field(default_factory=dict)
    stratum: Callable[[Mapping[str, Any]], str] = only_stratum
    reported: tuple[ReportedRow, ...] = ()
    headline_for: HeadlineWriter = no_headline
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
    lacking: Callable[[Options], str] = nothing_missing
    as_frozen: Callable[[GoldLine, Options], GoldLine | ReadFault] = frozen_unchanged

    @cached_property
    def default_options(self) -> Options:
        return self.check_options({})

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns under the default options."""
        return self.columns_for(self.default_options)

    def judge_model(self, options: Options) -> str:
        """Return the judge used under these options; empty if none."""
        return self.judging.model(options) if self.judging else ""

    def figures_for(self, options: Options) -> dict[str, Column]:
        """Return every column by key: the benchmark's own, and those of its views."""
        figures = {c.key: c for view in self.views_for(options) for c in view.columns}
        return {**figures, **{column.key: column for column in self.columns_for(options)}}


@dataclass(frozen=True)
class Option:
    """An option: its name, its default, and either the allowed values or a function that makes a
    value canonical."""

    name: str
    default: str
    choices: tuple[str, ...] = ()
    canonical: Callable[[object], str] | None = None

    def check(self, value: object) -> str:
        """Return the canonical form of a value. Raises OptionError."""
        if self.canonical is not None:
            return self.canonical(value)
        if value in self.choices:
            return str(value)
        allowed = " or ".join(self.choices)
        raise OptionError(f"option {self.name} must be {allowed}, not {value!r}")


def complete_options(options: tuple[Option, ...], raw: Mapping[str, object]) -> Options:
    """Return complete options in canonical form. Raises OptionError for unknown names and invalid
    values."""
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
# Columns that few tables have.
_MORE = ("architecture", "released_on")


def load_reported(path: Path, *, counts: Collection[str] = ()) -> tuple[ReportedRow, ...]:
    """Read the rows of a CSV file whose other columns are scores: those in `counts` as they are,
    the rest in per cent. An empty cell means no score."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_row(row, counts) for row in csv.DictReader(file))


def _row(row: dict[str, str], counts: Collection[str]) -> ReportedRow:
    scores = {
        key: float(value) / (1 if key in counts else 100)
        for key, value in row.items()
        if key not in (*_CARD, *_MORE) and value != ""
    }
    released = row.get("released_on", "")
    return ReportedRow(
        **{key: row[key] for key in _CARD},
        architecture=row.get("architecture", ""),
        released_on=date.fromisoformat(released) if released else None,
        scores=scores,
    )
