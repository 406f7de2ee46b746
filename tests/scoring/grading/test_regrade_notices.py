"""Messages about a re-grade to the public, to owners and to organisers."""

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.jobs.worker import run_due_jobs
from scoring.grading.regrade_changes import done_regrades, log_entries, signature_change
from scoring.grading.regrades import cancel_regrade, start_regrade
from scoring.grading.services import fail_grading
from scoring.models import Board, Delivery, Phase, Regrade, Submission, Webhook
from scoring.submissions.services import publish_submission, unpublish_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import make_board, make_release
from tests.scoring.regrading import Results, next_release, release_of, three_results
from tests.worlds import shared

pytestmark = pytest.mark.django_db


@pytest.fixture
@shared
def regraded(board: Board, results: Results, organiser: User) -> Regrade:
    regrade = start_regrade(board=board, release=next_release(release_of(board)), actor=organiser)
    run_due_jobs()
    regrade.refresh_from_db()
    assert regrade.state == Regrade.State.DONE
    return regrade


def words_of(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


# --- the change log ---------------------------------------------------------------------------


def test_the_log_tells_which_ranks_moved_and_why(
    client_of: ClientOf, board: Board, regraded: Regrade
) -> None:
    [entry] = log_entries(AnonymousUser(), board, done_regrades(board))
    [change] = entry.phases
    assert change.reasons == ["Gold 1.0.0 → 1.1.0: 2 facts changed in 2 items"]
    assert [
        (line.move.submission.name, line.move.rank_before, line.move.rank_after, line.places_words)
        for line in change.changed
    ] == [("Flawed", 1, 1, ""), ("Slip", 1, 1, "")], "three pages tell nobody apart"
    assert [(line.text_before, line.text_after) for line in change.changed] == [
        ("66.67", "100.00"),
        ("83.33", "75.00"),
    ]
    assert (change.moved, change.unchanged, change.left_out) == (0, 1, 0)
    page = words_of(client_of(None), "/boards/board/changes/")
    assert "No ranks changed. 1 row did not change." in page
    assert "/releases/1.0.0/diff/1.1.0/" in page
    assert "Olga" not in page, "who started it is for organisers"
    assert "Results were last re-graded on" in words_of(client_of(None), "/boards/board/")


def test_ranks_that_moved_are_counted(client_of: ClientOf, researcher: User) -> None:
    """A phase that rounds ranks by the figures alone."""
    board = make_board(diagnostics="aggregates", score_decimals=0)
    three_results(board, researcher)
    start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    run_due_jobs()
    [entry] = log_entries(AnonymousUser(), board, done_regrades(board))
    assert [
        (line.move.submission.name, line.move.rank_before, line.move.rank_after, line.places_words)
        for line in entry.phases[0].changed
    ] == [("Flawed", 3, 1, "up 2"), ("Slip", 2, 3, "down 1")]
    page = words_of(client_of(None), "/boards/board/changes/")
    assert "2 ranks changed. 1 row did not change." in page


def test_a_board_that_was_never_graded_again_says_so(
    client_of: ClientOf, board: Board, results: Results
) -> None:
    assert "No re-grades yet" in words_of(client_of(None), "/boards/board/changes/")
    assert "graded again" not in words_of(client_of(None), "/boards/board/")


@pytest.mark.parametrize("end", ["cancelled", "failed", "running"])
def test_what_did_not_take_over_is_not_in_the_log(
    client_of: ClientOf, board: Board, results: Results, end: str
) -> None:
    regrade = start_regrade(board=board, actor=None)
    if end == "cancelled":
        cancel_regrade(regrade=regrade, actor=None)
    if end == "failed":
        Regrade.objects.update(state="failed", finished_at="2026-01-01T00:00:00Z")
    assert "No re-grades yet" in words_of(client_of(None), "/boards/board/changes/")


def test_rows_taken_back_since_are_counted_and_not_named(
    client_of: ClientOf, results: Results, regraded: Regrade
) -> None:
    unpublish_submission(submission=results["Flawed"], actor=None)
    page = words_of(client_of(None), "/boards/board/changes/")
    assert "Flawed" not in page
    assert "1 row is no longer public." in page
    told = client_of(None).get("/api/v1/boards/board/changes/").json()
    [phase] = told["results"][0]["phases"]
    assert {row["name"] for row in phase["rows"]} == {"Perfect", "Slip"}
    assert phase["left_out"] == 1


def test_of_hidden_gold_no_numbers_are_told(
    client_of: ClientOf, api_of: ApiOf, researcher: User
) -> None:
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    board = make_board(release, diagnostics="aggregates")
    three_results(board, researcher)
    start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    run_due_jobs()
    for client, path in (
        (client_of(researcher), "/boards/board/changes/"),
        (client_of(None), "/api/v1/boards/board/changes/"),
    ):
        told = words_of(client, path)
        assert "hidden gold changed" in told
        for secret in ("(350)", "1,200", "98,765", "page-1", "2 facts", "2 items", release.sha256):
            assert secret not in told
    [change] = api_of(None).get("/api/v1/boards/board/changes/").json()["results"][0]["phases"]
    assert (change["items_changed"], change["facts_changed"]) == (None, None)


def test_scorer_and_options_are_told_where_they_differ() -> None:
    change = signature_change("b|v1|labels:A|missing:zero|old", "b|v2|labels:A|missing:skip|new:1")
    assert change.version == ("v1", "v2")
    assert change.words == (
        "scorer v1 → v2; missing:zero → missing:skip; old → nothing; nothing → new:1"
    )
    assert not signature_change("b|v1|x:1", "b|v1|x:1").differs


@pytest.mark.parametrize("times", [1, 3])
def test_query_budget_of_the_log(
    client_of: ClientOf,
    board: Board,
    results: Results,
    django_assert_max_num_queries: Any,
    times: int,
) -> None:
    for _ in range(times):
        start_regrade(board=board, actor=None)
        run_due_jobs()
    client = client_of(None)
    with django_assert_max_num_queries(10):
        assert client.get("/boards/board/changes/").status_code == 200


# --- the submission's page --------------------------------------------------------------------


def test_the_former_result_stays_readable_to_everybody(
    client_of: ClientOf, api_of: ApiOf, results: Results, regraded: Regrade
) -> None:
    flawed = results["Flawed"]
    new, old = flawed.gradings.order_by("-id")
    path = f"/submissions/{flawed.pk}/"
    page = words_of(client_of(None), path)
    assert "100.00" in page
    assert f"?grading={old.pk}" in page
    former = words_of(client_of(None), f"{path}?grading={old.pk}")
    assert "This is an earlier result" in former
    assert "66.67" in former
    told = api_of(None).get(f"/api/v1{path}").json()
    assert told["grading"]["id"] == new.pk
    assert [(each["id"], each["release"], each["is_current"]) for each in told["history"]] == [
        (new.pk, "1.1.0", True),
        (old.pk, "1.0.0", False),
    ]
    assert [each["score"] for each in told["history"]] == [1.0, pytest.approx(4 / 6)]
    earlier = api_of(None).get(f"/api/v1{path}?grading={old.pk}").json()
    assert earlier["grading"]["scores"]["ffa"] == pytest.approx(4 / 6)


def test_former_items_are_shown_on_their_own_gold(
    client_of: ClientOf, api_of: ApiOf, researcher: User, results: Results, regraded: Regrade
) -> None:
    flawed = results["Flawed"]
    old = flawed.gradings.earliest("id")
    path = f"/submissions/{flawed.pk}/items/page-1/"
    assert (
        "(350)"
        not in words_of(client_of(researcher), path)
        .split("Facts</h2>")[1]
        .split('id="compared"')[0]
    )
    former = words_of(client_of(researcher), f"{path}?grading={old.pk}")
    assert "(350)" in former
    assert "releases/1.0.0/" in former, "what is disputed is the gold that is shown"
    facts = api_of(researcher).get(f"/api/v1{path}?grading={old.pk}").json()["facts"]
    assert [fact["correct"] for fact in facts] == [True, False, True]
    now = api_of(researcher).get(f"/api/v1{path}").json()["facts"]
    assert [fact["correct"] for fact in now] == [True, True]
    # The prediction was made for the former release, and is found by the item's name.
    assert "350" in words_of(client_of(researcher), f"{path}prediction/")


@pytest.mark.parametrize("number", ["0", "-1", "x", "9" * 30, "1 OR 1", "²"])
def test_a_number_that_is_no_result_of_the_submission_is_not_found(
    client_of: ClientOf, results: Results, regraded: Regrade, number: str
) -> None:
    path = f"/submissions/{results['Flawed'].pk}/"
    assert client_of(None).get(path, {"grading": number}).status_code == 404
    other = results["Slip"].gradings.earliest("id").pk
    assert client_of(None).get(path, {"grading": other}).status_code == 404


def test_results_that_never_stood_on_the_board_are_for_keepers(
    client_of: ClientOf, board: Board, researcher: User, results: Results
) -> None:
    flawed = results["Flawed"]
    unpublish_submission(submission=flawed, actor=None)
    start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    run_due_jobs()
    old = flawed.gradings.earliest("id")
    path = f"/submissions/{flawed.pk}/?grading={old.pk}"
    assert client_of(None).get(path).status_code == 404
    assert client_of(researcher).get(path).status_code == 200
    publish_submission(submission=flawed, actor=None)
    assert client_of(None).get(path).status_code == 404, "it was private then"
    assert client_of(None).get(f"/submissions/{flawed.pk}/").status_code == 200


def test_while_it_runs_the_owner_sees_the_result_that_counts(
    client_of: ClientOf, board: Board, researcher: User, results: Results
) -> None:
    regrade = start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    while not regrade.gradings.exists():
        run_due_jobs(should_stop=regrade.gradings.exists)
    flawed = results["Flawed"]
    batch = flawed.gradings.get(regrade=regrade)
    client = client_of(researcher)
    page = words_of(client, f"/submissions/{flawed.pk}/")
    assert "66.67" in page
    assert "Cancel grading" not in page
    assert client.get(f"/submissions/{flawed.pk}/?grading={batch.pk}").status_code == 404
    client.post(f"/submissions/{flawed.pk}/cancel/")
    batch.refresh_from_db()
    assert not batch.is_finished, "an owner cannot stop the batch"
    assert "66.67" in words_of(client, "/submissions/")


# --- emails and webhooks ----------------------------------------------------------------------


def test_owners_are_told_once_when_it_takes_over(
    board: Board, results: Results, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.grading.notices.post", lambda *_: 200)
    Submission.objects.filter(name="Flawed").update(email_origin="https://facts.example")
    Webhook.objects.create(user=researcher, url="https://hook.example/", secret="s")
    first = start_regrade(board=board, actor=None)
    while not first.gradings.exists():
        run_due_jobs(should_stop=first.gradings.exists)
    fail_grading(pk=results["Slip"].gradings.get(regrade=first).pk, reason="Broken")
    run_due_jobs()
    assert (len(mail.outbox), Delivery.objects.count()) == (0, 0), "nothing happened to anybody"
    start_regrade(board=board, release=next_release(release_of(board)), actor=None)
    run_due_jobs()
    [letter] = mail.outbox
    assert letter.subject.endswith("“Flawed”: re-graded")
    assert "1.1.0" in letter.body
    bodies = [json.loads(text) for text in Delivery.objects.values_list("body", flat=True)]
    told = {body["name"]: body for body in bodies}
    assert len(bodies) == 3
    assert {name: body["event"] for name, body in told.items()} == dict.fromkeys(
        ("Perfect", "Slip", "Flawed"), "grading.regraded"
    )
    assert told["Slip"]["scores"]["ffa"] == pytest.approx(3 / 4)


# --- organisers' pages, API, command ----------------------------------------------------------


def test_the_form_shows_what_would_change_before_it_is_confirmed(
    client_of: ClientOf, organiser: User, board: Board, results: Results
) -> None:
    release = next_release(release_of(board))
    client = client_of(organiser)
    assert "Preview changes" in words_of(client, "/boards/board/regrade/")
    page = words_of(client, f"/boards/board/regrade/?phase=test&release={release.pk}")
    assert "2 items changed, 2 public facts" in page
    assert "Re-grade 3 submissions" in page
    assert not Regrade.objects.exists(), "a link starts nothing"
    answer = client.post("/boards/board/regrade/", {"phase": "test", "release": release.pk})
    regrade = Regrade.objects.get()
    assert answer.headers["Location"] == f"/boards/board/regrades/{regrade.pk}/"
    assert "The leaderboard is updated once all submissions are graded" in words_of(
        client, answer.headers["Location"]
    )
    again = client.post("/boards/board/regrade/", {"phase": "", "release": ""})
    assert again.status_code == 409
    assert "A re-grade of this board is already running" in again.content.decode()
    run_due_jobs()
    assert "View rank changes" in words_of(client, answer.headers["Location"])
    assert f"Re-grade {regrade.pk}" in words_of(client, "/boards/board/manage/")


@pytest.mark.parametrize("sent", [{"phase": "none"}, {"phase": "", "release": "999"}])
def test_what_is_no_choice_is_named(
    client_of: ClientOf, organiser: User, board: Board, results: Results, sent: dict[str, str]
) -> None:
    for ask in (client_of(organiser).get, client_of(organiser).post):
        answer = ask("/boards/board/regrade/", sent)
        assert answer.status_code == 400
        assert "Select a valid choice" in answer.content.decode()


def test_other_items_are_refused_on_the_page(
    client_of: ClientOf, organiser: User, board: Board, results: Results
) -> None:
    fewer = next_release(release_of(board), items=("page-1",))
    answer = client_of(organiser).get(f"/boards/board/regrade/?phase=test&release={fewer.pk}")
    assert answer.status_code == 409
    assert "removed: page-2, page-3" in answer.content.decode()


def test_cancelling_on_the_page(
    client_of: ClientOf, organiser: User, board: Board, results: Results
) -> None:
    regrade = start_regrade(board=board, actor=organiser)
    client = client_of(organiser)
    for words in (
        "Re-grade cancelled. The leaderboard is unchanged.",
        "already ended: it is cancelled",
    ):
        answer = client.post(f"/boards/board/regrades/{regrade.pk}/cancel/", follow=True)
        assert words in answer.content.decode()
    other = make_board(slug="other")
    path = f"/boards/{other.slug}/regrades/{regrade.pk}/"
    assert client.get(path).status_code == 404
    assert client.post(f"{path}cancel/").status_code == 404


def test_progress_is_renewed_alone_for_htmx(
    client_of: ClientOf, organiser: User, board: Board, results: Results
) -> None:
    regrade = start_regrade(board=board, actor=organiser)
    answer = client_of(organiser).get(
        f"/boards/board/regrades/{regrade.pk}/", headers={"HX-Request": "true"}
    )
    assert answer.content.decode().lstrip().startswith('<div id="progress"')
    assert "HX-Request" in answer["Vary"]


def test_by_the_api(api_of: ApiOf, organiser: User, board: Board, results: Results) -> None:
    next_release(release_of(board))
    api = api_of(organiser)
    path = "/api/v1/boards/board/regrades/"
    for asked, status, words in [
        ({"release": "9.9.9"}, 409, "have no release 9.9.9"),
        ({"phase": "none"}, 404, ""),
        ({"phase": "no slug!"}, 400, "slug"),
    ]:
        refused = api.post(path, asked)
        assert refused.status_code == status
        assert words in refused.content.decode()
    made = api.post(path, {"phase": "test", "release": "1.1.0"})
    assert made.status_code == 201
    pk = made.json()["regrade"]["id"]
    assert made.json()["regrade"]["phases"] == [
        {
            "phase": "test",
            "release_before": "1.0.0",
            "release_after": "1.1.0",
            "items_changed": 2,
            "facts_changed": 2,
        }
    ]
    assert api.post(path, {}).status_code == 409
    run_due_jobs()
    done = api.get(f"{path}{pk}/").json()
    assert done["regrade"]["state"] == "done"
    assert done["progress"] == {
        "submissions": 3,
        "submissions_done": 3,
        "items": 9,
        "items_done": 9,
    }
    assert api.post(f"{path}{pk}/cancel/").status_code == 409
    [log] = api_of(None).get("/api/v1/boards/board/changes/").json()["results"]
    assert [row["name"] for row in log["phases"][0]["rows"]] == ["Perfect", "Flawed", "Slip"]
    other = api.post(path, {}).json()["regrade"]["id"]
    assert api.post(f"{path}{other}/cancel/").json()["regrade"]["state"] == "cancelled"
    assert [each["state"] for each in api.get(path).json()["results"]] == ["cancelled", "done"]


def test_by_the_command(board: Board, results: Results) -> None:
    next_release(release_of(board))
    out = StringIO()
    call_command("regrade", "board", "--phase", "test", "--release", "1.1.0", stdout=out)
    pk = Regrade.objects.get().pk
    assert out.getvalue() == (
        f"re-grade {pk} of board is queued\ntest: Gold 1.0.0 → 1.1.0: 2 facts changed in 2 items\n"
    )
    for arguments, words in [
        (["none"], "there is no board none"),
        (["board", "--phase", "none"], "no phase none; there are test"),
        (["board", "--release", "9.9.9"], "have no release 9.9.9"),
        (["board"], "A re-grade of this board is already running"),
    ]:
        with pytest.raises(CommandError, match=words):
            call_command("regrade", *arguments)
    run_due_jobs()
    assert release_of(board).version == "1.1.0"


def test_a_version_of_several_datasets_needs_the_phase(board: Board, results: Results) -> None:
    other = make_release()
    Phase.objects.create(board=board, slug="dev", title="Dev", release=other)
    assert Dataset.objects.count() == 2
    with pytest.raises(CommandError, match=r"Several datasets have a release 1\.0\.0"):
        call_command("regrade", "board", "--release", "1.0.0")
