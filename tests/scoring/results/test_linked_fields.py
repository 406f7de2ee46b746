"""Fields of benchmarks without facts: on the item's page, compared, and who may see them."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.datasets.releases.services import freeze_lines
from portal.jobs.worker import run_due_jobs
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import open_items, publish_submission
from tests.factories import empty_dataset
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import send_lines

pytestmark = pytest.mark.django_db

GOLD = {
    "slip": {"invoice_number": "A-1", "std_total": "12.00", "seller_name": "Tallow"},
    "bill": {"invoice_number": "B-2", "std_total": "8.50", "seller_name": "Quill"},
}
# One misreads a number, the other a total, and both the other seller.
ONE = {
    "slip": GOLD["slip"] | {"invoice_number": "A-7", "seller_name": "Xyz"},
    "bill": GOLD["bill"],
}
OTHER = {"slip": GOLD["slip"] | {"seller_name": "<b>Abc</b>"}, "bill": GOLD["bill"]}
OTHER["bill"] = GOLD["bill"] | {"std_total": "9.50"}


def receipts(
    visibility: str = Release.Visibility.PUBLIC, diagnostics: str = "facts", **phase: Any
) -> Board:
    lines = {name: {"id": name, "fields": fields} for name, fields in GOLD.items()}
    release = freeze_lines(
        dataset=empty_dataset(visibility="public"),
        version="1.0.0",
        benchmark="receiptbench",
        lines=lines,
        visibility=visibility,
    )
    board = create_board(
        slug="board",
        title="Receipts",
        benchmark="receiptbench",
        phase=NewPhase(
            slug="test", title="Test", release=release, diagnostics=diagnostics, **phase
        ),
        actor=None,
    )
    return set_board_state(board=board, state=Board.State.OPEN, actor=None, confirm_disclosure=True)


def submit(board: Board, owner: User, fields: dict[str, dict[str, str]], name: str) -> Submission:
    lines = [{"id": key, "fields": value} for key, value in fields.items()]
    submission = send_lines(board, owner, lines, name=name)
    run_due_jobs()
    publish_submission(submission=submission, actor=owner)
    return submission


def two_entries(board: Board, owner: User) -> str:
    """The numbers of two entries, as the comparison takes them."""
    for name, fields in (("R0", ONE), ("R1", OTHER)):
        submit(board, owner, fields, name)
    return ",".join(str(pk) for pk in Entry.objects.order_by("pk").values_list("pk", flat=True))


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


ROW = re.compile(r'<tr id="fact-(\d+)".*?verdict-(right|wrong).*?class="path">(\w+)<', re.DOTALL)
MARK = re.compile(r'<mark class="([a-z ]+)" data-fact="([\d ]+)">(.*?)</mark>')


def test_wrong_fields_come_first_and_have_places(researcher: User, client_of: ClientOf) -> None:
    submission = submit(receipts(), researcher, OTHER, "R")
    url = f"/submissions/{submission.pk}/items/slip/"
    text = text_of(client_of(researcher), url)
    rows = ROW.findall(text)
    assert len(rows) == 19
    number, verdict, name = rows[0]
    assert (verdict, name) == ("wrong", "seller_name")
    assert {verdict for _, verdict, _ in rows[1:]} == {"right"}
    chosen = text_of(client_of(researcher), f"{url}?fact={number}")
    marks = [(css, value) for css, numbers, value in MARK.findall(chosen) if numbers == number]
    # Gold, then prediction. Nothing of a prediction becomes markup.
    assert marks == [("wrong current", "Tallow"), ("wrong current", "&lt;b&gt;Abc&lt;/b&gt;")]
    only = text_of(client_of(researcher), f"{url}?facts=wrong")
    assert [name for _, _, name in ROW.findall(only)] == ["seller_name"]


def test_the_api_has_the_fields(researcher: User, api_of: ApiOf) -> None:
    submission = submit(receipts(), researcher, ONE, "R")
    item = api_of(researcher).get(f"/api/v1/submissions/{submission.pk}/items/slip/").json()
    wrong = {each["name"]: each for each in item["fields_graded"] if not each["correct"]}
    assert set(wrong) == {"invoice_number", "seller_name"}
    shown = wrong["invoice_number"]
    assert (shown["value"], shown["read"], shown["error"]) == ("A-1", "A-7", "perception")
    assert item["facts"] is None


@pytest.mark.parametrize(
    ("visibility", "phase"),
    [("gold_hidden", {}), ("public", {"diagnostics": "items"})],
)
def test_fields_are_not_shown_with_hidden_gold(
    researcher: User, client_of: ClientOf, api_of: ApiOf, visibility: str, phase: dict[str, Any]
) -> None:
    submission = submit(receipts(visibility, **phase), researcher, ONE, "R")
    path = f"submissions/{submission.pk}/items/slip/"
    text = text_of(client_of(researcher), f"/{path}?fact=0")
    assert "data-fact" not in text
    assert "12.00" not in text
    assert api_of(researcher).get(f"/api/v1/{path}").json()["fields_graded"] is None


# --- compared ------------------------------------------------------------------------------------

VALUE = re.compile(r'<th scope="row" role="rowheader" class="value">(.+?)</th>')


def test_compared_fields_open_the_item_at_the_field(researcher: User, client_of: ClientOf) -> None:
    client = client_of(researcher)
    entries = two_entries(receipts(), researcher)
    url = f"/boards/board/compare/facts/?entries={entries}"
    assert "Compare fields" in text_of(client, f"/boards/board/compare/?entries={entries}")
    first = text_of(client, url)
    assert VALUE.findall(first) == ["8.50"]
    assert VALUE.findall(text_of(client, f"{url}&right=second")) == ["A-1"]
    assert VALUE.findall(text_of(client, f"{url}&right=second&type=std_total")) == []
    for link in re.findall(r'href="(/submissions/\d+/items/bill/\?fact=\d+)#', first):
        item = text_of(client, link)
        assert 'current" data-fact' in item
        assert ">8.50</mark>" in item


def test_queries_do_not_grow_with_the_fields(
    researcher: User, client_of: ClientOf, django_assert_max_num_queries: Any
) -> None:
    entries = two_entries(receipts(), researcher)
    client = client_of(researcher)
    with django_assert_max_num_queries(10):
        text_of(client, f"/boards/board/compare/facts/?entries={entries}")


# --- the API of the compared list ----------------------------------------------------------------


def compared(api: APIClient, query: str) -> Any:
    return api.get(f"/api/v1/boards/board/compare/facts/?entries={query}")


def test_the_api_lists_what_the_page_lists(researcher: User, api_of: ApiOf) -> None:
    entries = two_entries(receipts(), researcher)
    answer = compared(api_of(researcher), entries).json()
    assert answer["count"] == 1
    [found] = answer["results"]
    assert (found["item"], found["type"], found["value"]) == ("bill", "std_total", "8.50")
    assert [(side["system"], side["text"], side["error"]) for side in found["sides"]] == [
        ("R0", "8.50", ""),
        ("R1", "9.50", "formatting"),
    ]
    second = compared(api_of(researcher), f"{entries}&right=second&type=invoice_number").json()
    assert [each["value"] for each in second["results"]] == ["A-1"]
    past = compared(api_of(researcher), f"{entries}&limit=1&offset=1").json()
    assert (past["count"], past["results"]) == (1, [])


@pytest.mark.parametrize(
    ("query", "field"),
    [("1", "entries"), ("1,x", "entries"), ("{}&type=colour", "type"), ("{}&right=third", "right")],
)
def test_bad_requests_name_the_parameter(
    researcher: User, api_of: ApiOf, query: str, field: str
) -> None:
    entries = two_entries(receipts(), researcher)
    answer = compared(api_of(researcher), query.format(entries))
    assert answer.status_code == 400
    assert list(answer.json()) == [field]


def test_the_list_is_for_readers_of_both_submissions(
    researcher: User, stranger: User, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    entries = two_entries(receipts(), researcher)
    for user, status in ((researcher, 200), (organiser, 200), (stranger, 404), (None, 404)):
        assert compared(api_of(user), entries).status_code == status
        page = client_of(user).get(f"/boards/board/compare/facts/?entries={entries}")
        assert page.status_code == status
    for submission in Submission.objects.all():
        open_items(submission=submission, has_open_items=True, actor=researcher)
    assert compared(api_of(None), entries).status_code == 200


@pytest.mark.parametrize(
    ("visibility", "phase"),
    [
        ("public", {"diagnostics": "items"}),
        ("public", {"diagnostics": "aggregates"}),
        ("public", {"score_decimals": 1}),
        ("gold_hidden", {}),
        ("private", {}),
    ],
)
def test_hidden_gold_is_on_no_list(
    researcher: User, organiser: User, api_of: ApiOf, visibility: str, phase: dict[str, Any]
) -> None:
    entries = two_entries(receipts(visibility, **phase), researcher)
    for user in (None, researcher) if visibility == "public" else (None, researcher, organiser):
        answer = compared(api_of(user), entries)
        assert answer.status_code == 404
        assert "8.50" not in html.unescape(answer.content.decode())
