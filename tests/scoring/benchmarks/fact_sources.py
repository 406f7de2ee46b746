"""The model of a gold page, read from its HTML."""

import re
from collections.abc import Iterator, Sequence
from html import escape

import lxml.html

from .fact_pages import Cell, Fact, Page, Pieces, Row, Table, text_of

_TAGS = re.compile(r"<(number|date)\b[^>]*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_BLOCKS = frozenset(
    "p div table tr ul ol li h1 h2 h3 h4 h5 h6 section article br hr center td".split()
)
_OPENING, _CLOSING = re.compile(r"[$€£(\s]+"), re.compile(r"[)%\s]+")
_BEFORE = re.compile(r"[$€£]\s?\(?$|\($")
_BEHIND = re.compile(r"[)%]+| (?:million|billion|thousand)\b")
Placed = tuple[int, int, Pieces]


def as_given(page: Page) -> str:
    """Return the gold of a page without its tags, and with its facts as shown."""
    facts = list(page.facts())
    by_number = {fact.n: fact for fact in facts}
    numbers = iter(range(len(facts)))

    def shown(match: re.Match[str]) -> str:
        fact = by_number[next(numbers)]
        return match[2] if fact.shown == fact.value else escape(fact.shown)

    return _TAGS.sub(shown, page.source)


def read_model(html: str, name: str) -> Page | None:
    """Return the model of a gold page; None if a table is too irregular for it, or a fact has
    several tags."""
    if re.search(r"<(?:number|date)\s[^>]*\bid\b", html, re.IGNORECASE):
        return None
    reader = _Reader()
    body = lxml.html.document_fromstring(html).find("body")
    if body is None:
        return None
    reader.walk(body)
    reader.end()
    return None if reader.failed else Page(reader.blocks, name, html)


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Pieces | Table] = []
        self.failed = False
        self._open: Pieces = []
        self._count = 0

    def end(self) -> None:
        pieces = _cleaned(self._open)
        if pieces:
            self.blocks.append(_joined(pieces))
        self._open = []

    def walk(self, element: lxml.html.HtmlElement) -> None:
        name = element.tag if isinstance(element.tag, str) else ""
        if name in {"number", "date"}:
            self._open.append(self._fact(element, name))
            return
        if name == "table" and not element.xpath(".//table"):
            self.end()
            self._take(element)
            return
        if name in _BLOCKS:
            self.end()
        if name and name not in {"script", "style"}:
            self._open.append(element.text or "")
            for child in element:
                self.walk(child)
                self._open.append(child.tail or "")
        if name in _BLOCKS:
            self.end()

    def _fact(self, element: lxml.html.HtmlElement, name: str) -> Fact:
        text = " ".join("".join(element.itertext()).split())
        self._count += 1
        return Fact(self._count - 1, name.capitalize(), text)

    def _take(self, element: lxml.html.HtmlElement) -> None:
        rows = [row for row in self._rows(element) if row]
        if max(map(len, rows), default=0) < 2:
            self.blocks += [pieces for row in rows for _, _, pieces in row]
        elif table := _table_of([_with_marks(row) for row in rows]):
            self.blocks.append(table)
        else:
            self.failed = True

    def _rows(self, element: lxml.html.HtmlElement) -> Iterator[list[Placed]]:
        """Yield the cells with content of each row, in columns `[left, right)`."""
        reaching: dict[int, int] = {}
        for line in element.iter("tr"):
            row: list[Placed] = []
            column = 0
            taken = {k for k, left in reaching.items() if left > 0}
            reaching = {k: left - 1 for k, left in reaching.items() if left > 1}
            for cell in line.iterchildren("td", "th"):
                while column in taken:
                    column += 1
                columns, rows = (int(cell.get(key) or 1) for key in ("colspan", "rowspan"))
                reaching |= dict.fromkeys(range(column, column + columns), rows - 1)
                if pieces := self._pieces(cell):
                    row.append((column, column + columns, pieces))
                column += columns
            yield row

    def _pieces(self, cell: lxml.html.HtmlElement) -> Pieces:
        inner = _Reader()
        inner._count = self._count
        inner.walk(cell)
        inner.end()
        self._count = inner._count
        self.failed |= inner.failed
        found: Pieces = []
        for block in inner.blocks:
            if not isinstance(block, Table):
                found += [" ", *block] if found else block
        return found


def _cleaned(pieces: Pieces) -> Pieces:
    """Return the pieces with single spaces, and marks next to a number as part of it."""
    joined: Pieces = []
    for piece in pieces:
        if isinstance(piece, str):
            if joined and isinstance(joined[-1], str):
                joined[-1] += piece
            else:
                joined.append(piece)
        else:
            joined.append(piece)
    spaced = [re.sub(r"\s+", " ", p) if isinstance(p, str) else p for p in joined]
    if spaced and isinstance(spaced[0], str):
        spaced[0] = spaced[0].lstrip()
    if spaced and isinstance(spaced[-1], str):
        spaced[-1] = spaced[-1].rstrip()
    return [piece for piece in spaced if piece]


def _with_marks(row: list[Placed]) -> list[Placed]:
    """Return a row whose cells of marks only are joined to the number next to them."""
    found: list[Placed] = []
    opening: Placed | None = None
    for left, right, pieces in row:
        text = text_of(pieces)
        if _OPENING.fullmatch(text) and not any(isinstance(p, Fact) for p in pieces):
            opening = (left, right, pieces)
        elif found and _CLOSING.fullmatch(text) and found[-1][2]:
            before = found.pop()
            found.append((before[0], right, [*before[2], text]))
        else:
            if opening:
                left, pieces = opening[0], [text_of(opening[2]), *pieces]
            found.append((left, right, pieces))
            opening = None
    return [(left, right, _joined(pieces)) for left, right, pieces in found]


def _joined(pieces: Pieces) -> Pieces:
    """Return the pieces with the marks next to a number as part of it."""
    for at, fact in enumerate(pieces):
        if not isinstance(fact, Fact) or fact.kind != "Number":
            continue
        before, behind = (pieces[k] if 0 <= k < len(pieces) else "" for k in (at - 1, at + 1))
        if isinstance(before, str) and (mark := _BEFORE.search(before)):
            pieces[at - 1] = before[: mark.start()]
            fact.before = mark[0] + fact.before
        if isinstance(behind, str) and (mark := _BEHIND.match(behind)):
            pieces[at + 1] = behind[mark.end() :]
            fact.behind += mark[0]
    return [piece for piece in pieces if piece]


def _table_of(rows: list[list[Placed]]) -> Table | None:
    first = next(
        (k for k, row in enumerate(rows) if any(Cell(p).number for _, _, p in row[1:])), None
    )
    if first is None:
        return None
    spans = sorted(
        ((left, right) for row in rows[first:] if len(row) > 1 for left, right, _ in row),
        key=lambda span: (span[1] - span[0], span),
    )
    columns: list[tuple[int, int]] = []
    for left, right in spans:
        touched = [c for c in columns if c[0] < right and left < c[1]]
        if len(touched) <= 1:
            columns = [c for c in columns if c not in touched]
            ends = [(left, right), *touched]
            columns.append((min(a for a, _ in ends), max(b for _, b in ends)))
    columns.sort()
    head = [_head_row(row, columns) for row in rows[:first]]
    body = [_body_row(row, columns) for row in rows[first:]]
    if None in body or any(row and row[0].number for row in body if row and len(row) > 1):
        return None
    return Table(head, [row for row in body if row])


def _touched(left: int, right: int, columns: Sequence[tuple[int, int]]) -> list[int]:
    return [k for k, column in enumerate(columns) if column[0] < right and left < column[1]]


def _body_row(row: list[Placed], columns: Sequence[tuple[int, int]]) -> Row | None:
    if len(row) == 1 and not Cell(row[0][2]).number:
        return [Cell(row[0][2], len(columns))]
    cells = [Cell() for _ in columns]
    for left, right, pieces in row:
        free = [k for k in _touched(left, right, columns) if not cells[k].pieces]
        if not free:
            return None
        cells[free[0]].pieces = pieces
    return cells


def _head_row(row: list[Placed], columns: Sequence[tuple[int, int]]) -> Row:
    cells: Row = []
    for left, right, pieces in row:
        at = [k for k in _touched(left, right, columns) if k >= sum(c.columns for c in cells)]
        start = sum(cell.columns for cell in cells)
        if not at:
            if cells:
                cells[-1].pieces = [*cells[-1].pieces, " ", *pieces]
                continue
            at = [0]
        cells += [Cell() for _ in range(at[0] - start)]
        cells.append(Cell(pieces, len(at)))
    rest = len(columns) - sum(cell.columns for cell in cells)
    return cells + [Cell() for _ in range(rest)]
