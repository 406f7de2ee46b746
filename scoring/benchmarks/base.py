"""The parts of a benchmark: plain values and functions, for the site and `manage.py grade`."""

import csv
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .answers import shown_prediction, with_answers
from .graded import FieldGrades
from .items import (
    Combined,
    Contribution,
    ItemResult,
    ItemSummary,
    Options,
    Payload,
    Sides,
    only_stratum,
)
from .reading import ReadFault, ReadLimits, Source

if TYPE_CHECKING:
    from scoring.judge.questions import Question


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
    column of a table must do. `reported` is the figure that rows of publications state in place of
    this one.

    `over` is "gold" if the gold alone fixes what the rate is a share or a mean of, so that a file
    with a few guesses cannot make them count for more than their share of the gold. On hidden gold
    only such rates are shown. A rate over what a submission answers, such as precision, is not.
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
    reported: str = ""
    over: Literal["", "gold"] = ""

    @property
    def is_count(self) -> bool:
        """Whether it counts things, so that rounding leaves it exact."""
        return not self.unit and not self.decimals


def deciding_column(columns: Iterable[Column]) -> Column:
    """Return the column that orders the table. Raises ValueError unless there is exactly one."""
    (column,) = (column for column in columns if column.rank == "board")
    return column


@dataclass(frozen=True)
class Chart:
    """A chart, described by the keys of its figures. Figures that do not exist under the board's
    options are left out. docs/charts.md describes what each kind draws.

    `description` is the sentence below its title. `reference` is a value to compare a profile
    with, such as 1 for "as good as before".
    """

    key: str
    kind: str
    title: str
    description: str
    figures: tuple[str, ...] = ()
    reference: float | None = None


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

    `measures` says in words what the main score is; `{count} ` in it is the number of what is
    `counted`, and is left out where that number is not public. `supporting` are a few
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


ItemScorer = Callable[[Payload, Payload | None, Options], ItemResult]
Aggregator = Callable[[Iterable[ItemResult], Options], Scores]
Contributor = Callable[[Mapping[str, Any], Mapping[str, str]], Iterable[Contribution]]
Summariser = Callable[[Mapping[str, Any], Mapping[str, str]], ItemSummary]
SideReader = Callable[[Payload, Payload | None, Mapping[str, str]], Sides | None]
Reading = Callable[[ItemResult, Options], ItemResult | None]


@dataclass(frozen=True)
class Judging:
    """The functions of a benchmark that an LLM judge needs.

    They send no requests: an item determines the questions, and the answers are data, like the
    prediction. So a score is a pure function of all three.

    - `model(options)`: the judge as its endpoint names it; empty if these options use none.
    - `options(raw, model)`: complete options under which this judge decides; raises OptionError.
    - `questions(gold, prediction, options)`: the questions about an item, in order.
    - `score_item(gold, prediction, options, answers)`: the same result as the benchmark's own
      function, from the answers to these questions, in their order.
    - `summary(results)`: figures of the judge over all items, in addition to the benchmark's.
    - `version(options)`: what determines the verdicts of this judge, its model and its prompt.
    - `by_judge(result, options)`, `by_matcher(result, options)`: the result with the facts decided
      by the judge, or by a matcher without a judge; None if it has no such decisions.
    """

    model: Callable[[Options], str]
    options: Callable[[Mapping[str, object], str], Options]
    questions: Callable[[Payload, Payload | None, Options], "Sequence[Question[Any]]"]
    score_item: Callable[[Payload, Payload | None, Options, Sequence[Any]], ItemResult]
    summary: Callable[[Iterable[ItemResult]], dict[str, Any]]
    version: Callable[[Options], str] = lambda _: ""
    by_judge: Reading = lambda *_: None
    by_matcher: Reading = lambda *_: None


def no_contributions(*_: object) -> Iterable[Contribution]:
    """The default for benchmarks without intervals."""
    return ()


def sign_options(options: Options) -> Iterable[str]:
    """The default signature: every option with its value."""
    return (f"{name}:{value}" for name, value in options.items())


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. Any change of a figure bumps `version`, which is part of every signature.

    - `columns_for(options)`: the figures of the main table and of the details.
    - `check_options(raw)`: complete, canonical options from user input; raises OptionError.
    - `signed(options)`: the parts of the signature after key and version: everything that can
      change a figure.
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
    - `answer_keys`: the keys of which a prediction line must have one; the browser checks them.
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
    check_options: Callable[[Mapping[str, object]], Options]
    columns_for: Callable[[Options], tuple[Column, ...]]
    read_gold: GoldReader
    read_predictions: PredictionReader
    score_item: ItemScorer
    aggregate: Aggregator
    summarise: Summariser
    signed: Callable[[Options], Iterable[str]] = sign_options
    sides: SideReader = lambda *_: None
    field_grades: FieldGrades | None = None
    part_name: str = ""
    contributions: Contributor = no_contributions
    combined: Mapping[str, Combined] = field(default_factory=dict)
    stratum: Callable[[Mapping[str, Any]], str] = only_stratum
    reported: tuple[ReportedRow, ...] = ()
    headline_for: Callable[[Options], Headline | None] = lambda _: None
    views_for: Callable[[Options], tuple[View, ...]] = lambda _: ()
    charts: tuple[Chart, ...] = ()
    id_keys: tuple[str, ...] = ("id",)
    answer_keys: tuple[str, ...] = ()
    names_every_id: bool = False
    example: str = ""
    layouts: tuple[str, ...] = ()
    rules: tuple[RuleTable, ...] = ()
    task_tree: TaskTree | None = None
    words: Callable[[Options], tuple[str, ...]] = lambda _: ()
    judging: Judging | None = None
    lacking: Callable[[Options], str] = lambda _: ""
    as_frozen: Callable[[GoldLine, Options], GoldLine | ReadFault] = lambda line, _: line

    @classmethod
    def of(cls, *modules: ModuleType, **own: Any) -> "Benchmark":
        """Return a benchmark whose functions are those of these modules that have their names, such
        as `score_item`, and whose other parts are `own`."""
        names = [part.name for part in fields(cls)]
        found = {n: getattr(m, n) for m in modules for n in names if callable(getattr(m, n, None))}
        return cls(**with_answers(found | own))

    def signature(self, options: Options) -> str:
        """Return everything that can change a figure, in one line."""
        return "|".join([self.key, f"v{self.version}", *self.signed(options)])

    @cached_property
    def default_options(self) -> Options:
        return self.check_options({})

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns under the default options."""
        return self.columns_for(self.default_options)

    def shown(
        self, gold: Payload, prediction: Payload | None, options: Mapping[str, str]
    ) -> Payload | None:
        """Return the prediction as it is graded: without what a reader would not see."""
        return shown_prediction(self.key, gold, prediction, options)[0]

    def judge_model(self, options: Options) -> str:
        """Return the judge used under these options; empty if none."""
        return self.judging.model(options) if self.judging else ""

    def gold_figures(self, options: Options) -> frozenset[str]:
        """Return the keys of the rates over gold; see `Column.over`."""
        figures = self.figures_for(options)
        return frozenset(key for key, column in figures.items() if column.over == "gold")

    def figures_for(self, options: Options) -> dict[str, Column]:
        """Return every column by key: the benchmark's own, and those of its views."""
        figures = {c.key: c for view in self.views_for(options) for c in view.columns}
        return {**figures, **{column.key: column for column in self.columns_for(options)}}


_CARD = "name organisation size category protocol provenance provenance_url notes".split()
# Columns that few tables have.
_MORE = ("architecture", "released_on")


@dataclass(frozen=True)
class Figures:
    """The figures of a benchmark that are the same under all options: columns by group, views of
    them, charts, and the headline."""

    columns: Mapping[str, tuple[Column, ...]]
    views: tuple[View, ...]
    charts: tuple[Chart, ...]
    headline: Headline | None


def load_figures(path: Path) -> Figures:
    """Read a TOML file whose `columns`, `view`, `chart` and `headline` have the fields of these
    classes. A view names groups of columns, and the file of its reported rows."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    columns = {
        name: tuple(Column(**row) for row in rows)
        for name, rows in content.get("columns", {}).items()
    }
    views = tuple(_view(row, columns, path) for row in content.get("view", ()))
    charts = tuple(
        Chart(**row | {"figures": tuple(row.get("figures", ()))}) for row in content["chart"]
    )
    headline = Headline(**content["headline"]) if "headline" in content else None
    return Figures(columns, views, charts, headline)


def _view(row: Mapping[str, Any], columns: Mapping[str, tuple[Column, ...]], path: Path) -> View:
    own = tuple(column for group in row["columns"] for column in columns[group])
    rows = load_reported(path.with_name(row["reported"])) if "reported" in row else ()
    return View(row["key"], row["title"], row["help"], own, rows, row.get("needs", ""))


_COMMON = load_figures(Path(__file__).with_name("charts.toml"))


def common_charts(deciding: str) -> tuple[Chart, ...]:
    """Return the charts that every benchmark has, of the figure that orders its board."""
    return tuple(replace(chart, figures=(deciding,)) for chart in _COMMON.charts)


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
