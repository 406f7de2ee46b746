"""Terms of a board that submitters accept, and what the card says of training data."""

from datetime import date
from typing import Any

import pytest

from portal.accounts.models import User
from scoring.boards.services import edit_board
from scoring.models import Board, Submission
from scoring.submissions.uploads import SubmissionRefused
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import PERFECT, lines_of, make_submission, upload

pytestmark = pytest.mark.django_db

PAGE = "/boards/board/submit/"
API = "/api/v1/boards/board/submissions/"
TERMS = "Do **not** train on the images."


@pytest.fixture
def terms(board: Board) -> Board:
    edit_board(board=board, changes={"terms": TERMS}, actor=None)
    board.refresh_from_db()
    return board


def form(board: Board, **fields: Any) -> dict[str, Any]:
    phase = board.phases.get().pk
    sent = {"phase": phase, "name": "Reader", "category": "other", "form_key": "k", "team": ""}
    return {**sent, "file": upload(lines_of(PERFECT)), **fields}


def test_the_form_shows_the_terms_and_asks_to_accept_them(
    terms: Board, researcher: User, client_of: ClientOf
) -> None:
    client = client_of(researcher)
    shown = client.get(PAGE).content.decode()
    assert "Do <strong>not</strong> train on the images." in shown
    refused = client.post(PAGE, form(terms))
    assert refused.status_code == 400
    assert "To submit, accept the terms." in refused.content.decode()
    assert not Submission.objects.exists()
    assert client.post(PAGE, form(terms, accept_terms="on")).status_code == 302
    assert Submission.objects.get().accepted_terms == TERMS


def test_a_board_without_terms_asks_nothing(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    client = client_of(researcher)
    assert "accept_terms" not in client.get(PAGE).content.decode()
    assert client.post(PAGE, form(board)).status_code == 302
    assert Submission.objects.get().accepted_terms == ""


def test_the_api_refuses_a_submission_without_the_terms(
    terms: Board, researcher: User, api_of: ApiOf
) -> None:
    api = api_of(researcher)
    sent = {"name": "Reader", "file": upload(lines_of(PERFECT))}
    refused = api.post(API, sent, format="multipart")
    assert refused.status_code == 409
    assert "accept_terms" in refused.json()["detail"]
    again = {**sent, "file": upload(lines_of(PERFECT)), "accept_terms": True}
    assert api.post(API, again, format="multipart").status_code == 201


def test_the_service_refuses_it_too(terms: Board, researcher: User) -> None:
    with pytest.raises(SubmissionRefused, match="Accept the terms"):
        make_submission(terms, researcher)


def test_organisers_set_the_terms(board: Board, organiser: User, api_of: ApiOf) -> None:
    changed = api_of(organiser).patch("/api/v1/boards/board/", {"terms": TERMS}, format="json")
    assert changed.json()["terms"] == TERMS
    assert api_of(None).get("/api/v1/boards/board/").json()["terms"] == TERMS


def test_a_board_can_require_training_data(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    fields = ["training_data", "training_until"]
    edit_board(board=board, changes={"card_fields": fields}, actor=None)
    client = client_of(researcher)
    assert client.post(PAGE, form(board)).status_code == 400
    said = {"training_data": "Public filings to 2025.", "training_until": "2025-06-30"}
    assert client.post(PAGE, form(board, **said)).status_code == 302
    stored = Submission.objects.get()
    assert stored.training_data == "Public filings to 2025."
    assert stored.training_until == date(2025, 6, 30)
    shown = client.get(stored.get_absolute_url()).content.decode()
    assert "Training cutoff" in shown
    assert "30 June 2025" in shown


def test_a_file_is_validated_without_name_and_terms(
    terms: Board, researcher: User, client_of: ClientOf
) -> None:
    edit_board(board=terms, changes={"card_fields": ["organisation"]}, actor=None)
    client = client_of(researcher)
    answer = client.post(PAGE, form(terms, name="", check_only="1"))
    assert answer.status_code == 200
    assert "The file is valid" in answer.content.decode()
    refused = client.post(PAGE, form(terms, name=""))
    assert set(refused.context["form"].errors) == {"name", "organisation", "accept_terms"}
    assert not Submission.objects.exists()
