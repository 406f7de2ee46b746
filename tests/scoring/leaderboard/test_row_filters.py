"""Filters of a leaderboard hide rows and do not change ranks; spellings of sizes."""

import csv
import io
import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from portal.accounts.models import User
from scoring.leaderboard.filters import RowFilter, RowFilterForm, parameters
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import bump_board
from scoring.models import Board, Category, Entry, Submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_board, make_entry, make_release
from tests.worlds import shared

pytestmark = pytest.mark.django_db

PAGE = "/boards/board/"
JSON = "/api/v1/boards/board/leaderboard/"
CSV = "/boards/board/leaderboard.csv"


def change(entry: Entry, **fields: Any) -> Entry:
    Entry.objects.filter(pk=entry.pk).update(**fields)
    bump_board(entry.board_id)
    return entry


def human(board: Board) -> Entry:
    return Entry.objects.create(
        board=board,
        kind=Entry.Kind.HUMAN,
        name="People",
        provenance="A study",
        scores={"r1": 0.99, "ffa": 0.99},
    )


@pytest.fixture
@shared
def rows(board: Board, researcher: User) -> Board:
    """Best first: Big, Middle, Small, Old; and a human upper bound."""
    big = make_entry(board, researcher, name="Big", ffa=0.9)
    change(big, size="70B", category=Category.PROPRIETARY_VLM, released_on=date(2026, 5, 1))
    middle = make_entry(board, researcher, name="Middle", ffa=0.8)
    change(middle, size="7B", category=Category.OPEN_VLM, organisation="Ministry of Data")
    small = make_entry(board, researcher, name="Small", ffa=0.7)
    change(small, size="350M", open_weights=False, verdict=Submission.Verdict.VERIFIED)
    old = make_entry(board, researcher, name="Old", ffa=0.6)
    change(old, published_at=datetime(2020, 1, 1, tzinfo=UTC), released_on=date(2019, 12, 31))
    human(board)
    return board


SHOWN: list[tuple[str, list[str]]] = [
    ("", ["Big", "Middle", "Small", "Old", "People"]),
    ("q=MIDD", ["Middle"]),
    ("q=ministry", ["Middle"]),
    ("category=open_vlm", ["Middle"]),
    ("size_from=7b", ["Big", "Middle"]),
    ("size_to=7B", ["Middle", "Small"]),
    ("size_from=0.35B&size_to=0.35B", ["Small"]),
    ("weights=open", ["Middle"]),
    ("weights=closed", ["Big", "Small"]),
    ("verified=on", ["Small"]),
    ("kind=graded", ["Big", "Middle", "Small", "Old"]),
    ("kind=human", ["People"]),
    ("kind=human&kind=graded", ["Big", "Middle", "Small", "Old", "People"]),
    ("kind=reported", []),
    ("released_from=2026-05-01", ["Big"]),
    ("released_from=2019-12-31", ["Big", "Old"]),
    ("published_from=2020-01-02", ["Big", "Middle", "Small"]),
    ("published_from=2020-01-01&size_from=1B", ["Big", "Middle"]),
]


@pytest.mark.parametrize(("query", "names"), SHOWN)
def test_page_json_and_csv_show_the_same_rows(
    rows: Board, client_of: ClientOf, api_of: ApiOf, query: str, names: list[str]
) -> None:
    address = f"?sort=rank_ffa&{query}"
    answer = api_of(None).get(f"{JSON}{address}").json()
    assert [row["name"] for each in answer["sections"] for row in each["rows"]] == names
    assert (answer["shown"], answer["total"]) == (len(names), 5)
    table = client_of(None).get(f"{CSV}{address}").getvalue().decode()
    assert [line["name"] for line in csv.DictReader(io.StringIO(table))] == names
    page = client_of(None).get(f"{PAGE}{address}&others=on").content.decode()
    systems = re.findall(r'<th scope="row">\s*(?:<input [^>]*>\s*)?(?:<a [^>]*>)?([A-Za-z]+)', page)
    assert systems == names
    assert (f"Showing {len(names)} of 5 rows" in page) is bool(query)
    assert ("No matching rows" in page) is (not names)


def test_ranks_and_marks_stay_those_of_the_whole_table(rows: Board) -> None:
    table = leaderboard(rows, first_phase(rows), wanted=RowFilter(q="middle"))
    [row] = table.sections[0].rows
    assert row.ranks["rank_ffa"] == 2
    cell = row.cells[[column.key for column in table.columns].index("ffa")]
    assert (cell.is_best, cell.is_second) == (False, True)
    assert (table.shown, table.total, table.has_graded) == (1, 5, True)


def test_pinned_rows_stay_and_disqualified_rows_stay_last(rows: Board, researcher: User) -> None:
    change(make_entry(rows, researcher, name="Pinned", ffa=0.1), is_pinned=True)
    out = make_entry(rows, researcher, name="Middle, copied", ffa=0.99)
    change(out, verdict=Submission.Verdict.DISQUALIFIED, verdict_reason="Copied.")
    table = leaderboard(rows, first_phase(rows), wanted=RowFilter(q="middle"))
    assert [row.entry.name for row in table.sections[0].rows] == [
        "Pinned",
        "Middle",
        "Middle, copied",
    ]


BAD = [
    ("size_from=big", "size_from"),
    ("size_to=7", "size_to"),
    ("size_from=7B&size_to=1B", "size_to"),
    ("released_from=31.12.2025", "released_from"),
    ("published_from=2025-02-30", "published_from"),
    ("category=poem", "category"),
    ("weights=half", "weights"),
    ("kind=graded&kind=poem", "kind"),
    ("q=%00", "q"),
    (f"q={'x' * 101}", "q"),
]


@pytest.mark.parametrize(("query", "field"), BAD)
def test_invalid_filters_are_reported(
    rows: Board, client_of: ClientOf, api_of: ApiOf, query: str, field: str
) -> None:
    page = client_of(None).get(f"{PAGE}?{query}")
    assert page.status_code == 200
    assert "Some filters were ignored" in page.content.decode()
    table = client_of(None).get(f"{CSV}?{query}")
    assert (table.status_code, table.content.decode().startswith(f"{field}: ")) == (400, True)
    answer = api_of(None).get(f"{JSON}?{query}")
    assert answer.status_code == 400
    assert field in answer.json()


@given(st.dictionaries(st.sampled_from(list(RowFilterForm.base_fields)), st.text(max_size=30)))
def test_any_text_gives_a_filter_that_its_own_address_gives_again(values: dict[str, str]) -> None:
    query = QueryDict(mutable=True)
    for name, value in values.items():
        query[name] = value
    wanted = RowFilterForm(query).wanted()
    again = QueryDict(mutable=True)
    for name, parameter in wanted.query.items():
        again.setlist(name, parameter if isinstance(parameter, list) else [parameter])
    assert RowFilterForm(again).wanted() == wanted


def test_links_of_the_page_keep_the_filter(rows: Board, client_of: ClientOf) -> None:
    client, kept = client_of(None), "size_from=7B&amp;kind=graded"
    page = client.get(f"{PAGE}?size_from=7B&kind=graded&view=scores").content.decode()
    assert f"?view=scores&amp;{kept}&amp;sort=ffa" in page
    assert f"{CSV}?view=scores&amp;{kept}" in page
    assert f"?{kept}&amp;view=document_types" in page
    assert f"{PAGE}?phase=test&amp;view=scores&amp;{kept}&amp;sort=grouped" in page
    headline = client.get(f"{PAGE}?size_from=7B&kind=graded").content.decode()
    assert f"http://testserver{PAGE}?phase=test&amp;view=headline&amp;{kept}" in headline


def test_a_link_to_a_view_names_phase_and_order(rows: Board, client_of: ClientOf) -> None:
    rows.default_sort = "rank_general"
    rows.save()
    page = client_of(None).get(f"{PAGE}?sort=-ffa&view=document_types").content.decode()
    assert f"{PAGE}?phase=test&amp;view=document_types&amp;sort=-ffa" in page
    page = client_of(None).get(f"{PAGE}?sort=grouped").content.decode()
    # An order without a view asks for the whole table, as in older links.
    assert f"{PAGE}?phase=test&amp;view=scores&amp;sort=grouped" in page


def test_every_filter_has_an_etag_of_its_own(rows: Board, client_of: ClientOf) -> None:
    client = client_of(None)
    queries = [f"?{query}" for query, _ in [*SHOWN, *BAD]]
    pages = {client.get(f"{PAGE}{query}")["ETag"] for query in queries}
    assert len(pages) == len(queries)
    answers = {client.get(f"{JSON}?{query}")["ETag"] for query, _ in SHOWN}
    assert len(answers) == len(SHOWN)


def test_the_page_names_what_the_phase_grades(client_of: ClientOf) -> None:
    splits = {"page-1": "dev", "page-2": "test", "page-3": "test"}
    make_board(make_release(visibility="gold_hidden", splits=splits), split="test")
    # The number of facts of the hidden part is not known.
    words = "share of the financial facts reproduced exactly and in the right place."
    assert f"FFA: {words}" in client_of(None).get(PAGE).content.decode()
    page = client_of(None).get(f"{PAGE}benchmark/").content.decode()
    assert "2 of 3 (the test split)" in " ".join(page.split())


@pytest.mark.parametrize(
    ("decimals", "text"), [(None, "37.50"), (0, "38"), (1, "37.5"), (3, "37.50")]
)
def test_a_figure_has_as_many_decimals_as_are_shown(
    researcher: User, decimals: int | None, text: str
) -> None:
    board = make_board(score_decimals=decimals)
    make_entry(board, researcher, ffa=0.38 if decimals == 0 else 0.375)
    table = leaderboard(board, first_phase(board))
    index = [column.key for column in table.columns].index("ffa")
    assert table.sections[0].rows[0].cells[index].text == text


B = 1e9


@pytest.mark.parametrize(
    ("size", "number"),
    [
        ("7B", 7 * B),
        ("0.07b", 0.07 * B),
        ("0,9B", 0.9 * B),
        ("350 M", 0.35 * B),
        ("1,300M", 1.3 * B),
        ("1,300.5M", 1.3005 * B),
        ("1T", 1000 * B),
        ("7 billion", 7 * B),
        ("1.5bn", 1.5 * B),
        ("500 thousand", 5e5),
        ("7000000000", 7 * B),
        ("7,000,000,000", 7 * B),
        ("~72B", 72 * B),
        ("72B-Instruct", 72 * B),
        ("Qwen2.5-72B", 72 * B),
        # Models that work together are added up.
        ("3B + 671B", 674 * B),
        ("3B+671B", 674 * B),
        ("3B & 0.5B", 3.5 * B),
        ("3B and 671B", 674 * B),
        ("7B (LLM) + 300M (ViT)", 7.3 * B),
        ("1B + 2B + 3B", 6 * B),
        ("3B, 671B", 674 * B),
        ("7B + rules", 7 * B),
        # All parameters of a mixture of experts count.
        ("235B-A22B", 235 * B),
        ("30B-A3B", 30 * B),
        ("16B (A2.8B)", 16 * B),
        ("671B (37B active)", 671 * B),
        ("37B active, 671B", 671 * B),
        ("37B active/671B total", 671 * B),
        ("671B/37B", 671 * B),
        ("3B + 235B-A22B", 238 * B),
        ("8x7B", 56 * B),
        ("8 × 22B", 176 * B),
        ("8x7B (47B total)", 47 * B),
        # No size is stated.
        ("", None),
        ("-", None),
        ("large", None),
        ("A22B", None),
        ("v2.5", None),
        ("32k context", None),
        ("7 layers", None),
        ("7B, 32k tokens", 7 * B),
        ("9" * 5000 + "x1B", None),
    ],
)
def test_sizes_are_read_as_numbers_of_parameters(size: str, number: float | None) -> None:
    assert parameters(size) == pytest.approx(number)


@pytest.mark.parametrize("choice", ["view=nope", "sort=nope", "sort=--ffa", "phase=nope"])
def test_files_and_api_refuse_choices_that_the_board_does_not_have(
    rows: Board, client_of: ClientOf, api_of: ApiOf, choice: str
) -> None:
    name = choice.split("=")[0]
    for ending in ("csv", "tex", "md"):
        answer = client_of(None).get(f"/boards/board/leaderboard.{ending}?{choice}")
        assert answer.status_code == 400
        assert answer.content.decode().startswith(f"{name}: Unknown value. Known values: ")
    for form in ("json", "csv"):
        assert api_of(None).get(f"{JSON}?{choice}&format={form}").status_code == 400
    assert client_of(None).get(f"{CSV}?vew=scores").status_code == 400
    assert client_of(None).get(f"{CSV}?view=scores&sort=-ffa&phase=test").status_code == 200
    assert client_of(None).get(f"{PAGE}?{choice}").status_code == 200


@pytest.mark.parametrize("path", ["citation.bib", "charts/ranks.csv", "charts/ranks.svg"])
def test_other_files_refuse_unknown_parameters(
    client_of: ClientOf, board: Board, path: str
) -> None:
    answer = client_of(None).get(f"{PAGE}{path}?vew=scores")
    assert answer.status_code == 400
    assert "vew" in answer.content.decode()


@pytest.mark.parametrize("choice", ["phase=no", "view=no", "sort=no"])
def test_citations_refuse_choices_that_the_board_does_not_have(
    client_of: ClientOf, board: Board, choice: str
) -> None:
    assert client_of(None).get(f"{PAGE}citation.bib?{choice}").status_code == 400
    assert client_of(None).get(f"{PAGE}citation.bib?view=scores&phase=test").status_code == 200
