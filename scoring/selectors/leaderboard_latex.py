r"""A leaderboard's tables as LaTeX in the manner of booktabs, ready for a paper.

One table for each section, since rows of different sections are not comparable. The best of each
column is bold, the next one underlined; what was disqualified is left out and counted. Intervals
can stand beside their figures as subscripts; they are not symmetric, so that ± would be wrong.
"""

from collections.abc import Iterator, Sequence

from portal.common.latex import escaped
from portal.datasets.file_responses import TextFile
from scoring.models import Entry

from .headings import BoardColumn, head_groups
from .leaderboard_files import file_stem
from .leaderboard_rows import Row
from .leaderboards import Leaderboard, Section

_NOTHING = "--"
_LEADING = 2
"""Columns before the figures: model and size."""


def leaderboard_latex_file(table: Leaderboard, *, with_intervals: bool = False) -> TextFile:
    """Named after board, phase and view, such as `board-test.tex`."""
    text = leaderboard_latex(table, with_intervals=with_intervals)
    return TextFile(f"{file_stem(table)}.tex", "application/x-tex", text)


def leaderboard_latex(table: Leaderboard, *, with_intervals: bool = False) -> str:
    """Figures and intervals are rounded as on the page; a board without rows gives a comment
    alone."""
    lines = [f"% {escaped(table.board.title)}; needs \\usepackage{{booktabs}}."]
    sections = [section for section in table.sections if _shown(section)]
    for number, section in enumerate(sections, start=1):
        lines += ["", *_table(table, section, number, with_intervals=with_intervals)]
    if not sections:
        lines.append("% There are no rows yet.")
    return "\n".join(lines) + "\n"


def _shown(section: Section) -> list[Row]:
    return [row for row in section.rows if not row.is_disqualified]


def _table(
    table: Leaderboard, section: Section, number: int, *, with_intervals: bool
) -> Iterator[str]:
    columns, rows = table.columns, _shown(section)
    with_intervals = with_intervals and section.has_intervals
    if left_out := len(section.rows) - len(rows):
        yield f"% Left out: {left_out} disqualified."
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}"
    yield r"\toprule"
    yield from _heads(columns)
    yield r"\midrule"
    yield from _body(table, section, with_intervals=with_intervals)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield rf"\caption{{{_caption(table, section, with_intervals=with_intervals)}}}"
    yield rf"\label{{tab:{file_stem(table)}-{number}}}"
    yield r"\end{table}"


def _heads(columns: Sequence[BoardColumn]) -> Iterator[str]:
    """The groups with a rule below each, then the columns with the way that is better."""
    groups, first, rules = ["", ""], _LEADING + 1, []
    for group in head_groups(columns):
        groups.append(rf"\multicolumn{{{group.span}}}{{c}}{{{escaped(group.label)}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + group.span - 1}}}")
        first += group.span
    yield " & ".join(groups) + r" \\"
    yield " ".join(rules)
    yield " & ".join(["Model", "Size", *map(_head, columns)]) + r" \\"


def _head(column: BoardColumn) -> str:
    if column.is_rank:
        return escaped(column.label)
    arrow = r"$\uparrow$" if column.higher_is_better else r"$\downarrow$"
    return f"{escaped(column.label)} {arrow}"


def _body(table: Leaderboard, section: Section, *, with_intervals: bool) -> Iterator[str]:
    columns = table.columns
    is_first = True
    for group in section.groups:
        rows = [row for row in group.rows if not row.is_disqualified]
        if not rows:
            continue
        if group.heading:
            if not is_first:
                yield r"\midrule"
            width = _LEADING + len(columns)
            yield rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escaped(group.heading)}}}}} \\"
        is_first = False
        yield from (_line(row, columns, with_intervals=with_intervals) for row in rows)


def _line(row: Row, columns: Sequence[BoardColumn], *, with_intervals: bool) -> str:
    cells = []
    for column, cell in zip(columns, row.cells, strict=True):
        value = row.values[column.basis]
        text = _NOTHING if value is None or cell.text == "–" else escaped(cell.text)
        if cell.is_best:
            text = rf"\textbf{{{text}}}"
        elif cell.is_second:
            text = rf"\underline{{{text}}}"
        if with_intervals and cell.interval:
            text += rf"\textsubscript{{{cell.interval.replace('–', '--')}}}"
        cells.append(text)
    return (
        " & ".join([escaped(row.entry.name), escaped(row.entry.size) or _NOTHING, *cells]) + r" \\"
    )


def _caption(table: Leaderboard, section: Section, *, with_intervals: bool) -> str:
    parts = [escaped(table.board.title)]
    if table.view:
        parts.append(escaped(table.view.title))
    if section.kind == Entry.Kind.GRADED and table.phase:
        parts.append(f"phase {escaped(table.phase.title)}")
        origin = rf"Signature: \texttt{{{escaped(section.key)}}}"
    else:
        origin = f"As reported: {escaped(section.key)}"
    subscripts = r" Subscripts: 95\,\% intervals over documents." if with_intervals else ""
    return f"{', '.join(parts)}. {origin}.{subscripts}"
