"""Organisers see accounts on hidden gold that act alike, and files that only try the gold."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.accounts.account_data import delete_account
from portal.accounts.emails import mark_confirmed
from portal.accounts.models import User
from portal.datasets.models import Release
from scoring.boards.alike import KINDS, SHOWN, signs, signs_of
from scoring.grading.traces import differing_words, traces_of
from scoring.models import Attempt, Board, Phase, Similarity, Submission
from tests.accounts.teams.people import team_of
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    first_phase,
    lines_of,
    make_board,
    make_release,
    make_submission,
    plain,
    upload,
)

pytestmark = pytest.mark.django_db
HIDDEN = Release.Visibility.GOLD_HIDDEN
TOTALS = Phase.Diagnostics.AGGREGATES
# Ten pages of about sixty words, each with one fact.
TEXT = "<p>The board of company {0} met in room {0} and approved item {0} of its agenda.</p>" * 4
GOLD = {f"p{n}": TEXT.format(n) + f"<p>Cash was <Number>{n}75</Number>.</p>" for n in range(10)}
PERFECT = {name: plain(html) for name, html in GOLD.items()}


def make_hidden_board(**settings: Any) -> Board:
    release = settings.pop("release", None) or make_release(GOLD, visibility=HIDDEN)
    return make_board(release, diagnostics=TOTALS, **settings)


@pytest.fixture
def hidden() -> Board:
    return make_hidden_board()


@pytest.fixture
def stranger() -> User:
    return make_person("stranger@example.net", "Sam Stranger")


def make_person(email: str, name: str) -> User:
    user = User.objects.create_user(email=email, password=None, name=name)
    mark_confirmed(user)
    return user


def send(
    board: Board, user: User, predictions: Mapping[str, str] = PERFECT, **more: Any
) -> Submission:
    return make_submission(board, user, predictions, **more)


def kinds(board: Board) -> dict[str, str]:
    """The sentences by kind; one of each at most."""
    found = signs([first_phase(board)])
    assert len({sign.kind for sign in found}) == len(found)
    return {sign.kind: sign.words for sign in found}


def apart(**minutes: int) -> None:
    """Moves every attempt to a time of its own."""
    for number, attempt in enumerate(Attempt.objects.order_by("pk")):
        held_at = timezone.now() - timedelta(hours=number)
        Attempt.objects.filter(pk=attempt.pk).update(held_at=held_at)


def answered(count: int) -> Mapping[str, str]:
    return {
        name: html if n < count else "<p></p>" for n, (name, html) in enumerate(PERFECT.items())
    }


# --- same file and network ---------------------------------------------------------------------


def test_the_same_file_of_two_people(
    hidden: Board, researcher: User, stranger: User, ann: User
) -> None:
    first = send(hidden, researcher)
    second = send(hidden, stranger)
    send(hidden, ann, PERFECT | {"p1": "<p>Other.</p>"})
    apart()
    [sign] = signs([first_phase(hidden)])
    assert sign.kind == "same_file"
    assert sign.words == f"{researcher} and Sam Stranger sent the same file."
    assert sign.submissions == [first.pk, second.pk]


def test_one_person_one_team_organisers_and_public_gold_give_no_sign(
    hidden: Board, researcher: User, stranger: User, ann: User, organiser: User
) -> None:
    send(hidden, researcher)
    send(hidden, researcher)
    send(hidden, organiser)
    teams = make_hidden_board(slug="teams")
    team = team_of(ann, stranger)
    for member in (ann, stranger):
        send(teams, member, team=team)
    public = make_board(make_release(GOLD), slug="public")
    for user in (ann, stranger):
        send(public, user)
    assert not kinds(hidden)
    assert not kinds(teams)
    assert not kinds(public)
    assert not Attempt.objects.get(phase__board=public, user=ann).file_sha256


def test_the_sign_stays_when_one_of_the_accounts_goes(
    hidden: Board, stranger: User, researcher: User, run_jobs: RunJobs
) -> None:
    send(hidden, researcher)
    gone = send(hidden, stranger)
    apart()
    delete_account(user=stranger)
    run_jobs()
    assert kinds(hidden)["same_file"] == f"{researcher} and former member sent the same file."
    assert all(gone.pk not in sign.submissions for sign in signs([first_phase(hidden)]))


def test_boards_on_the_same_gold_are_read_together(
    hidden: Board, researcher: User, stranger: User
) -> None:
    other = make_hidden_board(release=first_phase(hidden).release, slug="other")
    send(hidden, researcher)
    send(other, stranger)
    apart()
    assert set(kinds(hidden)) == set(kinds(other)) == {"same_file"}


def test_the_network_is_stored_as_a_keyed_hash(
    hidden: Board, researcher: User, stranger: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    form = {"form_key": "k", "phase": first_phase(hidden).pk, "name": "R", "category": "other"}
    file = upload(lines_of(PERFECT))
    client_of(researcher).post(
        f"{hidden.get_absolute_url()}submit/", form | {"file": file}, REMOTE_ADDR="203.0.113.7"
    )
    url = f"/api/v1/boards/{hidden.slug}/submissions/"
    other = {"name": "S", "file": upload(lines_of(PERFECT | {"p1": "<p>Other words.</p>"}))}
    sent = api_of(stranger).post(url, other, format="multipart", REMOTE_ADDR="203.0.113.99")
    assert sent.status_code == 201
    networks = set(Attempt.objects.values_list("network", flat=True))
    assert len(networks) == 1
    assert "203.0.113" not in networks.pop()
    apart()
    assert kinds(hidden) == {
        "same_network": f"{researcher} and Sam Stranger submitted from the same network."
    }


# --- answers -----------------------------------------------------------------------------------


def test_files_of_two_people_that_differ_in_one_fact_of_each_page(
    hidden: Board, researcher: User, stranger: User, ann: User, run_jobs: RunJobs
) -> None:
    """As when facts are tried by halves: no page is identical."""
    send(hidden, researcher)
    send(hidden, stranger, {n: h.replace("75", "76") for n, h in PERFECT.items()})
    honest = {name: html.replace("approved", "aproved") for name, html in PERFECT.items()}
    send(hidden, ann, honest)
    run_jobs()
    apart()
    pair = Similarity.objects.get()
    assert (pair.same, pair.compared) == (0, 10)
    assert pair.words is not None
    assert pair.words < 0.02
    words = kinds(hidden)["similar_answers"]
    assert words.startswith(f"The answers of {researcher} and Sam Stranger differ in about ")
    assert words.endswith("% of their words, and in 10 of 10 compared items.")


def test_files_that_differ_in_few_items_are_one_pair(
    hidden: Board, researcher: User, stranger: User, run_jobs: RunJobs
) -> None:
    send(hidden, researcher)
    send(hidden, stranger, PERFECT | {"p1": PERFECT["p1"].replace("175", "176")})
    run_jobs()
    apart()
    pair = Similarity.objects.get()
    assert (pair.same, pair.compared, pair.words is not None) == (9, 10, True)
    assert "in 1 of 10 compared items" in kinds(hidden)["similar_answers"]


def test_files_with_the_same_answers_and_other_markup(
    hidden: Board, researcher: User, stranger: User, run_jobs: RunJobs
) -> None:
    send(hidden, researcher)
    send(hidden, stranger, {name: f"<div>{html.upper()}</div>" for name, html in PERFECT.items()})
    run_jobs()
    apart()
    same = f"The answers of {researcher} and Sam Stranger are the same in all 10 compared items."
    assert kinds(hidden) == {"similar_answers": same}


def test_words_of_team_mates_and_of_public_gold_are_not_compared(
    hidden: Board, researcher: User, stranger: User, run_jobs: RunJobs
) -> None:
    team_of(researcher, stranger)
    public = make_board(make_release(GOLD), slug="public")
    flipped = {name: html.replace("75", "76") for name, html in PERFECT.items()}
    for board in (hidden, public):
        send(board, researcher)
        send(board, stranger, flipped)
    run_jobs()
    assert not Similarity.objects.exists()
    assert set(Attempt.objects.filter(phase__board=public).values_list("sketch", flat=True)) == {""}


@pytest.mark.parametrize(("count", "is_shown"), [(0, True), (2, True), (3, False)])
def test_a_file_that_is_nearly_empty(
    count: int, is_shown: bool, hidden: Board, researcher: User, run_jobs: RunJobs
) -> None:
    send(hidden, researcher, answered(count))
    run_jobs()
    words = f"{researcher} answered {count} of 10 items."
    assert kinds(hidden) == ({"nearly_empty": words} if is_shown else {})


@pytest.mark.parametrize(("count", "is_shown"), [(10, True), (9, True), (8, False)])
def test_a_file_with_one_answer(
    count: int, is_shown: bool, hidden: Board, researcher: User, run_jobs: RunJobs
) -> None:
    constant = dict.fromkeys(list(PERFECT)[:count], "<p>Yes.</p>")
    send(hidden, researcher, PERFECT | constant)
    run_jobs()
    words = f"{researcher} gave the same answer to {count} of 10 items."
    assert kinds(hidden) == ({"one_answer": words} if is_shown else {})


def test_a_guess_for_one_receipt_and_empty_objects_is_one_answer_of_eight() -> None:
    empty: dict[str, Any] = {"total": None, "items": [], "vendor": ""}
    guess = empty | {"total": "12.00"}
    answers = [(f"r{n}", {"id": f"r{n}", "fields": guess if n == 3 else empty}) for n in range(8)]
    assert traces_of(answers)[:2] == (1, 1)


def test_sketches_measure_the_share_of_words_that_differ() -> None:
    def sketch(changed: int) -> str:
        words = [f"other{n}" if n < changed else f"word{n}" for n in range(2_000)]
        return traces_of([("page", {"id": "page", "html": " ".join(words)})]).sketch

    same, near, far = (differing_words(sketch(0), sketch(number)) for number in (0, 10, 100))
    assert same == 0
    assert near is not None
    assert near < 0.02
    assert far is None


# --- times -------------------------------------------------------------------------------------


def submit_at(board: Board, users: list[User], minutes: list[float]) -> None:
    """Each user submits at each minute, the second user one minute later."""
    for minute in minutes:
        for number, user in enumerate(users):
            sent = send(board, user, PERFECT | {"p1": f"{user.pk} {minute}"})
            held_at = timezone.now() + timedelta(minutes=minute + number)
            Attempt.objects.filter(submission=sent).update(held_at=held_at)


@pytest.mark.parametrize(("times", "is_shown"), [(3, True), (2, False)])
def test_two_people_who_submit_at_the_same_times(
    times: int, is_shown: bool, hidden: Board, researcher: User, stranger: User
) -> None:
    submit_at(hidden, [researcher, stranger], [100.0 * number for number in range(times)])
    words = f"{researcher} and Sam Stranger submitted within two minutes of each other, 3 times."
    assert kinds(hidden) == ({"same_times": words} if is_shown else {})


def test_times_of_a_crowd_say_nothing(hidden: Board) -> None:
    crowd = [make_person(f"n{n}@example.org", f"Person {n}") for n in range(10)]
    submit_at(hidden, crowd, [0, 100, 200])
    assert not kinds(hidden)


# --- who sees it, and what it costs ------------------------------------------------------------


def test_only_organisers_see_the_signs(
    hidden: Board, researcher: User, stranger: User, organiser: User, ann: User,
    client_of: ClientOf, api_of: ApiOf,
) -> None:  # fmt: skip
    send(hidden, researcher)
    second = send(hidden, stranger)
    page = f"{hidden.get_absolute_url()}manage/"
    url = f"/api/v1/boards/{hidden.slug}/signs/"
    assert "sent the same file" in client_of(organiser).get(page).text
    apart()
    assert api_of(organiser).get(url).json() == [
        {
            "kind": "same_file",
            "words": f"{researcher} and Sam Stranger sent the same file.",
            "submissions": list(Submission.objects.order_by("pk").values_list("pk", flat=True)),
        }
    ]
    for user in (None, researcher, stranger, ann):
        assert api_of(user).get(url).status_code == (401 if user is None else 403)
        assert client_of(user).get(page).status_code == (302 if user is None else 403)
        for path in (second.get_absolute_url(), f"/api/v1/submissions/{second.pk}/"):
            assert "same file" not in client_of(user).get(path).text


def test_an_organiser_sees_the_signs_before_the_approval(
    researcher: User, stranger: User, organiser: User, client_of: ClientOf, run_jobs: RunJobs
) -> None:
    board = make_hidden_board(approves_first=True)
    send(board, researcher)
    waiting = send(board, stranger, {**PERFECT, "p1": "<p>Cash was 5.</p>"})
    empty = send(board, make_person("e@example.org", "Eve"), answered(1))
    run_jobs()
    client = client_of(organiser)
    assert "Signs of other accounts" in client.get(waiting.get_absolute_url()).text
    assert "Eve answered 1 of 10 items." in client.get(empty.get_absolute_url()).text
    assert {sign.kind for sign in signs_of(empty)} == {"nearly_empty"}
    assert "Signs of other" not in client_of(stranger).get(waiting.get_absolute_url()).text


@pytest.mark.parametrize("people", [3, 40])
def test_the_cost_does_not_grow_with_the_submissions(
    people: int, hidden: Board, django_assert_max_num_queries: Any
) -> None:
    phase = first_phase(hidden)
    users = [User(email=f"n{n}@example.org", name=f"N {n}") for n in range(people)]
    User.objects.bulk_create(users)
    Attempt.objects.bulk_create(
        Attempt(phase=phase, user=user, person=str(n), file_sha256=str(n // 2), network=str(n % 7),
                items=10, answered=0, repeated=0)
        for n, user in enumerate(users)
    )  # fmt: skip
    with django_assert_max_num_queries(9):
        found = signs([phase])
    for kind in KINDS:
        assert sum(sign.kind == kind for sign in found) <= SHOWN
