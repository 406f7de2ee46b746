"""A page with facts in many forms: `written` gives its gold HTML in many shapes, and `FORMS` what a
model or an engine would write for it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from random import Random

from .fact_pages import Fact, Page, Pieces, Row, Table, text_of


@dataclass(frozen=True)
class Shape:
    """How tables are written as HTML. `apart`: currency, value and closing sign have columns of
    their own; `lines`: rows are paragraphs."""

    th: bool = True
    thead: bool = False
    apart: bool = False
    nested: bool = False
    lines: str = ""

    @classmethod
    def drawn(cls, seed: int, page: Page) -> "Shape":
        chance = Random(seed)
        if all(map(_is_full, page.tables)) and chance.random() < 0.15:
            return cls(lines=chance.choice(["p", "div"]))
        th, thead, apart, nested = (chance.random() < k for k in (0.5, 0.3, 0.35, 0.15))
        return cls(th, thead, apart, nested)


def _is_full(table: Table) -> bool:
    """Whether order alone shows the columns of a table."""
    return table.labels == 1 and all(all(map(str, row[1:])) for row in table.rows)


def written(page: Page, shape: Shape, *, tagged: bool = False) -> str:
    """Return a page as HTML: gold if it is `tagged`, otherwise a prediction."""
    return "\n".join(
        _table(block, shape, tagged)
        if isinstance(block, Table)
        else f"<p>{_inline(block, tagged)}</p>"
        for block in page.blocks
    )


def _inline(pieces: Pieces, tagged: bool) -> str:
    return "".join(
        escape(piece) if isinstance(piece, str) else _marked(piece, tagged) for piece in pieces
    )


def _marked(fact: Fact, tagged: bool, *, apart: bool = False) -> str:
    inner = escape(fact.shown)
    inner = f"<{fact.kind}>{inner}</{fact.kind}>" if tagged else inner
    return inner if apart else f"{escape(fact.before)}{inner}{escape(fact.behind)}"


def _table(table: Table, shape: Shape, tagged: bool) -> str:
    if shape.lines:
        rows = (
            " ".join(filter(None, (_inline(cell.pieces, tagged) for cell in row)))
            for row in [*table.head, *table.body]
        )
        return "\n".join(f"<{shape.lines}>{row}</{shape.lines}>" for row in rows)
    name = "th" if shape.th else "td"
    head = "\n".join(_row(row, table, name, shape, tagged) for row in table.head)
    body = "\n".join(
        _row(row, table, "td", shape, tagged, _spans(table, k)) for k, row in enumerate(table.body)
    )
    head = f"<thead>{head}</thead>" if shape.thead else head
    found = f"<table>\n{head}\n{body}\n</table>"
    return f"<table><tr><td>{found}</td></tr></table>" if shape.nested else found


def _spans(table: Table, at: int) -> int:
    """Return the rows of the cell at the left of a row: 0 if it is part of one above."""
    if table.labels == 1:
        return 1
    if not str(table.body[at][0]):
        return 0
    behind = (k for k in range(at + 1, len(table.body)) if str(table.body[k][0]))
    return next(behind, len(table.body)) - at


def _row(
    row: Row, table: Table, name: str, shape: Shape, tagged: bool, spans: int | None = None
) -> str:
    cells = []
    column = 0
    for cell in row:
        is_label = column < table.labels
        wide = max(0, column + cell.columns - max(column, table.labels)) if shape.apart else 0
        columns = cell.columns + 2 * wide
        if column == 0 and spans is not None and spans != 1 and len(row) > 1:
            if spans:
                cells.append(f'<{name} rowspan="{spans}">{_inline(cell.pieces, tagged)}</{name}>')
        elif shape.apart and not is_label and cell.number and len(cell.pieces) == 1:
            fact = cell.number
            sign = "(" if fact.before.endswith("(") else ""
            inner = f"{sign}{_marked(fact, tagged, apart=True)}"
            parts = (fact.before.removesuffix("("), inner, fact.behind)
            cells += [f"<{name}>{part}</{name}>" for part in parts]
        else:
            span = f' colspan="{columns}"' if columns > 1 else ""
            cells.append(f"<{name}{span}>{_inline(cell.pieces, tagged)}</{name}>")
        column += cell.columns
    return f"<tr>{''.join(cells)}</tr>"


# --- forms of a prediction ------------------------------------------------------------------------


def _dense(row: Row, width: int) -> list[str]:
    """Return the texts of a row, with empty ones for the further columns of wide cells."""
    texts = [text for cell in row for text in [str(cell), *[""] * (cell.columns - 1)]]
    return texts + [""] * (width - len(texts))


def _tidy(page: Page) -> str:
    """Tables without spans, with joined marks."""
    blocks = []
    for block in page.blocks:
        if not isinstance(block, Table):
            blocks.append(f"<p>{_inline(block, tagged=False)}</p>")
            continue
        rows = [_dense(row, block.width) for row in [*block.head, *block.body]]
        lines = []
        for k, row in enumerate(rows):
            name = "th" if k < len(block.head) else "td"
            cells = "".join(f"<{name}>{escape(text)}</{name}>" for text in row)
            lines.append(f"<tr>{cells}</tr>")
        blocks.append(f"<table>{''.join(lines)}</table>")
    return "\n".join(blocks)


def _text(table: Callable[[Table], str], prose: Callable[[str], str] = str) -> Callable[..., str]:
    def form(page: Page) -> str:
        return "\n\n".join(
            table(block) if isinstance(block, Table) else prose(text_of(block))
            for block in page.blocks
        )

    return form


def _piped(table: Table) -> str:
    return "\n".join(f"| {line} |" for line in _pipes(table))


def _bare_pipes(table: Table) -> str:
    return "\n".join(_pipes(table))


def _pipes(table: Table) -> list[str]:
    rows = [_dense(row, table.width) for row in [*table.head, *table.body]]
    lines = [" | ".join(text.replace("|", "\\|") for text in row) for row in rows]
    return [lines[0], " | ".join(["---"] * table.width), *lines[1:]]


def _tex(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


def _tabular(table: Table) -> str:
    lines = []
    for row in [*table.head, *table.body]:
        cells = [
            f"\\multicolumn{{{cell.columns}}}{{c}}{{{_tex(str(cell))}}}"
            if cell.columns > 1
            else _tex(str(cell))
            for cell in row
        ]
        lines.append(" & ".join(cells) + r" \\")
    lines.insert(len(table.head), r"\hline")
    columns = "l" * table.labels + "r" * (table.width - table.labels)
    return f"\\begin{{tabular}}{{{columns}}}\n" + "\n".join(lines) + "\n\\end{tabular}"


def _tabs(table: Table) -> str:
    rows = (_dense(row, table.width) for row in [*table.head, *table.body])
    return "\n".join("\t".join(row).rstrip("\t") for row in rows)


def _spaced(table: Table) -> str:
    """Labels at the left, values at the right of columns three spaces apart."""
    rows = [*table.head, *table.body]
    width = table.width
    sizes = [0] * width
    for wide in (False, True):
        for row in rows:
            column = 0
            for cell in row:
                end = column + cell.columns
                is_banner = cell.columns == width
                if (cell.columns > 1) == wide and not is_banner:
                    free = len(str(cell)) - sum(sizes[column:end]) - 3 * (cell.columns - 1)
                    sizes[end - 1] += max(0, free)
                column = end
    return "\n".join(_spaced_row(row, sizes, table.labels) for row in rows)


def _spaced_row(row: Row, sizes: Sequence[int], labels: int) -> str:
    parts = []
    column = 0
    for cell in row:
        end = column + cell.columns
        size = sum(sizes[column:end]) + 3 * (cell.columns - 1)
        text = str(cell)
        if column < labels:
            parts.append(text.ljust(size))
        else:
            parts.append(text.center(size) if cell.columns > 1 else text.rjust(size))
        column = end
    return "   ".join(parts).rstrip()


FORMS: dict[str, Callable[[Page], str]] = {
    "tidy": _tidy,
    "wide": lambda page: written(page, Shape(th=False, apart=True)),
    "spans": lambda page: written(page, Shape(thead=True)),
    "pipes": _text(_piped),
    "bare pipes": _text(_bare_pipes),
    "LaTeX": _text(_tabular, _tex),
    "tabs": _text(_tabs),
    "spaced": _text(_spaced),
    "lines": lambda page: written(page, Shape(lines="p")),
}
# Forms in which only spaces separate the cells.
SPACED = frozenset({"spaced", "lines"})


def shows_columns(page: Page, form: str) -> bool:
    """Whether a form of a page shows the columns of its tables."""
    return form != "lines" or all(map(_is_full, page.tables))
