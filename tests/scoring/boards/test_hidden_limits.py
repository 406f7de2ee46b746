"""Attempts on hidden gold belong to a person: in all phases, and after the account is gone."""

from hashlib import sha256
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from portal.accounts.account_data import delete_account, fate_of
from portal.accounts.emails import mark_confirmed, person_key
from portal.accounts.models import User
from portal.datasets.models import Release
from scoring.boards.limits import phase_quotas, quota, team_quota
from scoring.models import Attempt, Board, Phase, Submission
from scoring.submissions.uploads import SubmissionRefused
from tests.accounts.teams.people import team_of
from tests.factories import empty_dataset
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    GOLD,
    PERFECT,
    first_phase,
    lines_of,
    make_board,
    make_release,
    make_submission,
    upload,
)

pytestmark = pytest.mark.django_db
HIDDEN = Release.Visibility.GOLD_HIDDEN
TOTALS = Phase.Diagnostics.AGGREGATES


def make_hidden_board(release: Release | None = None, **phase: Any) -> Board:
    release = release or make_release(visibility=HIDDEN)
    return make_board(release, diagnostics=TOTALS, **({"in_total": 2} | phase))


def used(phase: Phase, user: User) -> int:
    total = quota(phase, user).total
    assert total is not None
    return total.used + total.held


def make_user(email: str) -> User:
    user = User.objects.create_user(email=email, password=None)
    mark_confirmed(user)
    return user


def test_the_boards_of_one_hidden_release_share_the_attempts(researcher: User) -> None:
    release = make_release(visibility=HIDDEN)
    first, second = (make_hidden_board(release, slug=slug) for slug in ("first", "second"))
    make_submission(first, researcher)
    make_submission(second, researcher)
    for board in (first, second):
        assert used(first_phase(board), researcher) == 2
        with pytest.raises(SubmissionRefused, match="reached your limit of 2"):
            make_submission(board, researcher)


def test_the_next_release_of_the_dataset_shares_them_too(researcher: User) -> None:
    release = make_release(visibility=HIDDEN)
    make_submission(make_hidden_board(release, slug="first"), researcher)
    gold = {f"more-{name}": f"<p>More.</p>{html}" for name, html in GOLD.items()}
    grown = make_release(gold, dataset=release.dataset, version="1.1.0", visibility=HIDDEN)
    assert used(first_phase(make_hidden_board(grown, slug="second")), researcher) == 1


def test_stress_variants_have_the_same_gold_and_share_them_too(researcher: User) -> None:
    release = make_release(visibility=HIDDEN)
    make_submission(make_hidden_board(release, slug="first"), researcher)
    variants = [
        make_release(dataset=empty_dataset(derived_from=release.dataset), visibility=HIDDEN)
        for _ in range(2)
    ]
    phases = [first_phase(make_hidden_board(each, slug=f"b-{each.pk}")) for each in variants]
    assert [used(phase, researcher) for phase in phases] == [1, 1]
    make_submission(phases[0].board, researcher)
    assert used(phases[1], researcher) == 2


@pytest.mark.parametrize(
    ("split", "other", "shared"), [("test", "", 1), ("test", "dev", 0), ("dev", "", 0)]
)
def test_phases_share_only_where_they_grade_hidden_gold_of_the_same_items(
    split: str, other: str, shared: int, researcher: User
) -> None:
    names = list(GOLD)
    splits = {name: "dev" if name == names[0] else "test" for name in names}
    release = make_release(visibility=HIDDEN, splits=splits)
    board = make_hidden_board(release, slug="first", split=split)
    elsewhere = make_hidden_board(release, slug="second", split=other)
    only = None if not split else {name: PERFECT[name] for name in names if splits[name] == split}
    make_submission(board, researcher, only or PERFECT)
    assert used(first_phase(elsewhere), researcher) == shared


def test_public_gold_of_two_boards_is_counted_on_its_own(researcher: User) -> None:
    release = make_release()
    first, second = (make_board(release, slug=slug, in_total=2) for slug in ("first", "second"))
    make_submission(first, researcher)
    assert used(first_phase(second), researcher) == 0


def test_a_team_has_one_limit_for_all_boards_of_the_release(ann: User, ben: User) -> None:
    release, team = make_release(visibility=HIDDEN), team_of(ann, ben)
    first, second = (make_hidden_board(release, slug=slug) for slug in ("first", "second"))
    make_submission(first, ann, team=team)
    make_submission(second, ben, team=team)
    total = team_quota(first_phase(first), team).total
    assert total is not None
    assert total.left == 0


def test_a_team_of_five_has_one_quota_and_its_members_keep_their_own() -> None:
    board = make_hidden_board(in_total=3)
    phase, people = first_phase(board), [make_user(f"p{n}@example.org") for n in range(5)]
    team = team_of(*people)
    for sender in (people[0], people[0], people[1]):
        make_submission(board, sender, team=team)
    for sender in people:
        with pytest.raises(SubmissionRefused, match="The team “Fact finders” has reached its"):
            make_submission(board, sender, team=team)
    assert [used(phase, person) for person in people] == [2, 1, 0, 0, 0]
    for person in people:
        make_submission(board, person)


def test_more_teams_of_the_same_people_give_no_more_than_their_own_quotas(
    ann: User, ben: User
) -> None:
    board, scores = make_hidden_board(in_total=2), 0
    for number in range(4):
        team = team_of(ann, ben, name=f"Team {number}")
        for sender in (ann, ben, ann, ben):
            try:
                make_submission(board, sender, team=team)
            except SubmissionRefused:
                continue
            scores += 1
    assert scores == 4


def test_an_account_that_is_deleted_and_made_again_has_used_its_attempts(
    run_jobs: RunJobs, client_of: ClientOf, organiser: User
) -> None:
    board, ann = make_hidden_board(), make_user("ann@example.org")
    content = lines_of(PERFECT)
    for _ in range(2):
        make_submission(board, ann)
    run_jobs()
    assert any("hash of its file" in line for line in fate_of(ann).stays)
    delete_account(user=ann)
    run_jobs()
    assert not Submission.objects.exists()
    assert not User.objects.filter(email__contains="ann").exists()
    attempts = Attempt.objects.all()
    assert {attempt.file_sha256 for attempt in attempts} == {sha256(content).hexdigest()}
    assert {(attempt.user, attempt.submission) for attempt in attempts} == {(None, None)}
    again = make_user("Ann+2@example.org")
    with pytest.raises(SubmissionRefused, match="reached your limit of 2"):
        make_submission(board, again)
    page = client_of(organiser).get(f"{board.get_absolute_url()}manage/").text
    assert "Scores on hidden gold" in page
    assert sha256(content).hexdigest() in page


def test_attempts_on_public_gold_go_with_the_account(run_jobs: RunJobs) -> None:
    ann = make_user("ann@example.org")
    make_submission(make_board(in_total=1), ann)
    run_jobs()
    assert not any("hash" in line for line in fate_of(ann).stays)
    delete_account(user=ann)
    run_jobs()
    assert not Attempt.objects.exists()
    assert not User.objects.filter(email__contains="former").exists()


def test_attempts_that_did_not_record_the_person_do_when_the_account_goes(
    run_jobs: RunJobs,
) -> None:
    board, ann = make_hidden_board(), make_user("ann@example.org")
    make_submission(board, ann)
    run_jobs()
    key = person_key(ann)
    Attempt.objects.update(person="")
    delete_account(user=ann)
    run_jobs()
    assert Attempt.objects.get().person == key


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("Ann+eval@Example.org", "ann@example.org", True),
        ("a.n.n@gmail.com", "ann+x@gmail.com", True),
        ("a.n.n@example.org", "ann@example.org", False),
        ("ann@example.org", "ann@example.com", False),
        ("ann@example.org", "ben@example.org", False),
    ],
)
def test_a_person_is_a_mailbox(first: str, second: str, is_same: bool) -> None:
    keys = {person_key(User(email=email)) for email in (first, second)}
    assert (len(keys) == 1) is is_same
    assert all("ann" not in key for key in keys)


def test_hidden_gold_asks_for_a_confirmed_email_address(
    api_of: ApiOf, client_of: ClientOf, researcher: User
) -> None:
    board = make_hidden_board()
    EmailAddress.objects.filter(user=researcher).update(verified=False)
    data = {"name": "Reader", "file": upload(lines_of(PERFECT))}
    refused = api_of(researcher).post(
        f"/api/v1/boards/{board.slug}/submissions/", data, format="multipart"
    )
    assert refused.status_code == 409
    assert "confirmed email address" in refused.json()["detail"]
    client = client_of(researcher)
    assert "confirmed email address" in client.get(f"{board.get_absolute_url()}submit/").text
    assert "confirmed email address" in sent_by_form(client, board)
    assert not Submission.objects.exists()
    EmailAddress.objects.filter(user=researcher).update(verified=True)
    make_submission(board, researcher)


def test_a_site_without_email_says_whom_to_ask(researcher: User, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    EmailAddress.objects.filter(user=researcher).update(verified=False)
    with pytest.raises(SubmissionRefused, match="Ask the operator for the confirmation link"):
        make_submission(make_hidden_board(), researcher)


def sent_by_form(client: Client, board: Board) -> str:
    data = {
        "form_key": "key-1",
        "phase": first_phase(board).pk,
        "name": "Reader",
        "category": "other",
        "file": upload(lines_of(PERFECT)),
    }
    return client.post(f"{board.get_absolute_url()}submit/", data).text


def test_the_quotas_of_many_phases_on_hidden_gold_are_two_queries(
    researcher: User, django_assert_num_queries: Any
) -> None:
    release = make_release(visibility=HIDDEN)
    phases = [first_phase(make_hidden_board(release, slug=f"board-{n}")) for n in range(4)]
    with django_assert_num_queries(2):
        phase_quotas(researcher, phases)
