"""States of leaderboard rows: disqualified, verified, pinned; and the table as CSV."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.files.tables import spreadsheet_text
from scoring.leaderboard.files import COLUMNS, leaderboard_csv
from scoring.leaderboard.selectors import Leaderboard, leaderboard
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import judge_submission, pin_submission
from tests.scoring.factories import first_phase, make_board, make_entry
from tests.worlds import shared

pytestmark = pytest.mark.django_db

REASON = "Trained on the test pages."


@pytest.fixture
@shared
def rows(board: Board, researcher: User) -> Board:
    """Five rows: Best is disqualified, the two behind it share a rank, Part has no full score."""
    for name, ffa, r1 in [
        ("Best", 0.9, 0.99),
        ("Tied A", 0.8, 0.7),
        ("Tied B", 0.8, 0.7),
        ("Baseline", 0.5, 0.6),
    ]:
        make_entry(board, researcher, name=name, ffa=ffa, r1=r1)
    make_entry(board, researcher, name="Part", ffa=None, r1=1.0)
    disqualified = Entry.objects.filter(name="Best")
    disqualified.update(verdict="disqualified", verdict_reason=REASON)
    Entry.objects.filter(name="Tied A").update(verdict="verified")
    Entry.objects.filter(name="Baseline").update(is_pinned=True)
    return board


def table_of(board: Board, sort: str = "") -> Leaderboard:
    return leaderboard(board, first_phase(board), sort)


def ranks(table: Leaderboard) -> dict[str, int | None]:
    [section] = table.sections
    return {row.entry.name: row.ranks["rank_ffa"] for row in section.rows}


def best(table: Leaderboard, key: str) -> set[str]:
    place = [column.key for column in table.columns].index(key)
    [section] = table.sections
    return {row.entry.name for row in section.rows if row.cells[place].is_best}


def grouped(table: Leaderboard) -> list[tuple[str, list[str]]]:
    [section] = table.sections
    return [(group.heading, [row.entry.name for row in group.rows]) for group in section.groups]


def test_disqualified_and_incomplete_rows_have_no_rank_and_take_none_away(rows: Board) -> None:
    assert ranks(table_of(rows)) == {
        "Tied A": 1,
        "Tied B": 1,
        "Baseline": 3,
        "Part": None,
        "Best": None,
    }


def test_the_best_value_is_that_of_a_row_that_counts(rows: Board) -> None:
    assert best(table_of(rows), "ffa") == {"Tied A", "Tied B"}
    # Part has the highest score and Best the second, but neither takes part.
    assert best(table_of(rows), "r1") == {"Tied A", "Tied B"}


def test_a_disqualified_row_with_the_best_value_of_others_is_not_marked(rows: Board) -> None:
    Entry.objects.filter(name="Best").update(scores=Entry.objects.get(name="Tied A").scores)
    assert best(table_of(rows), "ffa") == {"Tied A", "Tied B"}


def test_pinned_rows_are_first_and_disqualified_last_in_any_order(rows: Board) -> None:
    assert grouped(table_of(rows)) == [
        ("Pinned", ["Baseline"]),
        ("Other models", ["Tied A", "Tied B", "Part"]),
        ("Disqualified", ["Best"]),
    ]
    assert grouped(table_of(rows, "-name")) == [
        ("Pinned", ["Baseline"]),
        ("Others", ["Tied B", "Tied A", "Part"]),
        ("Disqualified", ["Best"]),
    ]


def test_without_a_pinned_row_a_sorted_table_has_no_heading(rows: Board) -> None:
    Entry.objects.update(is_pinned=False, verdict="", verdict_reason="")
    assert grouped(table_of(rows, "name")) == [
        ("", ["Baseline", "Best", "Part", "Tied A", "Tied B"])
    ]


def test_a_disqualified_pinned_row_is_with_the_disqualified(rows: Board) -> None:
    Entry.objects.filter(name="Best").update(is_pinned=True)
    assert grouped(table_of(rows))[-1] == ("Disqualified", ["Best"])


def test_the_page_gives_the_reason_and_marks_what_was_verified(
    client_of: Callable[[User | None], Client], rows: Board
) -> None:
    Entry.objects.filter(name="Best").update(verdict_reason="<b>No</b>")
    page = client_of(None).get("/boards/board/").content.decode()
    assert "&lt;b&gt;No&lt;/b&gt;" in page
    assert page.count("state-verified") == 1
    home = client_of(None).get("/").content.decode()
    assert "Tied A" in home
    assert "Best</" not in home, "the home page names no disqualified row among the best"


def test_the_api_returns_verdict_reason_and_pin(
    api_of: Callable[[User | None], APIClient], rows: Board
) -> None:
    shown = api_of(None).get("/api/v1/boards/board/leaderboard/").json()
    found = {row["name"]: row for row in shown["sections"][0]["rows"]}
    assert list(found) == ["Baseline", "Tied A", "Tied B", "Part", "Best"]
    assert (found["Best"]["verdict"], found["Best"]["verdict_reason"]) == ("disqualified", REASON)
    assert found["Best"]["ranks"] == {"rank_general": None, "rank_ffa": None}
    assert (found["Tied A"]["verdict"], found["Baseline"]["is_pinned"]) == ("verified", True)


def test_judging_a_submission_changes_the_ranks_at_once(
    rows: Board, organiser: User, researcher: User
) -> None:
    tied = Entry.objects.get(name="Tied A").grading
    assert tied is not None
    judge_submission(
        submission=tied.submission,
        verdict=Submission.Verdict.DISQUALIFIED,
        reason=REASON,
        actor=organiser,
    )
    assert ranks(table_of(rows))["Tied B"] == 1
    assert ranks(table_of(rows))["Baseline"] == 2
    pin_submission(submission=tied.submission, is_pinned=True, actor=organiser)
    assert grouped(table_of(rows))[0] == ("Pinned", ["Baseline"])


# --- CSV --------------------------------------------------------------------------------------


def csv_of(table: Leaderboard) -> str:
    return "".join(leaderboard_csv(table))


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_has_the_rows_of_the_table_unrounded(rows: Board) -> None:
    load_reported(board=rows)
    table = table_of(rows)
    found = lines(csv_of(table))
    assert [line["name"] for line in found] == [
        row.entry.name for section in table.sections for row in section.rows
    ]
    assert tuple(found[0])[: len(COLUMNS)] == COLUMNS
    keys = tuple(column.key for column in table.columns)
    assert tuple(found[0])[len(COLUMNS) :][: len(keys)] == keys
    baseline, first, *_ = found
    assert (baseline["is_pinned"], baseline["rank_ffa"], baseline["ffa"]) == ("true", "3", "0.5")
    assert (first["kind"], first["rank_ffa"], first["verdict"]) == ("graded", "1", "verified")
    assert first["source"] == table.sections[0].key
    best = next(line for line in found if line["name"] == "Best")
    assert (best["rank_ffa"], best["ffa"], best["verdict_reason"]) == ("", "0.9", REASON)
    part = next(line for line in found if line["name"] == "Part")
    assert (part["ffa"], part["rank_ffa"]) == ("", "")
    reported = next(line for line in found if line["kind"] == "reported")
    assert reported["submission"] == ""
    assert reported["source"]


def test_csv_has_the_intervals_after_the_figures(board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="A", ffa=0.9)
    make_entry(board, researcher, name="B", ffa=0.8)
    Entry.objects.filter(name="A").update(intervals={"ffa": [0.8512, 0.9366], "general": [0, 1]})
    first, second = lines(csv_of(table_of(board)))
    ends = ("ffa_low", "ffa_high")
    assert tuple(first)[-2:] == ends
    assert [first[end] for end in ends] == ["0.8512", "0.9366"]
    assert [second[end] for end in ends] == ["", ""]
    # Figures without a column have no interval, and neither do ranks.
    assert not {"general_low", "rank_ffa_low"} & set(first)
    assert first["r1_low"] == ""


HOSTILE = ['=HYPERLINK("http://x")', "+1", "-1+2", "@SUM(A1)", "\t=1", "＝1", "\n=1"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_a_formula(board: Board, researcher: User, text: str) -> None:
    make_entry(board, researcher, name="A")
    Entry.objects.update(name=text, organisation=text, verdict="disqualified", verdict_reason=text)
    [line] = lines(csv_of(table_of(board)))
    for field in ("name", "organisation", "verdict_reason"):
        assert line[field] == f"'{text}"


def test_harmless_text_stays_as_it_is() -> None:
    for text in ("", "Reader 7B", "a=b", "1-2", "'quoted'", "Ä, “B”\nC"):
        assert spreadsheet_text(text) == text


def test_columns_do_not_depend_on_the_rows(board: Board, rows: Board) -> None:
    empty = csv_of(table_of(make_board(slug="empty")))
    assert empty.splitlines() == [csv_of(table_of(rows)).splitlines()[0]]


@pytest.mark.parametrize(
    ("path", "extra"),
    [
        ("/boards/board/leaderboard.csv", {}),
        ("/api/v1/boards/board/leaderboard/?format=csv", {}),
        ("/api/v1/boards/board/leaderboard/", {"headers": {"Accept": "text/csv"}}),
    ],
)
def test_csv_from_page_and_api(
    client_of: Callable[[User | None], Client], rows: Board, path: str, extra: dict[str, Any]
) -> None:
    answer = client_of(None).get(path, **extra)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.getvalue().decode() == csv_of(table_of(rows))


def test_csv_follows_phase_view_and_sort(
    client_of: Callable[[User | None], Client], rows: Board
) -> None:
    answer = client_of(None).get("/boards/board/leaderboard.csv?phase=test&sort=-name")
    assert [line["name"] for line in lines(answer.getvalue().decode())][1] == "Tied B"
    assert 'filename="board-test.csv"' in answer["Content-Disposition"]
    page = client_of(None).get("/boards/board/?sort=-name").content.decode()
    assert "/boards/board/leaderboard.csv?view=scores&amp;sort=-name" in page


@pytest.mark.parametrize(
    ("path", "status", "field", "words"),
    [
        ("none/leaderboard/?format=csv", 404, "detail", "Board"),
        ("board/leaderboard/?format=csv&limit=0", 400, "limit", "greater than or equal to 1"),
    ],
)
def test_errors_are_json_in_every_format(
    client_of: Callable[[User | None], Client],
    board: Board,
    path: str,
    status: int,
    field: str,
    words: str,
) -> None:
    answer = client_of(None).get(f"/api/v1/boards/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    assert words in str(answer.json()[field])
