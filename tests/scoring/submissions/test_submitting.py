"""Submitting in the browser: faults shown, missing ids confirmed, one submission per form."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import Event
from portal.jobs.models import Job
from scoring.boards.protection import NewPhase
from scoring.boards.services import add_phase
from scoring.models import Board, Grading, Phase, Prediction, Submission
from scoring.submissions import services as service
from scoring.submissions.uploads import SubmissionRefused, check_upload
from tests.fixture_types import ClientOf
from tests.scoring.factories import (
    PERFECT,
    first_phase,
    lines_of,
    make_board,
    make_release,
    send_file,
    upload,
)

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def send(client: Client, board: Board, content: bytes, **extra: Any) -> Any:
    headers = extra.pop("headers", None)
    data = {
        "form_key": "key-1",
        "phase": first_phase(board).pk,
        "name": "Reader 7B",
        "category": "ocr_model",
        "size": "7B",
        "file": upload(content),
        **extra,
    }
    return client.post(f"/boards/{board.slug}/submit/", data, headers=headers)


def stored_files() -> list[Path]:
    root = Path(django_settings.MEDIA_ROOT)
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_good_file_becomes_a_queued_submission(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    response = send(client_of(researcher), board, lines_of(PERFECT))
    submission = Submission.objects.get()
    assert response.status_code == 302
    assert response["Location"] == f"/submissions/{submission.pk}/"
    assert (submission.owner, submission.name, submission.size) == (researcher, "Reader 7B", "7B")
    assert submission.predictions.count() == 3
    assert submission.gradings.get().state == Grading.State.QUEUED
    assert Job.objects.filter(kind="grade_chunk").count() == 1
    assert Event.objects.filter(verb="submit", actor=researcher).count() == 1
    assert submission.publication == Submission.Publication.PRIVATE


def test_the_stored_file_is_the_uploaded_one_under_a_name_of_ours(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    file = upload(lines_of(PERFECT), "../../evil name.jsonl")
    send(client_of(researcher), board, b"", file=file)
    submission = Submission.objects.get()
    with submission.upload.open("rb") as stored:
        assert stored.read() == lines_of(PERFECT)
    assert "evil" not in str(submission.upload)
    assert submission.filename == "evil name.jsonl"


def test_faults_are_listed_and_nothing_is_stored(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    content = b'{"id": "nobody", "html": ""}\nbroken\n'
    response = send(client_of(researcher), board, content)
    text = response.content.decode()
    assert response.status_code == 422
    assert "2 errors. Nothing was submitted" in text
    assert "unknown id &#x27;nobody&#x27;" in text
    assert "not valid JSON" in text
    assert not Submission.objects.exists()
    assert not Job.objects.exists()
    assert stored_files() == []


def test_hostile_names_in_faults_are_escaped(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    content = b'{"id": "<script>alert(1)</script>", "html": ""}\n'
    text = send(client_of(researcher), board, content).content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_missing_ids_are_asked_about(client_of: ClientOf, board: Board, researcher: User) -> None:
    client, some = client_of(researcher), lines_of({"page-2": "x"})
    asked = send(client, board, some)
    assert asked.status_code == 422
    assert "2 items without a prediction" in asked.content.decode()
    assert "page-3" in asked.content.decode()
    assert not Submission.objects.exists()
    assert send(client, board, some, accept_missing="on").status_code == 302
    assert Submission.objects.get().gradings.get().missing == 2


def test_a_file_that_was_submitted_before_is_confirmed(
    client_of: ClientOf, board: Board, researcher: User, stranger: User
) -> None:
    client, some = client_of(researcher), lines_of({"page-1": PERFECT["page-1"]})
    send(client, board, some, accept_missing="on")
    first = Submission.objects.get()
    again = {"form_key": "key-2", "accept_missing": "on"}
    response = send(client, board, some, **again, headers=HTMX)
    text = response.content.decode()
    assert response.status_code == 409
    assert f'<a href="/submissions/{first.pk}/">submission {first.pk}</a>' in text
    assert 'type="hidden" name="accept_missing"' in text
    assert Submission.objects.count() == 1
    assert send(client, board, some, **again, accept_identical="on").status_code == 302
    other = lines_of({"page-1": PERFECT["page-2"]})
    assert send(client, board, other, **again | {"form_key": "key-3"}).status_code == 302
    assert send(client_of(stranger), board, some, **again).status_code == 302
    Submission.objects.update(withdrawn_at=timezone.now())
    assert send(client, board, some, **again | {"form_key": "key-4"}).status_code == 302


def test_a_second_click_during_the_first_is_no_identical_file(
    client_of: ClientOf, board: Board, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both requests look for the form's submission before either has saved it."""
    monkeypatch.setattr("scoring.submissions.views.find_submission", lambda **_: None)
    client = client_of(researcher)
    answers = [send(client, board, lines_of(PERFECT)) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 302]
    assert Submission.objects.count() == 1


def test_the_same_form_sent_twice_gives_one_submission(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    client = client_of(researcher)
    first = send(client, board, lines_of(PERFECT))
    second = send(client, board, lines_of(PERFECT))
    assert first["Location"] == second["Location"]
    assert Submission.objects.count() == 1
    assert len(stored_files()) == 1


def test_two_requests_of_one_form_at_once_give_one_submission(
    board: Board, researcher: User
) -> None:
    """The second finds nothing when it looks, and the constraint stops it when it writes."""
    phase = first_phase(board)

    def create() -> Submission:
        return send_file(phase, researcher, lines_of(PERFECT), form_key="same")

    assert create() == create()
    assert Submission.objects.count() == 1
    assert Grading.objects.count() == 1
    assert len(stored_files()) == 1


def test_the_same_key_of_another_person_is_another_submission(
    client_of: ClientOf, board: Board, researcher: User, stranger: User
) -> None:
    for user in (researcher, stranger):
        send(client_of(user), board, lines_of(PERFECT))
    assert Submission.objects.count() == 2


def test_a_failure_while_storing_leaves_nothing(
    client_of: ClientOf, board: Board, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(service, "start_grading", fail)
    with pytest.raises(DatabaseError):
        send(client_of(researcher), board, lines_of(PERFECT))
    assert not Submission.objects.exists()
    assert not Prediction.objects.exists()
    assert stored_files() == []


def test_an_upload_beyond_the_limit_is_refused(
    client_of: ClientOf, board: Board, researcher: User, settings: Any
) -> None:
    settings.UPLOAD_LIMIT = settings.MEGABYTE
    response = send(client_of(researcher), board, b"x" * (2 * settings.MEGABYTE))
    assert response.status_code == 413
    assert "larger than 1 MB" in response.content.decode()
    assert not Submission.objects.exists()


@pytest.mark.parametrize("field", ["name", "file", "form_key", "category"])
def test_what_is_required_is_named(
    client_of: ClientOf, board: Board, researcher: User, field: str
) -> None:
    response = send(client_of(researcher), board, lines_of(PERFECT), **{field: ""})
    assert response.status_code == 400
    assert "This field is required" in response.content.decode()
    assert not Submission.objects.exists()


def test_a_link_must_be_an_address(client_of: ClientOf, board: Board, researcher: User) -> None:
    link = "javascript:alert(1)"
    response = send(client_of(researcher), board, lines_of(PERFECT), link=link)
    assert response.status_code == 400
    assert "Enter a valid URL" in response.content.decode()


def test_htmx_gets_the_outcome_alone_so_that_the_file_stays_chosen(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    response = send(client_of(researcher), board, b"broken\n", headers=HTMX)
    text = response.content.decode()
    assert response.status_code == 422
    assert text.strip().startswith('<div id="outcome"')
    assert "<html" not in text
    assert 'type="file"' not in text


def test_htmx_is_led_to_the_submission_by_a_header(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    response = send(client_of(researcher), board, lines_of(PERFECT), headers=HTMX)
    assert response.status_code == 204
    assert response["HX-Redirect"] == Submission.objects.get().get_absolute_url()


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("opens", "closes", "is_open"),
    [
        (None, None, True),
        (-HOUR, HOUR, True),
        (HOUR, None, False),
        (None, -HOUR, False),
    ],
)
def test_the_window_decides(
    client_of: ClientOf,
    researcher: User,
    opens: timedelta | None,
    closes: timedelta | None,
    is_open: bool,
) -> None:
    now = timezone.now()
    board = make_board(
        opens_at=now + opens if opens else None, closes_at=now + closes if closes else None
    )
    page = client_of(researcher).get(f"/boards/{board.slug}/submit/")
    assert ("No phase is open" in page.content.decode()) is not is_open
    response = send(client_of(researcher), board, lines_of(PERFECT))
    assert response.status_code == (302 if is_open else 400)
    assert Submission.objects.exists() is is_open


def test_the_edges_of_the_window(board: Board) -> None:
    now = timezone.now()
    phase = Phase(opens_at=now, closes_at=now + HOUR)
    tick = timedelta(microseconds=1)
    windows = [phase.window(at) for at in (now - tick, now, now + HOUR - tick, now + HOUR)]
    assert windows == ["upcoming", "open", "open", "closed"]


def test_a_phase_that_closes_while_the_file_is_checked_takes_nothing(
    board: Board, researcher: User
) -> None:
    phase, file = first_phase(board), upload(lines_of(PERFECT))
    checked = check_upload(phase=phase, file=file, filename="a.jsonl")
    phase.closes_at = timezone.now() - HOUR
    with pytest.raises(SubmissionRefused, match="closed on"):
        service.create_submission(
            phase=phase,
            owner=researcher,
            card={"name": "Reader"},
            file=file,
            filename="a.jsonl",
            checked=checked,
        )
    assert stored_files() == []


@pytest.mark.parametrize(
    ("state", "who", "status"),
    [
        (Board.State.DRAFT, "researcher", 404),
        (Board.State.DRAFT, "organiser", 302),
        (Board.State.ARCHIVED, "researcher", 400),
        (Board.State.ARCHIVED, "organiser", 400),
    ],
)
def test_the_boards_state_decides(
    client_of: ClientOf,
    request: pytest.FixtureRequest,
    state: Board.State,
    who: str,
    status: int,
) -> None:
    board = make_board(state=state)
    user = request.getfixturevalue(who)
    assert send(client_of(user), board, lines_of(PERFECT)).status_code == status


def test_a_phase_of_another_board_is_refused(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    other = make_board(make_release(), slug="other")
    response = send(client_of(researcher), board, lines_of(PERFECT), phase=first_phase(other).pk)
    assert response.status_code == 400
    assert not Submission.objects.exists()


def test_posting_without_a_csrf_token_is_refused(board: Board, researcher: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(researcher, backend=django_settings.AUTHENTICATION_BACKENDS[0])
    assert send(client, board, lines_of(PERFECT)).status_code == 403


def test_the_form_begins_with_the_phase_that_the_board_shows(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    test = first_phase(board)
    dev = add_phase(board=board, phase=NewPhase("dev", "Development", test.release), actor=None)
    client = client_of(researcher)
    assert "submit/?phase=dev" in client.get("/boards/board/?phase=dev").text
    for phase in (test, dev):
        page = client.get(f"/boards/board/submit/?phase={phase.slug}").text
        assert f'<option value="{phase.pk}" selected>' in page
    assert client.get("/boards/board/submit/?phase=gone").status_code == 200
