"""Edits of a page that make facts wrong."""

import re
from collections.abc import Callable, Collection
from copy import deepcopy
from itertools import pairwise
from random import Random

from .fact_edits import Change, Edit, Found, is_told, numbers
from .fact_pages import Cell, Fact, Page, Row, Table, over


def _every(page: Page, chance: Random, share: float, pattern: str = r"\d") -> list[Fact]:
    """Some of the facts with such a value, at least one if there is any."""
    facts = [fact for fact in page.facts() if re.search(pattern, fact.shown)]
    return chance.sample(facts, max(1, round(share * len(facts)))) if facts else []


def _misread(text: str, chance: Random) -> str:
    """Change one digit."""
    at = chance.choice([match.start() for match in re.finditer(r"\d", text)])
    other = chance.choice([digit for digit in "123456789" if digit != text[at]])
    return text[:at] + other + text[at + 1 :]


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


def _differ_only_below(table: Table, one: int, other: int) -> bool:
    """Whether two columns have headers of their own in the last row, and common ones above."""
    *upper, leaf = [(over(row, one), over(row, other)) for row in table.head] or [(Cell(), Cell())]
    is_common = all(a is b or not (str(a) or str(b)) for a, b in upper)
    texts = {str(cell) for cell in leaf if cell.columns == 1}
    return is_common and len(texts) == 2 and "" not in texts


def _headers_exchanged(page: Page, chance: Random) -> Found | None:
    wrong: set[int] = set()
    unknown: set[int] = set()
    for table in page.tables:
        leaf = table.head[-1] if table.head else []
        pairs = [pair for pair in pairwise(table.columns()) if _differ_only_below(table, *pair)]
        if not pairs:
            continue
        one, other = chance.choice(pairs)
        heads = over(leaf, one), over(leaf, other)
        heads[0].pieces, heads[1].pieces = heads[1].pieces, heads[0].pieces
        unknown |= numbers([fact for head in heads for fact in head.facts])
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
        return (numbers(facts), set()) if facts else None

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
        if not is_told(table, columns):
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
    return (numbers(facts), set()) if facts else None


def _given_twice(form: str) -> Change:
    """Return the edit that gives every number a second reading, before or behind the right one."""

    def edit(page: Page, chance: Random) -> Found | None:
        facts = [
            fact
            for fact in page.facts()
            if re.search(r"\d\D?\d", fact.shown) and not fact.before.endswith("(")
        ]
        for fact in facts:
            readings = [fact.shown, _misread(fact.shown, chance)]
            chance.shuffle(readings)
            fact.shown = form.format(*readings)
        return (numbers(facts), set()) if facts else None

    return edit


def _again(page: Page, chance: Random) -> Found | None:
    """Give the page again, with other readings in one of the copies."""
    copies = [page.blocks, deepcopy(page.blocks)]
    chance.shuffle(copies)
    facts = _every(Page(copies[0]), chance, 0.25)
    for fact in facts:
        fact.shown = _misread(fact.shown, chance)
    chance.shuffle(copies)
    page.blocks = copies[0] + copies[1]
    return (numbers(facts), set()) if facts else None


def _table_again(page: Page, chance: Random) -> Found | None:
    if not page.tables:
        return None
    table = chance.choice(page.tables)
    other = deepcopy(table)
    facts = _every(Page([chance.choice([table, other])]), chance, 0.3)
    for fact in facts:
        fact.shown = _misread(fact.shown, chance)
    page.blocks.insert(next(k for k, b in enumerate(page.blocks) if b is table) + 1, other)
    return (numbers(facts), set()) if facts else None


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
            fact.shown = _misread(fact.shown, chance)
        wrong |= numbers(facts)
        table.body.insert(next(k for k, r in enumerate(table.body) if r is row) + 1, other)
    return (wrong, set()) if wrong else None


_NO_TEX = frozenset({"tidy", "wide", "spans", "pipes", "bare pipes", "tabs", "spaced"})


def _hedge(form: str, forms: Collection[str] = ()) -> Edit:
    return Edit(_given_twice(form), forms, in_place=True, error="hedged")


HARMFUL = {
    "columns exchanged": Edit(_columns_exchanged, in_place=True),
    "rows exchanged": Edit(_rows_exchanged, in_place=True),
    "headers exchanged": Edit(_headers_exchanged),
    "digit": Edit(_in_some(0.12, r"\d", _misread), in_place=True),
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
