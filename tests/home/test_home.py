"""Home: boards at a glance, newest entries, and the ways in."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from portal.accounts.models import User
from portal.home import selectors
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Entry
from tests.fixture_types import ClientOf

from .factories import make_board, make_graded, make_phase, make_reported

pytestmark = pytest.mark.django_db


def _places() -> list[tuple[int, str, str]]:
    [glance] = selectors.boards_at_a_glance()
    return [(place.rank, place.name, place.score) for place in glance.places]


def test_an_empty_site_says_what_it_is_and_offers_a_first_step(client: Client) -> None:
    page = client.get("/").content.decode()
    assert "Leaderboards for models that read financial documents" in page
    assert "No leaderboards yet" in page
    assert "Latest results" not in page
    assert 'href="/accounts/signup/"' in page


def test_somebody_logged_in_is_led_to_the_start_page(client_of: ClientOf, ann: User) -> None:
    page = client_of(ann).get("/").content.decode()
    assert "Go to your start page" in page
    assert 'href="/accounts/signup/"' not in page


def test_the_best_three_are_shown_with_shared_ranks(researcher: User) -> None:
    phase = make_phase(make_board())
    for name, ffa in [("D", 0.5), ("B", 0.9), ("A", 0.9), ("C", 0.7)]:
        make_graded(phase, researcher, name, ffa)
    assert _places() == [(1, "A", "90.00"), (1, "B", "90.00"), (3, "C", "70.00")]


def test_an_entry_without_every_ranking_figure_has_no_place_but_is_counted(
    researcher: User,
) -> None:
    phase = make_phase(make_board())
    make_graded(phase, researcher, "A", None)
    make_graded(phase, researcher, "B", 0.4)
    assert _places() == [(1, "B", "40.00")]
    Entry.objects.update(scores={"ffa": 0.4})
    assert _places() == [], "without the general figure the row is not ranked"
    assert selectors.boards_at_a_glance()[0].graded == 2


def test_graded_entries_are_not_ranked_against_reported_ones(researcher: User) -> None:
    board = make_board()
    make_reported(board, "Paper", 0.99)
    make_graded(make_phase(board), researcher, "Ours", 0.5)
    [glance] = selectors.boards_at_a_glance()
    assert [place.name for place in glance.places] == ["Ours"]
    assert (glance.graded, glance.reported) == (1, 1)


def test_reported_entries_stand_in_where_nothing_was_graded(client: Client) -> None:
    board = make_board()
    make_reported(board, "Paper A", 0.9, source="Table 4")
    make_reported(board, "Paper B", 0.8, source="Table 4")
    make_reported(board, "Other", 0.99, source="Another paper")
    assert _places() == [(1, "Paper A", "90.00"), (2, "Paper B", "80.00")]
    assert "All results are reported in papers" in client.get("/").content.decode()


def test_rows_of_a_view_have_no_place_on_the_home_page() -> None:
    board = Board.objects.create(slug="fcm", title="F", benchmark="fcmbench", state="open")
    load_reported(board=board)
    Entry.objects.filter(provenance__endswith="Table 4").exclude(name__startswith="G").delete()
    # Fewer rows are left of the main table than of each view's.
    assert [place[1] for place in _places()] == ["Gemini 3 Pro", "Gemini 3 Flash", "GLM-4.5V"]


def test_phases_and_signatures_are_not_mixed(researcher: User) -> None:
    board = make_board()
    old, new = make_phase(board, "Old"), make_phase(board, "New")
    for name, ffa in [("A", 0.97), ("B", 0.96)]:
        make_graded(new, researcher, name, ffa)
    make_graded(new, researcher, "Re-graded", 0.6, signature="v2")
    make_graded(old, researcher, "Late in the old phase", 0.99, signature="v2")
    assert _places() == [(1, "Re-graded", "60.00")]


def test_drafts_stay_hidden_and_archived_boards_come_last(client: Client, researcher: User) -> None:
    draft = make_board("Draft", state=Board.State.DRAFT)
    make_graded(make_phase(draft), researcher, "Secret", 0.9)
    make_board("Archived", state=Board.State.ARCHIVED)
    make_board("Open")
    titles = [glance.board.title for glance in selectors.boards_at_a_glance()]
    assert titles == ["Open", "Archived"]
    page = client.get("/").content.decode()
    assert "Draft" not in page
    assert "Secret" not in page


def test_newest_entries_are_the_graded_ones_newest_first(researcher: User) -> None:
    board = make_board()
    phase = make_phase(board)
    for number in range(selectors.NEWEST_SHOWN + 2):
        make_graded(phase, researcher, f"S{number}", 0.5)
    make_reported(board, "Paper", 0.9)
    names = [new.entry.name for new in selectors.newest_entries()]
    assert names == [f"S{number}" for number in range(selectors.NEWEST_SHOWN + 1, 1, -1)]


def test_scores_are_shown_as_percentages(client: Client, researcher: User) -> None:
    make_graded(make_phase(make_board()), researcher, "System", 2 / 3)
    page = client.get("/").content.decode()
    assert "66.67" in page
    assert "FFA" in page


def test_names_are_escaped(client: Client, researcher: User) -> None:
    make_graded(make_phase(make_board("<b>")), researcher, "<script>alert(1)</script>", 0.5)
    assert "<script>alert" not in client.get("/").content.decode()


@pytest.mark.parametrize("boards", [1, 4])
def test_home_reads_the_rows_of_changed_boards_only(
    client: Client,
    researcher: User,
    boards: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(boards):
        phase = make_phase(make_board(f"Board {number}"))
        for entry in range(number + 2):
            make_graded(phase, researcher, f"S{entry}", 0.5)
    # The boards, their phases and the newest rows; the rows of changed boards.
    with django_assert_num_queries(4):
        assert client.get("/").status_code == 200
    with django_assert_num_queries(3):
        assert client.get("/").status_code == 200
    make_graded(phase, researcher, "Best", 0.9)
    bump_board(phase.board_id)
    with django_assert_num_queries(4):
        assert b"Best" in client.get("/").content
