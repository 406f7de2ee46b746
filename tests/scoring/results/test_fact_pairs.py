"""Facts that only one of two entries has right: the list, its counts, and who may read it."""

import re
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import ReleaseItem
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Entry, Phase
from scoring.results.fact_pairs import PER_PAGE
from scoring.submissions.services import open_items, publish_submission
from tests.fixture_types import ClientOf
from tests.pages import text_of
from tests.scoring.factories import FLAWED, PERFECT, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db

# One has the sign of page-1 and the date of page-2 wrong, the other the number of page-3.
ONE = FLAWED
OTHER = PERFECT | {"page-3": PERFECT["page-3"].replace("98,765", "98,766")}


def published(board: Board, owner: User, *files: dict[str, str]) -> list[Entry]:
    made = [make_submission(board, owner, file, name=f"R{n}") for n, file in enumerate(files)]
    run_due_jobs()
    for submission in made:
        publish_submission(submission=submission, actor=owner)
    return list(Entry.objects.filter(board=board).order_by("pk"))


def url_of(entries: list[Entry], more: str = "") -> str:
    numbers = ",".join(str(entry.pk) for entry in entries)
    return f"/boards/{entries[0].board.slug}/compare/facts/?entries={numbers}{more}"


def values_of(text: str) -> list[str]:
    return re.findall(r'<th scope="row" role="rowheader" class="value">(.+?)</th>', text)


def test_facts_are_listed_by_who_has_them_right(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    entries = published(board, researcher, ONE, OTHER)
    client = client_of(researcher)
    first = text_of(client, url_of(entries))
    assert "Facts that R0 gets right and R1 gets wrong." in first
    assert values_of(first) == ["98,765"]
    second = text_of(client, url_of(entries, "&right=second"))
    assert "Facts that R1 gets right and R0 gets wrong." in second
    assert values_of(second) == ["(350)", "2020"]
    assert values_of(text_of(client, url_of(entries, "&right=second&type=Date"))) == ["2020"]
    assert values_of(text_of(client, url_of(entries, "&right=second&type=x"))) == ["(350)", "2020"]


def test_counts_are_by_type_and_lead_to_their_list(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    entries = published(board, researcher, ONE, OTHER)
    text = text_of(client_of(researcher), url_of(entries))
    found = re.findall(r'aria-label="(\d+): (\w+), only (R\d) correct"', text)
    assert found == [
        ("1", "All", "R0"),
        ("2", "All", "R1"),
        ("0", "Date", "R0"),
        ("1", "Date", "R1"),
        ("1", "Number", "R0"),
        ("1", "Number", "R1"),
    ]
    numbers = ",".join(str(entry.pk) for entry in entries)
    assert f'href="?entries={numbers}&right=second&type=Date"' in text


def test_a_fact_opens_the_item_of_either_submission_at_the_fact(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    entries = published(board, researcher, ONE, OTHER)
    client = client_of(researcher)
    text = text_of(client, url_of(entries, "&right=second&type=Number"))
    links = re.findall(r'href="(/submissions/\d+/items/.+?)"', text)
    assert links == [
        f"/submissions/{entry.grading.submission_id}/items/page-1/?fact=1#fact-1"
        for entry in entries
        if entry.grading
    ]
    for link in links:
        assert 'data-fact="1" aria-current="true"' in text_of(client, link)


def test_the_list_is_paged(researcher: User, client_of: ClientOf) -> None:
    count = PER_PAGE + 3
    gold = "".join(f"<p>Item {n} <Number>{n},000</Number></p>" for n in range(1, count + 1))
    read = gold.replace("<Number>", "").replace("</Number>", "")
    board = make_board(make_release({"page-1": gold}))
    entries = published(board, researcher, {"page-1": read}, {"page-1": "<p>x</p>"})
    client = client_of(researcher)
    first = text_of(client, url_of(entries))
    assert len(values_of(first)) == PER_PAGE
    numbers = ",".join(str(entry.pk) for entry in entries)
    assert f'href="?entries={numbers}&right=first&page=2"' in first
    assert values_of(text_of(client, url_of(entries, "&page=2"))) == ["51,000", "52,000", "53,000"]


@pytest.mark.parametrize("count", [3, 30])
def test_query_budget(
    researcher: User, client_of: ClientOf, count: int, django_assert_max_num_queries: Any
) -> None:
    gold = {f"p{n}": f"<p>Item {n} <Number>{n},000</Number></p>" for n in range(count)}
    read = {
        name: page.replace("<Number>", "").replace("</Number>", "") for name, page in gold.items()
    }
    entries = published(make_board(make_release(gold)), researcher, read, {"p1": "x"})
    client = client_of(researcher)
    with django_assert_max_num_queries(9):
        text_of(client, url_of(entries))


def test_other_than_two_entries_are_refused(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    entries = published(board, researcher, ONE, OTHER, PERFECT)
    client = client_of(researcher)
    for chosen in (entries, entries[:1]):
        response = client.get(url_of(chosen))
        assert response.status_code == 400
        assert "Select exactly two models to compare their facts." in response.content.decode()
    assert client.get("/boards/board/compare/facts/?entries=1,x").status_code == 400


# --- who may read it --------------------------------------------------------------------------


def test_the_comparison_leads_there_for_who_may_read_it(
    board: Board, researcher: User, stranger: User, client_of: ClientOf
) -> None:
    entries = published(board, researcher, ONE, OTHER)
    link = url_of(entries)
    comparison = link.replace("/facts/", "/")
    assert f'href="{link}"' in text_of(client_of(researcher), comparison)
    for user in (None, stranger):
        assert "Compare facts" not in text_of(client_of(user), comparison)
        assert client_of(user).get(link).status_code == 404
    for entry in entries:
        assert entry.grading is not None
        open_items(submission=entry.grading.submission, has_open_items=True, actor=researcher)
    for user in (None, stranger):
        assert f'href="{link}"' in text_of(client_of(user), comparison)
        assert values_of(text_of(client_of(user), link)) == ["98,765"]


def test_both_submissions_must_be_readable(
    board: Board, researcher: User, stranger: User, client_of: ClientOf
) -> None:
    entries = published(board, researcher, ONE)
    foreign = make_submission(board, stranger, OTHER, name="Foreign")
    run_due_jobs()
    publish_submission(submission=foreign, actor=stranger)
    both = [*entries, Entry.objects.get(grading__submission=foreign)]
    for user in (researcher, stranger):
        assert client_of(user).get(url_of(both)).status_code == 404


@pytest.mark.parametrize(
    ("visibility", "phase"),
    [
        ("public", {"diagnostics": Phase.Diagnostics.ITEMS}),
        ("public", {"diagnostics": Phase.Diagnostics.AGGREGATES}),
        ("public", {"score_decimals": 1}),
        ("gold_hidden", {}),
        ("private", {}),
        ("gold_hidden", {"split": ReleaseItem.Split.TEST}),
    ],
)
def test_hidden_gold_is_on_no_list(
    researcher: User,
    organiser: User,
    client_of: ClientOf,
    visibility: str,
    phase: dict[str, Any],
) -> None:
    splits = dict.fromkeys(PERFECT, ReleaseItem.Split.TEST) if "split" in phase else None
    release = make_release(visibility=visibility, splits=splits)
    entries = published(make_board(release, **phase), researcher, ONE, OTHER)
    users = [None, researcher] if visibility == "public" else [None, researcher, organiser]
    for user in users:
        response = client_of(user).get(url_of(entries))
        assert response.status_code == 404
        assert "98,765" not in response.content.decode()
        comparison = client_of(user).get(url_of(entries).replace("/facts/", "/"))
        assert "Compare facts" not in comparison.content.decode()


def test_the_development_part_of_a_release_is_listed(researcher: User, client_of: ClientOf) -> None:
    splits = dict.fromkeys(PERFECT, ReleaseItem.Split.DEV) | {"page-1": ReleaseItem.Split.TEST}
    release = make_release(visibility="gold_hidden", splits=splits)
    board = make_board(release, split=ReleaseItem.Split.DEV)
    dev = [{name: file[name] for name in ("page-2", "page-3")} for file in (ONE, OTHER)]
    entries = published(board, researcher, *dev)
    assert values_of(text_of(client_of(researcher), url_of(entries))) == ["98,765"]
    assert values_of(text_of(client_of(researcher), url_of(entries, "&right=second"))) == ["2020"]
