"""A test question to the model endpoint: a picture is sent and its cost is counted."""

import base64
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from portal.accounts.models import User
from scoring.judging.services import spent_this_month
from scoring.models import Board, JudgeSpending
from scoring.models.judging import Purpose
from scoring.running.runs import try_model
from scoring.running.services import RunRefused
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import make_board
from tests.scoring.judge.server import Reply, serve
from tests.scoring.judges import PRICES

from .models import KEY, MODEL, give_endpoint

# The engine asks in a thread of its own, which must see what was written.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def board(db: None) -> Board:
    return make_board()


def test_the_picture_is_sent_and_the_cost_counted(board: Board, organiser: User) -> None:
    with serve(lambda _: Reply("1,250.00")) as server:
        give_endpoint(board, server.url, **PRICES, budget=50.0)
        trial = try_model(board=board, actor=organiser)
    assert (trial.model, trial.answer, trial.fault) == (MODEL, "1,250.00", "")
    [call] = server.calls
    image, question = call.body["messages"][-1]["content"]
    data = base64.b64decode(image["image_url"]["url"].partition(",")[2])
    with Image.open(BytesIO(data)) as picture:
        assert picture.size == (320, 80)
        assert len(set(picture.convert("L").tobytes())) > 2, "text is drawn"
    assert "1,250.00" not in question["text"]
    [spent] = JudgeSpending.objects.all()
    assert (spent.purpose, spent.is_open) == (Purpose.MODEL, False)
    assert spent.amount == pytest.approx(trial.cost)
    assert spent_this_month(board, None).spent == 0


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply("no", 401), "check URL, model and key"),
        (Reply("busy", 500), "HTTP 500"),
        (Reply(""), "the answer is empty"),
        (Reply("no pictures", 400), "the endpoint rejected the request"),
    ],
)
def test_a_fault_is_told_after_one_call(board: Board, reply: Reply, words: str) -> None:
    with serve(lambda _: reply) as server:
        give_endpoint(board, server.url)
        assert words in try_model(board=board, actor=None).fault
    assert len(server.calls) == 1


def test_without_budget_left_nothing_is_asked(board: Board) -> None:
    with serve(lambda _: Reply("1,250.00")) as server:
        give_endpoint(board, server.url, **PRICES, budget=0.0)
        assert "the board's budget of 0 for" in try_model(board=board, actor=None).fault
    assert server.calls == []


def test_a_board_without_an_endpoint(board: Board, organiser: User, api_of: ApiOf) -> None:
    with pytest.raises(RunRefused, match="Add a model endpoint to the board first"):
        try_model(board=board, actor=None)
    assert api_of(organiser).post("/api/v1/boards/board/model-endpoint/try/").status_code == 409


def test_page_and_api_tell_the_answer_and_never_the_key(
    board: Board, organiser: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    def script(_: Any) -> Reply:
        return Reply(f"Total 1,250.00 and {KEY}")

    with serve(script) as server:
        give_endpoint(board, server.url)
        sent = api_of(organiser).post("/api/v1/boards/board/model-endpoint/try/")
        client = client_of(organiser)
        page = client.post("/boards/board/runs/endpoint/try/", follow=True).content.decode()
    assert sent.json()["answer"].startswith("Total 1,250.00")
    assert f"{MODEL} answered “Total 1,250.00" in page
    assert "Send test question" in page
    assert KEY not in page + sent.content.decode()
