"""Pages and API endpoints of teams: permissions by role."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from portal.accounts.models import Invitation, Team, TeamMember, User
from portal.accounts.teams.services import close_team, invite_to_team
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import ORIGIN, secret_for
from tests.asking import by_role, check_answers
from tests.fixture_types import ApiOf, ClientOf

from .people import owners, place_of, team_of

pytestmark = pytest.mark.django_db
NORA = "nora@example.org"
URL = "/teams/fact-finders/"
API = "/api/v1/teams/fact-finders/"

ROLES = ["owner", "member", "organiser", "stranger", "anonymous"]

# Status by role. "log in" is a redirect to the log-in page.
PAGES = {
    "/teams/": (200, 200, 200, 200, 302),
    "/teams/new/": (200, 200, 200, 200, 302),
    URL: (200, 200, 200, 200, 200),
    f"{URL}people/": (200, 200, 200, 403, 302),
    f"{URL}edit/": (200, 403, 200, 403, 302),
    f"{URL}close/": (200, 403, 200, 403, 302),
    f"{URL}leave/": (200, 200, 403, 403, 302),
    "/teams/nobody/": (404, 404, 404, 404, 404),
}
POSTS = {
    f"{URL}people/": (302, 403, 302, 403, 302),
    f"{URL}people/{{member}}/promote/": (302, 403, 302, 403, 302),
    f"{URL}people/{{member}}/remove/": (302, 403, 302, 403, 302),
    f"{URL}step-down/": (302, 302, 403, 403, 302),
    f"{URL}invitations/{{invitation}}/resend/": (302, 403, 302, 403, 302),
    f"{URL}invitations/{{invitation}}/link/": (302, 403, 302, 403, 302),
    f"{URL}invitations/{{invitation}}/revoke/": (302, 403, 302, 403, 302),
    f"{URL}edit/": (302, 403, 302, 403, 302),
    f"{URL}close/": (302, 403, 302, 403, 302),
}
ENDPOINTS = {
    ("get", "/api/v1/teams/"): (200, 200, 200, 200, 401),
    ("post", "/api/v1/teams/"): (201, 201, 201, 201, 401),
    ("get", API): (200, 200, 200, 200, 200),
    ("patch", API): (200, 403, 200, 403, 401),
    ("get", f"{API}members/"): (200, 200, 200, 403, 401),
    ("patch", f"{API}members/{{member}}/"): (204, 403, 204, 403, 401),
    ("delete", f"{API}members/{{member}}/"): (204, 403, 204, 403, 401),
    ("post", f"{API}leave/"): (409, 204, 403, 403, 401),
    ("get", f"{API}invitations/"): (200, 403, 200, 403, 401),
    ("post", f"{API}invitations/"): (201, 403, 201, 403, 401),
    ("delete", f"{API}invitations/{{invitation}}/"): (204, 403, 204, 403, 401),
    ("post", f"{API}invitations/{{invitation}}/resend/"): (409, 403, 409, 403, 401),
    ("post", f"{API}invitations/{{invitation}}/link/"): (409, 403, 409, 403, 401),
    ("delete", API): (204, 403, 204, 403, 401),
}
TEAM = {"name": "Readers", "about": "", "link": ""}
BODY = {**TEAM, "emails": "x@example.org", "is_owner": True}
# The API refuses fields that an endpoint does not have.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/api/v1/teams/"): TEAM,
    ("patch", API): TEAM,
    ("patch", f"{API}members/{{member}}/"): {"is_owner": True},
    ("post", f"{API}invitations/"): {"emails": ["x@example.org"]},
}


@pytest.fixture
def cast(ann: User, ben: User, organiser: User, stranger: User) -> dict[str, User | None]:
    people: list[User | None] = [ann, ben, organiser, stranger, None]
    return dict(zip(ROLES, people, strict=True))


@pytest.fixture
def team(ann: User, ben: User) -> Team:
    made = team_of(ann, ben)
    invite_to_team(team=made, emails=[NORA], actor=ann, origin=ORIGIN)
    run_due_jobs()
    return made


def filled(path: str, team: Team, ben: User) -> str:
    return path.format(member=place_of(ben, team).pk, invitation=Invitation.objects.get().pk)


def test_pages(team: Team, cast: dict[str, User | None], client_of: ClientOf) -> None:
    clients = {role: client_of(user) for role, user in cast.items()}
    check_answers(by_role(ROLES, PAGES), lambda key: clients[key[0]].get(key[1]))


def test_posts(team: Team, cast: dict[str, User | None], client_of: ClientOf, ben: User) -> None:
    before = sorted(TeamMember.objects.values_list("user", "role"))
    paths = {path: filled(path, team, ben) for path in POSTS}
    clients = {role: client_of(user) for role, user in cast.items()}

    def ask(key: tuple[str, str]) -> Any:
        role, path = key
        # The cache counts the invitations of each user.
        cache.clear()
        response = clients[role].post(paths[path], {**BODY, "emails": "x@example.org"})
        if role in {"stranger", "anonymous"}:
            assert sorted(TeamMember.objects.values_list("user", "role")) == before
            assert Invitation.objects.count() == 1
            assert Team.objects.get().name == "Fact finders"
        return response

    check_answers(by_role(ROLES, POSTS), ask)


def test_endpoints(team: Team, cast: dict[str, User | None], api_of: ApiOf, ben: User) -> None:
    paths = {path: filled(path, team, ben) for _, path in ENDPOINTS}
    clients = {role: api_of(user) for role, user in cast.items()}

    def ask(key: tuple[str, tuple[str, str]]) -> Any:
        role, (method, path) = key
        cache.clear()
        return getattr(clients[role], method)(paths[path], BODIES.get((method, path), {}))

    check_answers(by_role(ROLES, ENDPOINTS), ask)


@pytest.mark.parametrize("role", ["stranger", "anonymous"])
def test_names_of_members_are_hidden_from_others(
    role: str, team: Team, cast: dict[str, User | None], client_of: ClientOf, api_of: ApiOf
) -> None:
    page = client_of(cast[role]).get(URL).content.decode()
    assert "Fact finders" in page
    answer = api_of(cast[role]).get(API).json()
    assert (answer["is_member"], answer["is_owner"]) == (False, False)
    for shown in (page, str(answer)):
        assert "Ann" not in shown
        assert "Ben" not in shown
        assert NORA not in shown


def test_members_see_names_but_neither_addresses_nor_invitations(
    team: Team, ben: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    page = client_of(ben).get(f"{URL}people/").content.decode()
    assert "Ann" in page
    listed = api_of(ben).get(f"{API}members/").json()
    assert [person["name"] for person in listed] == ["Ann", "Ben"]
    for shown in (page, str(listed)):
        assert "ann@example.org" not in shown
        assert NORA not in shown
    assert 'name="emails"' not in page


def test_making_a_team_leads_to_its_people(client_of: ClientOf, ann: User) -> None:
    client = client_of(ann)
    page = client.post("/teams/new/", {"name": "Two\nlines", "about": "", "link": ""}, follow=True)
    assert page.redirect_chain[-1][0] == "/teams/two-lines/people/"
    assert Team.objects.get().name == "Two lines"
    again = client.post("/teams/new/", {"name": "two LINES", "about": "", "link": ""})
    assert "A team with this name already exists." in again.content.decode()
    assert Team.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "This field is required"),
        ("name", "x" * 81, "at most 80 characters"),
        ("about", "x" * 2001, "at most 2000 characters"),
        ("link", "javascript:alert(1)", "Enter a valid URL"),
    ],
)
def test_errors_name_their_field(
    client_of: ClientOf, api_of: ApiOf, ann: User, field: str, value: str, words: str
) -> None:
    data = {"name": "A", "about": "", "link": ""} | {field: value}
    assert words in client_of(ann).post("/teams/new/", data).content.decode()
    answer = api_of(ann).post("/api/v1/teams/", data)
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert not Team.objects.exists()


def test_text_of_a_team_is_no_markup(client_of: ClientOf, ann: User) -> None:
    client = client_of(ann)
    data = {"name": "<b>A</b>", "about": "<script>x</script> **bold**", "link": ""}
    client.post("/teams/new/", data)
    page = client.get(Team.objects.get().get_absolute_url()).content.decode()
    assert "<script>x" not in page
    assert "<b>A" not in page
    assert "<strong>bold</strong>" in page


def test_an_invalid_email_address_is_reported_with_its_line(
    team: Team, client_of: ClientOf, ann: User
) -> None:
    page = client_of(ann).post(f"{URL}people/", {"emails": "a@example.org\nnobody"})
    assert "Line 2: “nobody” is not an email address." in page.content.decode()
    assert Invitation.objects.count() == 1


def test_invited_person_accepts_by_the_link(
    team: Team, client_of: ClientOf, stranger: User, ann: User
) -> None:
    invite_to_team(team=team, emails=[stranger.email], actor=ann, origin=ORIGIN)
    run_due_jobs()
    secret = secret_for(stranger.email)
    client = client_of(stranger)
    assert (
        "a member of the team “Fact finders”"
        in client.get(f"/invitations/{secret}/").content.decode()
    )
    done = client.post(f"/invitations/{secret}/accept/")
    assert done["Location"] == URL
    assert "Ann" in client.get(URL).content.decode()


def test_handing_over_leaving_and_closing_by_hand(
    team: Team, client_of: ClientOf, ann: User, ben: User
) -> None:
    mine = client_of(ann)
    page = mine.get(f"{URL}leave/").content.decode()
    assert "You are the only owner" in page
    refused = mine.post(f"{URL}leave/", follow=True).content.decode()
    assert "A team needs an owner" in refused
    mine.post(f"{URL}people/{place_of(ben, team).pk}/promote/")
    assert owners(team) == {"Ann", "Ben"}
    assert mine.post(f"{URL}leave/")["Location"] == "/teams/"
    assert owners(team) == {"Ben"}
    client_of(ben).post(f"{URL}close/")
    assert not Team.objects.exists()


def test_a_closed_team_still_has_a_page(
    team: Team, client_of: ClientOf, ann: User, monkeypatch: Any
) -> None:
    monkeypatch.setattr("portal.accounts.teams.services.is_referred_to", lambda team: True)
    close_team(team=team, actor=ann)
    page = client_of(ann).get(URL)
    assert "This team is closed." in page.content.decode()
    assert client_of(ann).get(f"{URL}edit/").status_code == 403
    assert "closed" not in client_of(ann).get("/teams/").content.decode()


def test_rows_of_another_team_are_out_of_reach(
    team: Team, client_of: ClientOf, cleo: User, stranger: User, ben: User, api_of: ApiOf
) -> None:
    team_of(cleo, stranger, name="Others")
    member, invitation = place_of(ben, team).pk, Invitation.objects.get().pk
    client = client_of(cleo)
    for path in (f"people/{member}/remove/", f"people/{member}/promote/",
                 f"invitations/{invitation}/revoke/"):  # fmt: skip
        assert client.post(f"/teams/others/{path}").status_code == 404
    gone = api_of(cleo).delete(f"/api/v1/teams/others/members/{member}/")
    assert gone.status_code == 404
    assert team.members.count() == 2


def test_ownership_is_given_up_by_oneself_alone(
    team: Team, api_of: ApiOf, ann: User, ben: User
) -> None:
    path = f"{API}members/{place_of(ben, team).pk}/"
    assert api_of(ann).patch(path, {"is_owner": True}).status_code == 204
    assert api_of(ann).patch(path, {"is_owner": False}).status_code == 403
    assert api_of(ben).patch(path, {"is_owner": False}).status_code == 204
    alone = f"{API}members/{place_of(ann, team).pk}/"
    refused = api_of(ann).patch(alone, {"is_owner": False})
    assert (refused.status_code, refused.json()["code"]) == (409, "only_owner")


# --- sign-up by invitation ----------------------------------------------------------------------


@pytest.mark.parametrize("by_organiser", [False, True])
def test_where_accounts_are_made_by_invitation_a_team_cannot_bring_in_strangers(
    client: Client, ann: User, organiser: User, settings: Any, by_organiser: bool
) -> None:
    settings.SIGN_UP = "invited"
    owner = organiser if by_organiser else ann
    invite_to_team(team=team_of(owner), emails=[NORA], actor=owner, origin=ORIGIN)
    run_due_jobs()
    page = client.get(f"/accounts/signup/?next=/invitations/{secret_for(NORA)}/").content.decode()
    assert ("Sign-up is by invitation" in page) is not by_organiser
