"""The items of a submission: sorting, filters, search, and links between items."""

import html
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from scoring.grading.chunks import summarise_older
from scoring.models import Board, ItemScore, Phase, Submission
from scoring.results.item_lists import ItemQuery, item_scores
from scoring.submissions.services import publish_submission
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    FLAWED,
    latest_grading,
    make_board,
    make_release,
    make_submission,
)
from tests.worlds import shared

pytestmark = pytest.mark.django_db

Budget = Any

# Correct facts: 2 of 3 on page 1 (a sign), 0 of 2 on page 2, 1 of 1 on page 3, 0 of 1 on page 4.
GOLD = {
    "page-1": "<p><Number>1,200</Number>, <Number>(350)</Number> at <Date>May 27, 2021</Date></p>",
    "page-2": "<p>It rose to <Number>3.5%</Number> in <Date>2020</Date>.</p>",
    "page-3": "<p>Total assets <Number>98,765</Number></p>",
    "page-4": "<p>Nobody reads <Number>44</Number></p>",
    "page-5": "<p>No fact here.</p>",
}
READ = {
    "page-1": "<p>1,200, 350 at May 27, 2021</p>",
    "page-2": "<p>Nothing</p>",
    "page-3": "<p>Total assets 98,765</p>",
    "page-5": "<p>No fact here.</p>",
}


@pytest.fixture
@shared
def read(researcher: User) -> Submission:
    submission = make_submission(make_board(make_release(GOLD)), researcher, READ)
    run_due_jobs()
    return submission


def names(submission: Submission, **asked: str) -> list[str]:
    query = ItemQuery.parse(**(dict.fromkeys(("order", "show", "part", "error", "q"), "") | asked))
    scores = item_scores(latest_grading(submission), query)
    return [score.item.name.removeprefix("page-") for score in scores]


def test_scores_in_short_are_written_with_the_score(read: Submission) -> None:
    rows = latest_grading(read).item_scores.order_by("item__position")
    assert [row.score for row in rows] == [pytest.approx(2 / 3), 0, 1, 0, None]
    assert [row.missing for row in rows] == [False, False, False, True, False]
    assert rows[0].error_names == ["sign"]
    assert rows[2].error_names == []
    assert {row.part for row in rows} == {"Other or not stated"}
    # One of the two numbers of page 1 is correct, and the date; page 5 has no fact.
    assert rows[0].figures is not None
    assert {key: rows[0].figures[key] for key in ("n_ffa", "t_ffa", "ffa")} == {
        "n_ffa": 0.5,
        "t_ffa": 1,
        "ffa": pytest.approx(2 / 3),
    }
    assert rows[4].figures == {"r1": 1, "rl": 1, "edit_distance": 0}


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({}, "12345"),
        ({"order": "name"}, "12345"),
        # Items without facts have no score and come last in either order; ties keep the release's
        # order.
        ({"order": "hardest"}, "24135"),
        ({"order": "easiest"}, "31245"),
        # Numbers: one of two, none of one, one of one, none of one, no number.
        ({"order": "n_ffa"}, "31245"),
        ({"order": "-n_ffa"}, "24135"),
        # Pages 3 and 5 are read perfectly. A smaller distance is better.
        ({"order": "edit_distance"}, "35124"),
        ({"order": "-edit_distance"}, "42135"),
        ({"order": "-t_ffa", "show": "wrong"}, "214"),
        ({"show": "missing"}, "4"),
        ({"show": "wrong"}, "124"),
        ({"show": "right"}, "3"),
        ({"show": "wrong", "order": "hardest"}, "241"),
        ({"error": "sign"}, "1"),
        ({"error": "sig"}, ""),
        ({"part": "Other or not stated"}, "12345"),
        ({"part": "Tax form"}, ""),
        ({"q": "PAGE-3"}, "3"),
        ({"q": "page\0-3"}, "3"),
        ({"q": "%"}, ""),
    ],
)
def test_orders_and_filters(read: Submission, asked: dict[str, str], wanted: str) -> None:
    assert names(read, **asked) == list(wanted)


def item_url(submission: Submission, name: str) -> str:
    return f"/submissions/{submission.pk}/items/{name}/"


@pytest.mark.parametrize(
    ("name", "labels"),
    [("page-3", ["R1", "RL", "E", "N-FFA", "FFA"]), ("page-5", ["R1", "RL", "E"])],
)
def test_an_item_names_only_the_figures_it_has(
    client_of: ClientOf, read: Submission, researcher: User, name: str, labels: list[str]
) -> None:
    """Page 3 holds a number but no date; page 5 holds no fact, so only its text has scores."""
    page = client_of(researcher).get(item_url(read, name))
    assert [figure.label for figure in page.context["page"].line.scored] == labels
    header = (
        page.content.decode().partition('<dl class="summary in-line">')[2].partition("</dl>")[0]
    )
    assert "<dd>–</dd>" not in header
    assert all(f">{label}" in header for label in labels)


@pytest.mark.parametrize("query", ["", "order=hardest", "order=easiest", "order=name",
                                   "order=n_ffa", "order=-r1", "order=-edit_distance",
                                   "show=wrong&order=hardest"])  # fmt: skip
def test_next_and_previous_keep_to_the_list(
    client_of: ClientOf, read: Submission, researcher: User, query: str
) -> None:
    """Walking from the first to the last item and back visits the list in order."""
    asked = dict(pair.split("=") for pair in query.split("&") if pair)
    wanted = [f"page-{name}" for name in names(read, **asked)]
    client = client_of(researcher)
    suffix = f"?{query}" if query else ""
    for rel, walk in (("next", wanted), ("prev", wanted[::-1])):
        for name, after in zip(walk, [*walk[1:], None], strict=True):
            text = html.unescape(client.get(item_url(read, name) + suffix).content.decode())
            # For any order of the link's parameters.
            found = [each for each in wanted if f'rel="{rel}"' in text and
                     _link(text, rel).startswith(item_url(read, each))]  # fmt: skip
            assert found == ([after] if after else [])


def _link(text: str, rel: str) -> str:
    return text.split(f'rel="{rel}"')[1].split('href="')[1].split('"')[0]


def test_the_page_offers_what_there_is_and_keeps_the_address(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    url = f"{read.get_absolute_url()}?order=hardest&show=wrong"
    text = html.unescape(client_of(researcher).get(url).content.decode())
    text = text.partition('id="items"')[2]
    assert text.index("page-2/?") < text.index("page-4/?") < text.index("page-1/?")
    assert "page-3/" not in text
    assert f"{item_url(read, 'page-2')}?order=hardest&show=wrong" in text
    assert '<option value="hardest" selected>' in text
    assert "<option>sign</option>" in text
    empty = client_of(researcher).get(f"{read.get_absolute_url()}?q=nowhere").content.decode()
    assert "No matching items" in empty


def test_headings_order_by_every_figure(
    client_of: ClientOf, read: Submission, researcher: User, django_assert_num_queries: Budget
) -> None:
    client, url = client_of(researcher), read.get_absolute_url()
    # Chooses the typical errors.
    client.get(url)
    with CaptureQueriesContext(connection) as plain:
        client.get(url)
    with django_assert_num_queries(len(plain)):
        text = html.unescape(client.get(f"{url}?order=-t_ffa&show=wrong").content.decode())
    # Worst first, then reversed; the rest of the URL is kept.
    assert 'aria-sort="ascending"><a href="?order=t_ffa&show=wrong#items"' in text
    assert '<a href="?order=-edit_distance&show=wrong#items"' in text
    assert '<option value="-t_ffa" selected>T-FFA, worst first</option>' in text
    assert f"{item_url(read, 'page-2')}?order=-t_ffa&show=wrong" in text
    text = html.unescape(client.get(f"{url}?order=-edit_distance").content.decode())
    assert 'aria-sort="descending"><a href="?order=edit_distance#items"' in text


@pytest.mark.parametrize("order", ["gold", "general", "figures__r1", "result", "--r1", "\0"])
def test_no_other_key_is_an_order(
    client_of: ClientOf, api_of: ApiOf, read: Submission, researcher: User, order: str
) -> None:
    """Unknown figures and paths into JSON are refused."""
    asked = {"order": order}
    text = client_of(researcher).get(read.get_absolute_url(), asked).content.decode()
    assert "aria-sort" not in text.split('id="items"')[1]
    assert "order=" not in text.split('aria-label="Items">')[2].split("<tbody>")[1]
    url = f"/api/v1/submissions/{read.pk}/items/"
    assert api_of(researcher).get(url, asked).status_code == 400


def test_the_api_lists_alike(api_of: ApiOf, read: Submission, researcher: User) -> None:
    api, url = api_of(researcher), f"/api/v1/submissions/{read.pk}/items/"
    answer = api.get(f"{url}?order=hardest&show=wrong&limit=2").json()
    assert answer["count"] == 3
    assert [line["name"] for line in answer["results"]] == ["page-2", "page-4"]
    names = [line["name"] for line in api.get(f"{url}?order=-n_ffa").json()["results"]]
    assert names == ["page-2", "page-4", "page-1", "page-3", "page-5"]
    assert api.get(f"{url}?error=sign").json()["results"][0]["error_kinds"] == ["sign"]


def test_with_scores_alone_nothing_of_the_gold_can_be_asked_for(
    client_of: ClientOf, api_of: ApiOf, researcher: User, run_jobs: RunJobs
) -> None:
    board = make_board(
        make_release(GOLD, visibility=Release.Visibility.GOLD_HIDDEN),
        diagnostics=Phase.Diagnostics.ITEMS,
    )
    submission = make_submission(board, researcher, READ)
    run_jobs()
    text = client_of(researcher).get(f"{submission.get_absolute_url()}?error=sign").content.decode()
    assert all(name in text for name in GOLD), "the filter is left aside"
    assert "Error type" not in text
    assert "<td>Other or not stated</td>" not in text
    url = f"/api/v1/submissions/{submission.pk}/items/?error=sign&part=Tax form"
    answer = api_of(researcher).get(url).json()
    assert answer["count"] == 5
    assert {(line["part"], line["error_kinds"]) for line in answer["results"]} == {(None, None)}


def test_nothing_to_sort_where_the_phase_rounds(
    client_of: ClientOf, api_of: ApiOf, researcher: User, run_jobs: RunJobs
) -> None:
    submission = make_submission(make_board(make_release(GOLD), score_decimals=0), researcher, READ)
    run_jobs()
    page = client_of(researcher).get(f"{submission.get_absolute_url()}?order=hardest")
    assert b"page-1" not in page.content
    url = f"/api/v1/submissions/{submission.pk}/items/?order=hardest"
    assert api_of(researcher).get(url).status_code == 404


# --- older rows -------------------------------------------------------------------------------


def test_older_rows_are_summarised_afterwards(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    fields = ("score", "missing", "part", "errors", "figures")
    before = list(ItemScore.objects.order_by("pk").values(*fields))
    ItemScore.objects.update(score=None, missing=False, part=None, errors="", figures=None)
    page = client_of(researcher).get(read.get_absolute_url())
    assert b"will be available for this older result" in page.content
    assert summarise_older() == 5
    assert list(ItemScore.objects.order_by("pk").values(*fields)) == before
    assert summarise_older() == 0


def test_a_row_that_cannot_be_summarised_holds_up_no_other(read: Submission) -> None:
    first, *_ = ItemScore.objects.order_by("pk")
    ItemScore.objects.update(part=None, figures=None)
    ItemScore.objects.filter(pk=first.pk).update(result={"id": "page-1"})
    assert summarise_older() == 5
    assert not ItemScore.objects.filter(figures=None).exists()


# --- one item ---------------------------------------------------------------------------------


def test_gold_and_prediction_are_rendered_with_their_verdicts(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    client = client_of(researcher)
    page = client.get(item_url(read, "page-1")).content.decode()
    # Without allow-scripts, nothing in it runs.
    assert page.count('<iframe class="paper" sandbox="allow-same-origin" ') == 2
    for side, value in (("gold", "(350)"), ("prediction", "350")):
        response = client.get(f"{item_url(read, 'page-1')}{side}/")
        assert response["Content-Security-Policy"].startswith("default-src 'none'")
        text = html.unescape(response.content.decode())
        assert text.count("<mark ") == 3
        assert f">{value}</mark><span" in text
        assert "✗ sign</span>" in text
        assert text.count('<mark class="right"') == 2
    assert client.get(f"{item_url(read, 'page-1')}other/").status_code == 404
    assert client.get(f"{item_url(read, 'page-4')}prediction/").status_code == 404


def test_markup_of_a_model_is_cleaned_in_its_frame(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    hostile = "<img src=/logout/ onerror=alert(1)><script>alert(2)</script><p onclick=x()>1,200</p>"
    submission = make_submission(make_board(make_release(GOLD)), researcher, {"page-1": hostile})
    run_jobs()
    text = (
        client_of(researcher).get(f"{item_url(submission, 'page-1')}prediction/").content.decode()
    )
    for part in ("script", "onerror", "onclick", "/logout/"):
        assert part not in text
    assert ">1,200</mark>" in text


@pytest.mark.parametrize(
    ("visibility", "diagnostics", "status"),
    [
        (Release.Visibility.PUBLIC, Phase.Diagnostics.FACTS, 200),
        (Release.Visibility.GOLD_HIDDEN, Phase.Diagnostics.FACTS, 404),
        (Release.Visibility.PRIVATE, Phase.Diagnostics.FACTS, 404),
        (Release.Visibility.PUBLIC, Phase.Diagnostics.ITEMS, 404),
    ],
)
def test_both_sides_are_shown_where_gold_is_public_only(
    client_of: ClientOf,
    researcher: User,
    run_jobs: RunJobs,
    visibility: Release.Visibility,
    diagnostics: str,
    status: int,
) -> None:
    board = make_board(make_release(GOLD, visibility=visibility), diagnostics=diagnostics)
    submission = make_submission(board, researcher, READ)
    run_jobs()
    client = client_of(researcher)
    for side in ("gold", "prediction"):
        assert client.get(f"{item_url(submission, 'page-1')}{side}/").status_code == status
    text = client.get(item_url(submission, "page-1")).content.decode()
    assert ("Gold and prediction" in text) is (status == 200)


def test_the_text_is_compared_word_by_word(
    client_of: ClientOf, read: Submission, researcher: User
) -> None:
    text = html.unescape(client_of(researcher).get(item_url(read, "page-1")).content.decode())
    assert "<del>(350)</del>" in text
    assert "<ins>350</ins>" in text
    same = client_of(researcher).get(item_url(read, "page-3")).content.decode()
    assert "Identical." in same
    gone = client_of(researcher).get(item_url(read, "page-4")).content.decode()
    assert "The prediction cannot be read." in gone


def test_items_of_a_published_submission_stay_unsorted_for_others(
    client_of: ClientOf, board: Board, researcher: User, run_jobs: RunJobs
) -> None:
    submission = make_submission(board, researcher, FLAWED)
    run_jobs()
    publish_submission(submission=submission, actor=researcher)
    page = client_of(None).get(f"{submission.get_absolute_url()}?order=hardest").content.decode()
    assert 'id="items"' not in page
