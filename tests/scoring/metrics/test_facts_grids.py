"""Tables as grids, whatever form they are written in, and which of their columns correspond."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

from scoring.metrics.facts import read_page, read_prediction
from scoring.metrics.facts.alignment import align
from scoring.metrics.facts.correspondence import header_likeness, match_columns
from scoring.metrics.facts.grids import Grid, is_mark, is_value, read_grids
from scoring.metrics.facts.table_judge import TableJudge
from scoring.metrics.facts.tables import Tables
from tests.many import drawn, together

from .pages import CELLS, date, errors, number, table

# The values with their closing parenthesis in a column of its own.
APART = [
    ["2023", "", "2022", ""],
    ["1,200", "", "1,100", ""],
    ["(700", ")", "(650", ")"],
    ["500", "", "450", ""],
]
FORMS = {
    "HTML": table(CELLS),
    "no end tags": "<table>" + "".join(f"<tr><td>{'<td>'.join(row)}" for row in CELLS),
    "pipes": "\n".join(f"| {' | '.join(row)} |" for row in [CELLS[0], ["---"] * 3, *CELLS[1:]]),
    "bare pipes": "\n".join(" | ".join(row) for row in [CELLS[0], ["---"] * 3, *CELLS[1:]]),
    "LaTeX": "\\begin{tabular}{lrr}\n\\hline\n"
    + "\n".join(" & ".join(row) + r" \\" for row in CELLS)
    + "\n\\end{tabular}",
    "tabs": "\n".join("\t".join(row) for row in CELLS),
    "spaces": "\n".join(f"{row[0]:16}{row[1]:>8}{row[2]:>8}" for row in CELLS),
    "leaders": "\n".join(f"{row[0]} ........ {row[1]}   {row[2]}" for row in CELLS),
    "marks apart": table([[row[0], *apart] for row, apart in zip(CELLS, APART, strict=True)]),
}


def texts(grid: Grid) -> list[list[str]]:
    return [[cell.text for cell in row if cell.text != ")"] for row in grid.rows]


def grids_of(text: str) -> list[list[list[str]]]:
    return [texts(grid) for grid in read_grids(read_prediction(text))]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "marks apart"])
def test_a_table_is_the_same_grid_in_every_form(form: str) -> None:
    assert grids_of(FORMS[form]) == [CELLS]


def test_marks_of_their_own_are_cells_next_to_their_number() -> None:
    (grid,) = read_grids(read_prediction(FORMS["marks apart"]))
    assert [[cell.text for cell in row] for row in grid.rows][2] == [
        *("Cost of sales", "(700", ")", "(650", ")")
    ]


@pytest.mark.parametrize("between", ["", "\n", "\n\n  "])
@pytest.mark.parametrize("name", ["p", "div"])
def test_lines_of_a_label_and_values_are_a_table(name: str, between: str) -> None:
    lines = between.join(f"<{name}>{' '.join(row)}</{name}>" for row in CELLS)
    assert grids_of(lines) == [[["Item 2023 2022"], *CELLS[1:]]]


def headers_of(text: str) -> list[list[str]]:
    return [
        [" ".join(header.split()) for header in band.headers]
        for table in Tables(read_prediction(text)).tables
        for band in table.bands
    ]


@together(
    "lines expected",
    [
        (["2023 2022", "Sales 1,200 1,100"], [["2023", "2022"]]),
        (["Item Retail Online Total", "Sales 9 3 12"], [["Retail", "Online", "Total"]]),
        (
            ["Three months ended Six months ended", "2023 2022 2023 2022", "Sales 3 4 7 9"],
            [
                [
                    "Three months ended 2023",
                    "Three months ended 2022",
                    "Six months ended 2023",
                    "Six months ended 2022",
                ]
            ],
        ),
        # Headers of another number of columns begin another table; a banner does not.
        (
            ["2023 2022", "Sales 12 11", "Assets", "Cash 8 9", "2023 2022 2021", "Staff 5 6 7"],
            [["2023", "2022"], ["2023", "2022", "2021"]],
        ),
        # Words of a sentence are no headers.
        (["amounts in thousands", "Sales 9 3 12"], [["", "", ""]]),
    ],
)
def test_lines_of_headers_are_divided(lines: list[str], expected: list[list[str]]) -> None:
    assert headers_of("\n".join(f"<p>{line}</p>" for line in lines)) == expected


def test_a_table_or_rule_divides_lines() -> None:
    line = "<p>Sales 1,200 1,100</p>"
    assert len(grids_of(f"{line}<hr>{line}")) == 2
    assert len(grids_of(f"{line}{table([['Cash', '1']])}{line}")) == 3


def test_tabs_separate_cells_whatever_their_width() -> None:
    text = "\t2023\t2022\nA\t12,345,678\t1\nA very long label\t\t12,345,678\nB\t2\t3"
    (found,) = Tables(read_prediction(text)).tables
    assert [list(slots.values()) for slots in found.slots] == [[], [0, 1], [1], [0, 1]]


def test_a_row_of_one_wide_cell_does_not_divide_a_table_in_latex() -> None:
    rows = [r"Sales & 1,200 & 1,100 \\", r"\multicolumn{3}{c}{Assets} \\", r"Cash & 8 & 9 \\"]
    (found,) = grids_of("\n".join(rows))
    assert [len(row) for row in found] == [3, 1, 3]


def test_ampersands_in_text_are_no_separators() -> None:
    lines = ["Fish & chips   1,200   1,100", "Drinks & more  2,200   2,100"]
    assert grids_of("\n".join(lines)) == [
        [["Fish & chips", "1,200", "1,100"], ["Drinks & more", "2,200", "2,100"]]
    ]


@together(
    "text expected",
    [
        # A cell of several values is as many cells; digits in groups are one.
        (table([["Sales", "1,200 1,100"]]), [["Sales", "1,200", "1,100"]]),
        (table([["Sales", "1 200"]]), [["Sales", "1 200"]]),
        (table([["Sales", "$ (1,200 )"]]), [["Sales", "$ (1,200 )"]]),
        # Only the innermost cells of nested tables count.
        (
            f"<table><tr><td>{table([['A', '1'], ['B', '2']])}</td></tr></table>",
            [["A", "1"], ["B", "2"]],
        ),
        # Escaped signs are no separators.
        (r"| Sales \| net | 1 |", [["Sales | net", "1"]]),
        (r"Sales \& rent & \$1 & 2\% \\", [["Sales & rent", "$1", "2%"]]),
        # The day of a date and a closing parenthesis belong to the label.
        ("Balance at June 30   1,200   1,100", [["Balance at June 30", "1,200", "1,100"]]),
        ("Loans (due in 2030)   1,200   1,100", [["Loans (due in 2030)", "1,200", "1,100"]]),
    ],
)
def test_cells_are_divided_as_a_reader_does(text: str, expected: list[list[str]]) -> None:
    assert grids_of(text) == [expected]


@pytest.mark.parametrize(
    "text", ["", "One paragraph.", "<p>Two and\nmore lines.</p>", "<table></table>"]
)
def test_prose_is_no_table(text: str) -> None:
    assert not any(len(row) > 1 for grid in grids_of(text) for row in grid)


def test_spans_are_columns_of_the_axis() -> None:
    (grid,) = read_grids(
        read_prediction(
            '<table><tr><td></td><td colspan="2">Year</td></tr>'
            '<tr><td rowspan="2">Sales</td><td>1</td><td>2</td></tr>'
            "<tr><td>3</td><td>4</td></tr></table>"
        )
    )
    places = [[(c.text, c.left, c.right) for c in row] for row in grid.rows]
    assert places == [
        [("Year", 1, 3)],
        [("Sales", 0, 1), ("1", 1, 2), ("2", 2, 3)],
        [("3", 1, 2), ("4", 2, 3)],
    ]


def test_a_wide_cell_of_latex_fills_its_columns() -> None:
    (grid,) = read_grids(read_prediction("\\multicolumn{2}{c}{2023} & 2022 \\\\\na & 1 & 2 \\\\"))
    assert [(cell.left, cell.right) for cell in grid.rows[0]] == [(0, 2), (2, 3)]


def test_a_transposed_table_has_its_columns_as_rows() -> None:
    (grid,) = read_grids(read_prediction(table(CELLS)))
    assert texts(grid.transposed()) == [list(column) for column in zip(*CELLS, strict=True)]


@together(
    "text value mark",
    [
        ("1,200", True, False),
        ("(1,200)", True, False),
        ("$ 1,200", True, False),
        ("12.5%", True, False),
        ("—", True, False),
        ("n/a", True, False),
        ("$", False, True),
        (")", False, True),
        ("%", False, True),
        ("2023", False, False),
        ("FY 2023", False, False),
        ("March 31, 2023", False, False),
        ("Sales", False, False),
        ("Note 12", False, False),
    ],
)
def test_values_and_marks(text: str, value: bool, mark: bool) -> None:
    assert (is_value(text), is_mark(text)) == (value, mark)


# --- columns --------------------------------------------------------------------------------------


def test_headers_are_alike_by_the_words_that_tell_them_apart() -> None:
    found = header_likeness(["Year 2023", "Year 2022"], ["2022", "2023", "Change"])
    # The new column's header has no word of the gold's.
    assert found.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert header_likeness(["Net 2023", "Gross 2023"], ["Net 2022", ""]).tolist() == [
        [1, 0],
        [0, 0],
    ]
    assert not header_likeness(["", ""], ["2023", "2022"]).any()


def columns(
    gold: list[str], read: list[str], contents: list[list[float]] | None = None
) -> dict[int, int]:
    likeness = header_likeness(gold, read)
    return match_columns(likeness, np.array(contents or np.zeros_like(likeness)))


@together(
    "gold read expected",
    [
        (["2023", "2022"], ["2023", "2022"], {0: 0, 1: 1}),
        (["2023", "2022"], ["2022", "2023"], {0: 1, 1: 0}),
        (["2023", "2022", "2021"], ["2023", "2021"], {0: 0, 2: 1}),
        (["2023", "2022"], ["2023", "Change", "2022"], {0: 0, 1: 2}),
        (["2023", "2022", "2021"], ["2021", "2023", "2022"], {0: 1, 1: 2, 2: 0}),
        # Without a word in common the headers say nothing.
        (["2023", "2022"], ["", ""], {}),
    ],
)
def test_columns_correspond_by_their_headers(
    gold: list[str], read: list[str], expected: dict[int, int]
) -> None:
    assert columns(gold, read) == expected


def test_equal_contents_do_not_outweigh_headers() -> None:
    exchanged = [[0.0, 1.0], [1.0, 0.0]]
    assert columns(["2023", "2022"], ["2023", "2022"], exchanged) == {0: 0, 1: 1}


def judge(prediction: str) -> tuple[TableJudge, dict[str, tuple[int, int]]]:
    """The judge of the statement's cells, and the places of its values in the gold."""
    gold = read_page(table([CELLS[0], *([row[0], *map(number, row[1:])] for row in CELLS[1:])]))
    read = read_prediction(prediction)
    found = TableJudge(gold, read, align(gold.normalised.text, read.normalised.text))
    return found, {fact.value: (fact.start, fact.end) for fact in gold.facts}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "leaders"])
def test_each_value_has_its_own_cell_in_every_form(form: str) -> None:
    tables, places = judge(FORMS[form])
    for value, place in places.items():
        found = [cell.text.rstrip(")") for _, _, cell in tables.place_of(tables.gold_at(*place))]
        assert found == [value.rstrip(")")], value


def test_a_cell_is_compared_with_the_places_of_all_values() -> None:
    tables, places = judge(FORMS["pipes"])
    text = read_prediction(FORMS["pipes"]).text
    own = tables.gold_at(*places["1,200"])
    compared = {
        value: tables.compare(own, tables.at(text.index(value), text.index(value) + 3))
        for value in places
    }
    assert compared == dict.fromkeys(places, -1) | {"1,200": 1}


def test_a_transposed_table_has_all_facts() -> None:
    turned = table([list(column) for column in zip(*CELLS, strict=True)])
    gold = table([CELLS[0], *([row[0], *map(number, row[1:])] for row in CELLS[1:])])
    assert errors(gold, turned) == ["ok"] * 6


# --- tables with the same rows --------------------------------------------------------------------
PARTS = {
    "Parent company": [["Sales", "7,104"], ["Rent", "3,250"], ["Wages", "2,618"]],
    "Consolidated": [["Sales", "9,431"], ["Rent", "4,877"], ["Wages", "3,092"]],
}


def parts_of(parts: dict[str, list[list[str]]], *, tagged: bool = False, caption: str = "") -> str:
    def one(name: str, rows: list[list[str]]) -> str:
        cells = [[label, number(value) if tagged else value] for label, value in rows]
        return f"<p>{caption or name}</p>{table([['', '2023'], *cells])}"

    return "".join(one(name, rows) for name, rows in parts.items())


TAGGED_PARTS = parts_of(PARTS, tagged=True)
OTHER_ORDER = dict(reversed(PARTS.items()))


def test_tables_in_another_order_keep_their_facts() -> None:
    assert errors(TAGGED_PARTS, parts_of(OTHER_ORDER)) == ["ok"] * 6


def test_tables_without_captions_correspond_by_their_values() -> None:
    assert errors(TAGGED_PARTS, parts_of(OTHER_ORDER, caption="Results")) == ["ok"] * 6


def test_values_under_the_caption_of_another_table_are_misplaced() -> None:
    exchanged = dict(zip(PARTS, OTHER_ORDER.values(), strict=True))
    assert errors(TAGGED_PARTS, parts_of(exchanged)) == ["misplaced"] * 6
    assert errors(TAGGED_PARTS, parts_of(dict(reversed(exchanged.items())))) == ["misplaced"] * 6


@pytest.mark.parametrize(
    ("heads", "expected"), [("sole  shared", "ok"), ("shared  sole", "misplaced")]
)
def test_headers_of_lines_decide_beside_a_number_in_a_label(heads: str, expected: str) -> None:
    rows = [
        ["Acorn", "COM", "1,204", "8,830"],
        ["Birch", "EXP 061530", "2,417", "7,725"],
        ["Cedar", "COM", "3,691", "9,048"],
    ]
    head = ["Issuer", "Class", "sole", "shared"]
    gold = table([head, *([*row[:2], *map(number, row[2:])] for row in rows)])
    lines = [["Issuer", "Class", *heads.split()], *rows]
    shown = "\n".join(f"{a:8}{b:>12}{c:>9}{d:>9}" for a, b, c, d in lines)
    found = errors(gold, shown)
    assert found[:2] + found[4:] == [expected] * 4


def test_headers_with_dates_move_with_their_table() -> None:
    def page(years: tuple[int, ...], *, tagged: bool = False) -> str:
        mark = date if tagged else str
        return "".join(
            table([["Units", *(mark(f"Q{k} {year}") for k in (1, 2))], ["Sales", f"{year}", "9"]])
            for year in years
        )

    assert errors(page((2023, 2022), tagged=True), page((2022, 2023))) == ["ok"] * 4


# --- any text -------------------------------------------------------------------------------------

_TAGS = ["<table>", "</table>", "<tr>", "<td>", "<td colspan=3>", "<td rowspan=2>", "<p>", "<br>"]
_SIGNS = ["|", "&", r"\\", r"\hline", r"\multicolumn{2}{c}{", "}", "\t", "\n", "   ", " ", "....."]
_WORDS = ["1,200", "(700)", "$", ")", "%", "-", "2023", "Sales", "May 5", "\u00a0", "\u200b", "\0"]
_SCRAPS = st.sampled_from([*_TAGS, *_SIGNS, *_WORDS])


@drawn(st.lists(_SCRAPS, max_size=60).map("".join) | st.text(max_size=200), examples=500)
def test_grids_of_any_text_have_cells_within_it_that_do_not_overlap(text: str) -> None:
    page = read_prediction(text)
    for grid in read_grids(page):
        cells = [cell for row in grid.rows for cell in row]
        assert all(0 <= cell.start < cell.end <= len(page.text) for cell in cells)
        assert all(cell.left < cell.right and cell.text for cell in cells)
        in_order = sorted(cells, key=lambda cell: cell.start)
        for before, cell in pairwise(in_order):
            assert before.end <= cell.start


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("1,203", True),
        ("—", True),
        ("2025", False),
        ("2025 2024", False),
        ("Q1 2025", False),
        ("Q1 2025 Q2 2025", False),
        ("FY 2025", False),
        ("30/06/2025", False),
        ("2025 1,203", True),
    ],
)
def test_years_and_quarters_are_headers_and_no_values(text: str, is_one: bool) -> None:
    assert is_value(text) is is_one
