"""Pages of boards: the list, the leaderboard, a new board, its management."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Dataset, Release
from scoring.benchmarks.fincriticaled.figures import SEVERITY
from scoring.boards.protection import NewPhase
from scoring.boards.services import add_phase
from scoring.leaderboard.services import bump_board, load_reported
from scoring.models import Board, Entry, Phase, Submission
from scoring.submissions.services import publish_submission
from tests.factories import empty_dataset
from tests.fixture_types import ClientOf
from tests.scoring.factories import (
    first_phase,
    make_board,
    make_entry,
    make_release,
    make_submission,
    receipt_board,
)

pytestmark = pytest.mark.django_db

Budget = Any
RULES = "/boards/board/benchmark/"


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def test_list_of_boards_shows_counts_and_windows(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher)
    load_reported(board=board)
    text = text_of(client_of(None), "/boards/")
    assert "Board board" in text
    assert "FinCriticalED" in text
    assert '<td class="num">1</td>' in text
    assert '<td class="num">7</td>' in text


def test_empty_list_offers_the_first_step(client_of: ClientOf, organiser: User) -> None:
    assert "No boards yet" in text_of(client_of(None), "/boards/")
    assert "/boards/new/" in text_of(client_of(organiser), "/boards/")


def test_leaderboard_shows_graded_and_reported_rows_apart(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    entry = make_entry(board, researcher, ffa=0.123456)
    load_reported(board=board)
    client = client_of(None)
    assert "GPT-5" not in text_of(client, "/boards/board/")
    text = text_of(client, "/boards/board/?others=on")
    graded, reported = text.split("<h2>Results from papers</h2>")
    assert "Reader" in graded
    assert "12.35" in graded
    assert "GPT-5" not in graded
    assert "GPT-5" in reported
    assert "https://arxiv.org/abs/" in reported
    assert f"/submissions/{entry.grading.submission_id}/" in graded  # type: ignore[union-attr]


def test_sample_is_marked_as_sample(client_of: ClientOf, board: Board, researcher: User) -> None:
    make_entry(board, researcher)
    assert "badge sample" not in text_of(client_of(None), "/boards/board/")
    Entry.objects.update(is_sample=True)
    bump_board(board.pk)
    assert "badge sample" in text_of(client_of(None), "/boards/board/")


def test_the_sample_note_is_not_said_twice(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher)
    Entry.objects.update(is_sample=True)
    Board.objects.update(is_sample=True)
    bump_board(board.pk)
    for view in ("headline", "scores"):
        text = text_of(client_of(None), f"/boards/board/?view={view}")
        assert text.count("badge sample") == 1, view
    # Its title says so.
    Board.objects.update(title="FinCriticalED (sample)")
    bump_board(board.pk)
    assert "badge sample" not in text_of(client_of(None), "/boards/board/")


def test_rules_data_and_citation_are_there(client_of: ClientOf, board: Board) -> None:
    release, text = first_phase(board).release, text_of(client_of(None), RULES)
    assert release.sha256 in text
    assert "matcher:aligned" in text
    assert "every fact" in text
    assert release.get_absolute_url() in text


@pytest.mark.parametrize(
    ("visibility", "who", "sees"),
    [
        (Release.Visibility.GOLD_HIDDEN, None, False),
        (Release.Visibility.GOLD_HIDDEN, "organiser", True),
        (Release.Visibility.PRIVATE, None, False),
        (Release.Visibility.PUBLIC, None, True),
    ],
)
def test_of_hidden_gold_not_even_the_hash_is_told(
    client_of: ClientOf,
    request: pytest.FixtureRequest,
    visibility: Release.Visibility,
    who: str | None,
    sees: bool,
) -> None:
    board = make_board(make_release(visibility=visibility))
    user = request.getfixturevalue(who) if who else None
    assert first_phase(board).release.sha256[:16] not in text_of(client_of(user), "/boards/board/")
    text = text_of(client_of(user), RULES)
    assert (first_phase(board).release.sha256[:16] in text) is sees


def test_a_private_datasets_release_is_named_but_not_linked(client_of: ClientOf) -> None:
    release = make_release(dataset=empty_dataset(visibility=Dataset.Visibility.PRIVATE))
    make_board(release)
    text = text_of(client_of(None), RULES)
    assert release.get_absolute_url() not in text
    assert release.dataset.title in text


def test_sorting_works_by_plain_links(client_of: ClientOf, board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Weak", ffa=0.1)
    make_entry(board, researcher, name="Strong", ffa=0.9)
    best_first = text_of(client_of(None), "/boards/board/?sort=ffa")
    assert best_first.index(">Strong</a>") < best_first.index(">Weak</a>")
    assert 'aria-sort="descending"' in best_first
    assert 'href="?view=scores&amp;sort=-ffa"' in best_first
    turned = text_of(client_of(None), "/boards/board/?sort=-ffa")
    assert turned.index(">Weak</a>") < turned.index(">Strong</a>")
    assert 'aria-sort="ascending"' in turned


def test_phases_are_shown_one_at_a_time(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher, name="Of the first phase")
    release = first_phase(board).release
    add_phase(board=board, phase=NewPhase("dev", "Development", release), actor=None)
    newest = text_of(client_of(None), "/boards/board/")
    assert "Of the first phase" not in newest
    assert "No results yet" in newest
    assert "Of the first phase" in text_of(client_of(None), "/boards/board/?phase=test")


def test_views_are_tabs_that_keep_phase_and_sorting_apart(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher, ffa_tax_form=0.123456)
    release = first_phase(board).release
    add_phase(board=board, phase=NewPhase("dev", "Development", release), actor=None)
    client = client_of(None)
    assert 'href="?phase=test&amp;view=document_types"' in text_of(
        client, "/boards/board/?phase=test"
    )
    text = text_of(client, "/boards/board/?phase=test&view=document_types")
    assert "12.35" in text
    assert 'href="?phase=test&amp;view=document_types&amp;sort=ffa_tax_form"' in text
    assert 'href="?phase=test">Overview</a>' in text


def test_the_weights_of_errors_stand_with_the_rules(client_of: ClientOf, board: Board) -> None:
    text = text_of(client_of(None), RULES)
    assert "Severity of errors" in text
    assert f"Version {SEVERITY.version}." in text
    assert text.index('<th scope="row">Sign</th>') < text.index('<th scope="row">Separator</th>')


def test_texts_of_users_are_escaped(client_of: ClientOf, board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="<b>bold</b>")
    Board.objects.update(description="<script>alert(1)</script>")
    for url in ("/boards/board/", "/boards/board/?view=scores", RULES):
        text = text_of(client_of(None), url)
        assert "<b>bold" not in text
        assert "<script>alert" not in text


@pytest.mark.parametrize("count", [5, 50])
def test_query_budget_of_the_leaderboard(
    client_of: ClientOf,
    board: Board,
    researcher: User,
    count: int,
    django_assert_num_queries: Budget,
) -> None:
    for number in range(count):
        make_entry(board, researcher, name=f"Reader {number}")
    client = client_of(None)
    # The board with its phases and their releases, the entries; on the page the last re-grade.
    # Equal scores need no test.
    with django_assert_num_queries(3):
        client.get("/boards/board/")
    with django_assert_num_queries(2):
        client.get("/api/v1/boards/board/leaderboard/")


@pytest.mark.parametrize("count", [2, 12])
def test_query_budget_of_the_list(
    client_of: ClientOf, count: int, django_assert_num_queries: Budget
) -> None:
    release = make_release()
    for number in range(count):
        make_board(release, slug=f"board-{number}")
    client = client_of(None)
    with django_assert_num_queries(2):
        client.get("/boards/")
    with django_assert_num_queries(3):
        client.get("/api/v1/boards/")


@pytest.mark.parametrize("count", [2, 12])
def test_query_budget_of_the_management_page(
    client_of: ClientOf,
    board: Board,
    organiser: User,
    researcher: User,
    count: int,
    django_assert_max_num_queries: Budget,
) -> None:
    for number in range(count):
        make_submission(board, researcher, name=f"Reader {number}")
    client = client_of(organiser)
    # Session, account, board, count, submissions, gradings; navigation is not ours.
    with django_assert_max_num_queries(9):
        text = client.get("/boards/board/manage/").content.decode()
    assert text.count("Reader") == count


# --- a new board ------------------------------------------------------------------------------


def new_board(**changes: Any) -> dict[str, Any]:
    return {
        "title": "Annual reports",
        "slug": "annual",
        "benchmark": "fincriticaled",
        "description": "",
        "phase_title": "Hidden test",
        "options": "{}",
        "diagnostics": "items",
        "opens_at": "",
        "closes_at": "",
    } | changes


def test_organiser_makes_a_draft_with_a_phase_and_reported_rows(
    client_of: ClientOf, organiser: User
) -> None:
    release, client = make_release(), client_of(organiser)
    data = new_board(release=release.pk, options='{"missing": "skip"}')
    response = client.post("/boards/new/", data)
    board = Board.objects.get(slug="annual")
    phase = board.phases.get()
    assert response["Location"] == "/boards/annual/"
    assert board.state == Board.State.DRAFT
    assert (phase.slug, phase.diagnostics) == ("hidden-test", Phase.Diagnostics.ITEMS)
    assert phase.options == {
        "labels": "Number,Date",
        "matcher": "aligned",
        "beside": "",
        "unit": "beside",
        "text": "visible",
        "text_rules": "factboard",
        "missing": "skip",
        "answer": "shown",
    }
    assert board.entries.filter(kind=Entry.Kind.REPORTED).count() == 7
    verbs = set(Event.objects.filter(actor=organiser).values_list("verb", flat=True))
    assert {"create_board", "add_phase", "load_reported"} <= verbs


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slug": "new"}, "is reserved"),
        ({"slug": "board"}, "already exists"),
        ({"benchmark": "unknown"}, "Select a valid choice"),
        ({"options": '{"matcher": "magic"}'}, "Option matcher must be"),
        ({"options": '{"matchr": "aligned"}'}, "did you mean matcher?"),
        ({"options": "[1]"}, "Enter a JSON object"),
        ({"options": "{not json"}, "Enter a valid JSON"),
        ({"release": ""}, "This field is required"),
        (
            {"opens_at": "2030-01-02T00:00", "closes_at": "2030-01-01T00:00"},
            "must close after it opens",
        ),
    ],
)
def test_what_is_wrong_with_a_new_board_is_named(
    client_of: ClientOf, board: Board, organiser: User, changes: dict[str, Any], message: str
) -> None:
    data = new_board(release=first_phase(board).release.pk) | changes
    response = client_of(organiser).post("/boards/new/", data)
    assert response.status_code == 400
    assert message in response.content.decode()
    assert Board.objects.count() == 1


def test_a_release_of_another_benchmark_is_refused(client_of: ClientOf, organiser: User) -> None:
    other = Release.objects.create(
        dataset=empty_dataset(),
        version="1.0.0",
        benchmark="fcmbench",
        sha256="0" * 64,
        item_count=1,
        fact_count=1,
    )
    response = client_of(organiser).post("/boards/new/", new_board(release=other.pk))
    assert "is for another benchmark" in response.content.decode()


def test_the_first_step_of_a_draft_is_to_open_it(client_of: ClientOf, organiser: User) -> None:
    make_board(state=Board.State.DRAFT)
    client = client_of(organiser)
    assert "Open board" in text_of(client, "/boards/board/")
    client.post("/boards/board/state/", {"state": "open"})
    assert Board.objects.get().state == Board.State.OPEN
    assert "Open board" not in text_of(client, "/boards/board/")
    assert Event.objects.filter(verb="set_board_state", actor=organiser).count() == 1


def test_an_unknown_state_changes_nothing(
    client_of: ClientOf, board: Board, organiser: User
) -> None:
    client_of(organiser).post("/boards/board/state/", {"state": "deleted"})
    assert Board.objects.get().state == Board.State.OPEN


def test_management_page_lists_private_submissions_with_their_scores(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    text = text_of(client_of(organiser), "/boards/board/manage/")
    assert graded.get_absolute_url() in text
    assert "66.67" in text
    publish_submission(submission=graded, actor=organiser)
    assert "state-public" in text_of(client_of(organiser), "/boards/board/manage/")


def test_admin_pages_open(client_of: ClientOf, graded: Submission, organiser: User) -> None:
    User.objects.filter(pk=organiser.pk).update(is_staff=True, is_superuser=True)
    client = client_of(organiser)
    for name in ("board", "submission", "grading", "entry"):
        assert client.get(f"/admin/scoring/{name}/").status_code == 200
    board = Board.objects.get()
    assert client.get(f"/admin/scoring/board/{board.pk}/change/").status_code == 200
    for name in ("submission", "board"):
        assert client.get(f"/admin/scoring/{name}/add/").status_code == 403
    # Only services change a board: they ask before private data becomes public.
    change = client.post(f"/admin/scoring/board/{board.pk}/change/", {"state": "archived"})
    assert change.status_code == 403


def test_organisers_may_submit_to_a_draft_to_try_it_out(
    client_of: ClientOf, organiser: User
) -> None:
    make_board(state=Board.State.DRAFT)
    assert "/boards/board/submit/" in text_of(client_of(organiser), "/boards/board/")


def test_a_phase_keeps_its_release_once_something_was_submitted(
    board: Board, researcher: User
) -> None:
    phase = first_phase(board)
    phase.release = make_release(version="2.0.0")
    phase.full_clean()
    make_submission(board, researcher)
    with pytest.raises(ValidationError, match="Add a phase"):
        phase.full_clean()


@pytest.mark.parametrize(
    ("change", "field"),
    [({"options": {"matcher": "magic"}}, "options"), ({"title": ""}, "title")],
)
def test_phases_are_checked_wherever_they_are_edited(
    board: Board, change: dict[str, Any], field: str
) -> None:
    phase = first_phase(board)
    for name, value in change.items():
        setattr(phase, name, value)
    with pytest.raises(ValidationError) as refused:
        phase.full_clean()
    assert list(refused.value.message_dict) == [field]


def test_a_board_names_a_benchmark_that_exists(board: Board) -> None:
    board.benchmark = "magic"
    with pytest.raises(ValidationError, match="Unknown benchmark"):
        board.full_clean()


def test_a_new_board_begins_with_the_release_it_was_asked_for(
    client_of: Callable[[User | None], Client], organiser: User, board: Board
) -> None:
    release = board.phases.get().release
    page = client_of(organiser).get("/boards/new/", {"release": release.pk})
    assert f'<option value="{release.pk}" selected>' in page.content.decode()


def test_the_benchmark_of_a_new_board_is_that_of_the_release(
    client_of: Callable[[User | None], Client], organiser: User
) -> None:
    release = receipt_board([{"id": "receipt-1", "fields": {"type": "taxi"}}]).phases.get().release
    client = client_of(organiser)
    page = client.get("/boards/new/", {"release": release.pk}).content.decode()
    assert '<option value="receiptbench" selected>' in page
    assert client.get("/boards/new/", {"release": "x"}).status_code == 200
    assert client.get("/boards/new/", {"release": "9" * 30}).status_code == 200
