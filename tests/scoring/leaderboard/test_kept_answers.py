"""Leaderboards are rendered once for all readers with the same rights, with few queries."""

import re
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from portal.accounts.models import User
from portal.web.api import MOST_AT_ONCE
from scoring.boards.page import PAGE_ROWS
from scoring.boards.services import set_board_state
from scoring.leaderboard.files import PRINTED_ROWS
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import publish_submission, unpublish_submission
from tests.counting import lines_run
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import SCORES, fill_board, first_phase, make_board, make_entry

pytestmark = pytest.mark.django_db

Budget = Any
PAGE = "/boards/board/"
JSON = "/api/v1/boards/board/leaderboard/"
ADDRESSES = [PAGE, JSON, f"{PAGE}?q=reader&sort=ffa", f"{JSON}?format=csv"]


# More than the 999 parameters that Django passes to one query of SQLite.
@pytest.mark.parametrize("count", [5, 1_200, pytest.param(5_000, marks=pytest.mark.slow)])
def test_queries_are_as_many_for_few_rows_as_for_many(
    client_of: ClientOf,
    board: Board,
    researcher: User,
    count: int,
    django_assert_num_queries: Budget,
) -> None:
    fill_board(board, researcher, count)
    client = client_of(None)
    for address in ADDRESSES:
        for kept in ("answers", "tables"):
            caches[kept].clear()
        # The board with its phases, its rows, and on the page the test of the lead and the last
        # re-grade; the second time only the check for changes.
        with django_assert_num_queries(4 if address.startswith(PAGE) else 2, info=address):
            first = client.get(address)
        with django_assert_num_queries(1, info=address):
            assert client.get(address).status_code == first.status_code == 200


@pytest.mark.parametrize("query", ["", "?sort=ffa"])
def test_a_page_of_rows_with_intervals_stays_under_150_kilobytes(
    client_of: ClientOf, board: Board, researcher: User, query: str
) -> None:
    """Figures with intervals, two ranks, a link and a checkbox."""
    fill_board(board, researcher, PAGE_ROWS + 1)
    entries = list(Entry.objects.all())
    for place, entry in enumerate(entries):
        # All different, or all would be marked as the best.
        entry.scores = {key: score - place / 1000 for key, score in SCORES.items()}
        entry.intervals = {key: [0.123, 0.456] for key in SCORES}
        entry.organisation, entry.size = "Some organisation", "7B"
    Entry.objects.bulk_update(entries, ["scores", "intervals", "organisation", "size"])
    bump_board(board.pk)
    page = client_of(None).get(PAGE + query).content
    assert page.count(b'name="entries"') == PAGE_ROWS
    assert len(page) < 150_000


def rows_on(client: Client, query: str) -> list[str]:
    page = client.get(PAGE + query).content.decode()
    return re.findall(r'<th scope="row">.*?>(Reader \d+)<', page, flags=re.DOTALL)


def test_every_row_is_on_one_page(client_of: ClientOf, board: Board, researcher: User) -> None:
    count = 2 * PAGE_ROWS + 10
    fill_board(board, researcher, count)
    client, names = client_of(None), [f"Reader {number}" for number in range(count)]
    for view in ("?view=headline", "?view=scores"):
        pages = [rows_on(client, f"{view}&page={number}") for number in (1, 2, 3)]
        assert [len(page) for page in pages] == [PAGE_ROWS, PAGE_ROWS, 10]
        assert [name for page in pages for name in page] == names
        assert rows_on(client, f"{view}&page=all") == names
        assert rows_on(client, f"{view}&page=nonsense") == pages[0]
        # A filter searches all pages.
        assert rows_on(client, f"{view}&q=reader 209") == ["Reader 209"]


def test_other_pages_of_rows_need_no_query_for_rows(
    client_of: ClientOf, board: Board, researcher: User, django_assert_num_queries: Budget
) -> None:
    fill_board(board, researcher, 2 * PAGE_ROWS)
    client = client_of(None)
    client.get(PAGE)
    for query in ("?page=2", "?q=Reader 3", "?category=open_vlm"):
        # The board, the last re-grade. The test of the lead is kept with the table.
        with django_assert_num_queries(2):
            client.get(PAGE + query)
    bump_board(board.pk)
    with django_assert_num_queries(4):
        client.get(f"{PAGE}?page=2")


@pytest.mark.parametrize("query", ["?page=2", "?size_from=2B&category=other", "?q=er 1"])
def test_other_pages_run_few_lines_per_row(
    client_of: ClientOf, board: Board, researcher: User, query: str
) -> None:
    """Rows are ranked once for all pages; a filter compares each with what it looks for. Reading
    the parameters of each row's card again would run 30 lines."""
    client = client_of(None)

    def other_page() -> int:
        bump_board(board.pk)
        client.get(PAGE)
        # Renders the same rows, which are kept.
        client.get(f"{PAGE}{query}&kind=graded")
        return lines_run(lambda: client.get(PAGE + query))

    fill_board(board, researcher, 3 * PAGE_ROWS)
    Entry.objects.update(size="7B")
    other_page()  # Compiles the templates.
    few = other_page()
    fill_board(board, researcher, 6 * PAGE_ROWS)
    Entry.objects.update(size="7B")
    assert (other_page() - few) / (6 * PAGE_ROWS) < 10


@pytest.mark.parametrize("each", [1, 20])
def test_queries_are_as_many_for_one_submission_of_a_team_as_for_twenty(
    client_of: ClientOf,
    board: Board,
    researcher: User,
    team: Any,
    each: int,
    django_assert_num_queries: Budget,
) -> None:
    fill_board(board, researcher, each)
    Submission.objects.update(team=team)
    client = client_of(None)
    for address in (PAGE, JSON):
        # A lead needs a second row.
        with django_assert_num_queries((4 if each > 1 else 3) if address == PAGE else 2):
            answer = client.get(address)
        assert team.name in answer.content.decode()


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_best_entry_survives_many_submissions(
    board: Board, researcher: User, count: int
) -> None:
    fill_board(board, researcher, count)
    make_entry(board, researcher, name="Best", ffa=0.95)
    phase = first_phase(board)
    Entry.objects.filter(name="Reader 0").update(scores={})
    [section] = leaderboard(board, phase, "rank_ffa").sections
    assert len(section.rows) == count + 1
    assert [row.entry.name for row in section.rows[:2]] == ["Best", "Reader 1"]
    assert [row.ranks["rank_ffa"] for row in section.rows[:2]] == [1, 2]
    # The one without a score comes last, and has no rank.
    assert (section.rows[-1].entry.name, section.rows[-1].ranks["rank_ffa"]) == ("Reader 0", None)


def test_rows_that_tie_share_a_rank_and_a_mark(board: Board, researcher: User) -> None:
    for name, ffa in {"A": 0.9, "B": 0.9, "C": 0.8, "D": 0.8, "E": 0.7}.items():
        make_entry(board, researcher, name=name, ffa=ffa)
    table = leaderboard(board, first_phase(board))
    index = [column.key for column in table.columns].index("ffa")
    found = {
        row.entry.name: (
            row.ranks["rank_ffa"],
            row.cells[index].is_best,
            row.cells[index].is_second,
        )
        for row in table.sections[0].rows
    }
    assert found == {
        "A": (1, True, False),
        "B": (1, True, False),
        "C": (3, False, True),
        "D": (3, False, True),
        "E": (5, False, False),
    }


def test_withdrawn_rows_disappear_at_once(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    client = client_of(None)
    publish_submission(submission=graded, actor=organiser)
    for address in ADDRESSES:
        assert "Reader" in client.get(address).getvalue().decode()
    unpublish_submission(submission=graded, actor=organiser)
    for address in ADDRESSES:
        assert ">Reader<" not in client.get(address).getvalue().decode()
        assert "Reader" not in client.get(JSON).getvalue().decode()


def test_a_draft_again_is_kept_from_everybody_else(
    client_of: ClientOf, api_of: ApiOf, board: Board, researcher: User, organiser: User
) -> None:
    make_entry(board, researcher)
    for address in ADDRESSES:
        assert client_of(None).get(address).status_code == 200
    set_board_state(board=board, state=Board.State.DRAFT, actor=organiser)
    for address in ADDRESSES:
        assert client_of(organiser).get(address).status_code == 200
        assert client_of(None).get(address).status_code == 404


def test_organisers_parts_are_never_shown_to_others(
    client_of: ClientOf, researcher: User, organiser: User
) -> None:
    board = make_board(public_share=50)
    entry = make_entry(board, researcher)
    entry.parts = {"public": SCORES, "private": SCORES | {"ffa": 0.1234}, "all": SCORES}
    entry.save()
    bump_board(board.pk)
    address = f"{PAGE}?part=private"
    assert "12.34" in client_of(organiser).get(address).content.decode()
    for user in (None, researcher):
        assert "12.34" not in client_of(user).get(address).content.decode()


def test_the_cached_table_has_no_data_of_its_first_reader(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    """Signed-in users get the same table within their own page."""
    make_entry(board, researcher)
    caches["answers"].clear()
    own = client_of(researcher).get(PAGE)
    page = client_of(None).get(PAGE).content.decode()
    assert "ETag" not in own
    assert "Rex" in own.content.decode()
    assert "Rex" not in page
    assert page.count("<table") == own.content.decode().count("<table")


def test_hosts_have_links_of_their_own(
    client_of: ClientOf, board: Board, researcher: User, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["a.example", "b.example"]
    make_entry(board, researcher)
    for host in settings.ALLOWED_HOSTS:
        page = client_of(None).get(PAGE, headers={"host": host}).content.decode()
        assert f"http://{host}{PAGE}?phase=test&amp;view=headline" in page


def test_the_api_returns_rows_in_pages(client_of: ClientOf, board: Board, researcher: User) -> None:
    fill_board(board, researcher, 5)
    load_reported(board=board)
    client, url, names = client_of(None), f"{JSON}?limit=3&sort=ffa", []
    whole = client.get(f"{JSON}?sort=ffa").json()
    assert whole["next"] is None
    while url:
        page = client.get(url).json()
        rows = [row["name"] for section in page["sections"] for row in section["rows"]]
        assert 0 < len(rows) <= 3
        assert (page["shown"], page["total"]) == (whole["shown"], whole["total"])
        names += rows
        url = page["next"]
    assert names == [row["name"] for section in whole["sections"] for row in section["rows"]]
    for query in ("limit=0", "limit=1001", "limit=x", "offset=-1"):
        assert client.get(f"{JSON}?{query}").status_code == 400, query


def test_the_api_returns_at_most_a_thousand_rows_and_csv_all(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    fill_board(board, researcher, MOST_AT_ONCE + 1)
    client = client_of(None)
    page = client.get(JSON).json()
    assert [len(section["rows"]) for section in page["sections"]] == [MOST_AT_ONCE]
    assert page["shown"] == MOST_AT_ONCE + 1
    for path in (f"{PAGE}leaderboard.csv", f"{JSON}?format=csv"):
        answer: Any = client.get(path)
        # Sent in parts, so that none of it is computed after the reader has left.
        parts = list(answer.streaming_content)
        assert len(parts) > 2
        assert len(b"".join(parts).splitlines()) == 1 + MOST_AT_ONCE + 1


def test_printed_tables_have_a_limit_and_say_so(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    fill_board(board, researcher, PRINTED_ROWS + 30)
    client, words = client_of(None), f"The top {PRINTED_ROWS} rows of each table."
    for ending in ("tex", "md"):
        text = client.get(f"{PAGE}leaderboard.{ending}").content.decode()
        assert text.count("Reader ") == PRINTED_ROWS, ending
        assert words in text, ending
        more = client.get(f"{PAGE}leaderboard.{ending}?rows={PRINTED_ROWS + 30}").content.decode()
        assert more.count("Reader ") == PRINTED_ROWS + 30, ending
    page = client.get(f"{PAGE}cite/").content.decode()
    assert page.count("<option value=") < PRINTED_ROWS + 10
    assert f"The list has the top {PRINTED_ROWS} of {PRINTED_ROWS + 30} models." in page
    last = Submission.objects.latest("id")
    assert f'value="{last.pk}"' not in page
    chosen = client.get(f"{PAGE}cite/?submission={last.pk}").content.decode()
    assert f'value="{last.pk}" selected' in chosen
    assert client.get(f"{PAGE}leaderboard.tex?rows=1001").status_code == 400
