"""The ledger of hidden gold: what scores can have given away, and phases that close to a person."""

from math import log2
from typing import Any

import pytest

from portal.accounts.account_data import delete_account
from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from scoring.benchmarks import BENCHMARKS
from scoring.boards.ledger import bits_of, bits_shown
from scoring.boards.limits import askers, quota
from scoring.boards.protection import PROTECTED, NewPhase
from scoring.grading.regrades import start_regrade
from scoring.models import Attempt, Board, Grading, Phase
from scoring.submissions.uploads import SubmissionRefused
from tests.accounts.teams.people import team_of
from tests.conftest import make_user
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db

# Six facts on three pages: nothing but the rank is shown, in two bands.
FACTS, BITS = 6, 1.0
SETTINGS: dict[str, Any] = {**PROTECTED, "diagnostics": "aggregates", "per_day": 10}


@pytest.fixture
def release(db: None) -> Release:
    return make_release(visibility=Release.Visibility.GOLD_HIDDEN)


def hidden_board(release: Release, slug: str = "board", **settings: Any) -> Board:
    return make_board(release, slug=slug, **{**SETTINGS, **settings})


def score(board: Board, user: User, count: int = 1, **more: Any) -> None:
    for _ in range(count):
        make_submission(board, user, **more)
        run_due_jobs()


def learnt(board: Board, user: User) -> float:
    return quota(first_phase(board), user).learnt


def test_bits_of_digits_by_hand() -> None:
    assert bits_of([]) == 0
    assert bits_of([None, None]) == 0
    # 0, 0.05, …, 1 are 21 values; 0 and 1 are two.
    assert bits_of([0.05, None, 1.0]) == pytest.approx(log2(21) + 1)
    # 1,001 values with one decimal of a percentage; a number without rounding has 52 bits.
    assert bits_of([0.001, 0.0]) == pytest.approx(log2(1001) + 52)


def test_a_score_on_a_small_release_gives_away_its_rank_band(
    release: Release, researcher: User
) -> None:
    board = hidden_board(release)
    score(board, researcher)
    attempt = Attempt.objects.get()
    assert (attempt.bits, attempt.facts) == (BITS, FACTS)
    assert learnt(board, researcher) == pytest.approx(BITS / FACTS)


def test_exact_scores_can_give_away_all_facts(release: Release, researcher: User) -> None:
    board = hidden_board(release, score_decimals=None, closing_share=None)
    score(board, researcher)
    attempt = Attempt.objects.get()
    assert (attempt.bits, attempt.facts) == (FACTS, FACTS)


def test_public_gold_gives_nothing_away(researcher: User) -> None:
    board = make_board(make_release())
    score(board, researcher)
    assert Attempt.objects.get().bits is None
    assert askers([first_phase(board)]) == []


def test_a_phase_closes_past_its_share(
    release: Release, researcher: User, stranger: User, client_of: ClientOf
) -> None:
    board = hidden_board(release, closing_share=50)
    score(board, researcher, 2)
    assert not quota(first_phase(board), researcher).refusal
    score(board, researcher)
    with pytest.raises(SubmissionRefused) as refused:
        make_submission(board, researcher)
    assert str(refused.value) == (
        "“Test” is closed to you: your scores can have revealed 50% of its hidden gold or more. "
        "Ask the organisers to raise this limit."
    )
    page = client_of(researcher).get("/boards/board/submit/").content.decode()
    assert "is closed to you" in page
    assert not quota(first_phase(board), stranger).refusal
    board.phases.update(closing_share=60)
    assert not quota(first_phase(board), researcher).refusal


def test_a_team_is_one_holder(release: Release, researcher: User, ann: User) -> None:
    board = hidden_board(release, closing_share=50)
    team = team_of(ann, researcher)
    score(board, researcher, 2, team=team)
    score(board, ann, 1, team=team)
    assert not quota(first_phase(board), ann).refusal
    with pytest.raises(SubmissionRefused, match="closed to the team"):
        make_submission(board, ann, team=team)


def test_a_deleted_account_does_not_open_the_phase_again(
    release: Release, researcher: User
) -> None:
    board = hidden_board(release, closing_share=50)
    score(board, researcher, 3)
    email = researcher.email
    delete_account(user=researcher)
    again = make_user("Rex")
    assert again.email == email
    with pytest.raises(SubmissionRefused, match="closed to you"):
        make_submission(board, again)
    (asker,) = askers([first_phase(board)])
    assert (asker.scored, asker.facts, asker.share) == (3, 3, 0.5)


def test_boards_on_the_same_gold_add_up(release: Release, researcher: User, stranger: User) -> None:
    one, other = hidden_board(release), hidden_board(release, "other")
    score(one, researcher, 2)
    score(other, researcher)
    score(other, stranger)
    assert learnt(one, researcher) == learnt(other, researcher) == 0.5
    with pytest.raises(SubmissionRefused, match="closed to you"):
        make_submission(one, researcher)
    # Who has no score on a board is not in its list.
    (asker,) = askers([first_phase(one)])
    assert (asker.names, asker.scored, asker.facts, asker.share) == (["Rex"], 2, 3, 0.5)
    assert len(askers([first_phase(other)])) == 2


def test_a_regrade_adds_what_its_scores_give_away(release: Release, researcher: User) -> None:
    board = hidden_board(release, closing_share=None)
    score(board, researcher)
    start_regrade(board=board, actor=None)
    run_due_jobs()
    assert Attempt.objects.get().bits == 2 * BITS


def test_organisers_see_the_ledger_and_no_one_else(
    release: Release, researcher: User, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    board = hidden_board(release)
    score(board, researcher, 2)
    page = client_of(organiser).get("/boards/board/manage/").content.decode()
    assert "Facts at most" in page
    assert "33.3%" in page
    url = "/api/v1/boards/board/hidden-scores/"
    (line,) = api_of(organiser).get(url).json()
    assert (line["names"], line["scored"], line["facts"]) == (["Rex"], 2, 2)
    assert line["share"] == pytest.approx(1 / 3)
    assert api_of(researcher).get(url).status_code == 403
    assert api_of(None).get(url).status_code == 401


def test_submitters_do_not_see_how_much_they_can_have_learnt(
    release: Release, researcher: User, api_of: ApiOf
) -> None:
    """With the steps of the scores it would show how many facts there are."""
    score(hidden_board(release), researcher)
    limits = api_of(researcher).get("/api/v1/boards/board/phases/test/limits/").json()
    assert "learnt" not in limits
    assert "16" not in str(limits)


def test_new_phases_close_by_default_where_scores_are_rounded(release: Release) -> None:
    def share(**settings: Any) -> int | None:
        return NewPhase("test", "Test", release, **settings).closing_share

    assert share() == 50
    assert share(closing_share=None) is None
    assert share(score_decimals=None) is None
    assert share(diagnostics=Phase.Diagnostics.ITEMS) is None
    assert NewPhase("test", "Test", make_release()).closing_share is None


@pytest.mark.parametrize("share", [0, 101])
def test_the_share_is_a_percentage(release: Release, share: int, api_of: ApiOf) -> None:
    hidden_board(release)
    organiser = make_user("Olga", is_organiser=True)
    answer = api_of(organiser).patch(
        "/api/v1/boards/board/phases/test/", {"closing_share": share}, format="json"
    )
    assert answer.status_code == 400
    assert list(answer.json()) == ["closing_share"]


@pytest.mark.parametrize("facts", [1, 5, 19])
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_an_honest_researcher_can_use_up_the_default_attempts(benchmark: str, facts: int) -> None:
    """On 500 documents, each with this many facts in every score: below 30%, and so far from the
    default share."""
    spec = BENCHMARKS[benchmark]
    phase = Phase(
        board=Board(benchmark=benchmark),
        release=Release(visibility=Release.Visibility.GOLD_HIDDEN),
        **PROTECTED,
    )
    options = spec.check_options({})
    shares = {key: [1 / 500, 1 / (500 * facts)] for key in spec.gold_figures(options)}
    grading = Grading(release=phase.release, options=options, shares={"all": shares})
    bits = PROTECTED["in_total"] * bits_shown(phase, grading, "all")
    assert 0 < bits < 0.3 * 500 * facts
    assert PROTECTED["closing_share"] == 50
