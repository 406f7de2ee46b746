"""Hidden gold is no oracle: what a phase starts with, what looser settings say, who is asked."""

import html
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.management import call_command

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Dataset, Release
from portal.jobs.worker import run_due_jobs
from scoring.boards.protection import NewPhase, leaks
from scoring.boards.services import DisclosureUnconfirmed, create_board, edit_phase, set_board_state
from scoring.grading.notices import message
from scoring.grading.regrade_changes import RegradeRefused
from scoring.grading.regrades import start_regrade
from scoring.models import Board, Entry, Grading, Phase, Regrade
from scoring.submissions.services import publish_submission
from tests.factories import empty_dataset
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    FLAWED,
    PERFECT,
    first_phase,
    latest_grading,
    lines_of,
    make_board,
    make_release,
    make_submission,
    upload,
)
from tests.scoring.regrading import next_release, release_of, three_results

from .test_board_pages import new_board
from .test_phases import form_of

pytestmark = pytest.mark.django_db

SAFE = {
    "score_decimals": 1,
    "per_day": 3,
    "in_total": 20,
    "takes_incomplete": False,
    "closing_share": 50,
}
LOOSE = {
    "score_decimals": None,
    "per_day": None,
    "in_total": None,
    "takes_incomplete": True,
    "closing_share": None,
}
HIDDEN = Release.Visibility.GOLD_HIDDEN
ONE_PAGE = {"page-1": PERFECT["page-1"]}
PHASE_URL = "/api/v1/boards/board/phases/test/"


def settings_of(phase: Phase) -> dict[str, Any]:
    return {name: getattr(phase, name) for name in SAFE}


def asked_of_the_api(release: Release, **changes: Any) -> dict[str, Any]:
    where = {"dataset": release.dataset.slug, "release": release.version}
    return {"slug": "board", "title": "T", "benchmark": "fincriticaled", **where, **changes}


def told(content: bytes) -> str:
    """The words of a page."""
    return html.unescape(content.decode())


def hidden_board(**changes: Any) -> Board:
    """Open, as an organiser makes it who sets nothing."""
    phase = NewPhase("test", "Test", make_release(visibility=HIDDEN), **changes)
    board = create_board(
        slug="board", title="B", benchmark="fincriticaled", phase=phase, actor=None
    )
    return set_board_state(board=board, state=Board.State.OPEN, actor=None)


# --- what a phase starts with -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("visibility", "split", "expected"),
    [
        ("public", "", LOOSE),
        ("gold_hidden", "", SAFE),
        ("gold_hidden", "test", SAFE),
        ("gold_hidden", "dev", LOOSE),
        ("private", "", SAFE),
    ],
)
def test_what_nobody_sets_is_safe_where_gold_is_hidden(
    visibility: str, split: str, expected: Mapping[str, Any]
) -> None:
    phase = NewPhase("p", "P", Release(visibility=visibility), split=split)
    assert {name: getattr(phase, name) for name in SAFE} == expected
    kept = NewPhase("p", "P", Release(visibility=visibility), split=split, per_day=7)
    assert kept.per_day == 7


def test_a_new_board_of_the_api_is_protected(organiser: User, api_of: ApiOf) -> None:
    data = asked_of_the_api(make_release(visibility=HIDDEN))
    answer = api_of(organiser).post("/api/v1/boards/", data, format="json")
    assert (answer.status_code, answer.json()["warnings"]) == (201, [])
    assert settings_of(Phase.objects.get()) == SAFE


def test_a_new_board_of_the_page_is_protected(organiser: User, client_of: ClientOf) -> None:
    data = new_board(release=make_release(visibility=HIDDEN).pk, diagnostics="aggregates")
    assert client_of(organiser).post("/boards/new/", data).status_code == 302
    assert settings_of(Phase.objects.get()) == SAFE


def test_a_new_phase_of_page_and_api_is_protected(
    organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    board = make_board()
    release = make_release(visibility=HIDDEN)
    sent = form_of(board, title="By form", release=release.pk)
    client_of(organiser).post("/boards/board/phases/new/", sent)
    data = {"title": "By API", "dataset": release.dataset.slug, "release": release.version}
    answer = api_of(organiser).post("/api/v1/boards/board/phases/", data, format="json")
    assert answer.json()["warnings"] == []
    by_slug = {phase.slug: phase for phase in board.phases.all()}
    assert settings_of(by_slug["by-form"]) == settings_of(by_slug["by-api"]) == SAFE


# --- a submission reveals little --------------------------------------------------------------


@pytest.mark.parametrize("what", ["check", "submissions"])
def test_a_file_with_one_page_is_refused(what: str, researcher: User, api_of: ApiOf) -> None:
    hidden_board()
    data: dict[str, Any] = {"file": upload(lines_of(ONE_PAGE))}
    data |= {"name": "One", "accept_missing": "true"} if what == "submissions" else {}
    answer = api_of(researcher).post(f"/api/v1/boards/board/{what}/", data, format="multipart")
    assert answer.status_code == (200 if what == "check" else 422)
    assert "This phase accepts only files with a prediction" in answer.json()["detail"]
    assert "accept_missing" not in answer.json()["detail"]
    assert not Grading.objects.exists()


def test_the_page_does_not_offer_to_leave_items_out(researcher: User, client_of: ClientOf) -> None:
    board, client = hidden_board(), client_of(researcher)
    data: dict[str, Any] = {
        "name": "One",
        "category": "other",
        "form_key": "k",
        "accept_missing": "on",
    }
    data |= {"phase": first_phase(board).pk, "file": upload(lines_of(ONE_PAGE))}
    answer = client.post("/boards/board/submit/", data)
    assert answer.status_code == 422
    text = told(answer.content)
    assert "This phase accepts only files with a prediction for every item." in text
    assert 'name="accept_missing"' not in text
    assert not Grading.objects.exists()


def test_a_complete_submission_gets_a_rank_and_nothing_else(
    researcher: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    """In API, page, webhook, table files, items, charts of it and comparison: of three pages with
    six facts, every score would say which are right."""
    board = hidden_board()
    submission = make_submission(board, researcher, FLAWED)
    other = make_submission(board, researcher, PERFECT)
    run_due_jobs()
    for each in (submission, other):
        publish_submission(submission=each, actor=None)
    run_due_jobs()
    api, client = api_of(researcher), client_of(researcher)
    grading = api.get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    assert (grading["scores"], grading["counts"], grading["subsets"]) == ({}, {}, {})
    assert message(latest_grading(submission))["scores"] == {}
    entry = Entry.objects.get(grading__submission=submission)
    assert entry.scores.keys() == {"rank_ffa"}
    assert (entry.ranks, entry.intervals) == ({}, {})
    for path in (f"/submissions/{submission.pk}/items/page-1/", f"/submissions/{submission.pk}/"):
        page = told(client.get(path).content)
        assert not any(text in page for text in ("0.667", "66.7", "66.67"))
    assert "they would reveal which answers are right" in page
    for path in ("items/", "items/page-1/"):
        assert api.get(f"/api/v1/submissions/{submission.pk}/{path}").status_code == 404
    table = api.get("/api/v1/boards/board/leaderboard/").json()
    [section] = table["sections"]
    assert {value for row in section["rows"] for value in row["values"].values()} == {None}
    assert {row["ranks"]["rank_ffa"] for row in section["rows"]} <= {1, 2}
    csv = api.get("/api/v1/boards/board/leaderboard/?format=csv").getvalue().decode()
    assert "0.6" not in csv
    entries = ",".join(str(pk) for pk in Entry.objects.values_list("pk", flat=True))
    compared = json.dumps(api.get(f"/api/v1/boards/board/compare/?entries={entries}").json())
    assert "0.6" not in compared
    assert "page-1" not in compared


def test_the_fourth_score_of_a_day_is_refused(researcher: User, api_of: ApiOf) -> None:
    board = hidden_board(closing_share=None)
    for _ in range(3):
        make_submission(board, researcher)
    run_due_jobs()
    data = {"name": "Fourth", "file": upload(lines_of(PERFECT))}
    answer = api_of(researcher).post("/api/v1/boards/board/submissions/", data, format="multipart")
    assert answer.status_code == 409
    assert "3 scored submissions within 24 hours" in answer.json()["detail"]


# --- looser settings say what they give away --------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"score_decimals": None}, ["score_decimals"]),
        ({"score_decimals": 2}, ["score_decimals"]),
        ({"score_decimals": 0, "per_day": 1, "in_total": 5}, []),
        ({"per_day": None}, ["per_day"]),
        ({"per_day": 4, "in_total": 21}, ["per_day", "in_total"]),
        ({"takes_incomplete": True}, ["takes_incomplete"]),
        # Where items are shown on purpose, totals are not rounded.
        ({"diagnostics": "items"}, ["diagnostics", "score_decimals"]),
        (
            {"diagnostics": "facts", **LOOSE},
            ["diagnostics", "score_decimals", "per_day", "in_total", "takes_incomplete"],
        ),
        ({"closing_share": None}, ["closing_share"]),
        ({"closing_share": 51}, ["closing_share"]),
        ({"closing_share": 49}, []),
    ],
)
def test_each_looser_setting_is_a_leak(changes: dict[str, Any], expected: list[str]) -> None:
    release = Release(visibility=HIDDEN, dataset=Dataset(visibility="public"))
    found = leaks(NewPhase("p", "P", release, **changes))
    assert [leak.setting for leak in found] == expected
    opened = Release(visibility="public", dataset=Dataset(visibility="public"))
    assert leaks(NewPhase("p", "P", opened, **changes)) == []


def test_a_benchmark_that_names_every_id_takes_no_incomplete_file_anyway() -> None:
    release = Release(visibility=HIDDEN, dataset=Dataset(visibility="public"))
    assert leaks(NewPhase("p", "P", release, takes_incomplete=True), names_every_id=True) == []


def test_the_api_warns_of_looser_settings(organiser: User, api_of: ApiOf) -> None:
    release, api = make_release(visibility=HIDDEN), api_of(organiser)
    data = asked_of_the_api(release, **LOOSE)
    answer = api.post("/api/v1/boards/", data, format="json")
    assert answer.status_code == 201
    assert settings_of(Phase.objects.get()) == LOOSE
    assert len(answer.json()["warnings"]) == 5
    assert "Test: Some scores are shares of what a file answers: " in str(answer.json())
    assert "Test: Scores are exact, and the number of correct answers is shown" in str(
        answer.json()
    )
    safe = api.patch(PHASE_URL, SAFE, format="json").json()
    assert safe["warnings"] == []
    loose = api.patch(PHASE_URL, {"per_day": None}, format="json").json()
    assert (loose["per_day"], len(loose["warnings"])) == (None, 1)
    api.patch("/api/v1/boards/board/", {"state": "open"}, format="json")
    assert api_of(None).get(PHASE_URL).json()["warnings"] == []
    assert api_of(None).get("/api/v1/boards/board/").json()["warnings"] == []


def test_the_page_warns_of_looser_settings(organiser: User, client_of: ClientOf) -> None:
    board, client = hidden_board(), client_of(organiser)
    assert "reveals" not in told(client.get("/boards/board/manage/").content)
    sent = form_of(board, title="Test", takes_incomplete="on")
    # Ticked, the box keeps what is empty safe; unticked, what was sent holds.
    client.post("/boards/board/phases/test/", sent)
    assert settings_of(first_phase(board)) == SAFE
    answer = client.post("/boards/board/phases/test/", sent | {"is_protected": ""}, follow=True)
    assert settings_of(first_phase(board)) == LOOSE
    for page in (answer, client.get("/boards/board/manage/"),
                 client.get("/boards/board/phases/test/")):  # fmt: skip
        assert "The score of a file with a single answer" in told(page.content)


# --- gold that becomes hidden -----------------------------------------------------------------


def test_a_phase_that_moves_to_hidden_gold_is_protected(organiser: User, api_of: ApiOf) -> None:
    board = make_board(per_day=1)
    release = make_release(visibility=HIDDEN)
    data = {"dataset": release.dataset.slug, "release": release.version}
    answer = api_of(organiser).patch(PHASE_URL, data, format="json").json()
    assert settings_of(first_phase(board)) == SAFE | {"per_day": 1}
    assert (answer["diagnostics"], answer["warnings"]) == ("aggregates", [])


def test_a_move_to_hidden_gold_keeps_what_is_sent_with_it(organiser: User, api_of: ApiOf) -> None:
    make_board()
    release = make_release(visibility=HIDDEN)
    data = {"dataset": release.dataset.slug, "release": release.version, "in_total": None}
    answer = api_of(organiser).patch(PHASE_URL, data, format="json").json()
    assert (answer["in_total"], answer["per_day"]) == (None, 3)
    assert len(answer["warnings"]) == 1


def test_a_regrade_on_hidden_gold_protects_the_phase(
    researcher: User, organiser: User, client_of: ClientOf
) -> None:
    board = make_board()
    three_results(board, researcher)
    release = next_release(release_of(board), visibility=HIDDEN)
    plan = client_of(organiser).get(f"/boards/board/regrade/?phase=&release={release.pk}")
    assert "so the phase changes to protected settings" in told(plan.content)
    start_regrade(board=board, release=release, actor=None)
    run_due_jobs()
    phase = first_phase(board)
    assert (settings_of(phase), phase.diagnostics) == (SAFE, "aggregates")
    assert all(entry.scores.keys() == {"rank_ffa"} for entry in Entry.objects.all())
    assert not any(entry.intervals for entry in Entry.objects.all())
    assert Event.objects.get(verb="protect_phase").data["before"]["per_day"] == "None"


def test_the_command_says_that_a_regrade_protects(
    researcher: User, capsys: pytest.CaptureFixture[str]
) -> None:
    board = make_board()
    three_results(board, researcher)
    next_release(release_of(board), visibility=HIDDEN)
    call_command("regrade", "board", "--release", "1.1.0")
    assert "1.1.0 is hidden, so the phase changes to protected settings" in capsys.readouterr().out


def test_rows_that_were_published_are_rounded_when_the_phase_is(
    researcher: User, organiser: User, api_of: ApiOf
) -> None:
    board = make_board(diagnostics="aggregates")
    three_results(board, researcher)
    run_due_jobs()
    assert Entry.objects.get(name="Flawed").ranks
    api_of(organiser).patch(PHASE_URL, {"score_decimals": 1}, format="json")
    run_due_jobs()
    entry = Entry.objects.get(name="Flawed")
    assert (entry.scores["ffa"], entry.ranks) == (0.667, {})
    assert all(end == round(end, 3) for ends in entry.intervals.values() for end in ends)
    api_of(organiser).patch(PHASE_URL, {"score_decimals": None}, format="json")
    run_due_jobs()
    entry.refresh_from_db()
    assert entry.scores["ffa"] == pytest.approx(4 / 6, abs=1e-9)
    assert entry.ranks


# --- private releases -------------------------------------------------------------------------


def private_draft(**changes: Any) -> Board:
    dataset = empty_dataset(title="Secret filings", visibility=Dataset.Visibility.PRIVATE)
    phase = NewPhase("test", "Test", make_release(dataset=dataset), **changes)
    return create_board(slug="board", title="B", benchmark="fincriticaled", phase=phase, actor=None)


def test_opening_a_board_on_private_data_asks_first(organiser: User, api_of: ApiOf) -> None:
    board, api = private_draft(), api_of(organiser)
    [warning] = api.get("/api/v1/boards/board/").json()["warnings"]
    refused = api.patch("/api/v1/boards/board/", {"state": "open", "title": "X"}, format="json")
    assert refused.status_code == 409
    detail = refused.json()["detail"]
    for words in ("Secret filings", "is private", "the number of items (3)", "stay private",
                  "confirm_disclosure=true"):  # fmt: skip
        assert words in detail
    assert "is private" in warning
    board.refresh_from_db()
    assert (board.state, board.title) == ("draft", "B")
    data = {"state": "open", "confirm_disclosure": True}
    assert api.patch("/api/v1/boards/board/", data, format="json").status_code == 200
    assert (
        api.patch("/api/v1/boards/board/", {"state": "archived"}, format="json").status_code == 200
    )


def test_the_page_asks_before_it_opens_a_board_on_private_data(
    organiser: User, client_of: ClientOf
) -> None:
    board, client = private_draft(diagnostics="items"), client_of(organiser)
    page = told(client.get("/boards/board/manage/").content)
    assert "“Secret filings 1.0.0” is private" in page
    assert "Item IDs are visible to submitters" in page
    refused = client.post("/boards/board/state/", {"state": "open"}, follow=True)
    assert "To continue, select “Make this information public”." in told(refused.content)
    board.refresh_from_db()
    assert board.state == "draft"
    client.post("/boards/board/state/", {"state": "open", "confirm_disclosure": "on"})
    board.refresh_from_db()
    assert board.state == "open"


def test_a_phase_on_private_data_asks_where_the_board_is_open(
    organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    board = make_board()
    release = make_release(visibility=Release.Visibility.PRIVATE)
    sent = form_of(board, title="Private", release=release.pk)
    client = client_of(organiser)
    refused = client.post("/boards/board/phases/new/", sent)
    assert (refused.status_code, board.phases.count()) == (400, 1)
    assert "To continue, select “Make this information public”." in told(refused.content)
    assert client.post(
        "/boards/board/phases/new/", sent | {"confirm_disclosure": "on"}
    ).status_code == 302  # fmt: skip
    data: dict[str, Any] = {
        "title": "Again",
        "dataset": release.dataset.slug,
        "release": release.version,
    }
    api = api_of(organiser)
    assert api.post("/api/v1/boards/board/phases/", data, format="json").status_code == 409
    data["confirm_disclosure"] = True
    assert api.post("/api/v1/boards/board/phases/", data, format="json").status_code == 201
    moved = {name: data[name] for name in ("dataset", "release")}
    assert api.patch(PHASE_URL, moved, format="json").status_code == 409
    assert api.patch(PHASE_URL, data, format="json").status_code == 200


def test_a_regrade_makes_no_private_release_public(researcher: User) -> None:
    board = make_board()
    three_results(board, researcher)
    release = next_release(release_of(board), visibility=Release.Visibility.PRIVATE)
    with pytest.raises(RegradeRefused, match="is private and the board is not a draft"):
        start_regrade(board=board, release=release, actor=None)
    assert not Regrade.objects.exists()


def test_public_data_asks_nothing(organiser: User) -> None:
    board = make_board(state=Board.State.DRAFT)
    set_board_state(board=board, state=Board.State.OPEN, actor=organiser)
    phase = first_phase(board)
    wanted = NewPhase("test", "Test", make_release(visibility=HIDDEN))
    edit_phase(phase=phase, wanted=wanted, actor=organiser)
    private = NewPhase("test", "Test", make_release(visibility=Release.Visibility.PRIVATE))
    with pytest.raises(DisclosureUnconfirmed):
        edit_phase(phase=phase, wanted=private, actor=organiser)
