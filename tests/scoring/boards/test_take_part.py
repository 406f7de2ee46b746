"""How to take part: data, format, commands and limits of a board, and who sees what."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from scoring.boards.protection import NewPhase
from scoring.boards.services import add_phase
from scoring.boards.take_part import take_part_page
from scoring.models import Board, Phase
from tests.fixture_types import ClientOf
from tests.scoring.factories import first_phase, make_board, make_release

pytestmark = pytest.mark.django_db

URL = "/boards/board/take-part/"
READER = AnonymousUser()


def change(board: Board, **settings: Any) -> None:
    Phase.objects.filter(pk=first_phase(board).pk).update(**settings)


def sights(board: Board) -> dict[str, tuple[str, str]]:
    [phase] = take_part_page(READER, board).phases
    return {sight.what: (sight.submitter, sight.everyone) for sight in phase.sights}


def test_board_and_form_link_the_page(client_of: ClientOf, board: Board, researcher: User) -> None:
    for url in ("/boards/board/", "/boards/board/submit/"):
        assert f'href="{URL}"' in client_of(researcher).get(url).content.decode(), url


def test_page_has_the_format_and_commands_that_name_board_and_phase(
    client_of: ClientOf, board: Board
) -> None:
    Board.objects.update(card_fields=["organisation"])
    text = client_of(None).get(URL).content.decode()
    assert "acme_10k_p012" in text
    assert "http://testserver/api/v1/boards/board/check/" in text
    assert "http://testserver/api/v1/boards/board/submissions/" in text
    assert f"-F phase={first_phase(board).slug} -F name=" in text
    assert "-F organisation=" in text
    assert text.count("<li>", text.index('id="format"'), text.index('id="commands"')) == 5


def test_drafts_are_for_organisers(client_of: ClientOf, board: Board, organiser: User) -> None:
    Board.objects.update(state=Board.State.DRAFT)
    assert client_of(None).get(URL).status_code == 404
    assert client_of(organiser).get(URL).status_code == 200


def test_public_gold_is_downloaded_with_its_release(client_of: ClientOf, board: Board) -> None:
    [phase] = take_part_page(READER, board).phases
    assert (phase.kit_url, phase.release_url) == ("", phase.phase.release.get_absolute_url())
    assert client_of(None).get(phase.release_url).status_code == 200


def test_hidden_gold_has_a_starter_kit(client_of: ClientOf) -> None:
    board = make_board(make_release(visibility=Release.Visibility.GOLD_HIDDEN))
    [phase] = take_part_page(READER, board).phases
    answer = client_of(None).get(phase.kit_url)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/zip"
    assert f'href="{phase.kit_url}"' in client_of(None).get(URL).content.decode()


def test_private_release_is_not_linked(client_of: ClientOf) -> None:
    board = make_board(make_release(visibility=Release.Visibility.PRIVATE))
    [phase] = take_part_page(READER, board).phases
    assert (phase.kit_url, phase.release_url) == ("", "")
    assert "Private. Ask the organisers for access." in client_of(None).get(URL).content.decode()


def test_limits_are_those_of_the_phase(board: Board) -> None:
    change(board, per_day=1, in_total=20, failed_per_day=None)
    [phase] = take_part_page(READER, board).phases
    assert phase.limits == ["1 scored submission per day", "20 scored submissions in total"]


def test_everything_of_public_gold_can_be_seen(board: Board) -> None:
    change(board, diagnostics=Phase.Diagnostics.FACTS)
    assert sights(board) == {
        "Your file": ("yes", "no"),
        "Your model card": ("yes", "once you publish"),
        "Overall scores": ("once graded", "once you publish"),
        "Per-item results": ("yes, for every fact", "if you publish them"),
        "Gold": ("yes", "yes"),
    }


def test_rounded_scores_of_hidden_gold_hide_the_items() -> None:
    board = make_board(make_release(visibility=Release.Visibility.GOLD_HIDDEN))
    change(board, diagnostics=Phase.Diagnostics.ITEMS, score_decimals=1)
    seen = sights(board)
    words = "once graded, rounded at random, or only a rank where they would reveal gold"
    assert seen["Overall scores"] == (words, "once you publish")
    assert seen["Per-item results"] == ("no", "no")
    assert seen["Gold"] == ("no", "no")


def test_late_scores_over_a_part_name_time_and_share(board: Board) -> None:
    due = timezone.now().replace(microsecond=0) + timedelta(days=2)
    change(board, scores_after=due, public_share=30)
    words, _ = sights(board)["Overall scores"]
    assert words == (
        f"from {due:%-d %B %Y, %H:%M} UTC, for 30% of the items until the phase closes"
    )


def test_closed_phases_are_left_out_unless_no_other_is_left(board: Board) -> None:
    first = first_phase(board)
    change(board, closes_at=timezone.now() - timedelta(days=1))
    assert [each.phase for each in take_part_page(READER, board).phases] == [first]
    late = NewPhase(slug="late", title="Late", release=first.release)
    second = add_phase(board=board, phase=late, actor=None)
    page = take_part_page(READER, board)
    assert [each.phase for each in page.phases] == [second]
    assert page.submitted_phase == second


def test_a_private_dataset_is_not_linked_either(board: Board) -> None:
    Dataset.objects.update(visibility=Dataset.Visibility.PRIVATE)
    [phase] = take_part_page(READER, board).phases
    assert phase.release_url == ""


@pytest.mark.parametrize("phases", [1, 4])
def test_more_phases_need_no_more_queries(
    client_of: ClientOf,
    board: Board,
    phases: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    release = first_phase(board).release
    for number in range(1, phases):
        phase = NewPhase(slug=f"p{number}", title=f"P{number}", release=release)
        add_phase(board=board, phase=phase, actor=None)
    client = client_of(None)
    with django_assert_num_queries(2):
        assert client.get(URL).status_code == 200


def test_command_that_runs_a_model_names_the_board(client_of: ClientOf, board: Board) -> None:
    page = client_of(None).get(URL).content.decode()
    assert "factboard run board --site " in page
    assert "factboard submit board my-run/submission.jsonl" in page
