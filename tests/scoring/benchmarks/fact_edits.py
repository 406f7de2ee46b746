"""Edits of a page whose right verdicts are known: harmless ones, and ones that make facts wrong."""

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


def _numbers(facts: Collection[Fact]) -> set[int]:
    return {fact.n for fact in facts}


def _every(page: Page, chance: Random, share: float, pattern: str = r"\d") -> list[Fact]:
    """Some of the facts with such a value, at least one if there is any."""
    facts = [fact for fact in page.facts() if re.search(pattern, fact.shown)]
    return chance.sample(facts, max(1, round(share * len(facts)))) if facts else []


def misread(text: str, chance: Random) -> str:
    """Change one digit."""
    at = chance.choice([match.start() for match in re.finditer(r"\d", text)])
    other = chance.choice([digit for digit in "123456789" if digit != text[at]])
    return text[:at] + other + text[at + 1 :]


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
        if len(columns) > 1 and _is_told(table, columns):
            column = chance.choice(columns)
            gone |= _numbers(_facts_of(table, column))
            _in_order(table, [k for k in range(table.width) if k != column])
    return (gone, set()) if gone else None


def _is_told(table: Table, columns: Collection[int]) -> bool:
    """Whether all columns have different headers."""
    headers = [table.header(k) for k in columns]
    return bool(headers) and all(headers) and len(set(headers)) == len(headers)


def _added(page: Page, chance: Random) -> Found | None:
    tables = [t for t in page.tables if _is_told(t, t.columns()) and _stretches(t)]
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
        if len(stretches) > 1 and _is_told(table, range(table.labels, table.width)):
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


# --- harmful --------------------------------------------------------------------------------------


def _exchange(one: Fact, other: Fact) -> set[int]:
    """Exchange two values with their marks."""
    if str(one) == str(other) or one.shown == other.shown:
        return set()
    for name in ("shown", "before", "behind"):
        mine, others = getattr(one, name), getattr(other, name)
        setattr(one, name, others)
        setattr(other, name, mine)
    return {one.n, other.n}


def _columns_exchanged(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    for table in page.tables:
        columns = [k for k in table.columns() if table.header(k)]
        pairs = [(a, b) for a, b in pairwise(columns) if table.header(a) != table.header(b)]
        if not pairs:
            continue
        one, other = chance.choice(pairs)
        for row in table.rows:
            mine, others = row[one].number, row[other].number
            if mine and others and table.label(row):
                wrong |= _exchange(mine, others)
    return (wrong, set()) if wrong else None


def _rows_exchanged(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    names = [table.label(row) for table in page.tables for row in table.rows]
    for table in page.tables:
        rows = [row for row in table.rows if names.count(table.label(row)) == 1]
        pairs = [(a, b) for a, b in pairwise(rows) if _is_alike(a, b) and table.label(a)]
        if not pairs:
            continue
        for mine, others in zip(*chance.choice(pairs), strict=True):
            if mine.number and others.number:
                wrong |= _exchange(mine.number, others.number)
    return (wrong, set()) if wrong else None


def _is_alike(one: Row, other: Row) -> bool:
    """Whether two rows have values in the same columns, and not the same ones."""
    mine, others = ([cell.number for cell in row] for row in (one, other))
    if [bool(fact) for fact in mine] != [bool(fact) for fact in others] or not any(mine):
        return False
    shown = {fact.shown for fact in mine if fact} & {fact.shown for fact in others if fact}
    return not shown


def _headers_exchanged(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    unknown: set[int] = set()
    for table in page.tables:
        leaf = table.head[-1] if table.head else []
        pairs = [
            (a, b)
            for a, b in pairwise(table.columns())
            if over(leaf, a).columns == over(leaf, b).columns == 1
            and "" != str(over(leaf, a)) != str(over(leaf, b)) != ""
            and all(
                over(row, a) is over(row, b) or not str(over(row, a)) for row in table.head[:-1]
            )
            and all(
                over(row, a) is over(row, b) or not str(over(row, b)) for row in table.head[:-1]
            )
        ]
        if not pairs:
            continue
        one, other = chance.choice(pairs)
        heads = over(leaf, one), over(leaf, other)
        heads[0].pieces, heads[1].pieces = heads[1].pieces, heads[0].pieces
        unknown |= _numbers([fact for head in heads for fact in head.facts])
        for row in table.rows:
            mine, others = row[one].number, row[other].number
            is_same = mine and others and mine.shown == others.shown
            (unknown if is_same or not table.label(row) else wrong).update(
                fact.n for cell in (row[one], row[other]) for fact in cell.facts
            )
    return (wrong, unknown) if wrong else None


def _in_some(share: float, pattern: str, change: Callable[[str, Random], str]) -> Change:
    """Return the edit that changes what some facts show."""

    def edit(page: Page, chance: Random) -> Found | None:
        facts = [f for f in _every(page, chance, share, pattern) if not f.before.endswith("(")]
        for fact in facts:
            fact.shown = change(fact.shown, chance)
        return (_numbers(facts), set()) if facts else None

    return edit


def _without_sign(text: str, chance: Random) -> str:
    return re.sub(r"^\((.*)\)$|^-(.*)$", lambda match: match[1] or match[2], text)


def _signed(text: str, chance: Random) -> str:
    return chance.choice([f"({text})", f"-{text}"])


def _other_point(text: str, chance: Random) -> str:
    def moved(match: re.Match[str]) -> str:
        whole, _, part = match[0].replace(",", "").partition(".")
        if part and chance.random() < 0.5:
            return f"{whole}{part[0]}.{part[1:]}".rstrip(".")
        return f"{whole[:-1]}.{whole[-1]}{part}" if len(whole) > 1 else f"0.{whole}{part}"

    return re.sub(r"\d[\d,]*(\.\d+)?", moved, text, count=1)


def _other_unit(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    unknown: set[int] = set()
    for table in page.tables:
        for column in table.columns():
            facts = [row[column].number for row in table.rows]
            marked = [fact for fact in facts if fact and fact.before.startswith("$")]
            if marked and chance.random() < 0.5:
                marked[0].before = marked[0].before.replace("$", chance.choice("€£¥"))
                wrong.add(marked[0].n)
                unknown |= {fact.n for fact in facts if fact} - wrong
    for block in page.blocks:
        for fact in [] if isinstance(block, Table) else block:
            if isinstance(fact, Fact) and fact.kind == "Number" and _with_other_unit(fact, chance):
                wrong.add(fact.n)
    return (wrong, unknown) if wrong else None


def _with_other_unit(fact: Fact, chance: Random) -> bool:
    if "million" in fact.behind:
        if chance.random() < 0.5:
            fact.behind = fact.behind.replace("million", chance.choice(["billion", "thousand"]))
        else:
            fact.before = "€"
    elif not fact.before and not fact.behind and "$" not in fact.shown:
        fact.behind = "%"
    else:
        return False
    return True


def _to_next_cell(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    for table in page.tables:
        columns = table.columns()
        if not _is_told(table, columns):
            continue
        rows = [row for row in table.rows if table.label(row)]
        places = [
            (row[a], row[b])
            for row in rows
            for one, other in pairwise(columns)
            for a, b in ((one, other), (other, one))
        ]
        places += [
            (two[k], one[k]) if is_up else (one[k], two[k])
            for one, two in pairwise(rows)
            for k in columns
            for is_up in (True, False)
        ]
        chance.shuffle(places)
        for full, empty in places[: len(places) // 2]:
            if full.number and full.number.n not in wrong and not empty.pieces:
                wrong.add(full.number.n)
                full.pieces, empty.pieces = [], full.pieces
    return (wrong, set()) if wrong else None


def _to_a_list(page: Page, chance: Random) -> Found | None:
    facts = _every(page, chance, 0.15)
    values = [fact.shown for fact in facts]
    for fact in facts:
        fact.empty()
    page.blocks.append(["Values: " + "; ".join(values)])
    return (_numbers(facts), set()) if facts else None


def _given_twice(form: str) -> Change:
    """Return the edit that gives every number a second reading, before or behind the right one."""

    def edit(page: Page, chance: Random) -> Found | None:
        facts = [
            fact
            for fact in page.facts()
            if re.search(r"\d\D?\d", fact.shown) and not fact.before.endswith("(")
        ]
        for fact in facts:
            readings = [fact.shown, misread(fact.shown, chance)]
            chance.shuffle(readings)
            fact.shown = form.format(*readings)
        return (_numbers(facts), set()) if facts else None

    return edit


def _again(page: Page, chance: Random) -> Found | None:
    """Give the page again, with other readings in one of the copies."""
    copies = [page.blocks, deepcopy(page.blocks)]
    chance.shuffle(copies)
    facts = _every(Page(copies[0]), chance, 0.25)
    for fact in facts:
        fact.shown = misread(fact.shown, chance)
    chance.shuffle(copies)
    page.blocks = copies[0] + copies[1]
    return (_numbers(facts), set()) if facts else None


def _table_again(page: Page, chance: Random) -> Found | None:
    if not page.tables:
        return None
    table = chance.choice(page.tables)
    other = deepcopy(table)
    facts = _every(Page([chance.choice([table, other])]), chance, 0.3)
    for fact in facts:
        fact.shown = misread(fact.shown, chance)
    page.blocks.insert(next(k for k, b in enumerate(page.blocks) if b is table) + 1, other)
    return (_numbers(facts), set()) if facts else None


def _row_again(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    for table in page.tables:
        names = [table.label(row) for row in table.rows]
        known = [row for row in table.rows if names.count(table.label(row)) == 1]
        rows = [row for row in known if table.labels == 1 and any(cell.number for cell in row)]
        if not rows:
            continue
        row = chance.choice(rows)
        other = deepcopy(row)
        facts = [cell.number for cell in chance.choice([row, other]) if cell.number]
        for fact in facts:
            fact.shown = misread(fact.shown, chance)
        wrong |= _numbers(facts)
        table.body.insert(next(k for k, r in enumerate(table.body) if r is row) + 1, other)
    return (wrong, set()) if wrong else None


_NO_TEX = frozenset({"tidy", "wide", "spans", "pipes", "bare pipes", "tabs", "spaced"})


def _hedge(form: str, forms: Collection[str] = ()) -> Edit:
    return Edit(_given_twice(form), forms, in_place=True, error="hedged")


HARMFUL = {
    "columns exchanged": Edit(_columns_exchanged, in_place=True),
    "rows exchanged": Edit(_rows_exchanged, in_place=True),
    "headers exchanged": Edit(_headers_exchanged),
    "digit": Edit(_in_some(0.12, r"\d", misread), in_place=True),
    "sign lost": Edit(_in_some(0.5, r"^\(.*\d.*\)$|^-\d", _without_sign), in_place=True),
    "sign added": Edit(_in_some(0.12, r"^\d[\d,.]*$", _signed), in_place=True),
    "point": Edit(_in_some(0.12, r"^\D?\d[\d,.]*\d\D?$", _other_point), in_place=True),
    "unit": Edit(_other_unit),
    "to the next cell": Edit(_to_next_cell),
    "to a list": Edit(_to_a_list),
    "or": _hedge("{} or {}"),
    "brackets": _hedge("{} [{}]"),
    "parentheses": _hedge("{} ({})"),
    "struck through": _hedge("~~{}~~ {}", _NO_TEX),
    "slash": _hedge("{} / {}"),
    "corrected": _hedge("{} (corrected: {})"),
    "page again": Edit(_again, error="hedged"),
    "table again": Edit(_table_again, error="hedged"),
    "row again": Edit(_row_again, error="hedged"),
}
EDITS = HARMLESS | HARMFUL
