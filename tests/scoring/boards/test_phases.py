"""Phases and settings of a board, and the messages about faults."""

from datetime import UTC, datetime
from typing import Any

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import ReleaseItem
from scoring.models import Board
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_release, make_submission, upload

pytestmark = pytest.mark.django_db


def form_of(board: Board, **changes: Any) -> dict[str, Any]:
    """The data of a phase's form."""
    return {
        "title": "Second round",
        "release": board.phases.values_list("release", flat=True)[0],
        "options": "{}",
        "diagnostics": "aggregates",
        "time_zone": "UTC",
        "takes_incomplete": "on",
        "is_protected": "on",
        **changes,
    }


def test_a_phase_is_added(client_of: ClientOf, board: Board, organiser: User) -> None:
    sent = form_of(board, per_day="5", in_total="100", score_decimals="1")
    answer = client_of(organiser).post("/boards/board/phases/new/", sent)
    assert answer.status_code == 302
    phase = board.phases.get(slug="second-round")
    assert (phase.per_day, phase.in_total, phase.failed_per_day) == (5, 100, None)
    assert phase.options["labels"] == "Number,Date"
    assert Event.objects.filter(verb="add_phase", actor=organiser).exists()


def test_a_title_that_is_taken_gets_another_word_in_addresses(
    client_of: ClientOf, board: Board, organiser: User
) -> None:
    for _ in range(2):
        client_of(organiser).post("/boards/board/phases/new/", form_of(board, title="Test"))
    assert list(board.phases.values_list("slug", flat=True)) == ["test", "test-2", "test-3"]


def test_times_are_read_on_the_clocks_of_the_zone(
    client_of: ClientOf, board: Board, organiser: User
) -> None:
    sent = form_of(
        board,
        time_zone="Asia/Tokyo",
        opens_at="2026-12-01T09:00",
        closes_at="2026-12-31T18:30",
    )
    client_of(organiser).post("/boards/board/phases/new/", sent)
    phase = board.phases.get(slug="second-round")
    assert phase.opens_at == datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    assert phase.closes_at == datetime(2026, 12, 31, 9, 30, tzinfo=UTC)
    page = client_of(organiser).get("/boards/board/phases/second-round/").content.decode()
    assert 'value="2026-12-01T09:00"' in page
    assert 'value="2026-12-31T18:30"' in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time_zone": "Mars/Olympus"}, "There is no time zone “Mars/Olympus”"),
        (
            {"time_zone": "Europe/Berlin", "opens_at": "2026-03-29T02:30"},
            "This time does not exist in Europe/Berlin: the clocks change.",
        ),
        (
            {"opens_at": "2026-12-01T09:00", "closes_at": "2026-12-01T09:00"},
            "The phase must close after it opens.",
        ),
        ({"split": "test"}, "The release has no items in the split “test”"),
        ({"score_decimals": "1", "diagnostics": "items"}, "totals only"),
        ({"per_day": "0"}, "Enter 1 or more, or leave the field empty for no limit."),
        ({"in_total": "0"}, "Enter 1 or more, or leave the field empty for no limit."),
        ({"failed_per_day": "0"}, "Enter 1 or more, or leave the field empty for no limit."),
        ({"options": '{"labls": []}'}, "labls"),
        ({"options": "[1]"}, "Enter a JSON object"),
        ({"title": ""}, "This field is required."),
    ],
)
def test_a_fault_is_told_and_nothing_is_made(
    client_of: ClientOf, board: Board, organiser: User, changes: dict[str, Any], words: str
) -> None:
    answer = client_of(organiser).post("/boards/board/phases/new/", form_of(board, **changes))
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert board.phases.count() == 1


def test_a_phase_is_changed_and_the_log_keeps_what_it_was(
    client_of: ClientOf, board: Board, organiser: User
) -> None:
    sent = form_of(board, title="Test", per_day="3", diagnostics="facts")
    answer = client_of(organiser).post("/boards/board/phases/test/", sent)
    assert answer.status_code == 302
    assert first_phase(board).per_day == 3
    event = Event.objects.get(verb="edit_phase")
    assert event.data["before"] == {"per_day": "None"}


def test_what_was_graded_stays_as_it_was_graded(
    client_of: ClientOf, api_of: ApiOf, board: Board, organiser: User, researcher: User
) -> None:
    make_submission(board, researcher)
    before = first_phase(board)
    newer = make_release(dataset=before.release.dataset, version="2.0.0", gold={"p": "<p>A</p>"})
    client_of(organiser).post(
        "/boards/board/phases/test/", form_of(board, release=newer.pk, title="Renamed")
    )
    after = first_phase(board)
    assert (after.title, after.release_id) == ("Renamed", before.release_id)
    answer = api_of(organiser).patch(
        "/api/v1/boards/board/phases/test/",
        {"dataset": newer.dataset.slug, "release": "2.0.0"},
        format="json",
    )
    assert answer.status_code == 409
    assert "its release, split, options and public share cannot" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("2027-01-01T00:00:00", "2026-12-31T15:00:00Z"),
        ("2027-01-01T00:00", "2026-12-31T15:00:00Z"),
        ("2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2027-01-01T00:00:00-05:00", "2027-01-01T05:00:00Z"),
    ],
)
def test_times_without_an_offset_are_in_the_zone_of_the_phase(
    api_of: ApiOf, board: Board, organiser: User, sent: str, stored: str
) -> None:
    release = first_phase(board).release
    whole = {
        "title": "Final",
        "dataset": release.dataset.slug,
        "release": release.version,
        "time_zone": "Asia/Tokyo",
        "closes_at": sent,
        "scores_after": sent,
    }
    api = api_of(organiser)
    made = api.post("/api/v1/boards/board/phases/", whole, format="json").json()
    assert (made["closes_at"], made["scores_after"]) == (stored, stored)
    # A change has the zone of the phase, or its own.
    url = "/api/v1/boards/board/phases/final/"
    changed = api.patch(url, {"closes_at": "2027-02-01T00:00:00"}, format="json").json()
    assert changed["closes_at"] == "2027-01-31T15:00:00Z"
    zone = {"time_zone": "Europe/Berlin", "closes_at": "2027-02-01T00:00:00"}
    assert api.patch(url, zone, format="json").json()["closes_at"] == "2027-01-31T23:00:00Z"
    moved = api.patch(url, {"time_zone": "UTC"}, format="json").json()
    assert moved["closes_at"] == "2027-01-31T23:00:00Z"
    skipped = {"time_zone": "Europe/Berlin", "opens_at": "2026-03-29T02:30:00"}
    refused = api.patch(url, skipped, format="json")
    assert refused.status_code == 400
    assert "does not exist in Europe/Berlin" in refused.json()["opens_at"][0]


def test_phases_by_the_api(api_of: ApiOf, board: Board, organiser: User) -> None:
    release = first_phase(board).release
    made = api_of(organiser).post(
        "/api/v1/boards/board/phases/",
        {
            "title": "Final",
            "dataset": release.dataset.slug,
            "release": release.version,
            "per_day": 2,
            "closes_at": "2027-01-01T00:00:00+09:00",
            "time_zone": "Asia/Tokyo",
        },
        format="json",
    )
    assert made.status_code == 201, made.json()
    assert made.json()["closes_at"] == "2026-12-31T15:00:00Z"
    changed = api_of(organiser).patch(
        "/api/v1/boards/board/phases/final/", {"per_day": None}, format="json"
    )
    assert (changed.status_code, changed.json()["per_day"]) == (200, None)
    for limit in ("per_day", "in_total", "failed_per_day"):
        zero = api_of(organiser).patch(
            "/api/v1/boards/board/phases/final/", {limit: 0}, format="json"
        )
        assert (zero.status_code, set(zero.json())) == (400, {limit})
    wrong = api_of(organiser).post(
        "/api/v1/boards/board/phases/", {"title": "X", "time_zone": "Nowhere"}, format="json"
    )
    assert wrong.status_code == 400
    assert "time_zone" in wrong.json()


def test_settings_of_a_board(client_of: ClientOf, board: Board, organiser: User) -> None:
    sent = {
        "title": "Renamed",
        "rules": "No *training* on the test set.",
        "card_fields": ["organisation", "prompt"],
        "default_sort": "n_ffa",
    }
    answer = client_of(organiser).post("/boards/board/settings/", sent)
    assert answer.status_code == 302
    board.refresh_from_db()
    assert (board.title, board.card_fields, board.default_sort) == (
        "Renamed",
        ["organisation", "prompt"],
        "n_ffa",
    )


def test_what_a_board_asks_of_the_model_card(
    client_of: ClientOf, api_of: ApiOf, board: Board, researcher: User
) -> None:
    Board.objects.update(card_fields=["organisation"], rules="Do **not** cheat.")
    page = client_of(researcher).get("/boards/board/submit/").content.decode()
    assert "<strong>not</strong>" in page
    answer = client_of(researcher).post(
        "/boards/board/submit/", {"name": "Reader", "phase": first_phase(board).pk}
    )
    assert answer.status_code == 400
    assert "Organisation: This field is required." in answer.content.decode()
    by_api = api_of(researcher).post(
        "/api/v1/boards/board/submissions/",
        {"name": "Reader", "file": upload(b"{}")},
        format="multipart",
    )
    assert by_api.status_code == 400
    assert "organisation" in by_api.json()


def test_a_phase_grades_its_split_alone(board: Board) -> None:
    phase = first_phase(board)
    assert phase.items.count() == 3
    phase.split = ReleaseItem.Split.DEV
    assert phase.items.count() == 0
