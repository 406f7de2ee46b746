"""All pages show the same rank, even if rows share it."""

import csv
import html
import io
import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from portal.accounts.models import User
from portal.home.selectors import boards_at_a_glance
from portal.jobs.worker import run_due_jobs
from scoring.grading.regrades import start_regrade
from scoring.leaderboard.charts import board_charts
from scoring.models import Board
from scoring.models.boards import phase_windows
from scoring.results.comparisons import comparison
from tests.fixture_types import ClientOf
from tests.scoring.factories import make_board
from tests.scoring.ranked import published
from tests.scoring.regrading import release_of

pytestmark = pytest.mark.django_db

Ranks = dict[str, int]
# Draws lie within a hundredth: rows a hundredth apart are not significantly different, rows two
# hundredths apart are. Only A is significantly better than C; all three are better than D.
MEANS = {"B": 0.890, "D": 0.5, "C": 0.880, "A": 0.900}
RANKS = {"A": 1, "B": 1, "C": 2, "D": 4}


def on_the_page(client: Client) -> Ranks:
    """In the headline view."""
    page = client.get("/boards/board/").content.decode()
    rows = re.findall(
        r'<td class="rank">(?:<input [^>]*>)?(\d+)</td>\s*<th scope="row">\s*<a [^>]*>(\w+)<', page
    )
    return {name: int(rank) for rank, name in rows}


def in_the_whole_table(client: Client) -> Ranks:
    page = client.get("/boards/board/?view=scores").content.decode()
    found = {}
    for row in re.findall(r"<tr[ >].*?</tr>", page, flags=re.DOTALL):
        cells = [html.unescape(re.sub("<[^>]+>", "", cell)).strip() for cell in
                 re.findall(r"<t[hd].*?(?=<t[hd]|</tr>)", row, flags=re.DOTALL)]  # fmt: skip
        name = next((cell.split()[0] for cell in cells if cell.split()[:1] and
                     cell.split()[0] in MEANS), "")  # fmt: skip
        if name:
            found[name] = int(cells[-1])
    return found


def on_the_home_page(client: Client) -> Ranks:
    [glance] = boards_at_a_glance()
    page = client.get("/").content.decode()
    rows = re.findall(r'class="num rank">(\d+)</td>\s*<th scope="row">(\w+)', page)
    assert {name: int(rank) for rank, name in rows} == {
        place.name: place.rank for place in glance.places
    }
    return {place.name: place.rank for place in glance.places}


def in_the_api(client: Client) -> Ranks:
    [section] = client.get("/api/v1/boards/board/leaderboard/").json()["sections"]
    return {row["name"]: row["ranks"]["rank_ffa"] for row in section["rows"]}


def in_the_csv(client: Client) -> Ranks:
    text = client.get("/api/v1/boards/board/leaderboard/?format=csv").getvalue().decode()
    return {row["name"]: int(row["rank_ffa"]) for row in csv.DictReader(io.StringIO(text))}


def in_latex(client: Client) -> Ranks:
    text = client.get("/boards/board/leaderboard.tex").content.decode()
    rows = re.findall(r"^([A-D]) &.*& (?:\\textbf{)?(\d+)}? \\\\$", text, flags=re.MULTILINE)
    return {name: int(rank) for name, rank in rows}


def in_the_chart(client: Client) -> Ranks:
    found = client.get("/api/v1/boards/board/charts/ranks/").json()
    return {row[0]: row[2] for row in found["rows"]}


def in_comparisons(board: Board, client: Client) -> Ranks:
    """The ranks on the page of the comparison."""
    numbers = ",".join(str(entry.pk) for entry in board.entries.all())
    page = client.get(f"/boards/board/compare/?entries={numbers}").content.decode()
    rows = re.findall(r">(\w+)</a> <span class=\"muted\">rank (\d+)</span>", page)
    return {name: int(rank) for name, rank in rows}


def by_paired_tests(board: Board) -> Ranks:
    """1 + the number of significantly better rows in the table of pairs."""
    numbers = [entry.pk for entry in board.entries.all()]
    worse = []
    for pair in comparison(AnonymousUser(), board, numbers).pairs:
        if pair.difference.is_significant:
            assert pair.difference.value is not None
            worse.append(pair.second if pair.difference.value > 0 else pair.first)
    names = [each.entry.name for each in worse]
    return {name: 1 + names.count(name) for name in MEANS}


def in_the_change_log(client: Client, which: str) -> Ranks:
    """Of the last re-grade; `which` is before or after."""
    log = client.get("/api/v1/boards/board/changes/").json()["results"][0]
    [phase] = log["phases"]
    return {row["name"]: row[f"rank_{which}"] for row in phase["rows"]}


def all_of(board: Board, client: Client) -> dict[str, Ranks]:
    """Every place that shows the rank of every row."""
    return {
        "page": on_the_page(client),
        "whole table": in_the_whole_table(client),
        "api": in_the_api(client),
        "csv": in_the_csv(client),
        "latex": in_latex(client),
        "chart": in_the_chart(client),
        "comparisons": in_comparisons(board, client),
    }


def test_a_rank_is_the_same_everywhere(board: Board, researcher: User, client_of: ClientOf) -> None:
    published(board, researcher, **MEANS)
    client = client_of(None)
    found = all_of(board, client) | {"tests": by_paired_tests(board)}
    assert found == dict.fromkeys(found, RANKS)
    # The best three, in the order of the board.
    assert on_the_home_page(client) == {"A": 1, "B": 1, "C": 2}
    [glance] = boards_at_a_glance()
    assert [(place.name, place.is_best) for place in glance.places] == [
        ("A", True),
        ("B", False),
        ("C", False),
    ]


def test_charts_keep_the_order_of_the_board_where_ranks_are_shared(
    board: Board, researcher: User
) -> None:
    published(board, researcher, Alpha=0.890, Zeta=0.900, Low=0.5)
    charts = board_charts(AnonymousUser(), board, phase_windows(board))
    table = charts.chart("ranks").table
    assert table is not None
    assert [line[0] for line in table.lines] == ["Zeta", "Alpha", "Low"]


def test_a_re_grade_shows_the_ranks_of_the_board(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    published(board, researcher, **MEANS)
    client = client_of(None)
    before = all_of(board, client)
    # All sent the same predictions, so they are equal after re-grading.
    start_regrade(board=board, release=release_of(board), actor=None)
    run_due_jobs()
    after = all_of(board, client)
    assert after == dict.fromkeys(after, dict.fromkeys(MEANS, 1))
    assert before == dict.fromkeys(before, in_the_change_log(client, "before"))
    assert after == dict.fromkeys(after, in_the_change_log(client, "after"))
    # Nothing changes if the grading is repeated unchanged.
    start_regrade(board=board, release=release_of(board), actor=None)
    run_due_jobs()
    log, _ = client.get("/api/v1/boards/board/changes/").json()["results"]
    assert log["phases"][0]["moved"] == 0


def test_a_phase_that_rounds_has_one_rank_everywhere(researcher: User, client_of: ClientOf) -> None:
    board = make_board(diagnostics="aggregates", score_decimals=0)
    published(board, researcher, **MEANS)
    client = client_of(None)
    by_figures = {"A": 1, "B": 2, "C": 3, "D": 4}
    found = all_of(board, client)
    assert found == dict.fromkeys(found, by_figures)
    assert on_the_home_page(client) == {"A": 1, "B": 2, "C": 3}
