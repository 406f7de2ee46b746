"""Rows that organisers enter: by page, API and CSV, with the log, and without a rank."""

from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.audit.models import Event
from scoring.boards.services import set_board_state
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Entry
from scoring.reported.services import add_row
from tests.asking import check_answers
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_entry

pytestmark = pytest.mark.django_db

ROWS = "/boards/board/rows/"
API = "/api/v1/boards/board/rows/"


def row(name: str = "Paper model", **fields: Any) -> dict[str, Any]:
    return {
        "kind": "reported",
        "name": name,
        "category": "other",
        "provenance": "A paper, Table 2",
        "provenance_url": "https://example.org/paper",
        "scores": {"ffa": 0.9},
        **fields,
    }


def verbs() -> list[str]:
    events = Event.objects.filter(verb__endswith="_row").order_by("id")
    return list(events.values_list("verb", flat=True))


def test_a_row_is_entered_edited_and_withdrawn_by_page(
    client_of: ClientOf, organiser: User, board: Board
) -> None:
    client = client_of(organiser)
    form = {"kind": "reported", "name": "Paper model", "source": "A paper", "category": "other"}
    sent = client.post(f"{ROWS}new/", {**form, "figure-ffa": "65.16", "figure-r1": "80"})
    entry = Entry.objects.get(name="Paper model")
    assert (sent.status_code, sent["Location"]) == (302, f"{ROWS}{entry.pk}/")
    assert entry.scores == {"ffa": 0.6516, "r1": 0.8}
    shown = client.get(f"{ROWS}{entry.pk}/edit/").content.decode()
    assert 'value="65.16"' in shown
    client.post(f"{ROWS}{entry.pk}/edit/", {**form, "figure-ffa": "66", "figure-r1": ""})
    entry.refresh_from_db()
    assert entry.scores == {"ffa": 0.66}
    assert client.post(f"{ROWS}{entry.pk}/withdraw/").status_code == 302
    assert not Entry.objects.exists()
    assert verbs() == ["enter_row", "edit_row", "withdraw_row"]
    edited = Event.objects.get(verb="edit_row")
    assert edited.actor == organiser
    assert edited.data == {"board": board.pk, "before": {"scores": {"ffa": 0.6516, "r1": 0.8}}}
    assert Event.objects.get(verb="withdraw_row").data["row"]["scores"] == {"ffa": 0.66}


def test_saving_a_row_unchanged_writes_no_event(organiser: User, board: Board) -> None:
    from scoring.reported.services import edit_row

    entry = add_row(board=board, row=row(), actor=organiser)
    revision = Board.objects.get().revision
    edit_row(entry=entry, row=row(), actor=organiser)
    assert verbs() == ["enter_row"]
    assert Board.objects.get().revision == revision


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"source": ""}, "Source: This field is required."),
        ({"figure-ffa": ""}, "Enter at least one score."),
        ({"figure-ffa": "65,16"}, "Enter a number."),
        ({"figure-ffa": "6516"}, "less than or equal to 1000"),
        ({"category": "robots"}, "robots is not one of the available choices"),
        ({"source_url": "javascript:alert(1)"}, "Enter a valid URL."),
    ],
)
def test_a_faulty_row_is_refused_with_the_field(
    client_of: ClientOf, organiser: User, board: Board, fields: dict[str, str], message: str
) -> None:
    form = {"kind": "reported", "name": "X", "source": "A paper", "category": "other"}
    sent = client_of(organiser).post(f"{ROWS}new/", {**form, "figure-ffa": "65", **fields})
    assert sent.status_code == 400
    assert message in sent.content.decode()
    assert not Entry.objects.exists()


def test_entered_rows_are_shown_and_never_ranked(organiser: User, board: Board) -> None:
    make_entry(board, organiser, name="Graded", ffa=0.5)
    scores = {"r1": 1.0, "rl": 1.0, "edit_distance": 0.0, "n_ffa": 1.0, "t_ffa": 1.0, "ffa": 1.0}
    add_row(board=board, row=row(scores=scores), actor=organiser)
    add_row(board=board, row=row("People", kind="human", scores=scores), actor=organiser)
    graded, human, reported = leaderboard(board, first_phase(board)).sections
    assert [each.kind for each in (graded, human, reported)] == ["graded", "human", "reported"]
    for section in (human, reported):
        [shown] = section.rows
        assert set(shown.ranks.values()) == {None}
        assert not any(cell.is_best for cell in shown.cells)
    assert graded.rows[0].ranks["rank_ffa"] == 1
    # The mean by which papers rank without printing it.
    assert reported.rows[0].entry.scores["general"] == 1.0


def test_the_benchmarks_own_rows_leave_entered_ones_alone(organiser: User, board: Board) -> None:
    entry = add_row(board=board, row=row(), actor=organiser)
    load_reported(board=board)
    assert Entry.objects.filter(pk=entry.pk).exists()
    shipped = board.entries.exclude(pk=entry.pk).first()
    assert shipped is not None
    assert not shipped.is_entered


def test_a_row_has_a_page_and_a_citation(
    client_of: ClientOf, organiser: User, board: Board
) -> None:
    entry = add_row(board=board, row=row(organisation="A & B"), actor=organiser)
    client = client_of(None)
    page = client.get(f"{ROWS}{entry.pk}/").content.decode()
    assert "90.00" in page
    assert 'href="https://example.org/paper"' in page
    assert "Edit row" not in page
    cited = client.get(f"{ROWS}{entry.pk}/cite.bib").content.decode()
    assert f"@misc{{board.row-{entry.pk}," in cited
    assert r"author = {{A \& B}}" in cited
    assert "note = {Figures: A paper, Table 2. Accessed " in cited
    assert f"url = {{http://testserver{ROWS}{entry.pk}/}}" in cited


def asked(caller: APIClient, url: str, verb: str) -> Any:
    return getattr(caller, verb)(url, {}, format="json")


def test_only_organisers_change_rows(
    client_of: ClientOf, api_of: ApiOf, board: Board, organiser: User, stranger: User
) -> None:
    entry = add_row(board=board, row=row(), actor=None)
    page, api = f"{ROWS}{entry.pk}/", f"{API}{entry.pk}/"
    people: list[User | None] = [None, stranger, organiser]
    pages = {page: (200, 200, 200), f"{page}edit/": (302, 403, 200), ROWS: (302, 403, 200)}
    endpoints = {"get": (200, 200, 200), "patch": (401, 403, 200), "delete": (401, 403, 204)}
    for place, user in enumerate(people):
        client, caller = client_of(user), api_of(user)
        check_answers({url: wanted[place] for url, wanted in pages.items()}, client.get)
        check_answers(
            {verb: wanted[place] for verb, wanted in endpoints.items()},
            partial(asked, caller, api),
        )
        withdrawn = (302, 403, 302)[place]
        check_answers({f"{page}withdraw/": withdrawn}, client.post)


def test_rows_of_a_draft_board_are_hidden(api_of: ApiOf, board: Board) -> None:
    entry = add_row(board=board, row=row(), actor=None)
    set_board_state(board=board, state=Board.State.DRAFT, actor=None)
    assert api_of(None).get(API).status_code == 404
    assert api_of(None).get(f"{API}{entry.pk}/").status_code == 404


def test_rows_by_the_api_have_rates(api_of: ApiOf, organiser: User, board: Board) -> None:
    api = api_of(organiser)
    sent = {"name": "Paper model", "source": "A paper", "scores": {"ffa": 0.6516, "r1": 0.3}}
    made = api.post(API, sent, format="json")
    assert made.status_code == 201
    assert made.json()["scores"] == {"ffa": 0.6516, "r1": 0.3}
    changed = api.patch(
        f"{API}{made.json()['id']}/", {"size": "7B", "scores": {"r1": None}}, format="json"
    )
    assert changed.json()["scores"] == {"ffa": 0.6516}
    assert (changed.json()["size"], changed.json()["source"]) == ("7B", "A paper")
    assert [each["name"] for each in api_of(None).get(API).json()["results"]] == ["Paper model"]


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({"name": "X"}, "source", "This field is required."),
        ({"scores": {"fffa": 1}}, "scores", "This board has no score “fffa”."),
        ({"scores": {"ffa": "1"}}, "scores", "“ffa” must be a number or null."),
        ({"scores": {"ffa": 65.16}}, "ffa", "less than or equal to 1000"),
        ({"scores": 3}, "scores", "Send an object"),
        (["a"], "non_field_errors", "Send an object with the fields of the row."),
        ({"scores": {"ffa": True}}, "scores", "must be a number"),
    ],
)
def test_the_api_names_the_faulty_field(
    api_of: ApiOf, organiser: User, board: Board, sent: Any, field: str, message: str
) -> None:
    answer = api_of(organiser).post(API, sent, format="json")
    assert answer.status_code == 400
    assert message in str(answer.json()[field])


def table(text: str, name: str = "rows.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


GOOD = (
    "name,source,source_url,organisation,released_on,ffa,r1\n"
    'Big,"A paper, Table 2",https://example.org,Lab,2026-01-31,65.16,80\n'
    "Small,A paper,,,,50,\n"
)


def test_a_table_is_loaded_and_loaded_again(
    client_of: ClientOf, organiser: User, board: Board
) -> None:
    client = client_of(organiser)
    assert client.post(ROWS, {"file": table(GOOD)}).status_code == 302
    big, small = board.entries.order_by("name")
    assert (big.scores, big.provenance) == ({"ffa": 0.6516, "r1": 0.8}, "A paper, Table 2")
    assert str(big.released_on) == "2026-01-31"
    assert small.scores == {"ffa": 0.5}
    client.post(ROWS, {"file": table(GOOD.replace("65.16", "70"))})
    again = board.entries.order_by("name")
    assert [each.pk for each in again] == [big.pk, small.pk]
    assert again[0].scores["ffa"] == 0.7
    assert verbs() == ["enter_row", "enter_row", "edit_row"]


FAULTY = [
    ("name,source,ffa\nA,P,x\n", "rows.csv:2", "ffa", "Enter a number. The value is “x”."),
    (
        "name,source,ffa,fffa\nA,P,50,1\nB,P,50,1\n",
        "rows.csv:2",
        "fffa",
        "no such column. Did you mean “ffa”?",
    ),
    ("name,source,ffa\nA,,50\n", "rows.csv:2", "source", "This field is required."),
    ("name,source,ffa\nA,P,50\n\nA,P,51\n", "rows.csv:4", "name", "repeats the row at rows.csv:2"),
    ("name,source,ffa\nA,P,50,7\n", "rows.csv:2", "", "has 4 values for 3 columns"),
    (
        "name,source,ffa\n",
        "rows.csv",
        "",
        "The table has no rows. Add one line per model below the header.",
    ),
    ("name,source,ffa\nA,P,0.65\n", "rows.csv", "", "For 65.16%, enter 65.16"),
    ("name,source,kind,ffa\nA,P,graded,50\n", "rows.csv:2", "kind", "graded is not one of"),
    ("name,name,ffa\nA,P,50\n", "rows.csv:1", "", "two columns have the same name"),
    ("name,source,ffa\nA,P,\n", "rows.csv:2", "", "Enter at least one score."),
]


@pytest.mark.parametrize(("text", "where", "column", "message"), FAULTY)
def test_a_faulty_table_is_refused_with_line_and_column(
    api_of: ApiOf,
    organiser: User,
    board: Board,
    text: str,
    where: str,
    column: str,
    message: str,
) -> None:
    answer = api_of(organiser).post(f"{API}table/", {"file": table(text)}, format="multipart")
    assert answer.status_code == 422
    [fault] = answer.json()["faults"]
    assert (fault["where"], fault["column"]) == (where, column)
    assert message in fault["message"]
    assert not Entry.objects.exists()


def test_all_faults_of_a_table_are_shown_on_the_page(
    client_of: ClientOf, organiser: User, board: Board
) -> None:
    text = "name,source,ffa\nA,P,x\nB,,50\nC,P,50\n"
    answer = client_of(organiser).post(ROWS, {"file": table(text)})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "2 errors. No rows were saved. Correct the file and upload it again." in page
    assert "rows.csv:2" in page
    assert "rows.csv:3" in page
    assert not Entry.objects.exists()


def test_the_empty_table_has_the_boards_figures(
    client_of: ClientOf, organiser: User, board: Board
) -> None:
    answer = client_of(organiser).get(f"{ROWS}template.csv")
    heads = answer.content.decode().strip().split(",")
    assert heads[:3] == ["name", "source", "kind"]
    assert {"ffa", "r1", "edit_distance", "released_on"} <= set(heads)
