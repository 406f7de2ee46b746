"""A new benchmark is one folder and one dict entry: the toy benchmark goes through the whole
site."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from scoring.benchmarks import BENCHMARKS
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase, Submission
from scoring.submissions.services import publish_submission
from tests.factories import empty_dataset
from tests.fixture_types import ClientOf, RunJobs
from tests.pages import text_of
from tests.scoring.factories import upload

from .toy import TOY

GOLD = {"q1": 7, "q2": 12, "q3": 150}
ANSWERS = {"q1": 7, "q2": 21, "q3": 150}


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BENCHMARKS, TOY.key, TOY)


def write(path: Path, sums: dict[str, int]) -> Path:
    path.write_text("".join(json.dumps({"id": i, "sum": n}) + "\n" for i, n in sums.items()))
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.jsonl", GOLD)


def make_toy_board(gold: Path, visibility: str = Release.Visibility.PUBLIC) -> Board:
    """An open phase on a release of the toy's gold that shows all individual items."""
    dataset = empty_dataset(visibility=Dataset.Visibility.PUBLIC)
    out = io.StringIO()
    call_command(
        "freeze_gold", dataset.slug, "1.0.0", "toy", gold=gold, visibility=visibility, stdout=out
    )
    assert f"3 items of Toy sums, {visibility}" in out.getvalue()
    phase = NewPhase("test", "Test", dataset.releases.get(), diagnostics=Phase.Diagnostics.FACTS)
    made = create_board(slug="toy", title="Toy", benchmark="toy", phase=phase, actor=None)
    load_reported(board=made)
    return set_board_state(board=made, state=Board.State.OPEN, actor=None)


@pytest.fixture
def board(db: None, gold: Path) -> Board:
    return make_toy_board(gold)


@pytest.fixture
def graded(client_of: ClientOf, board: Board, researcher: User, run_jobs: RunJobs) -> Submission:
    return submit(client_of(researcher), board, run_jobs)


def submit(client: Client, board: Board, run_jobs: RunJobs) -> Submission:
    lines = (json.dumps({"id": name, "sum": number}) for name, number in ANSWERS.items())
    assert send(client, board, "\n".join(lines).encode()).status_code == 302
    run_jobs()
    return Submission.objects.get()


def send(client: Client, board: Board, content: bytes) -> Any:
    form = {
        "form_key": "k1",
        "name": "Counter",
        "category": "other",
        "phase": board.phases.get().pk,
        "file": upload(content),
        "accept_missing": "on",
    }
    return client.post("/boards/toy/submit/", form)


def test_from_upload_to_leaderboard(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    text = text_of(client_of(None), "/boards/toy/")
    assert "Counter" in text
    assert "66.67" in text
    assert "Abacus" not in text
    # Without a headline of its own, the help of the deciding column.
    assert "Right: Right answers, of all questions." in text
    [section] = client_of(None).get("/api/v1/boards/toy/leaderboard/").json()["sections"]
    assert section["source"].startswith("toy|v1")


def test_its_view_is_a_table_of_the_board(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    text = text_of(client_of(None), "/boards/toy/?view=large&others=on")
    assert "Questions whose answer is at least 100." in text
    assert "100.00" in text
    assert "66.67" not in text
    assert "Abacus" in text
    assert "25.00" in text


def test_its_submission_page(client_of: ClientOf, graded: Submission, researcher: User) -> None:
    text = text_of(client_of(researcher), graded.get_absolute_url())
    assert "66.67" in text
    assert "Large sums" in text
    assert f"/submissions/{graded.pk}/items/q2/" in text


def test_its_item_page_shows_gold_prediction_and_result(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    text = text_of(client_of(researcher), f"/submissions/{graded.pk}/items/q2/")
    result, payloads = text.split("<h2>Gold</h2>")
    gold, prediction = payloads.split("<h2>Prediction</h2>")
    assert '<h2 id="result">Result</h2>' in result
    assert '<th scope="row">Large</th><td class="value">no</td>' in result
    assert ">12<" in gold
    assert ">21<" in prediction


def test_where_scores_alone_are_shown_no_gold_is_on_the_item_page(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    Phase.objects.update(diagnostics=Phase.Diagnostics.ITEMS)
    text = text_of(client_of(researcher), f"/submissions/{graded.pk}/items/q2/")
    assert "shows only the scores" in text
    assert ">12<" not in text


def test_hidden_gold_is_not_on_the_item_page(
    client_of: ClientOf, gold: Path, researcher: User, run_jobs: RunJobs
) -> None:
    client = client_of(researcher)
    board = make_toy_board(gold, Release.Visibility.GOLD_HIDDEN)
    graded = submit(client, board, run_jobs)
    text = text_of(client, f"/submissions/{graded.pk}/items/q2/")
    assert '<h2 id="result">Result</h2>' in text
    assert "<h2>Gold</h2>" not in text
    assert ">12<" not in text


def test_its_submit_page_says_what_a_line_is(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    text = text_of(client_of(researcher), "/boards/toy/submit/")
    assert TOY.example in text
    assert "This benchmark accepts only files" in text
    assert "<p>…" not in text


def test_a_submission_must_name_every_id(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    response = send(client_of(researcher), board, b'{"id": "q1", "sum": 7}\n')
    assert response.status_code == 422
    text = response.content.decode()
    assert "2 items without a prediction. Nothing was submitted" in text
    assert "Submit anyway" not in text
    assert not Submission.objects.exists()


def test_its_release_can_be_downloaded(client_of: ClientOf, board: Board) -> None:
    release = board.phases.get().release
    response = client_of(None).get(f"{release.get_absolute_url()}download/")
    assert response.status_code == 200
    assert b"".join(response.streaming_content)[:2] == b"PK"  # type: ignore[attr-defined]


def test_faults_of_its_gold_are_named(db: None, tmp_path: Path) -> None:
    dataset = empty_dataset()
    path = tmp_path / "gold.jsonl"
    path.write_text('{"id": "q1", "sum": "7"}\n')
    with pytest.raises(CommandError, match=rf"{path}:1: 'sum' must be a whole number"):
        call_command("freeze_gold", dataset.slug, "1.0.0", "toy", gold=path)
    assert not Release.objects.exists()


@pytest.mark.parametrize("as_json", [True, False])
def test_grade_prints_its_table_and_its_view(gold: Path, tmp_path: Path, as_json: bool) -> None:
    answers = write(tmp_path / "answers.jsonl", {"q1": 7, "q3": 1})
    out, err = io.StringIO(), io.StringIO()
    call_command(
        "grade", "toy", gold=gold, submission=answers, json=as_json, stdout=out, stderr=err
    )
    assert "1 IDs have no prediction; a board accepts only" in err.getvalue()
    if as_json:
        report = json.loads(out.getvalue())
        assert report["scores"] == {"right": 1 / 3, "right_large": 0}
        assert report["views"] == {"large": {"right_large": 0}}
    else:
        assert "Right ↑    33.33%" in out.getvalue()
        assert "Large sums: Questions whose answer is at least 100." in out.getvalue()
