"""Tables in any form: the same grid, similarities by hand, and hostile input."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics import TooLargeError
from scoring.metrics.table_forms import read_tables, table_similarity
from tests.many import short_id

GRID = [["Item", "2024"], ["Sales", "1,200"]]
HTML = "<table><tr><td>Item</td><td>2024</td></tr><tr><td>Sales</td><td>1,200</td></tr></table>"


@pytest.mark.parametrize(
    "text",
    [
        HTML,
        HTML.upper().replace("ITEM", "Item").replace("SALES", "Sales"),
        HTML.replace("td", "th"),
        HTML.replace("<table>", '<Table border="1"><caption>Sales</caption><tbody>'),
        HTML.replace("</td>", "").replace("</tr>", "").replace("</table>", ""),
        HTML.replace("2024", "<b>20<br>24</b>"),
        HTML.replace("1,200", "\t1,\u200b200\r\n"),
        HTML.replace("1,200", "1,200</td><td>&nbsp;"),
        f"not | a table\n{HTML}",
        "Item | 2024\n--- | ---\nSales | 1,200",
        "Sales:\n\n| **Item** | 2024 |\n|:---|--:|\n| Sales | `1,200` |\n\nEnd.",
        "| Item | 2024 |\r\n| Sales | 1,200 |",
        "| | |\n|---|---|\n| Item | 2024 |\n| Sales | 1,200 |",
        r"\begin{tabular}[t]{lr} \toprule Item & 2024 \\[2pt] \midrule Sales & 1,200 \end{tabular}",
    ],
    ids=short_id,
)
def test_forms_of_a_table(text: str) -> None:
    assert read_tables(text) == [GRID]
    assert table_similarity(HTML, text) == 1.0


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('<tr><td colspan="2">A<td>b', [["A", "", "b"]]),
        ('<tr><td rowspan="2">A<td>b<tr><td>c', [["A", "b"], ["", "c"]]),
        ('<tr><td>b<td rowspan="9">A<td>x<tr><td>c<td>y', [["b", "A", "x"], ["c", "", "y"]]),
        ('<tr><td colspan="x">A<td rowspan="0">b', [["A", "b"]]),
        ("<tr><td>10<sup>2</sup><td>R₁<td>5¹²", [["10^2", "R_1", "5^12"]]),
        ("<tr><td>a<table><tr><td>b</table>", [["ab"]]),
        ("<td>a<td>b<tr><td>c", [["a", "b"], ["c"]]),
    ],
)
def test_cells_of_html(text: str, rows: list[list[str]]) -> None:
    assert read_tables(f"<table>{text}</table>") == [rows]


def test_cells_of_latex() -> None:
    rows = r"\multirow{2}{*}{A} & R\&D & \textbf{5\%} \\ & $x^{2}$ & b"
    assert read_tables(rf"\begin{{tabular}}{{lll}} {rows} \end{{tabular}}") == [
        [["A", "R&D", "5%"], ["", "x^2", "b"]]
    ]


def test_similarity_by_hand() -> None:
    """Two rows of two cells are six nodes."""
    assert table_similarity(HTML, HTML.replace("1,200", "1,300")) == pytest.approx(1 - 1 / 5 / 6)
    assert table_similarity(HTML, HTML.replace("<td>2024</td>", "")) == pytest.approx(1 - 1 / 6)
    assert table_similarity(HTML, HTML * 2) == pytest.approx(1 / 2)
    assert table_similarity(HTML * 2, HTML) == pytest.approx(1 / 2)
    assert table_similarity(HTML, "<table><tr><td>x</td></tr></table>") == pytest.approx(1 / 6)
    assert table_similarity(HTML, "no table") == table_similarity("none", HTML) == 0.0


def test_the_order_of_tables_does_not_matter() -> None:
    other = HTML.replace("Sales", "Costs").replace("1,200", "900")
    assert table_similarity(HTML + other, other + HTML) == 1.0
    rows = HTML.replace("</tr><tr>", "</tr></table>\n<p>and</p><table><tr>")
    assert table_similarity(HTML, rows) == 1.0


@given(st.text(alphabet="<>/tablerdh |-\n\\&{}beginu'\"=19", max_size=200))
def test_any_text_is_read(text: str) -> None:
    for prefix in ("", "<table>", "|"):
        assert all(row[-1] for table in read_tables(prefix + text) for row in table)
        assert 0.0 <= table_similarity(HTML, prefix + text) <= 1.0


SIZE = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "<table>" * SIZE,
        "<table><tr>" + "<td>" * SIZE,
        "<table>" + '<tr><td rowspan="99">' * SIZE,
        "<table><tr>" + '<td colspan="1000">' * SIZE,
        "<table>" + "<tbody>" * SIZE,
        "|" * SIZE,
        "|-" * SIZE + "x",
        "|\n" * SIZE,
        "| __" * SIZE,
        "|" + "<a" * SIZE,
        "|" + "`" * SIZE,
        r"\begin{tabular}" * SIZE,
        r"\begin{tabular}" + r"\cline{" * SIZE,
        r"\begin{tabular}" + "{" * SIZE,
        r"\begin{tabular}{l}" + r"\multicolumn{9}{" * SIZE,
        r"\begin{tabular}{l}" + r"\\[" * SIZE,
    ],
    ids=short_id,
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    start = time.perf_counter()
    with suppress(TooLargeError):
        read_tables(text)
    assert time.perf_counter() - start < 3
