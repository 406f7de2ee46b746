"""TEDS: by hand, cleaning, apted with the usual cost model, and hostile tables."""

from typing import Any

import apted  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from scoring.metrics import TooLargeError, tables
from scoring.metrics.tables import (
    Alphabet,
    Node,
    Table,
    check_gold_table,
    clean_tables,
    read_table,
    table_scores,
    teds,
    teds_s,
)
from tests.counting import ScannedText

from .test_trees import nested

CELLS = st.text(alphabet="ab1, .", max_size=6)
ROWS = st.lists(st.lists(CELLS, max_size=5), min_size=1, max_size=6)
MARKUP = st.lists(
    st.sampled_from(
        [
            "<table>",
            "<table x=1>",
            "</table>",
            "<tr>",
            "</tr>",
            "<td>",
            "<td colspan=2>",
            "</td>",
            "<th>",
            "<b>",
            "</b>",
            "text",
            "é",
            "<!--",
            "-->",
            "<",
            ">",
            "&amp;",
            "\n",
            "```html",
        ]
    ),
    max_size=30,
).map("".join)


def table(rows: list[list[str]], tag: str = "td") -> str:
    cells = ("".join(f"<{tag}>{cell}</{tag}>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def read(markup: str, alphabet: Alphabet | None = None) -> Table:
    found = read_table(clean_tables(markup), alphabet or Alphabet())
    assert found is not None
    return found


def scores(gold: str, response: str) -> tuple[float, float]:
    found = table_scores(gold, response)
    return found.teds, found.teds_s


def test_teds_by_hand() -> None:
    """Two rows of two cells are six elements; one cell of four characters has one wrong."""
    gold = table([["Year", "Loss"], ["2024", "(19)"]])
    assert scores(gold, gold) == (1.0, 1.0)
    assert scores(gold, gold.replace("2024", "2023")) == (1 - 1 / 4 / 6, 1.0)
    # A cell is missing: one of six elements.
    assert scores(gold, table([["Year", "Loss"], ["2024"]])) == (1 - 1 / 6, 1 - 1 / 6)
    # A cell spans two columns by mistake: renaming costs 1, whatever the text.
    assert scores(gold, gold.replace("<td>Year", '<td colspan="2">Year')) == (1 - 1 / 6, 1 - 1 / 6)


def test_text_of_headers_is_not_compared_and_their_markup_is_nodes() -> None:
    gold = table([["Year"]], tag="th")
    assert scores(gold, table([["Loss"]], tag="th")) == (1.0, 1.0)
    assert scores(gold, table([["<b>Year</b>"]], tag="th")) == (1 - 1 / 3, 1 - 1 / 3)
    assert scores(gold, table([["Year"]])) == (0.5, 0.5)


def test_markup_in_cells_is_text_whose_tags_are_one_character() -> None:
    """`2<sup>a</sup>x` has five tokens, two of which are missing in `2ax`; the element counts."""
    gold, other = table([["2<sup>a</sup>x"]]), table([["2ax"]])
    assert scores(gold, other) == (1 - 2 / 5 / 3, 1.0)
    assert scores(other, gold) == scores(gold, other)


def test_nested_tables_in_cells_are_text() -> None:
    inner = "<div><table><tr><td>1</td></tr></table></div>"
    assert scores(f"<table><tr><td>{inner}</td></tr></table>", "<table></table>")[0] < 1.0


def test_score_can_be_negative_on_tiny_tables() -> None:
    """Two siblings become parent and child: one is renamed, two cost one each."""
    other = "<table><caption>a</caption><colgroup></colgroup></table>"
    assert scores(table([["a"]]), other) == (1 - 3 / 2, 1 - 3 / 2)


def test_no_table_scores_nothing_and_two_empty_ones_are_alike() -> None:
    gold = table([["a"]])
    assert scores(gold, "The image shows no table.") == (0.0, 0.0)
    assert scores("none", gold) == (0.0, 0.0)
    assert scores(gold, "") == (0.0, 0.0)
    assert scores("<table></table>", "<table> </table>") == (1.0, 1.0)


@pytest.mark.parametrize(
    "response",
    [
        "Here it is:\n```html\n{}\n```\nDone.",
        "```html\n{}",
        "<html><body>{}</body></html>",
        "{}".replace("</table>", ""),
        "\n\n{}",
    ],
)
def test_text_around_the_table_does_not_count(response: str) -> None:
    gold = table([["Net loss", "(1,200)"]])
    assert scores(gold, response.format(gold)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("written", "cleaned"),
    [
        (
            '<table class="x" border=1><tr><td>a</td></tr></table>',
            "<table><tr><td>a</td></tr></table>",
        ),
        (
            "<table>\n <tr>\n\t<td> a b\nc </td></tr></table>",
            "<table><tr><td>abc</td></tr></table>",
        ),
        ("<table><tr><td>a", "<table><tr><td>a</table>"),
        ("<table>１２，Ａ</table> and <table>b</table>", "<table>12,A</table><table>b</table>"),
        ("<table\nclass='x'><td>a</td></table>", "<tableclass='x'><td>a</td></table>"),
        ("</table><table><td>a", ""),
        ("no table", ""),
    ],
)
def test_cleaning(written: str, cleaned: str) -> None:
    assert clean_tables(written) == cleaned


@pytest.mark.parametrize("span", ["two", "", "1.5", "9" * 5000])
def test_spans_that_are_no_numbers_count_as_one(span: str) -> None:
    assert scores(table([["a"]]), f'<table><tr><td colspan="{span}">a</td></tr></table>')[0] == 1.0


class UsualModel(apted.Config):  # type: ignore[misc]
    """Renaming as in TEDS, over (node, children)."""

    def children(self, node: tuple[Node, list[Any]]) -> list[Any]:
        return node[1]

    def rename(self, first: tuple[Node, list[Any]], second: tuple[Node, list[Any]]) -> float:
        one, other = first[0], second[0]
        if one.structure != other.structure:
            return 1.0
        longer = max(len(one.content), len(other.content))
        return Levenshtein.distance(one.content, other.content) / longer if longer else 0.0


def with_nodes(tree: tuple[int, list[Any]], source: Table) -> tuple[Node, list[Any]]:
    return source.nodes[tree[0]], [with_nodes(child, source) for child in tree[1]]


def reference_teds(gold: Table, prediction: Table) -> float:
    first, second = (with_nodes(nested(one.tree), one) for one in (gold, prediction))
    distance = apted.APTED(first, second, UsualModel()).compute_edit_distance()
    return 1.0 - float(distance) / max(gold.elements, prediction.elements)


@given(ROWS, ROWS)
@settings(max_examples=60, deadline=None)
def test_apted_agrees(gold: list[list[str]], prediction: list[list[str]]) -> None:
    alphabet = Alphabet()
    first, second = (
        read(table(rows).replace("1", "<b>1</b>"), alphabet) for rows in (gold, prediction)
    )
    assert teds(first, second) == pytest.approx(reference_teds(first, second), abs=1e-9)


@given(ROWS, ROWS)
def test_scores_are_symmetric_and_at_most_one(
    first: list[list[str]], second: list[list[str]]
) -> None:
    there, back = scores(table(first), table(second)), scores(table(second), table(first))
    assert there == pytest.approx(back, abs=1e-9)
    assert max(there) <= 1.0
    assert there[0] <= there[1] + 1e-9


@given(ROWS)
def test_a_perfect_table_scores_one(rows: list[list[str]]) -> None:
    assert scores(table(rows), table(rows)) == (1.0, 1.0)


@given(MARKUP, MARKUP)
@settings(deadline=None)
def test_any_markup_gives_a_score(gold: str, response: str) -> None:
    assert all(score <= 1.0 for score in scores(gold, response))


@given(st.text(), st.text())
def test_any_text_gives_a_score(gold: str, response: str) -> None:
    assert all(score <= 1.0 for score in scores(f"<table>{gold}", f"<table><td>{response}"))


ROW = f"<tr>{'<td>x</td>' * 10}</tr>"
HOSTILE = {
    "a span of a billion": '<table><tr><td colspan="1000000000">x</td></tr></table>',
    "tables inside tables": "<table><tr><td>" * 10_000,
    "closed before opened": "</table>" + "<table>" * 200_000,
    "opened again and again": "<table" * 200_000 + "\n></table>",
    "nothing but brackets": "<table>" + ">" * 500_000 + "<" * 500_000 + "</table>",
    "white space": "<table>" + " " * 100_000 + "<td>" + "\n" * 100_000,
    "a very long cell": f"<table><td>{'x' * 1_000_000}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tables_become_small_trees_in_a_few_scans(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[ScannedText] = []

    def scanned(text: str) -> ScannedText:
        texts.append(ScannedText(text))
        return texts[-1]

    for function in ("_tables_in", "_with_plain_openings"):
        original = getattr(tables, function)
        monkeypatch.setattr(tables, function, lambda text, call=original: call(scanned(text)))
    assert scores(table([["a", "b"]]), HOSTILE[name])[0] < 1.0
    found = read_table(clean_tables(HOSTILE[name]), Alphabet())
    assert found is None or found.tree.size <= 255
    assert sum(text.scanned for text in texts) <= 10 * (len(HOSTILE[name]) + 100)


def test_tables_of_too_many_cells_are_refused() -> None:
    gold = f"<table>{ROW * 40}</table>"
    with pytest.raises(TooLargeError, match="441 and 110,001 nodes"):
        table_scores(gold, f"<table>{ROW * 10_000}</table>")


def test_tables_of_too_much_text_are_refused() -> None:
    cell = f"<table><tr><td>{'x' * 300_000}</td></tr></table>"
    with pytest.raises(TooLargeError, match="300,000 and 300,000 characters"):
        table_scores(cell, cell)
    with pytest.raises(TooLargeError):
        check_gold_table(cell)


def test_cells_with_too_many_different_tags_are_refused() -> None:
    tags = "".join(f"<x{number}>a</x{number}>" for number in range(2000))
    with pytest.raises(TooLargeError, match="different tags"):
        table_scores(table([["a"]]), table([[tags]]))


@pytest.mark.parametrize(
    ("gold", "score"),
    [(f"<table>{ROW * 50}</table>", 1.0), ("no table", 0.0)],
    ids=["table", "text"],
)
def test_gold_tables_of_a_usual_size_are_accepted(gold: str, score: float) -> None:
    check_gold_table(gold)
    assert table_scores(gold, gold).teds == score


def test_structure_alone_ignores_text() -> None:
    alphabet = Alphabet()
    first, second = read(table([["a", "b"]]), alphabet), read(table([["c", "d"]]), alphabet)
    assert teds_s(first, second) == 1.0
    assert teds(first, second) == 1 - 2 / 3
