"""The REST API: boards, leaderboards, submitting, results."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from portal.accounts.access import issue_token
from portal.accounts.models import User
from portal.jobs.models import Job
from scoring import urls
from scoring.boards.protection import NewPhase
from scoring.boards.services import add_phase
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Entry, Grading, Phase, Submission
from tests.asking import flat
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    latest_grading,
    lines_of,
    make_board,
    make_entry,
    make_release,
    upload,
)

pytestmark = pytest.mark.django_db

URL = "/api/v1/boards/board/submissions/"


def send(api: APIClient, content: bytes = b"", **extra: Any) -> Any:
    data = {"name": "Reader", "file": upload(content or lines_of(PERFECT)), **extra}
    return api.post(URL, data, format="multipart")


# --- boards -----------------------------------------------------------------------------------


def test_boards_with_their_phases(api_of: ApiOf, board: Board, researcher: User) -> None:
    make_entry(board, researcher)
    [listed] = api_of(None).get("/api/v1/boards/").json()["results"]
    [phase] = listed.pop("phases")
    assert listed == {
        "slug": "board",
        "title": "Board board",
        "benchmark": "fincriticaled",
        "description": "",
        "state": "open",
        "is_sample": False,
        "graded": 1,
        "reported": 0,
    }
    assert (phase["slug"], phase["release"], phase["window"]) == ("test", "1.0.0", "open")


def test_leaderboard_has_unrounded_values_and_ranks(
    api_of: ApiOf, board: Board, researcher: User
) -> None:
    make_entry(board, researcher, name="A", ffa=0.123456789)
    make_entry(board, researcher, name="B", ffa=None)
    load_reported(board=board)
    table = api_of(None).get("/api/v1/boards/board/leaderboard/").json()
    graded, reported = table["sections"]
    rows = {row["name"]: row for row in graded["rows"]}
    assert rows["A"]["values"]["ffa"] == 0.123456789
    assert rows["A"]["ranks"] == {"rank_general": 1, "rank_ffa": 1}
    assert rows["B"]["values"]["ffa"] is None
    assert rows["B"]["ranks"] == {"rank_general": None, "rank_ffa": None}
    assert reported["kind"] == "reported"
    assert reported["source"]
    keys = [column["key"] for column in table["columns"] if not column["is_rank"]]
    assert keys == ["r1", "rl", "edit_distance", "n_ffa", "t_ffa", "ffa"]


def test_leaderboard_sorts_by_a_column(api_of: ApiOf, board: Board, researcher: User) -> None:
    make_entry(board, researcher, name="Far", edit_distance=0.4)
    make_entry(board, researcher, name="Near", edit_distance=0.2)
    answer = api_of(None).get("/api/v1/boards/board/leaderboard/?sort=edit_distance").json()
    assert [row["name"] for row in answer["sections"][0]["rows"]] == ["Near", "Far"]


def new_board(**changes: Any) -> dict[str, Any]:
    release = make_release()
    return {
        "slug": "annual",
        "title": "Annual",
        "benchmark": "fincriticaled",
        "dataset": release.dataset.slug,
        "release": "1.0.0",
        "diagnostics": "facts",
        "options": {"missing": "skip"},
    } | changes


def test_an_organiser_makes_a_board(api_of: ApiOf, organiser: User) -> None:
    response = api_of(organiser).post("/api/v1/boards/", new_board())
    assert response.status_code == 201
    board = Board.objects.get()
    assert (board.state, board.phases.get().options["missing"]) == ("draft", "skip")
    assert board.entries.filter(kind=Entry.Kind.REPORTED).exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"slug": "new"}, "slug"),
        ({"slug": "not a slug"}, "slug"),
        ({"benchmark": "magic"}, "benchmark"),
        ({"release": "9.9.9"}, "release"),
        ({"options": {"matcher": "magic"}}, "options"),
        ({"diagnostics": "all"}, "diagnostics"),
        ({"opens_at": "2030-01-02T00:00Z", "closes_at": "2030-01-01T00:00Z"}, "closes_at"),
    ],
)
def test_what_is_wrong_with_a_board_is_named_by_field(
    api_of: ApiOf, organiser: User, changes: dict[str, Any], field: str
) -> None:
    response = api_of(organiser).post("/api/v1/boards/", new_board(**changes))
    assert response.status_code == 400
    assert field in response.json()
    assert not Board.objects.exists()


def test_a_slug_is_taken_once(api_of: ApiOf, board: Board, organiser: User) -> None:
    response = api_of(organiser).post("/api/v1/boards/", new_board(slug="board"))
    taken = "A board with this slug already exists. Choose another slug."
    assert response.json() == {"slug": [taken]}


# --- submitting -------------------------------------------------------------------------------


def test_a_token_submits_and_reads_the_result(
    board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    _, secret = issue_token(user=researcher, name="laptop")
    api = APIClient(headers={"authorization": f"Bearer {secret}"})
    created = send(api, size="7B", category="open_vlm")
    assert created.status_code == 201
    assert created.json()["grading"]["state"] == "queued"
    run_jobs()
    result = api.get(f"/api/v1/submissions/{created.json()['id']}/").json()
    assert result["grading"]["state"] == "done"
    assert result["grading"]["items_done"] == 3
    assert result["grading"]["scores"]["ffa"] == 1.0
    assert result["grading"]["subsets"]["Number"]["facts"] == 4
    assert (result["size"], result["category"], result["owner"]) == ("7B", "open_vlm", "Rex")


def test_faults_are_listed_and_nothing_is_stored(
    api_of: ApiOf, board: Board, researcher: User
) -> None:
    response = send(api_of(researcher), b'{"id": "nobody", "html": ""}\nbroken\n')
    assert response.status_code == 422
    answer = response.json()
    assert answer["fault_count"] == 2
    assert answer["faults"][0] == {
        "file": "predictions.jsonl",
        "line": 1,
        "id": "nobody",
        "message": "unknown id 'nobody'",
    }
    assert (answer["faults"][1]["line"], answer["missing_count"]) == (2, 3)
    assert not Submission.objects.exists()
    assert not Job.objects.exists()


def test_listed_faults_are_capped_and_the_rest_is_counted(
    api_of: ApiOf, board: Board, researcher: User
) -> None:
    answer = send(api_of(researcher), b"broken\n" * 300).json()
    assert (len(answer["faults"]), answer["fault_count"]) == (200, 300)


def test_missing_ids_must_be_accepted(api_of: ApiOf, board: Board, researcher: User) -> None:
    api, some = api_of(researcher), lines_of({"page-2": "x"})
    refused = send(api, some)
    assert refused.status_code == 422
    assert refused.json()["missing"] == ["page-1", "page-3"]
    assert send(api, some, accept_missing=True).status_code == 201


def test_the_same_key_makes_one_submission(api_of: ApiOf, board: Board, researcher: User) -> None:
    api = api_of(researcher)
    first, second = send(api, key="run-17"), send(api, key="run-17")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]


def test_an_upload_beyond_the_limit_is_refused(
    api_of: ApiOf, board: Board, researcher: User, settings: Any
) -> None:
    settings.UPLOAD_LIMIT = settings.MEGABYTE
    response = send(api_of(researcher), b"x" * (2 * settings.MEGABYTE))
    assert response.status_code == 413
    assert response.json() == {"detail": "The file is larger than 1 MB."}


@pytest.mark.parametrize("field", ["name", "file"])
def test_what_is_required_is_named(
    api_of: ApiOf, board: Board, researcher: User, field: str
) -> None:
    data = {"name": "Reader", "file": upload(lines_of(PERFECT))}
    del data[field]
    response = api_of(researcher).post(URL, data, format="multipart")
    assert response.status_code == 400
    assert list(response.json()) == [field]


def test_a_closed_phase_answers_409(api_of: ApiOf, researcher: User) -> None:
    make_board(closes_at=timezone.now() - timedelta(hours=1))
    assert send(api_of(researcher)).status_code == 409


def test_of_several_open_phases_one_must_be_named(
    api_of: ApiOf, board: Board, researcher: User
) -> None:
    release = first_phase(board).release
    add_phase(board=board, phase=NewPhase("dev", "Development", release), actor=None)
    api = api_of(researcher)
    assert send(api).json() == {"phase": ["Several phases are open. Choose one of test, dev."]}
    assert send(api, phase="dev").json()["phase"] == "dev"
    refused = send(api, phase="nonsense")
    assert refused.status_code == 409
    assert refused.json()["detail"] == "This board has no phase “nonsense”. Phases: test, dev."


@pytest.mark.parametrize("slug", ["", "test"])
def test_what_is_not_open_says_why(
    api_of: ApiOf, client_of: ClientOf, board: Board, researcher: User, slug: str
) -> None:
    def detail() -> str:
        answer = send(api_of(researcher), phase=slug)
        assert answer.status_code == 409
        return str(answer.json()["detail"])

    now = timezone.now()
    board.phases.update(opens_at=None, closes_at=now - timedelta(hours=1))
    assert detail().startswith("The phase “test” closed on ")
    board.phases.update(opens_at=now + timedelta(hours=1), closes_at=None)
    assert detail().startswith("The phase “test” opens on ")
    Board.objects.update(state=Board.State.ARCHIVED)
    assert detail() == "The board is archived and does not accept submissions."
    page = client_of(researcher).get("/boards/board/submit/").content.decode()
    assert "The board is archived and does not accept submissions." in page


# --- results and acts -------------------------------------------------------------------------


def test_items_with_their_scores_and_facts(
    api_of: ApiOf, graded: Submission, researcher: User
) -> None:
    api, root = api_of(researcher), f"/api/v1/submissions/{graded.pk}/items/"
    items = api.get(root).json()
    assert items["count"] == 3
    assert [item["name"] for item in items["results"]] == ["page-1", "page-2", "page-3"]
    assert items["results"][1]["scores"]["n_ffa"] == 1.0
    item = api.get(f"{root}page-1/").json()
    fact = item["facts"][1]
    confidence = fact.pop("confidence")
    assert confidence is None or 0 <= confidence <= 1
    assert fact == {
        "n": 1,
        "type": "Number",
        "value": "(350)",
        "correct": False,
        "found": True,
        "matched_text": "350",
        "error": "sign",
        "beside": {},
        "why": "",
        "overruled": "",
    }


def test_totals_only_has_no_items(api_of: ApiOf, researcher: User, run_jobs: RunJobs) -> None:
    make_board(diagnostics=Phase.Diagnostics.AGGREGATES)
    api = api_of(researcher)
    pk = send(api).json()["id"]
    run_jobs()
    assert api.get(f"/api/v1/submissions/{pk}/items/").status_code == 404


def test_cancelling_and_going_on(
    api_of: ApiOf, queued: Submission, researcher: User, run_jobs: RunJobs
) -> None:
    api, root = api_of(researcher), f"/api/v1/submissions/{queued.pk}/"
    assert api.post(f"{root}cancel/").json()["grading"]["state"] == "cancelled"
    again = api.post(f"{root}cancel/")
    assert (again.status_code, "already ended" in again.json()["detail"]) == (409, True)
    assert api.post(f"{root}retry/").json()["grading"]["state"] == "queued"
    run_jobs()
    assert latest_grading(queued).state == Grading.State.DONE


def test_publishing_and_taking_back(api_of: ApiOf, graded: Submission, organiser: User) -> None:
    api, root = api_of(organiser), f"/api/v1/submissions/{graded.pk}/"
    assert api.post(f"{root}publish/").json()["publication"] == "public"
    public = api_of(None).get(root).json()
    assert (public["owner"], public["filename"]) == (None, None)
    assert public["grading"]["scores"]["ffa"] == pytest.approx(4 / 6)
    assert api.post(f"{root}unpublish/").json()["publication"] == "private"
    assert api_of(None).get(root).status_code == 404


def test_publishing_before_the_grading_is_done_answers_409(
    api_of: ApiOf, queued: Submission, organiser: User
) -> None:
    response = api_of(organiser).post(f"/api/v1/submissions/{queued.pk}/publish/")
    assert response.status_code == 409


def test_own_and_board_lists(
    api_of: ApiOf, graded: Submission, researcher: User, stranger: User, organiser: User
) -> None:
    own = api_of(researcher).get("/api/v1/submissions/").json()["results"]
    assert [(line["id"], line["state"]) for line in own] == [(graded.pk, "done")]
    assert api_of(stranger).get("/api/v1/submissions/").json()["count"] == 0
    assert api_of(organiser).get(URL).json()["count"] == 1


def test_the_schema_tells_of_every_endpoint_and_answer(api_of: ApiOf) -> None:
    schema = json.loads(api_of(None).get("/api/v1/schema/?format=json").content)
    routes = {f"/api/v1/{pattern.pattern}" for pattern in flat(urls.api_urlpatterns)}
    told, there = (
        {
            re.sub(r"<[^>]+>|{[^}]+}", "*", path)
            for path in paths
            if re.search(r"v1/(board|sub)", path)
        }
        for paths in (schema["paths"], routes)
    )
    assert told == there
    answers = schema["paths"]["/api/v1/boards/{slug}/submissions/"]["post"]["responses"]
    assert set(answers) == {"200", "201", "409", "413", "422"} | {"400", "401", "403", "404", "415"}


def test_a_view_of_the_leaderboard(api_of: ApiOf, board: Board, researcher: User) -> None:
    make_entry(board, researcher, ffa_tax_form=0.5)
    root = "/api/v1/boards/board/leaderboard/"
    main, view = (api_of(None).get(root + query).json() for query in ("", "?view=document_types"))
    assert main["view"] is None
    assert [each["key"] for each in main["views"]] == ["document_types", "found_facts"]
    assert view["view"] == "document_types"
    assert view["sections"][0]["rows"][0]["values"]["ffa_tax_form"] == 0.5
    assert [column["key"] for column in view["columns"] if column["decides"]] == ["rank_ffa"]


def test_a_grading_has_the_figures_of_its_views(
    api_of: ApiOf, graded: Submission, researcher: User
) -> None:
    grading = api_of(researcher).get(f"/api/v1/submissions/{graded.pk}/").json()["grading"]
    assert grading["views"]["document_types"]["ffa"] == grading["scores"]["ffa"]
    assert grading["views"]["document_types"]["ffa_other"] == grading["scores"]["ffa"]


def test_an_item_lists_what_was_hallucinated(
    api_of: ApiOf, graded: Submission, researcher: User
) -> None:
    item = api_of(researcher).get(f"/api/v1/submissions/{graded.pk}/items/page-2/").json()
    assert item["hallucinated"] == {"tokens": 2, "count": 1, "shown": ["2029"]}
    assert item["tables"] is None
