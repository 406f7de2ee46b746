"""Submissions of teams: what each role may do with them, who has them in a list, what is public."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.accounts.models import Team, TeamMember, User
from portal.accounts.teams.services import close_team, make_owner
from scoring.models import Board, Submission
from scoring.submissions.selectors import SubmissionLine, for_lists, submission_lines
from scoring.submissions.services import publish_submission
from tests.accounts.teams.people import leave, place_of
from tests.asking import Wanted, check_answers
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import make_submission

pytestmark = pytest.mark.django_db


# Statuses of: a stranger, a plain member, the submitter, an owner of the team, who has left it,
# the submitter after they left, an organiser.
READ = (404, 200, 200, 200, 404, 200, 200)
STEER = (404, 302, 302, 302, 404, 403, 302)
WITHDRAW = (404, 403, 302, 302, 404, 403, 302)
REPLACE = (404, 200, 200, 200, 404, 403, 404)
ROLES = {
    "/submissions/{}/": ("get", READ),
    "/submissions/{}/file/": ("get", READ),
    "/submissions/{}/items/page-1/": ("get", READ),
    "/submissions/{}/cancel/": ("post", STEER),
    "/submissions/{}/retry/": ("post", STEER),
    "/submissions/{}/publish/": ("post", STEER),
    "/submissions/{}/unpublish/": ("post", STEER),
    "/submissions/{}/withdraw/": ("post", WITHDRAW),
    "/submissions/{}/verdict/": ("post", (403, 403, 403, 403, 403, 403, 302)),
    "/submissions/{}/pin/": ("post", (403, 403, 403, 403, 403, 403, 302)),
    "/boards/board/submit/?again={}": ("get", REPLACE),
}


Table = Mapping[tuple[str, str], tuple[int, ...]]


@pytest.fixture
def check(
    ours: Submission,
    team: Team,
    stranger: User,
    ben: User,
    researcher: User,
    ann: User,
    cleo: User,
    organiser: User,
) -> Callable[[Callable[[User], Any], Table], None]:
    """Asks what is in a table, by method and path, as each role."""
    TeamMember.objects.create(team=team, user=cleo)
    leave(cleo, team)

    def asked(make: Callable[[User], Any], table: Table) -> None:
        assert {len(statuses) for statuses in table.values()} == {7}
        clients = [make(user) for user in (stranger, ben, researcher, ann, cleo)]
        # The researcher before and after leaving.
        clients += [clients[2], make(organiser)]

        def ask(key: tuple[int, str, str]) -> Any:
            place, method, path = key
            return getattr(clients[place], method)(path)

        def wanted(*places: int) -> dict[tuple[int, str, str], Wanted]:
            return {(place, *key): table[key][place] for place in places for key in table}

        check_answers(wanted(0, 1, 2, 3, 4), ask)
        leave(researcher, team)
        check_answers(wanted(5, 6), ask)

    return asked


def test_what_each_role_may_do(
    client_of: ClientOf, ours: Submission, check: Callable[..., None]
) -> None:
    table = {(method, path.format(ours.pk)): wanted for path, (method, wanted) in ROLES.items()}
    check(client_of, table)


def test_what_each_role_may_do_by_the_api(
    api_of: ApiOf, ours: Submission, check: Callable[..., None]
) -> None:
    paths = {
        ("get", ""): READ,
        ("get", "file/"): READ,
        ("get", "items/"): READ,
        ("post", "publish/"): (404, 200, 200, 200, 404, 403, 200),
        ("post", "unpublish/"): (404, 200, 200, 200, 404, 403, 200),
        ("post", "withdraw/"): (404, 403, 200, 200, 404, 403, 200),
        # The grading is done: what may be asked for is refused for its state.
        ("post", "cancel/"): (404, 409, 409, 409, 404, 403, 409),
        ("post", "retry/"): (404, 409, 409, 409, 404, 403, 409),
    }
    root = f"/api/v1/submissions/{ours.pk}/"
    table = {(method, root + path): wanted for (method, path), wanted in paths.items()}
    check(api_of, table)


def test_a_member_who_becomes_owner_may_withdraw(
    client_of: ClientOf, ours: Submission, team: Team, ann: User, ben: User
) -> None:
    make_owner(member=place_of(ben, team), actor=ann)
    client_of(ben).post(f"/submissions/{ours.pk}/withdraw/")
    ours.refresh_from_db()
    assert ours.withdrawn_at is not None


def test_of_a_closed_team_the_submitter_decides_alone(
    client_of: ClientOf, ours: Submission, team: Team, researcher: User, ben: User, ann: User
) -> None:
    close_team(team=team, actor=ann)
    assert Team.objects.filter(pk=team.pk).exists()
    assert client_of(ben).get(f"/submissions/{ours.pk}/").status_code == 404
    assert client_of(researcher).post(f"/submissions/{ours.pk}/publish/").status_code == 302
    ours.refresh_from_db()
    assert ours.publication == "public"


def test_who_left_is_told_why_they_cannot_decide(
    client_of: ClientOf, ours: Submission, team: Team, researcher: User
) -> None:
    leave(researcher, team)
    page = client_of(researcher).get(f"/submissions/{ours.pk}/").content.decode()
    assert "You have left the team" in page
    assert "Withdraw this submission" not in page
    assert 'id="manage"' not in page


# --- lists and what is public ---------------------------------------------------------------------


def test_a_members_list_holds_the_teams_and_says_whose(
    client_of: ClientOf, api_of: ApiOf, ours: Submission, ben: User, stranger: User
) -> None:
    page = client_of(ben).get("/submissions/").content.decode()
    assert "Fact finders, by Rex" in page
    [line] = api_of(ben).get("/api/v1/submissions/").json()["results"]
    assert (line["id"], line["team"]) == (ours.pk, "fact-finders")
    assert api_of(stranger).get("/api/v1/submissions/").json()["results"] == []
    assert "Reader" in client_of(ben).get("/start/").content.decode()


def own_lines(user: User) -> list[SubmissionLine]:
    return submission_lines(user, list(for_lists(Submission.objects.kept_by(user))))


def test_lists_and_pages_ask_no_more_for_more(
    board: Board, team: Team, researcher: User, ben: User, django_assert_num_queries: Any
) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            for line in own_lines(ben):
                assert line.submission.team is not None
                assert line.submission.owner.name
        return len(queries)

    make_submission(board, researcher, team=team)
    first = asked()
    for _ in range(3):
        make_submission(board, researcher, team=team)
    assert asked() == first


def test_who_submitted_for_a_team_and_is_in_it_has_it_in_the_list_once(
    ours: Submission, researcher: User
) -> None:
    assert [line.submission for line in own_lines(researcher)] == [ours]


def test_the_team_is_public_with_the_result_and_not_before(
    client_of: ClientOf, api_of: ApiOf, ours: Submission, board: Board
) -> None:
    anybody, row = client_of(None), "/api/v1/boards/board/leaderboard/"
    assert "Fact finders" not in anybody.get("/boards/board/").content.decode()
    publish_submission(submission=ours, actor=None)
    shown = anybody.get("/boards/board/").content.decode()
    assert '<a href="/teams/fact-finders/">Fact finders</a>' in shown
    page = anybody.get(f"/submissions/{ours.pk}/").content.decode()
    assert 'href="/teams/fact-finders/"' in page
    # The team is public; who of it submitted is not.
    assert "Rex" not in page
    [section] = api_of(None).get(row).json()["sections"]
    team = {"name": "Fact finders", "slug": "fact-finders"}
    assert [each["team"] for each in section["rows"]] == [team]
