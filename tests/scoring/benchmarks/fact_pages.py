"""A small model of a page with facts, and pages of it made at random.

`fact_sources` reads the model from gold HTML, `fact_forms` writes it in many forms and `fact_edits`
edits it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random


@dataclass
class Fact:
    """A place with a fact: `shown` is what the prediction has there, `before` and `behind` are the
    marks next to the tag."""

    n: int
    kind: str
    value: str
    before: str = ""
    behind: str = ""
    shown: str = ""

    def __post_init__(self) -> None:
        self.shown = self.shown or self.value

    def __str__(self) -> str:
        return f"{self.before}{self.shown}{self.behind}"

    def empty(self) -> None:
        self.shown = self.before = self.behind = ""


Pieces = list[str | Fact]


@dataclass
class Cell:
    pieces: Pieces = field(default_factory=list)
    columns: int = 1

    def __str__(self) -> str:
        return text_of(self.pieces)

    @property
    def facts(self) -> list[Fact]:
        return [piece for piece in self.pieces if isinstance(piece, Fact)]

    @property
    def number(self) -> Fact | None:
        """The number of a cell that holds nothing else."""
        facts = self.facts
        is_alone = len(facts) == 1 and facts[0].kind == "Number"
        return facts[0] if is_alone and not re.search(r"\w", self._rest()) else None

    def _rest(self) -> str:
        return "".join(piece for piece in self.pieces if isinstance(piece, str))


Row = list[Cell]


@dataclass
class Table:
    """Rows of headers, and rows of as many cells as the table has columns or of a single one.

    The first `labels` columns have the labels of the rows.
    """

    head: list[Row]
    body: list[Row]
    labels: int = 1

    @property
    def width(self) -> int:
        return max(sum(cell.columns for cell in row) for row in [*self.head, *self.body])

    @property
    def rows(self) -> list[Row]:
        """The rows of labels and values."""
        return [row for row in self.body if len(row) > 1]

    def columns(self) -> list[int]:
        """The columns with numbers."""
        places = range(self.labels, self.width)
        return [k for k in places if sum(row[k].number is not None for row in self.rows) > 1]

    def header(self, column: int) -> str:
        found = [text for row in self.head for text in [str(over(row, column))] if text]
        return " ".join(found)

    def label(self, row: Row) -> str:
        return " ".join(str(cell) for cell in row[: self.labels]).strip()


def over(row: Row, column: int) -> Cell:
    """The cell of a row of headers above a column."""
    for cell in row:
        column -= cell.columns
        if column < 0:
            return cell
    return Cell()


@dataclass
class Page:
    blocks: list[Pieces | Table]
    name: str = ""
    source: str = ""

    @property
    def tables(self) -> list[Table]:
        return [block for block in self.blocks if isinstance(block, Table)]

    def facts(self) -> Iterator[Fact]:
        for block in self.blocks:
            if isinstance(block, Table):
                for row in [*block.head, *block.body]:
                    for cell in row:
                        yield from cell.facts
            else:
                yield from (piece for piece in block if isinstance(piece, Fact))


def text_of(pieces: Pieces) -> str:
    return " ".join("".join(map(str, pieces)).split(" ")).strip(" ")


# --- generated pages ------------------------------------------------------------------------------
_LABELS = """Net sales|Cost of goods sold|Gross margin|Research expenses|Marketing|Other income, net
Interest paid|Income before taxes|Tax expense|Cash on hand|Trade receivables|Inventories
Prepaid items|Land and buildings|Goodwill|Customer lists|Trade payables|Accrued wages
Deferred revenue|Bank loans|Lease obligations|Retained profits|Share premium|Treasury stock
Dividends declared|Depreciation|Stock compensation|Purchases of equipment|Loans repaid
Shares outstanding|Units shipped|Stores at year end|Order backlog""".replace("\n", "|").split("|")
_BANNERS = ["Assets", "Liabilities", "Operating activities", "Per share data", "By segment"]
_AREAS = ["Northern", "Southern", "Overseas", "Wholesale", "Online"]
_MONTHS = ["March 31", "June 30", "September 30", "December 31"]
_COMPANIES = ["Alder Foods", "Brightwater", "Calder Rail", "Dunmore Paper"]
_SENTENCES = [
    "Net sales of {c} reached {m} in the year ended {d}, against {m} one year before.",
    "As of {d}, {c} employed {i} people in {s} countries.",
    "Margins of {c} widened by {p} because freight costs fell to {m}.",
    "On {d} the board of {c} approved the purchase of up to {i} shares at {u} each.",
    "Borrowings of {c} bear interest at {p} and fall due on {d}.",
]
_CAPTIONS = ["Consolidated results of {c}", "Selected figures of {c} (unaudited)", "Notes of {c}"]


class Generator:
    """Makes a page from a seed. `values` are the numbers so far, some of which occur again."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._values: list[str] = []
        self._count = 0
        self._company = self._chance.choice(_COMPANIES)

    def page(self) -> Page:
        chance = self._chance
        blocks: list[Pieces | Table] = []
        labels = chance.sample(_LABELS, len(_LABELS))
        for caption in chance.sample(_CAPTIONS, chance.choice([1, 1, 2])):
            blocks.append([caption.format(c=self._company)])
            if chance.random() < 0.7:
                blocks.append(self._sentence())
            blocks.append(self._table([labels.pop() for _ in range(chance.randint(4, 9))]))
        blocks += [self._sentence() for _ in range(chance.randint(1, 2))]
        return Page(blocks)

    def _fact(self, kind: str, value: str, before: str = "", behind: str = "") -> Fact:
        self._count += 1
        return Fact(self._count - 1, kind, value, before, behind)

    def _integer(self) -> str:
        if self._values and self._chance.random() < 0.05:
            return self._chance.choice(self._values)
        value = f"{int(10 ** self._chance.uniform(2.1, 5.9)):,}"
        self._values.append(value)
        return value

    def _decimal(self) -> str:
        return f"{self._chance.randint(11, 989) / 10:.{self._chance.choice([1, 1, 2])}f}"

    def _date(self) -> str:
        return f"{self._chance.choice(_MONTHS)}, {self._chance.randint(2015, 2025)}"

    def _sentence(self) -> Pieces:
        chance = self._chance
        make: dict[str, Callable[[], str | Fact]] = {
            "{c}": lambda: self._company,
            "{m}": lambda: self._fact("Number", self._decimal(), "$", " million"),
            "{d}": lambda: self._fact("Date", self._date()),
            "{i}": lambda: self._fact("Number", self._integer()),
            "{s}": lambda: self._fact("Number", str(chance.randint(3, 40))),
            "{p}": lambda: self._fact("Number", self._decimal(), "", "%"),
            "{u}": lambda: self._fact("Number", f"${self._decimal()}"),
        }
        parts = re.split(r"(\{\w\})", chance.choice(_SENTENCES))
        return [make[part]() if part in make else part for part in parts if part]

    def _table(self, names: Sequence[str]) -> Table:
        chance = self._chance
        groups = chance.random() < 0.2
        head, kinds = self._head(2 if groups else 1)
        holes, style = chance.choice([0, 0, 0.15]), chance.choice(["", "(", "outside", "-"])
        currency = chance.choice(["", "first", "all"])
        body: list[Row] = []
        for k, name in enumerate(names):
            if k in (2, 5) and not groups and chance.random() < 0.4:
                body.append([Cell([chance.choice(_BANNERS)], len(kinds) + 1)])
            label: Row = [Cell([name])]
            if groups:
                area = _AREAS[k // 2] if k % 2 == 0 else ""
                label.insert(0, Cell([area] if area else []))
            has_mark = currency == "all" or (currency == "first" and k == 0)
            body.append(
                label + [self._value(kind, holes, style, "$" if has_mark else "") for kind in kinds]
            )
        return Table(head, body, len(body[0]) - len(kinds))

    def _value(self, kind: str, holes: float, style: str, currency: str) -> Cell:
        if self._chance.random() < holes:
            return Cell()
        if kind == "note":
            return Cell([str(self._chance.randint(1, 9))])
        if kind == "%":
            inside = "%" if style == "(" else ""
            return Cell([self._fact("Number", self._decimal() + inside, "", "" if inside else "%")])
        value = self._integer()
        if not style or self._chance.random() > 0.3:
            return Cell([self._fact("Number", value, currency)])
        if style == "outside":
            return Cell([self._fact("Number", value, f"{currency}(", ")")])
        signed = f"({value})" if style == "(" else f"-{value}"
        return Cell([self._fact("Number", signed, currency)])

    def _head(self, labels: int) -> tuple[list[Row], list[str]]:
        """The rows of headers, and the kind of each column."""
        chance = self._chance
        year = chance.randint(2018, 2024)
        corner = Cell([chance.choice(["", "(in thousands)", "Item"])], 1)
        start = [corner, *(Cell() for _ in range(labels - 1))]
        years = [Cell([str(year - k)]) for k in range(chance.choice([2, 2, 3]))]
        match chance.choice(["years", "dates", "groups", "areas", "change", "note"]):
            case "dates":
                dates = [f"{chance.choice(_MONTHS)}, {year - k}" for k in range(2)]
                return [[*start, *(Cell([self._fact("Date", date)]) for date in dates)]], ["", ""]
            case "groups":
                spans = [Cell([f"{n} months ended June 30,"], 2) for n in ("Three", "Six")]
                leaves = [Cell([str(year - k % 2)]) for k in range(4)]
                upper: Row = [*(Cell() for _ in range(labels)), *spans]
                return [upper, [*start, *leaves]], [""] * 4
            case "areas":
                areas = [Cell([name]) for name in chance.sample(_AREAS, 3)]
                return [[*start, *areas, Cell(["Total"])]], [""] * 4
            case "change":
                return [[*start, *years, Cell(["Change"])]], [*[""] * len(years), "%"]
            case "note":
                return [[*start, Cell(["Note"]), *years]], ["note", *[""] * len(years)]
            case _:
                return [[*start, *years]], [""] * len(years)
