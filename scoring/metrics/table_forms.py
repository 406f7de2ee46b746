"""Tables in whatever form they are written, and their similarity.

`read_tables` reads HTML, Markdown and LaTeX tables into the same rows of texts: a cell that spans
several columns or rows is followed by empty ones, as Markdown has to write it, header cells are
cells, and of markup in a cell only superscripts and subscripts remain. `table_similarity` is TEDS
(see `tables`) of all rows of a text as one tree.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import groupby

import numpy as np
from lxml import etree
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from scoring.metrics import TooLargeError, check_characters

from .forms import fold
from .trees import Costs, Floats, Tree, check_size, one_to_one, tree_edit_distance

Rows = list[list[str]]

_MOST_SPAN = 1000
# Cells of a text, with those that a span covers.
MOST_CELLS = 100_000


def read_tables(text: str) -> list[Rows]:
    r"""Return the tables of a text that have any content: in HTML, LaTeX and Markdown.

    White space in cells, empty rows, empty cells at the end of a row, captions and everything
    outside of tables is left out. Raises TooLargeError beyond MOST_CELLS.

    >>> read_tables('<TABLE><tr><th colspan="2">Net&nbsp;sales</TABLE>')
    [[['Netsales']]]
    >>> read_tables("| Net sales | | $ |\n|---|---|---|\n| 1 | **2** | |")
    [[['Netsales', '', '$'], ['1', '2']]]
    >>> read_tables(r"\begin{tabular}{ll} \multicolumn{2}{c}{A} \\ \hline 1 & 2\% \end{tabular}")
    [[['A'], ['1', '2%']]]
    """
    opening = _OPENING.search(text)
    if opening is None:
        found = [*_latex_tables(text), *_markdown_tables(text)]
    else:
        end = max((match.end() for match in _CLOSING.finditer(text)), default=len(text))
        end = end if end > opening.start() else len(text)
        around = f"{text[: opening.start()]}\n{text[end:]}"
        found = [*_html_tables(text[opening.start() : end]), *_markdown_tables(around)]
    grids = map(_grid, found)
    tables = [list(filter(None, map(_without_blank_end, grid))) for grid in grids]
    return [table for table in tables if table]


def _without_blank_end(row: list[str]) -> list[str]:
    last = len(row)
    while last and not row[last - 1]:
        last -= 1
    return row[:last]


# A cell as written: its text, and the columns and rows that it fills.
_Cell = tuple[str, int, int]
_Table = list[list[_Cell]]


def _grid(rows: _Table) -> Rows:
    """Return the rows with an empty text for each place that a span covers."""
    grid: Rows = []
    reaching: dict[int, int] = {}  # the columns covered from above, and for how many more rows
    count = 0
    for row in rows:
        count += sum(columns for _, columns, _ in row) + len(reaching)
        if count > MOST_CELLS:
            raise TooLargeError(f"tables of more than {MOST_CELLS:,} cells")
        line: list[str] = []
        below: dict[int, int] = {}
        for text, columns, height in row:
            while len(line) in reaching:
                line.append("")
            if height > 1:
                below.update(dict.fromkeys(range(len(line), len(line) + columns), height - 1))
            line += [text, *[""] * (columns - 1)]
        line += [""] * sum(1 for column in reaching if column >= len(line))
        reaching = {column: left - 1 for column, left in reaching.items() if left > 1} | below
        grid.append(line)
    return grid


_WHITE = re.compile(r"\s+")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀₁₂₃₄₅₆₇₈₉]+")
_SUPERSCRIPT, _SUBSCRIPT = "^", "_"


def _content(text: str) -> str:
    """Return the text of a cell as it is compared."""
    text = _WHITE.sub("", fold(text))
    return text if text.isascii() else _RAISED.sub(_lowered, text)


def _lowered(raised: re.Match[str]) -> str:
    """Return raised or lowered digits as other digits behind a mark."""
    digits = unicodedata.normalize("NFKC", raised[0])
    return f"{_SUBSCRIPT if raised[0][0] in '₀₁₂₃₄₅₆₇₈₉' else _SUPERSCRIPT}{digits}"


# --- HTML --------------------------------------------------------------------------------------
_OPENING = re.compile(r"<table(?![\w-])", re.IGNORECASE)
_CLOSING = re.compile(r"</table\s*>", re.IGNORECASE)
_PARSER = etree.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_CELLS = frozenset({"td", "th"})
_SCRIPTS = {"sup": _SUPERSCRIPT, "sub": _SUBSCRIPT}


def _html_tables(markup: str) -> Iterator[_Table]:
    """Yield the tables that are in no cell; those in cells are text of the cell."""
    document = f"<html><body>{markup}</body></html>".encode("utf-8", "replace")
    for table in etree.fromstring(document, parser=_PARSER).iter("table"):
        if next(table.iterancestors(*_CELLS), None) is None:
            yield list(_html_rows(table))


def _html_rows(table: etree._Element) -> Iterator[list[_Cell]]:
    """Yield the cells of each row; cells outside of a row are one."""
    waiting = list(reversed(table))
    loose: list[_Cell] = []
    while waiting:
        element = waiting.pop()
        if element.tag in _CELLS:
            loose.append(_html_cell(element))
            continue
        if loose:
            yield loose
            loose = []
        if element.tag == "tr":
            yield [_html_cell(child) for child in element if child.tag in _CELLS]
        elif element.tag in _SECTIONS:
            waiting += reversed(element)
    if loose:
        yield loose


def _html_cell(cell: etree._Element) -> _Cell:
    text = _html_text(cell) if len(cell) else cell.text or ""
    return _content(text), _span(cell.get("colspan")), _span(cell.get("rowspan"))


def _html_text(cell: etree._Element) -> str:
    """Return the text of a cell, with a mark before superscripts and subscripts."""
    pieces = [cell.text or ""]
    for element in cell.iterdescendants():
        pieces += [_SCRIPTS.get(element.tag, ""), element.text or "", element.tail or ""]
    return "".join(pieces)


def _span(value: str | None) -> int:
    """Return a span as browsers read it; 1 if it is no positive integer."""
    if value is None:
        return 1
    digits = value.strip()[:9]
    return min(int(digits), _MOST_SPAN) or 1 if digits.isascii() and digits.isdigit() else 1


# --- Markdown ----------------------------------------------------------------------------------
_PIPE = re.compile(r"(?<!\\)\|")
_RULE_MARKS = " \t|:-"
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)([^*`|]*?)\1")
_TAG = re.compile(r"<(/?)(\w+)\b[^<>]*>")


def _markdown_tables(text: str) -> Iterator[_Table]:
    """Yield each block of lines with pipes that has a rule, or in which each line begins with a
    pipe."""
    for has_pipes, group in groupby(text.splitlines(), lambda line: bool(_PIPE.search(line))):
        lines = [line.strip() for line in group] if has_pipes else []
        rows = [line for line in lines if line.strip(_RULE_MARKS)]
        if rows and (len(rows) < len(lines) or all(line.startswith("|") for line in lines)):
            yield [_markdown_row(line) for line in rows]


def _markdown_row(line: str) -> list[_Cell]:
    parts = _PIPE.split(line)
    first, last = not parts[0].strip(), len(parts) - (not parts[-1].strip())
    return [(_markdown_text(part), 1, 1) for part in parts[first:last]]


def _markdown_text(cell: str) -> str:
    text = _EMPHASIS.sub(r"\2", cell.replace(r"\|", "|"))
    if "<" in text:
        text = _TAG.sub(lambda tag: "" if tag[1] else _SCRIPTS.get(tag[2].lower(), ""), text)
    return _content(unescape(text))


# --- LaTeX -------------------------------------------------------------------------------------
_TABULAR = re.compile(r"\\begin\{(tabular[xy*]?|longtable|array)\}")
_PREAMBLE = re.compile(r"(?:\[[^\[\]]*\]|\{(?:[^{}]|\{[^{}]*\})*\}|\s)*")
_LATEX_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|(?:cline|cmidrule)(?:\([^()]*\))?\{[^{}]*\})"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\[\]]*\])?")
_AMPERSAND = re.compile(r"(?<!\\)&")
# The rows that a cell reaches into have an empty cell there.
_TALL = re.compile(r"\\multirow\{\d{1,4}\}\{[^{}]*\}")
_WIDE = re.compile(r"\\multicolumn\{(\d{1,4})\}\{[^{}]*\}")
_STYLE = re.compile(
    r"\\(?:text(?:bf|it|rm|tt|sc|normal)|bf|it|bfseries|itshape|emph|mathbf|mathrm)(?![A-Za-z])"
)
_ESCAPED = re.compile(r"\\([%&#_$])|[{}$]|\\[,;:! ]")


def _latex_tables(text: str) -> Iterator[_Table]:
    position = 0
    while (opening := _TABULAR.search(text, position)) is not None:
        end = text.find(f"\\end{{{opening[1]}}}", opening.end())
        position = end if end >= 0 else len(text)
        columns = _PREAMBLE.match(text, opening.end(), position)
        body = _LATEX_RULE.sub("", text[columns.end() if columns else opening.end() : position])
        yield [
            [_latex_cell(cell) for cell in _AMPERSAND.split(row)] for row in _ROW_END.split(body)
        ]


def _latex_cell(cell: str) -> _Cell:
    wide = _WIDE.search(cell)
    text = _STYLE.sub("", _TALL.sub("", _WIDE.sub("", cell)))
    text = text.replace(r"\textsuperscript", _SUPERSCRIPT).replace(r"\textsubscript", _SUBSCRIPT)
    text = _ESCAPED.sub(lambda match: match[1] or "", text)
    return _content(text), min(int(wide[1]), _MOST_SPAN) or 1 if wide else 1, 1


# --- the similarity ----------------------------------------------------------------------------
_ROOT, _ROW = 0, 1
# The kinds of nodes that are no cells.
_INNER = 2
# Pairs of tables that are put into the same order.
_MOST_TABLES = 10_000


def table_similarity(gold: str, response: str) -> float:
    """Similarity of all tables of a response and of the gold, in [0, 1]; higher is better.

    max(0, 1 - TED / max(rows + cells)), with the costs of TEDS. The tables of the response are
    taken in the order of the gold tables with the same cells; a missing and an additional table
    cost their rows and cells. If either side has no table, it is 0. Raises TooLargeError.

    >>> row = "<table><tr><th>Net sales</th><td>{}</td></tr></table>"
    >>> table_similarity(row.format("1,200"), "| Net sales | 1,200 |")
    1.0
    >>> table_similarity(row.format("1,200"), row.format("1,200") * 2)
    0.5
    """
    ours, theirs = read_tables(gold), read_tables(response)
    if not ours or not theirs:
        return 0.0
    first = [row for table in ours for row in table]
    second = [row for table in _in_order(ours, theirs) for row in table]
    return 1.0 if first == second else _similarity(first, second)


def check_gold_tables(gold: str) -> None:
    """Raise TooLargeError if not even an identical table could be compared with this one."""
    rows = [row for table in read_tables(gold) for row in table]
    tree, contents = _tree(rows)
    check_size(tree, tree)
    characters = sum(map(len, contents))
    check_characters(characters, characters)


def _similarity(gold: Rows, prediction: Rows) -> float:
    first, contents = _tree(gold)
    second, others = _tree(prediction)
    check_size(first, second)
    check_characters(sum(map(len, contents)), sum(map(len, others)))
    rename: Floats = np.ones((len(contents) + _INNER, len(others) + _INNER))
    rename[_ROOT, _ROOT] = rename[_ROW, _ROW] = 0.0
    rename[_INNER:, _INNER:] = cdist(
        contents, others, scorer=Levenshtein.normalized_distance, dtype=np.float64
    )
    costs = Costs(np.ones(rename.shape[0]), np.ones(rename.shape[1]), rename)
    # The root is not counted.
    nodes = max(first.size, second.size) - 1
    return max(0.0, 1.0 - tree_edit_distance(first, second, costs) / nodes)


def _tree(rows: Rows) -> tuple[Tree, list[str]]:
    """Return the tree of rows and cells, and the distinct texts of the cells by their kinds."""
    numbers: dict[str, int] = {}
    kinds: list[int] = []
    leftmost: list[int] = []
    for row in rows:
        start = len(kinds)
        kinds += [numbers.setdefault(text, len(numbers)) + _INNER for text in row]
        leftmost += range(start, len(kinds))
        kinds.append(_ROW)
        leftmost.append(start)
    kinds.append(_ROOT)
    leftmost.append(0)
    return Tree(np.array(leftmost, np.int32), np.array(kinds, np.int32)), list(numbers)


def _in_order(gold: Sequence[Rows], tables: Sequence[Rows]) -> Iterable[Rows]:
    """Return the tables in the order of the gold tables that share most cells with them.

    Others stay behind the table that they follow.
    """
    if not 1 < len(gold) * len(tables) <= _MOST_TABLES or min(len(gold), len(tables)) < 2:
        return tables
    shared = np.zeros((len(tables), len(gold)))
    places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, table in enumerate(gold):
        for text, count in _cells(table).items():
            places[text].append((number, count))
    for row, table in enumerate(tables):
        for text, count in _cells(table).items():
            for number, times in places.get(text, ()):
                shared[row, number] += min(count, times)
    order = {int(r): int(g) for r, g in zip(*one_to_one(shared, maximize=True), strict=True)}
    keys, last = [], -1
    for row in range(len(tables)):
        if row in order and shared[row, order[row]]:
            last = order[row]
        keys.append((last, row))
    return [tables[row] for _, row in sorted(keys)]


def _cells(table: Rows) -> Counter[str]:
    return Counter(text for row in table for text in row if text)
