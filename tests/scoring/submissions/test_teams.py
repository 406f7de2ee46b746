"""Submissions for teams: whose limits they use up, and who may send them."""

from typing import Any

import pytest

from portal.accounts.models import Team, TeamMember, User
from scoring.boards.limits import (
    lock_team,
    phase_quotas,
    quota,
    team_quota,
    team_quotas,
)
from scoring.grading.services import GradingRefused, cancel_grading, retry_grading
from scoring.models import Attempt, Board, Submission
from scoring.submissions.uploads import SubmissionRefused
from tests.accounts.teams.people import leave, team_of
from tests.conftest import make_user
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    latest_grading,
    lines_of,
    make_board,
    make_submission,
    places_taken,
    upload,
    waiting,
)

pytestmark = pytest.mark.django_db


# --- limits ---------------------------------------------------------------------------------------


def test_a_score_for_a_team_uses_up_a_place_of_both(team: Team, researcher: User) -> None:
    board = make_board(in_total=3)
    make_submission(board, researcher, team=team)
    phase = first_phase(board)
    for found in (quota(phase, researcher), team_quota(phase, team)):
        assert found.total is not None
        assert (found.total.held, found.total.left) == (1, 2)
    assert Attempt.objects.get().team == team


def test_many_members_do_not_multiply_the_limit(team: Team, researcher: User, ben: User) -> None:
    board = make_board(in_total=1)
    make_submission(board, researcher, team=team)
    with pytest.raises(
        SubmissionRefused,
        match="The team “Fact finders” has reached its limit of 1 scored submission",
    ):
        make_submission(board, ben, team=team)
    # Ben himself has submitted nothing.
    assert make_submission(board, ben).team is None


def test_many_teams_do_not_multiply_the_limit(team: Team, researcher: User) -> None:
    board, second = make_board(in_total=1), team_of(researcher, name="Second")
    make_submission(board, researcher, team=team)
    with pytest.raises(
        SubmissionRefused, match="You have reached your limit of 1 scored submission"
    ):
        make_submission(board, researcher, team=second)
    with pytest.raises(
        SubmissionRefused, match="You have reached your limit of 1 scored submission"
    ):
        make_submission(board, researcher)


def test_what_a_former_member_used_up_stays_used_up(
    team: Team, researcher: User, ben: User
) -> None:
    board = make_board(in_total=1)
    make_submission(board, researcher, team=team)
    leave(researcher, team)
    with pytest.raises(SubmissionRefused, match="The team"):
        make_submission(board, ben, team=team)


def test_going_on_asks_for_the_places_of_who_submitted_it(
    team: Team, researcher: User, ben: User
) -> None:
    board = make_board(in_total=1)
    submission = make_submission(board, researcher, team=team)
    cancel_grading(grading=latest_grading(submission), actor=ben)
    make_submission(board, researcher)
    with pytest.raises(
        GradingRefused, match="The submitter has reached their limit of 1 scored submission"
    ):
        retry_grading(grading=latest_grading(submission), actor=ben)


def test_organisers_submit_for_a_team_without_limits(team: Team, organiser: User) -> None:
    board = make_board(in_total=1)
    TeamMember.objects.create(team=team, user=organiser)
    for _ in range(2):
        make_submission(board, organiser, team=team)
    assert Submission.objects.filter(team=team).count() == 2


def test_standings_of_any_number_of_teams_are_one_query(
    researcher: User, django_assert_num_queries: Any
) -> None:
    teams = [team_of(researcher, name=f"Team {n}") for n in range(3)]
    phases = [first_phase(make_board(slug=f"board-{n}", per_day=n)) for n in (1, 2)]
    with django_assert_num_queries(1):
        found = team_quotas(teams, phases)
    limits = [(each.team, each.day.limit) for each in found if each.day]
    assert limits == [(team, limit) for limit in (1, 2) for team in teams]
    with django_assert_num_queries(0):
        assert team_quotas([], phases) == []
    with django_assert_num_queries(1):
        phase_quotas(researcher, phases)


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_members_cannot_all_take_the_last_place_of_the_team(team: Team) -> None:
    phase = first_phase(make_board(in_total=1))
    people = [make_user(f"Member{number}") for number in range(8)]
    assert places_taken([waiting(phase, each, team) for each in people]) == 1


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_one_person_with_many_teams_cannot_take_the_last_place_twice(researcher: User) -> None:
    phase = first_phase(make_board(in_total=1))
    teams = [team_of(researcher, name=f"Team {number}") for number in range(8)]
    assert places_taken([waiting(phase, researcher, each) for each in teams]) == 1


# --- for whom -------------------------------------------------------------------------------------


def test_nobody_submits_for_a_team_they_are_not_in(
    board: Board, team: Team, stranger: User
) -> None:
    with pytest.raises(SubmissionRefused, match="You are not in the team “Fact finders”"):
        make_submission(board, stranger, team=team)
    assert not Submission.objects.exists()


def test_the_team_is_left_before_the_file_is_stored(
    board: Board, team: Team, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left between the first look and the transaction: the second look finds it."""

    def leave_first(submission: Submission) -> None:
        TeamMember.objects.filter(user=researcher).delete()
        lock_team(submission)

    monkeypatch.setattr("scoring.submissions.services.lock_team", leave_first)
    with pytest.raises(SubmissionRefused, match="You are not in the team"):
        make_submission(board, researcher, team=team)
    assert not Submission.objects.exists()


def test_a_new_version_stays_with_the_team(
    ours: Submission, board: Board, team: Team, ben: User, researcher: User
) -> None:
    newer = make_submission(board, ben, team=team, replaces=ours)
    assert (newer.version, newer.team, newer.owner) == (2, team, ben)
    with pytest.raises(SubmissionRefused, match="must belong to the same team"):
        make_submission(board, researcher, replaces=newer)


def test_of_two_new_versions_at_once_one_is_refused(
    ours: Submission, team: Team, ben: User, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ben's comes between the first look and the transaction."""
    board = ours.phase.board

    def ben_first(filename: str) -> str:
        monkeypatch.undo()
        make_submission(board, ben, team=team, replaces=ours)
        return filename

    monkeypatch.setattr("scoring.submissions.services._stored_name", ben_first)
    with pytest.raises(SubmissionRefused, match="already has a newer version"):
        make_submission(board, researcher, team=team, replaces=ours)
    assert Submission.objects.get(replaces=ours).owner == ben


def form(team: str = "") -> dict[str, Any]:
    return {
        "name": "Reader",
        "category": "other",
        "form_key": "k",
        "team": team,
        "file": upload(lines_of(PERFECT)),
    }


def test_the_form_offers_ones_teams_and_takes_no_other(
    client_of: ClientOf, board: Board, team: Team, researcher: User, stranger: User
) -> None:
    other = team_of(stranger, name="Strangers")
    client, url = client_of(researcher), f"/boards/{board.slug}/submit/"
    page = client.get(url).content.decode()
    assert "Fact finders" in page
    assert "Strangers" not in page
    phase = {"phase": first_phase(board).pk}
    refused = client.post(url, form(other.slug) | phase)
    assert refused.status_code == 400
    assert "Submit for" in refused.content.decode()
    assert not Submission.objects.exists()
    taken = client.post(url, form(team.slug) | phase)
    assert taken.status_code == 302
    assert Submission.objects.get().team == team


def test_without_a_team_nothing_is_chosen(
    client_of: ClientOf, board: Board, team: Team, stranger: User
) -> None:
    client, url = client_of(stranger), f"/boards/{board.slug}/submit/"
    assert "Submit for" not in client.get(url).content.decode()
    answer = client.post(url, form(team.slug) | {"phase": first_phase(board).pk})
    assert answer.status_code == 400
    assert not Submission.objects.exists()


def test_a_members_new_version_by_the_form(
    client_of: ClientOf, ours: Submission, team: Team, ben: User
) -> None:
    url = f"/boards/board/submit/?again={ours.pk}"
    page = client_of(ben).get(url).content.decode()
    assert f'value="{team.slug}"' in page
    data = form(team.slug) | {"phase": ours.phase_id, "accept_identical": "on"}
    assert client_of(ben).post(url, data).status_code == 302
    newer = Submission.objects.get(replaces=ours)
    assert (newer.owner, newer.team) == (ben, team)


def test_the_api_takes_the_slug_of_ones_team(
    api_of: ApiOf, board: Board, team: Team, researcher: User, stranger: User
) -> None:
    other = team_of(stranger, name="Strangers")
    url = f"/api/v1/boards/{board.slug}/submissions/"

    def send(user: User, **more: Any) -> Any:
        body = {"name": "Reader", "file": upload(lines_of(PERFECT)), **more}
        return api_of(user).post(url, body, format="multipart")

    refused = send(researcher, team=other.slug)
    assert (refused.status_code, list(refused.json())) == (400, ["team"])
    first = send(researcher, team=team.slug)
    assert (first.status_code, first.json()["team"]) == (201, team.slug)
    # Nothing said, a new version must belong to the same team.
    second = send(researcher, replaces=first.json()["id"])
    assert (second.status_code, second.json()["team"]) == (201, team.slug)
    alone = send(researcher)
    assert (alone.status_code, alone.json()["team"]) == (201, None)
    assert send(stranger, replaces=second.json()["id"]).status_code == 404
    wrong = send(researcher, replaces=alone.json()["id"], team=team.slug)
    assert (wrong.status_code, "must belong to the same team" in wrong.json()["detail"]) == (
        409,
        True,
    )


def test_limits_of_ones_teams_by_page_and_api(
    client_of: ClientOf, api_of: ApiOf, team: Team, researcher: User, ben: User, run_jobs: RunJobs
) -> None:
    board = make_board(in_total=1)
    make_submission(board, researcher, team=team)
    run_jobs()
    page = client_of(ben).get("/boards/board/submit/").content.decode()
    assert "Team submissions count" in page
    assert "The team “Fact finders” has reached its limit of 1 scored submission" in page
    told = api_of(ben).get("/api/v1/boards/board/phases/test/limits/").json()
    assert (told["total"]["left"], told["refusal"]) == (1, "")
    [its] = told["teams"]
    assert (its["team"], its["total"]["left"]) == ("fact-finders", 0)
    assert its["refusal"].startswith("The team “Fact finders” has reached")
