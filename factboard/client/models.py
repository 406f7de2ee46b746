"""The answers of a site, and the card of a model. Only the fields that programs rely on are named;
others are kept too, and are part of `model_dump()`.

A test checks every field against the site's OpenAPI document.
"""

from datetime import date, datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Figures = dict[str, float | None]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class Phase(_Answer):
    slug: str
    dataset: str
    release: str
    split: str = ""
    title: str
    window: str
    """`upcoming`, `open` or `closed`."""


class BoardLine(_Answer):
    """A board in the list of boards, with its phases."""

    slug: str
    title: str
    benchmark: str
    state: str
    graded: int
    reported: int
    phases: tuple[Phase, ...]


class BoardPage(_Answer):
    count: int
    next: str | None = None
    results: tuple[BoardLine, ...]


class Board(_Answer):
    slug: str
    title: str
    benchmark: str
    description: str = ""
    rules: str = ""
    terms: str = ""
    state: str = ""


class Column(_Answer):
    key: str
    label: str
    group: str
    basis: str
    """The figure that it shows or ranks by."""
    unit: str
    decimals: int
    higher_is_better: bool
    decides: bool
    is_rank: bool


class Row(_Answer):
    name: str
    submission: int | None
    values: Figures
    ranks: dict[str, int | None]
    intervals: dict[str, list[float]]


class Section(_Answer):
    kind: str
    """`graded`, `reported` or `human`."""
    source: str
    rows: tuple[Row, ...]


class Leaderboard(_Answer):
    board: str
    phase: str | None = None
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    shown: int = 0
    """The number of rows on all pages."""

    def extended(self, page: "Leaderboard") -> "Leaderboard":
        """The table with the rows of its next page."""
        sections = {(section.kind, section.source): section for section in self.sections}
        for section in page.sections:
            key = (section.kind, section.source)
            before = sections[key].rows if key in sections else ()
            sections[key] = section.model_copy(update={"rows": (*before, *section.rows)})
        return self.model_copy(update={"sections": tuple(sections.values())})


class Release(_Answer):
    version: str
    benchmark: str = ""
    visibility: str = ""
    item_count: int
    licence: str = ""
    scheme: str = ""
    sha256: str | None


class Fault(_Answer):
    file: str
    line: int
    id: str | None
    message: str


class Check(_Answer):
    """The result of a check. `detail` is empty if the file can be submitted as it is."""

    detail: str
    faults: tuple[Fault, ...]
    fault_count: int
    missing: tuple[str, ...]
    missing_count: int
    predictions: int
    warnings: tuple[str, ...] = ()
    """About the manifest, and about answers that score nothing; they do not prevent the
    submission."""


class Grading(_Answer):
    id: int
    state: str = ""
    """`queued`, `running`, `done`, `failed` or `cancelled`."""
    release: str
    signature: str
    items_total: int
    items_done: int
    missing: int = 0
    scores: Figures
    error: str = ""
    finished_at: datetime | None = None

    @property
    def has_ended(self) -> bool:
        return self.state in {"done", "failed", "cancelled"}


class Submission(_Answer):
    id: int
    board: str
    phase: str
    name: str
    publication: str = ""
    """`private` or `public`."""
    created_at: datetime
    grading: Grading | None


class Interval(_Answer):
    low: float
    high: float


class Difference(_Answer):
    value: float | None
    p_value: float | None = None
    interval: Interval | None = None


class FigureCell(_Answer):
    value: float | None
    difference: Difference | None


class FigureRow(_Answer):
    key: str
    direction: str
    cells: tuple[FigureCell, ...]


class Contestant(_Answer):
    entry: int
    submission: int
    name: str


class Pair(_Answer):
    first: int
    second: int
    difference: Difference
    wins: int | None
    ties: int | None
    losses: int | None


class Comparison(_Answer):
    """The differences are from the first entry. While `is_ready` is false, the tests are being
    computed. `is_exact` is false if the phase rounds its scores, so that there are no tests."""

    phase: str
    deciding: str
    is_exact: bool
    is_ready: bool
    entries: tuple[Contestant, ...]
    figures: tuple[FigureRow, ...]
    pairs: tuple[Pair, ...]


Category = Literal[
    "ocr_pipeline", "ocr_model", "open_vlm", "proprietary_vlm", "fine_tuned", "other"
]


class ModelCard(BaseModel):
    """The description of a model on a leaderboard. Fields that are not given are not sent. The
    descriptions are the help of `factboard submit`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        default="", description="name on the leaderboard (default: the manifest's model)"
    )
    organisation: str | None = Field(default=None, description="developer of the model")
    size: str | None = Field(default=None, description="number of parameters, such as 7B")
    category: Category | None = Field(
        default=None, description=f"{', '.join(get_args(Category)[:-1])} or other (default: other)"
    )
    link: str | None = Field(default=None, description="URL of the paper or model page")
    code_link: str | None = Field(default=None, description="URL of the code")
    notes: str | None = Field(default=None, description="anything else readers should know")
    open_weights: bool | None = Field(
        default=None, description="true or false: can anyone download the weights?"
    )
    architecture: Literal["dense", "mixture"] | None = Field(
        default=None, description="dense, or mixture (of experts)"
    )
    reasoning: Literal["none", "off", "minimal", "on"] | None = Field(
        default=None,
        description="reasoning mode in this run: none (it has no such mode), off, minimal, on",
    )
    licence: str | None = Field(default=None, description="licence of the model or program")
    released_on: date | None = Field(default=None, description="release date, as YYYY-MM-DD")
    training_data: str | None = Field(
        default=None,
        description="what it was trained on, and whether the board's documents may be in it",
    )
    training_until: date | None = Field(
        default=None, description="date of the newest training data, as YYYY-MM-DD"
    )
    prompt: str | None = Field(default=None, description="the full prompt")
    decoding: str | None = Field(
        default=None, description="decoding settings, such as temperature 0"
    )
    output_tokens: int | None = Field(
        default=None, description="output tokens, total for all items"
    )
    cost: float | None = Field(default=None, description="cost of the whole run, in US dollars")

    def fields_to_send(self) -> dict[str, str]:
        given = self.model_dump(mode="json", exclude_none=True)
        return {name: _text(value) for name, value in given.items() if value != ""}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
