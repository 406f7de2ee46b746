"""Tables for papers fit the text of a plain article, whatever they hold."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from portal.files.tables import Cell, Head, Heading, Line, Overall, Row, Table, breakable
from tests.latex import complaints

SIGNATURE = "benchmark|v12|labels:" + ",".join(["MonetaryUnit", "ReportingEntity"] * 12)
HASH = "0123456789abcdef" * 4
NAMES = [
    "A",
    "An-OCR-System_with.many/parts@v2 and a long description behind it",
    "W" * 60,
    "DeepSeekAndQwenInOneLongWordThatNobodyEverWillHyphenate",
    HASH,
]


def table(columns: int, *, under: str = "", label: str = "Figure", group: str = "") -> Table:
    cell = Cell(r"\textbf{100.00}", "100.00", under, is_bold=True)
    heads = [
        Head(f"{label} {at}", r"$\uparrow$", f"{group} {at // 4}" if group else "")
        for at in range(columns)
    ]
    rows = [Row(name, ("3B + 235B-A22B",), (cell,) * columns) for name in NAMES]
    lines: list[Line] = [Heading("Proprietary VL models", has_rule=False), *rows, Heading()]
    return Table(("Model", "Size"), heads, [*lines, Overall(r"Overall ($\kappa$)", "0.88")])


def tables() -> Iterator[str]:
    caption = rf"\texttt{{{breakable(SIGNATURE)}}} {breakable(HASH)} {breakable('M' * 200)}"
    for columns in (1, 2, 5, 8, 19, 40):
        yield from table(columns).lines_of_latex(caption, f"plain-{columns}")
        wide = table(columns, under="85.1--100.0", label="Responsibilities", group="Understanding")
        yield from wide.lines_of_latex(breakable(SIGNATURE), f"wide-{columns}")
        # All floats of a test at once are more than LaTeX holds.
        yield r"\clearpage"


@pytest.mark.tex
def test_no_table_runs_over_the_margin(tmp_path: Path) -> None:
    assert complaints("\n".join(tables()), tmp_path) == []


@pytest.mark.tex
def test_a_table_over_the_margin_would_be_found(tmp_path: Path) -> None:
    text = rf"\texttt{{{'M' * 200}}}"
    assert complaints(text, tmp_path) != []


def long(rows: int) -> list[str]:
    cells = (Cell("1.0", "1.0"),) * 12
    heads = [Head(f"Figure {at}") for at in range(12)]
    lines: list[Line] = []
    for at in range(rows):
        lines += [Heading(f"Group {at}", has_rule=at > 0)] if at % 20 == 0 else []
        lines.append(Row(f"Reader {at}", ("3B",), cells))
    return list(Table(("Model", "Size"), heads, lines).lines_of_latex("Long.", "long"))


@pytest.mark.tex
@pytest.mark.parametrize("rows", [30, 45, 60, 200])
def test_a_long_table_goes_on_over_pages(rows: int, tmp_path: Path) -> None:
    lines = long(rows)
    assert complaints("\n".join(lines), tmp_path) == []


def test_a_long_table_has_one_number_and_every_row_once_per_block() -> None:
    lines = long(60)
    floats = lines.count(r"\begin{table}")
    assert floats == lines.count(r"\end{table}") > 1
    assert lines.count(r"\addtocounter{table}{-1}") == floats - 1
    assert lines.count(r"\caption{Continued.}") == floats - 1
    assert lines.count(r"\label{tab:long}") == 1
    rows = [line.split(" &")[0] for line in lines if line.startswith("Reader ")]
    assert {name: rows.count(name) for name in rows} == {f"Reader {at}": 2 for at in range(60)}
    # A heading is never the last line of a part, and has no second rule above it.
    for above, line in pairwise(lines):
        assert not (line == r"\bottomrule" and "Group" in above)
        assert not (line == above == r"\midrule")


def test_few_columns_are_one_block_and_many_are_several() -> None:
    def blocks(columns: int) -> int:
        lines = list(table(columns).lines_of_latex("x", "y"))
        # Every block repeats the names; rows over all columns are in the last block.
        found = sum(line.startswith(r"\begin{tabular}") for line in lines)
        assert sum(line.startswith("A & ") for line in lines) == found
        assert sum(line.startswith("Overall") for line in lines) == 1
        return found

    assert [blocks(columns) for columns in (1, 4, 20)] == [1, 1, 4]


def test_a_group_is_not_parted_if_it_fits() -> None:
    lines = list(table(8, group="Group").lines_of_latex("x", "y"))
    heads = [line for line in lines if "multicolumn{4}{c}{Group" in line]
    assert len(heads) == 2
