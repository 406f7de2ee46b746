"""Edits of a page whose right verdicts are known, and those that leave all facts right.

`fact_errors` has those that make facts wrong.
"""

import re
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from .fact_pages import Cell, Fact, Page, Row, Table, over


@dataclass
class Edited:
    """A page after an edit: the facts that are `wrong` now, and those of which the edit does not
    say. All others are right."""

    page: Page
    wrong: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)


# An edit changes a page in place, and returns the facts that are wrong and of unknown verdict; None
# if it does not apply.
Found = tuple[set[int], set[int]]
Change = Callable[[Page, Random], Found | None]
NOTHING: Found = (set(), set())


@dataclass(frozen=True)
class Edit:
    """`forms` are those that it is for, if not for all. `in_place`: it changes what facts show and
    nothing else. `error` is the type of error that it makes."""

    change: Change
    forms: Collection[str] = ()
    in_place: bool = False
    error: str = ""

    def __call__(self, page: Page, seed: int) -> Edited | None:
        copy = deepcopy(page)
        found = self.change(copy, Random(seed))
        return None if found is None else Edited(copy, *found)


def numbers(facts: Collection[Fact]) -> set[int]:
    return {fact.n for fact in facts}


# --- harmless -------------------------------------------------------------------------------------


def _none(page: Page, chance: Random) -> Found:
    return NOTHING


def _other_order(page: Page, chance: Random) -> Found | None:
    """Captions stay with the table below them."""
    units: list[list[object]] = []
    for block in page.blocks:
        if isinstance(block, Table) and units and len(units[-1]) == 1:
            units[-1].append(block)
        else:
            units.append([block])
    if len(units) < 2:
        return None
    at = chance.randrange(1, len(units))
    page.blocks = [block for unit in units[at:] + units[:at] for block in unit]  # type: ignore[misc]
    return NOTHING


def _stretches(table: Table) -> list[tuple[int, int]]:
    """The runs of columns behind the labels that no wide header joins to others."""
    cuts = set(range(table.labels, table.width + 1))
    for row in table.head:
        column = 0
        for cell in row:
            cuts -= set(range(column + 1, column + cell.columns))
            column += cell.columns
    return list(pairwise(sorted(cuts)))


def _in_order(table: Table, columns: list[int]) -> None:
    """Write the columns in this order; wide headers must stay whole."""
    for rows in (table.head, table.body):
        for row in rows:
            if len(row) == 1:
                row[0].columns = len(columns)
                continue
            cells = [(cell, k) for cell in row for k in range(cell.columns)]
            cells += [(Cell(), 0)] * (max(columns) + 1 - len(cells))
            chosen = [cells[k] for k in columns]
            kept: Row = []
            for cell, _ in chosen:
                if kept and kept[-1] is cell:
                    continue
                cell.columns = sum(other is cell for other, _ in chosen)
                kept.append(cell)
            row[:] = kept


def _facts_of(table: Table, column: int) -> list[Fact]:
    heads = [over(row, column) for row in table.head]
    cells = [cell for cell in heads if cell.columns == 1] + [row[column] for row in table.rows]
    return [fact for cell in cells for fact in cell.facts]


def _dropped(page: Page, chance: Random) -> Found | None:
    gone: set[int] = set()
    for table in page.tables:
        columns = table.columns()
        if len(columns) > 1 and is_told(table, columns):
            column = chance.choice(columns)
            gone |= numbers(_facts_of(table, column))
            _in_order(table, [k for k in range(table.width) if k != column])
    return (gone, set()) if gone else None


def is_told(table: Table, columns: Collection[int]) -> bool:
    """Whether all columns have different headers."""
    headers = [table.header(k) for k in columns]
    return bool(headers) and all(headers) and len(set(headers)) == len(headers)


def _added(page: Page, chance: Random) -> Found | None:
    tables = [t for t in page.tables if is_told(t, t.columns()) and _stretches(t)]
    for table in tables:
        at = chance.choice([end for _, end in _stretches(table)])
        for row in table.head:
            _insert(row, at, Cell(["Variance"] if row is table.head[-1] else []))
        for row in table.body:
            if len(row) == 1:
                row[0].columns += 1
            else:
                row.insert(at, Cell([f"{chance.randint(101, 987) / 10}"]))
    return NOTHING if tables else None


def _insert(row: Row, column: int, cell: Cell) -> None:
    at, reached = 0, 0
    while at < len(row) and reached < column:
        reached += row[at].columns
        at += 1
    row.insert(at, cell)


def _moved(page: Page, chance: Random) -> Found | None:
    has_moved = False
    for table in page.tables:
        stretches = _stretches(table)
        if len(stretches) > 1 and is_told(table, range(table.labels, table.width)):
            mixed = stretches[1:] + stretches[:1] if len(stretches) < 3 else stretches[::-1]
            labels = range(table.labels)
            _in_order(table, [*labels, *(k for low, high in mixed for k in range(low, high))])
            has_moved = True
    return NOTHING if has_moved else None


def _rows_reordered(page: Page, chance: Random) -> Found | None:
    has_moved = False
    for table in page.tables:
        names = [table.label(row) for row in table.rows]
        if table.labels > 1 or len(set(names)) < len(names) or not all(names):
            continue
        at = [k for k, row in enumerate(table.body) if len(row) > 1 and any(c.facts for c in row)]
        for run in _runs(at):
            rows = [table.body[k] for k in run]
            chance.shuffle(rows)
            table.body[run[0] : run[-1] + 1] = rows
            has_moved |= len(run) > 1
    return NOTHING if has_moved else None


def _runs(numbers: list[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for number in numbers:
        if run and number > run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _respaced(page: Page, chance: Random) -> Found:
    def respace(text: str) -> str:
        return re.sub(" ", lambda _: chance.choice(" \u00a0\u202f\u2009"), text)

    _retext(page, respace)
    for fact in page.facts():
        fact.shown, fact.behind = respace(fact.shown), respace(fact.behind)
    return NOTHING


def _retext(page: Page, change: Callable[[str], str]) -> None:
    """Change all texts between facts."""
    for block in page.blocks:
        rows = [*block.head, *block.body] if isinstance(block, Table) else []
        for pieces in [c.pieces for row in rows for c in row] if rows else [block]:
            pieces[:] = [change(p) if isinstance(p, str) else p for p in pieces]  # type: ignore[index, union-attr]


def _repeated_currency(page: Page, chance: Random) -> Found | None:
    has_changed = False
    for table in page.tables:
        for column in table.columns():
            numbers = [row[column].number for row in table.rows]
            facts = [fact for fact in numbers if fact]
            if facts and facts[0].before.startswith("$") and not facts[1].before:
                for fact in facts[1:]:
                    if not fact.before.startswith("$") and not fact.behind.startswith("%"):
                        fact.before = f"${fact.before}"
                        has_changed = True
    return NOTHING if has_changed else None


def _page_twice(page: Page, chance: Random) -> Found:
    page.blocks += deepcopy(page.blocks)
    return NOTHING


def _leaders(page: Page, chance: Random) -> Found | None:
    for table in page.tables:
        for row in table.rows:
            if row[table.labels - 1].pieces:
                row[table.labels - 1].pieces.append(" " + chance.choice("._·") * 9)
    return NOTHING if page.tables else None


def _bold(page: Page, chance: Random) -> Found:
    for fact in page.facts():
        if fact.kind == "Number" and chance.random() < 0.5:
            fact.before, fact.behind = f"**{fact.before}", f"{fact.behind}**"
    return NOTHING


def _escaped(page: Page, chance: Random) -> Found:
    for fact in page.facts():
        fact.before = fact.before.replace("$", "\\$")
        fact.shown = re.sub(r"(^-|\$)", r"\\\1", fact.shown)
    return NOTHING


_PIPES = frozenset({"pipes", "bare pipes"})
HARMLESS = {
    "none": Edit(_none, in_place=True),
    "blocks in another order": Edit(_other_order),
    "column dropped": Edit(_dropped),
    "column added": Edit(_added),
    "column moved": Edit(_moved),
    "rows in another order": Edit(_rows_reordered),
    "other spaces": Edit(_respaced),
    "currency on every row": Edit(_repeated_currency),
    "page twice": Edit(_page_twice),
    "leaders": Edit(_leaders),
    "bold": Edit(_bold, _PIPES),
    "escapes": Edit(_escaped, _PIPES),
}
