"""Pages and endpoints of model runs: settings, start, progress, cancel, continue, submit."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.boards.services import set_board_state
from scoring.judging.services import endpoint_of
from scoring.models import Board, ModelRun, Submission
from scoring.models.judging import Purpose
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.answering import chat_server
from tests.scoring.judge.server import Reply

from .models import KEY, MODEL, Reader, board_with_images, give_endpoint, start

pytestmark = pytest.mark.django_db
PAGE, API = "/boards/board/runs/", "/api/v1/boards/board/runs/"
BUSY = Reply("busy", 503)


@pytest.fixture
def board(board_with_endpoint: Board) -> Board:
    return board_with_endpoint


def form(board: Board, **changes: Any) -> dict[str, Any]:
    return {
        "phase": board.phases.get().pk,
        "model": MODEL,
        "prompt_version": "paper-1",
        "decoding": "max_tokens=50\ntop_p=0.5\nreasoning_effort=low",
        "concurrency": 2,
        "budget": "",
        **changes,
    }


def test_an_organiser_runs_a_model_on_the_page(
    board: Board, organiser: User, client_of: ClientOf
) -> None:
    client = client_of(organiser)
    assert f'value="{MODEL}"' in client.get(PAGE).content.decode()
    started = client.post(PAGE, form(board))
    run = ModelRun.objects.get()
    assert started["Location"] == run.get_absolute_url()
    assert run.decoding == {
        "temperature": 0,
        "max_tokens": 50,
        "top_p": 0.5,
        "reasoning_effort": "low",
    }
    page = client.get(run.get_absolute_url()).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert "Cancel run" in page
    assert "0 of 3 items" in page
    run_due_jobs()
    page = client.get(run.get_absolute_url(), headers={"HX-Request": "true"}).content.decode()
    assert "<!doctype" not in page
    assert "3 of 3 items" in page
    assert "View submission" in page
    assert "hx-trigger" not in page
    assert MODEL in client.get(PAGE).content.decode()
    assert KEY not in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"decoding": "temperature"}, "must have the form NAME=VALUE"),
        ({"decoding": "stream=true"}, "is not a decoding setting"),
        ({"concurrency": "1000"}, "less than or equal to 64"),
        ({"prompt_version": "x"}, "Select a valid choice"),
        ({"phase": "0"}, "Select a valid choice"),
        ({"budget": "nan"}, "Enter a number"),
        ({"prompt_version": "file"}, "Enter the custom prompt"),
        ({"prompt_text": "Read it."}, "You selected the prompt paper-1"),
    ],
)
def test_the_form_says_what_is_wrong(
    changes: dict[str, Any], words: str, board: Board, organiser: User, client_of: ClientOf
) -> None:
    answer = client_of(organiser).post(PAGE, form(board, **changes))
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert not ModelRun.objects.exists()


def test_own_prompts_and_raw_answers_are_sent_and_stated(
    board: Board, organiser: User, client_of: ClientOf
) -> None:
    client = client_of(organiser)
    text, system = "Copy the page.", "You read <pages>."
    own = {"prompt_version": "file", "prompt_text": text, "system_prompt": system, "is_raw": "on"}
    with chat_server.serve(lambda _: chat_server.Reply("```html\n<p>Page</p>\n```")) as server:
        give_endpoint(board, server.url)
        client.post(PAGE, form(board, **own))
        run_due_jobs()
    first, asked = server.calls[0].body["messages"]
    assert first == {"role": "system", "content": system}
    assert asked["content"][-1]["text"] == "Copy the page."
    submission = Submission.objects.get()
    about = submission.manifest.about
    assert [(each["name"], each["text"]) for each in about["prompts"]] == [
        ("item", text),
        ("system", system),
    ]
    assert about["repairs"] == []
    assert submission.predictions.filter(payload__html__startswith="```html").count() == 3
    assert "--prompt-file prompt.txt --system 'You read <pages>.'" in about["command"]
    assert about["command"].endswith("--raw")
    page = client.get(ModelRun.objects.get().get_absolute_url()).content.decode()
    assert "You read &lt;pages&gt;." in page
    assert "Not repaired" in page
    # A run that repeats it begins with the same settings.
    again = client.get(f"{PAGE}?rerun={submission.pk}").context["form"].initial
    assert {name: again[name] for name in own} == {**own, "is_raw": True}


def test_the_api_takes_an_own_prompt(board: Board, organiser: User, api_of: ApiOf) -> None:
    sent: dict[str, Any] = {"phase": "test", "model": MODEL, "prompt_version": "file"}
    api = api_of(organiser)
    refused = api.post(API, sent, format="json")
    assert refused.status_code == 400
    assert "Enter the custom prompt" in str(refused.json()["prompt_text"])
    sent |= {"prompt_text": "Copy it.", "is_raw": True, "system_prompt": "S"}
    shown = api.post(API, sent, format="json").json()
    assert (shown["prompt_version"], shown["is_raw"], shown["system_prompt"]) == ("file", True, "S")
    assert ModelRun.objects.get().prompts == {"version": "file", "texts": {"item": "Copy it."}}


def test_own_text_needs_the_question_where_items_have_one(
    board: Board, organiser: User, client_of: ClientOf
) -> None:
    Board.objects.filter(pk=board.pk).update(benchmark="fcmbench")
    own = {"prompt_version": "file", "prompt_text": "Answer with JSON."}
    answer = client_of(organiser).post(PAGE, form(board, **own))
    assert answer.status_code == 409
    assert "does not contain $question" in answer.content.decode()
    assert not ModelRun.objects.exists()
    own["prompt_text"] = "$question Answer with JSON."
    client_of(organiser).post(PAGE, form(board, **own))
    assert ModelRun.objects.count() == 1


def test_a_refusal_is_shown_with_the_form(
    board: Board, organiser: User, client_of: ClientOf
) -> None:
    answer = client_of(organiser).post(PAGE, form(board, budget="1"))
    assert answer.status_code == 409
    assert "A budget needs prices" in answer.content.decode()


def test_without_an_endpoint_the_page_leads_to_it(organiser: User, client_of: ClientOf) -> None:
    board_with_images()
    page = client_of(organiser).get(PAGE).content.decode()
    assert "/boards/board/runs/endpoint/" in page
    assert "Start run" not in page


def test_an_ended_run_is_continued_or_submitted_on_the_page(
    board: Board, organiser: User, reader: Reader, client_of: ClientOf
) -> None:
    reader.failing = {"page-2": [BUSY, BUSY]}
    run = start(board, organiser)
    run_due_jobs()
    client = client_of(organiser)
    page = client.get(run.get_absolute_url()).content.decode()
    assert "1 item has no answer" in page
    assert "HTTP 503" in page
    for act in ("continue", "submit"):
        assert client.post(f"{PAGE}{run.pk}/{act}/").status_code == 302
        run_due_jobs()
    run.refresh_from_db()
    assert (run.state, len(reader.asked)) == ("done", 4)
    refused = client.post(f"{PAGE}{run.pk}/continue/", follow=True)
    assert "already been submitted" in refused.content.decode()


def test_the_endpoint_page_sets_the_endpoint_for_models_only(
    organiser: User, client_of: ClientOf
) -> None:
    board = board_with_images()
    client = client_of(organiser)
    page = client.get("/boards/board/runs/endpoint/").content.decode()
    assert "Model endpoint" in page
    assert "Send test question" not in page
    values = {"base_url": "http://127.0.0.1:9/v1/", "model": "m", "key": KEY}
    values |= {"price_input": "1", "price_output": "1", "budget": "5", "calls_per_minute": "0"}
    assert client.post("/boards/board/runs/endpoint/", values).status_code == 302
    own = endpoint_of(board, Purpose.MODEL)
    assert own is not None
    assert (own.base_url, own.read_key(), own.budget) == ("http://127.0.0.1:9/v1", KEY, 5)
    assert endpoint_of(board) is None
    assert KEY not in client.get("/boards/board/runs/endpoint/").content.decode()
    client.post("/boards/board/runs/endpoint/remove/")
    assert endpoint_of(board, Purpose.MODEL) is None


def test_the_api_sets_the_endpoint_for_models(organiser: User, api_of: ApiOf) -> None:
    board = board_with_images()
    api, url = api_of(organiser), "/api/v1/boards/board/model-endpoint/"
    assert api.get(url).status_code == 404
    sent = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "key": KEY}
    shown = api.put(url, sent, format="json")
    assert shown.json()["has_key"] is True
    assert KEY not in shown.content.decode()
    assert endpoint_of(board) is None
    assert api.delete(url).status_code == 204


def test_hosts_that_are_not_allowed_are_refused(
    organiser: User, api_of: ApiOf, client_of: ClientOf, settings: Any
) -> None:
    board_with_images()
    settings.ENDPOINT_HOSTS = ["api.example.org"]
    sent = {"base_url": "http://10.0.0.1/v1", "model": "m"}
    for name in ("model-endpoint", "judge-endpoint"):
        answer = api_of(organiser).put(f"/api/v1/boards/board/{name}/", sent, format="json")
        assert "ENDPOINT_HOSTS" in str(answer.json()["base_url"])
    allowed = {**sent, "base_url": "https://api.example.org/v1"}
    url = "/api/v1/boards/board/model-endpoint/"
    assert api_of(organiser).put(url, allowed, format="json").status_code == 200
    page = client_of(organiser).post("/boards/board/runs/endpoint/", sent)
    assert "ENDPOINT_HOSTS" in page.content.decode()


def test_an_organiser_runs_a_model_by_the_api(
    board: Board, organiser: User, reader: Reader, api_of: ApiOf
) -> None:
    api = api_of(organiser)
    reader.failing = {"page-2": [BUSY]}
    sent = {"phase": "test", "model": MODEL, "decoding": {"max_tokens": 50}, "concurrency": 1}
    started = api.post(API, sent, format="json")
    assert started.status_code == 201, started.json()
    one = f"{API}{started.json()['id']}/"
    assert api.post(API, sent, format="json").status_code == 409
    run_due_jobs()
    shown = api.get(one).json()
    assert (shown["state"], shown["error"]) == ("failed", "1 item has no answer.")
    assert shown["progress"]["failed"] == 1
    assert shown["progress"]["done"] == 2
    assert api.post(f"{one}continue/").json()["state"] == "queued"
    run_due_jobs()
    shown = api.get(one).json()
    assert shown["state"] == "done"
    submission = api.get(f"/api/v1/submissions/{shown['submission']}/").json()
    assert submission["run"]["model"] == MODEL
    assert api.post(f"{one}continue/").status_code == 409
    assert api.get(API).json()["count"] == 1


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"phase": "nowhere"}, 404, "detail"),
        ({"decoding": {"stream": True}}, 400, "decoding"),
        ({"decoding": [1]}, 400, "decoding"),
        ({"budget": -1}, 400, "budget"),
        ({"rerun_of": 999}, 404, "detail"),
        ({"prompt_version": "x"}, 409, "detail"),
    ],
)
def test_the_api_says_what_is_wrong(
    changes: dict[str, Any],
    status: int,
    field: str,
    board: Board,
    organiser: User,
    api_of: ApiOf,
) -> None:
    answer = api_of(organiser).post(API, {"phase": "test", "model": "m", **changes}, format="json")
    assert answer.status_code == status
    assert field in answer.json()


def test_runs_are_for_organisers(
    board: Board,
    organiser: User,
    researcher: User,
    ann: User,
    api_of: ApiOf,
    client_of: ClientOf,
) -> None:
    run = start(board, organiser)
    urls = [f"{run.pk}/", f"{run.pk}/cancel/", f"{run.pk}/continue/", f"{run.pk}/submit/", ""]
    for user, page, api in ((None, 302, 401), (researcher, 403, 403), (ann, 403, 403)):
        for url in urls:
            assert client_of(user).post(PAGE + url).status_code == page
            assert client_of(user).get(PAGE + url).status_code == page or "/" in url[:-1]
            assert api_of(user).post(API + url, {}).status_code == api
    run.refresh_from_db()
    assert run.state == "queued"


def test_a_run_belongs_to_its_board(
    board: Board, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    run = start(board, organiser)
    from tests.scoring.factories import make_board

    make_board(slug="other", release=run.release)
    assert client_of(organiser).get(f"/boards/other/runs/{run.pk}/").status_code == 404
    path = f"/api/v1/boards/other/runs/{run.pk}/cancel/"
    assert api_of(organiser).post(path).status_code == 404


def test_cancelling_on_the_page(board: Board, organiser: User, client_of: ClientOf) -> None:
    run = start(board, organiser)
    page = client_of(organiser).post(f"{PAGE}{run.pk}/cancel/", follow=True).content.decode()
    assert "The run was cancelled" in page
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_a_draft_board_can_be_run(board: Board, organiser: User, reader: Reader) -> None:
    set_board_state(board=board, state=Board.State.DRAFT, actor=None)
    start(board, organiser)
    run_due_jobs()
    assert ModelRun.objects.get().state == "done"
