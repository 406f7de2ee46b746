"""The leaderboard's sections, ranks, best values and order."""

import pytest
from django.test import Client

from portal.accounts.models import User
from scoring.leaderboard.rows import Row
from scoring.leaderboard.selectors import Leaderboard, leaderboard
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Category, Entry, Phase
from tests.scoring.factories import first_phase, make_board, make_entry

pytestmark = pytest.mark.django_db


def table_of(board: Board, sort: str = "") -> Leaderboard:
    return leaderboard(board, first_phase(board), sort)


def row_of(table: Leaderboard, name: str) -> Row:
    [row] = [row for section in table.sections for row in section.rows if row.entry.name == name]
    return row


def shown(table: Leaderboard, row: Row) -> dict[str, str]:
    return {column.key: cell.text for column, cell in zip(table.columns, row.cells, strict=True)}


def names(table: Leaderboard) -> list[str]:
    return [row.entry.name for section in table.sections for row in section.rows]


def test_columns_are_those_of_the_papers_table() -> None:
    table = table_of(make_board())
    assert [(column.group, column.label) for column in table.columns] == [
        ("General", "R1"),
        ("General", "RL"),
        ("General", "E"),
        ("General", "Rank"),
        ("Fact-level", "N-FFA"),
        ("Fact-level", "T-FFA"),
        ("Fact-level", "FFA"),
        ("Fact-level", "Rank"),
    ]


def test_figures_are_percent_with_two_decimals_and_stay_unrounded(researcher: User) -> None:
    board = make_board()
    make_entry(board, researcher, ffa=0.123456789)
    row = row_of(table := table_of(board), "Reader")
    assert shown(table, row)["ffa"] == "12.35"
    assert row.values["ffa"] == 0.123456789


def test_general_and_fact_rank_can_differ(researcher: User) -> None:
    board = make_board()
    make_entry(board, researcher, name="Text", general=0.9, ffa=0.2)
    make_entry(board, researcher, name="Facts", general=0.5, ffa=0.8)
    table = table_of(board)
    assert row_of(table, "Text").ranks == {"rank_general": 1, "rank_ffa": 2}
    assert row_of(table, "Facts").ranks == {"rank_general": 2, "rank_ffa": 1}


def test_best_of_a_column_follows_its_direction(researcher: User) -> None:
    board = make_board()
    make_entry(board, researcher, name="A", r1=0.9, edit_distance=0.3)
    make_entry(board, researcher, name="B", r1=0.8, edit_distance=0.2)
    table = table_of(board)
    keys = [column.key for column in table.columns]
    best = {
        name: {
            key for key, cell in zip(keys, row_of(table, name).cells, strict=True) if cell.is_best
        }
        for name in ("A", "B")
    }
    assert "r1" in best["A"] - best["B"]
    assert "edit_distance" in best["B"] - best["A"]


@pytest.mark.parametrize("ffa", [{}, {"ffa": None}, {"ffa": "0.99"}, {"ffa": True}])
def test_entry_without_a_complete_score_is_neither_ranked_nor_best(
    researcher: User, ffa: dict[str, object]
) -> None:
    board = make_board()
    make_entry(board, researcher, name="Whole", r1=0.5, ffa=0.5)
    # Written without the services, as a broken import might do; the leaderboard must not trust it.
    make_entry(board, researcher, name="Part", r1=1.0)
    rest = {"r1": 1.0, "rl": 1.0, "edit_distance": 0.0, "general": 1.0, "n_ffa": 1.0}
    Entry.objects.filter(name="Part").update(scores=rest | ffa)
    table = table_of(board)
    part, whole = row_of(table, "Part"), row_of(table, "Whole")
    assert part.ranks == {"rank_general": None, "rank_ffa": None}
    assert not any(cell.is_best for cell in part.cells)
    assert whole.ranks == {"rank_general": 1, "rank_ffa": 1}


def test_rows_are_grouped_by_category_in_its_order_best_first(researcher: User) -> None:
    board = make_board()
    for name, category, ffa in [
        ("Closed", Category.PROPRIETARY_VLM, 0.9),
        ("Engine", Category.OCR_MODEL, 0.5),
        ("Better engine", Category.OCR_MODEL, 0.6),
    ]:
        entry = make_entry(board, researcher, name=name, ffa=ffa)
        Entry.objects.filter(pk=entry.pk).update(category=category)
    [section] = table_of(board).sections
    assert [
        (group.heading, [row.entry.name for row in group.rows]) for group in section.groups
    ] == [
        ("OCR models", ["Better engine", "Engine"]),
        ("Proprietary vision-language models", ["Closed"]),
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("ffa", ["B", "A", "C"]),
        ("-ffa", ["A", "B", "C"]),
        ("edit_distance", ["A", "B", "C"]),
        ("-edit_distance", ["C", "B", "A"]),
        ("rank_ffa", ["B", "A", "C"]),
        ("name", ["A", "B", "C"]),
        ("-name", ["C", "B", "A"]),
        ("size", ["B", "A", "C"]),
        ("nonsense", ["B", "A", "C"]),
    ],
)
def test_sorting_puts_the_best_first_and_missing_values_last(
    researcher: User, sort: str, order: list[str]
) -> None:
    board = make_board()
    for name, size, ffa, distance in [
        ("A", "7B", 0.4, 0.1),
        ("B", "1B", 0.6, 0.2),
        ("C", "", None, 0.3),
    ]:
        entry = make_entry(board, researcher, name=name, ffa=ffa, edit_distance=distance)
        Entry.objects.filter(pk=entry.pk).update(size=size)
    assert names(table_of(board, sort)) == order


def test_sorted_table_has_no_sub_headings(researcher: User) -> None:
    board = make_board()
    make_entry(board, researcher)
    [section] = table_of(board, "ffa").sections
    assert [group.heading for group in section.groups] == [""]


def test_entries_of_another_signature_are_a_section_of_their_own(researcher: User) -> None:
    board = make_board()
    make_entry(board, researcher, name="New", ffa=0.1)
    old = make_entry(board, researcher, name="Old", ffa=0.9)
    Entry.objects.filter(pk=old.pk).update(signature="fincriticaled|v0|labels:Number,Date")
    table = table_of(board)
    assert len(table.sections) == 2
    assert row_of(table, "New").ranks["rank_ffa"] == 1
    assert row_of(table, "Old").ranks["rank_ffa"] == 1


def test_reported_rows_come_after_graded_ones_and_keep_ranks_of_their_own(
    researcher: User,
) -> None:
    board = make_board()
    load_reported(board=board)
    make_entry(board, researcher, ffa=0.01)
    graded, reported = table_of(board).sections
    assert (graded.kind, reported.kind) == ("graded", "reported")
    assert graded.rows[0].ranks["rank_ffa"] == 1
    assert reported.url.startswith("https://arxiv.org/")


def test_reported_rows_have_the_ranks_of_the_papers_table() -> None:
    board = make_board()
    load_reported(board=board)
    table = table_of(board)
    ranks = {
        name: tuple(row_of(table, name).ranks[key] for key in ("rank_general", "rank_ffa"))
        for name in names(table)
    }
    # Published ranks: general, fact.
    assert ranks == {
        "MinerU2.5": (7, 7),
        "DeepSeek-OCR": (6, 6),
        "Gemma-3n-E4B-it": (3, 5),
        "Llama-4-Scout-17B": (4, 3),
        "Qwen2.5-VL-72B": (2, 4),
        "GPT-4o": (1, 2),
        "GPT-5": (5, 1),
    }


@pytest.mark.parametrize("count", [5, 50])
def test_one_query_however_many_entries(
    researcher: User, count: int, django_assert_num_queries: object
) -> None:
    board = make_board()
    for number in range(count):
        make_entry(board, researcher, name=f"Reader {number}", ffa=number / 100)
    phase = first_phase(board)
    with django_assert_num_queries(1):  # type: ignore[operator]
        table = leaderboard(board, phase)
    assert len(names(table)) == count


# --- views ------------------------------------------------------------------------------------


def view_of(board: Board, view: str, sort: str = "") -> Leaderboard:
    return leaderboard(board, first_phase(board), sort, view=view)


def test_a_view_has_its_own_columns_ranks_and_order(researcher: User) -> None:
    board = make_board()
    make_entry(board, researcher, name="Forms", ffa=0.4, ffa_tax_form=0.9)
    make_entry(board, researcher, name="Filings", ffa=0.6, ffa_tax_form=0.1)
    table = view_of(board, "document_types")
    assert table.view is not None
    assert "rank_ffa" in {column.key for column in table.columns}
    assert "r1" not in {column.key for column in table.columns}
    assert names(table) == ["Filings", "Forms"]
    assert shown(table, row_of(table, "Forms"))["ffa_tax_form"] == "90.00"
    assert names(view_of(board, "document_types", "ffa_tax_form")) == ["Forms", "Filings"]


def test_an_unknown_view_is_the_benchmarks_own_table() -> None:
    table = view_of(make_board(), "nonsense")
    assert table.view is None
    assert table.columns == table_of(make_board(slug="other")).columns


def fcmbench_board() -> Board:
    """Without a phase, which reported rows do not need."""
    board = Board.objects.create(slug="fcm", title="FCMBench", benchmark="fcmbench", state="open")
    load_reported(board=board)
    return board


def test_reported_rows_are_in_the_view_of_their_table() -> None:
    board = fcmbench_board()
    found = {view: leaderboard(board, None, view=view) for view in ("", "chinese", "english")}
    assert {
        view: [(section.key, len(section.rows)) for section in table.sections]
        for view, table in found.items()
    } == {
        "": [("FCMBench-V1.1, Table 4", 28)],
        "chinese": [("FCMBench-V1.1, Table A5", 28)],
        "english": [("FCMBench-V1.1, Table A6", 28)],
    }
    row = row_of(found["chinese"], "Gemini 3 Flash")
    assert row.ranks == {"rank_zh_without_iqe": 1}


def test_rows_of_papers_are_ranked_by_their_published_score() -> None:
    table = leaderboard(fcmbench_board(), None)
    best, last = row_of(table, "Gemini 3 Pro"), table.sections[0].rows[-1]
    assert best.ranks == {"rank_overall_strict": 1}
    assert all(row.ranks["rank_overall_strict"] for row in table.sections[0].rows)
    assert last.unranked == ""
    figures = shown(table, best)
    assert figures["overall_strict"] == figures["overall"] == "65.16"


def test_a_row_without_a_task_has_no_rank_and_says_why(researcher: User, client: Client) -> None:
    Phase.objects.filter(board=make_board()).update(options={})
    Board.objects.update(benchmark="fcmbench")
    board = Board.objects.get()
    tasks = dict.fromkeys(("IQE", "DTR", "KIE", "CC", "VC", "NC", "RR"), 0.9)
    make_entry(board, researcher, name="All", overall=0.5, overall_strict=0.5, **tasks)
    rest = tasks | {"NC": None}
    make_entry(board, researcher, name="Part", overall=0.9, overall_strict=None, **rest)
    table = table_of(board)
    whole, part = row_of(table, "All"), row_of(table, "Part")
    assert (whole.ranks["rank_overall_strict"], whole.unranked) == (1, "")
    # Its published score does not replace the one that ranks.
    assert part.ranks == {"rank_overall_strict": None}
    assert shown(table, part)["overall_strict"] == "–"
    assert part.unranked == "No rank, because there is no score for NC"
    for view in ("", "?view=scores"):
        page = client.get(f"/boards/board/{view}").content.decode()
        assert page.count(part.unranked) == 1


def test_a_human_row_with_some_figures_is_in_the_benchmarks_own_table() -> None:
    board = fcmbench_board()
    Entry.objects.create(
        board=board, kind=Entry.Kind.HUMAN, name="People", provenance="A study", scores={"DTR": 0.9}
    )
    assert "People" in names(leaderboard(board, None))
    assert "People" not in names(leaderboard(board, None, view="chinese"))
    assert row_of(leaderboard(board, None), "People").ranks == {"rank_overall_strict": None}


def test_loading_the_rows_of_views_twice_changes_nothing() -> None:
    board = fcmbench_board()
    before = list(board.entries.values_list("pk", flat=True).order_by("pk"))
    load_reported(board=board)
    assert list(board.entries.values_list("pk", flat=True).order_by("pk")) == before
    assert len(before) == 3 * 28


def test_a_disqualified_row_is_shown_and_ranked_nowhere(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Best", ffa=0.9)
    make_entry(board, researcher, name="Second", ffa=0.8)
    reason = "Trained on the test set."
    Entry.objects.filter(name="Best").update(verdict="disqualified", verdict_reason=reason)
    table = leaderboard(board, first_phase(board))
    second, best = table.sections[0].rows
    assert (second.entry.name, second.ranks["rank_ffa"]) == ("Second", 1)
    assert (best.entry.name, best.ranks["rank_ffa"]) == ("Best", None)
    place = [column.key for column in table.columns].index("ffa")
    assert (best.cells[place].text, best.cells[place].is_best) == ("90.00", False)
    assert second.cells[place].is_best
