"""Comparisons of entries: differences, paired tests, items, and what each reader may see."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import (
    RESAMPLE_KIND,
    ask_for_replicates,
    load_reported,
    resample,
    store_replicates,
)
from scoring.metrics.intervals import bootstrap, paired_bootstrap, resampling, tally
from scoring.models import Board, Entry, Grading, ItemScore, Phase, Replicate
from scoring.results.comparisons import Comparison, comparison
from scoring.results.selection import (
    ComparisonRefused,
    compared_entries,
    entry_numbers,
    selection_query,
)
from scoring.submissions.services import publish_submission
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.pages import text_of
from tests.scoring.factories import (
    FLAWED,
    GOLD,
    PERFECT,
    first_phase,
    make_board,
    make_entry,
    make_release,
    make_submission,
)
from tests.scoring.ranked import published as with_known_differences
from tests.worlds import shared

pytestmark = pytest.mark.django_db

# Three pages with 3, 2 and 1 facts: correct are 3, 2, 1; then 2, 1, 1; then 3, 0, 0.
SYSTEMS = {"Perfect": PERFECT, "Flawed": FLAWED, "First page": {"page-1": PERFECT["page-1"]}}


def published(
    board: Board, owner: User, systems: dict[str, dict[str, str]] = SYSTEMS
) -> list[Entry]:
    submissions = [
        make_submission(board, owner, predictions, name=name)
        for name, predictions in systems.items()
    ]
    run_due_jobs()
    for submission in submissions:
        publish_submission(submission=submission, actor=owner)
    return list(Entry.objects.filter(board=board).order_by("pk"))


@pytest.fixture
@shared
def entries(board: Board, researcher: User) -> list[Entry]:
    return published(board, researcher)


def forget_replicates() -> None:
    """Delete the replicates, as for gradings from before resampling."""
    Replicate.objects.all().delete()
    Job.objects.filter(kind=RESAMPLE_KIND).delete()


def compared(user: User | None, entries: list[Entry], run_jobs: RunJobs) -> Comparison:
    viewer = user or AnonymousUser()
    board, numbers = entries[0].board, [entry.pk for entry in entries]
    ask_for_replicates(comparison(viewer, board, numbers).gradings)
    run_jobs()
    return comparison(viewer, board, numbers)


def address(entries: list[Entry], root: str = "/") -> str:
    numbers = ",".join(str(entry.pk) for entry in entries)
    return f"{root}boards/{entries[0].board.slug}/compare/?entries={numbers}"


# --- figures ----------------------------------------------------------------------------------


def test_differences_and_items_won(entries: list[Entry], run_jobs: RunJobs) -> None:
    found = compared(None, entries, run_jobs)
    [row] = [row for row in found.figures if row.column.key == "ffa"]
    assert [cell.text for cell in row.cells] == ["100.00", "66.67", "50.00"]
    differences = [cell.difference for cell in row.cells]
    assert differences[0] is None
    assert [each.text for each in differences if each] == ["−33.33", "−50.00"]
    pairs = [(each.wins, each.ties, each.losses) for each in found.pairs]
    # Perfect wins pages 1 and 2 over Flawed; pages 2 and 3 over the last; Flawed the same two, but
    # loses page 1.
    assert pairs == [(2, 1, 0), (2, 1, 0), (2, 0, 1)]
    assert [each.difference.text for each in found.pairs] == ["+33.33", "+50.00", "+16.67"]


def test_the_main_score_comes_first_with_a_verdict(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    """The verdict on two rows is the one that ranks them on the board."""
    with_known_differences(board, researcher, Best=0.9, Second=0.899, Third=0.5)
    best, second, third = Entry.objects.order_by("-scores__ffa")
    found = comparison(AnonymousUser(), board, [third.pk, second.pk, best.pk])
    assert found.figures[0].column == found.deciding
    p = found.pairs[2].difference.p_text
    assert found.verdict == f"FFA: Best leads. Its lead over Second is not significant (p = {p})."
    assert found.verdict in client_of(None).get(address([second, best])).content.decode()
    apart = comparison(AnonymousUser(), board, [third.pk, best.pk]).verdict
    assert apart.startswith("FFA: Best leads. Its lead over Third is significant (p ")
    Replicate.objects.all().delete()
    assert comparison(AnonymousUser(), board, [third.pk, best.pk]).verdict == ""


def test_the_test_is_that_of_the_metrics(entries: list[Entry], run_jobs: RunJobs) -> None:
    pages = [f"document {name}" for name in GOLD]
    weights = resampling(pages, seed=first_phase(entries[0].board).release.same_gold)
    drawn = [bootstrap(tally(pages, right, [3, 2, 1]), weights) for right in ([3, 2, 1], [2, 1, 1])]
    wanted = paired_bootstrap(*drawn)
    found = compared(None, entries[:2], run_jobs).pairs[0].difference
    assert wanted is not None
    assert found.test is not None
    assert found.value == pytest.approx(wanted.difference)
    assert (found.test.p_value, found.test.interval) == (wanted.p_value, wanted.interval)
    # No resample has fewer correct facts for the perfect system.
    assert wanted.interval is not None
    assert wanted.interval.low >= 0


def test_a_system_against_its_equal(board: Board, researcher: User, run_jobs: RunJobs) -> None:
    alike = {"One": FLAWED, "Other": FLAWED}
    found = compared(None, published(board, researcher, alike), run_jobs)
    [pair] = found.pairs
    assert (pair.difference.text, pair.difference.p_text) == ("0.00", "1.000")
    assert found.verdict == "FFA: One and Other have the same score."
    assert (pair.wins, pair.ties, pair.losses) == (0, 3, 0)
    assert found.disputed == []


def test_one_document_says_nothing_of_how_much_a_figure_varies(
    researcher: User, run_jobs: RunJobs, client_of: ClientOf, api_of: ApiOf
) -> None:
    """There is no zero-width interval, no p-value, and no rank based on them."""
    page = "page-1"
    board = make_board(make_release({page: GOLD[page]}))
    systems = {"Perfect": {page: PERFECT[page]}, "Flawed": {page: FLAWED[page]}}
    entries = published(board, researcher, systems)
    run_jobs()
    [pair] = compared(None, entries, run_jobs).pairs
    assert (pair.difference.text, pair.difference.test) == ("+33.33", None)
    assert (pair.difference.interval_text, pair.difference.p_text) == ("n/a", "n/a")
    text = text_of(client_of(None), address(entries))
    page = client_of(None).get(address(entries)).content.decode()
    assert 'href="/docs/hard-facts/#3-error-types"' in page
    assert "depends on a single document" in text
    shown = api_of(None).get(address(entries, "/api/v1/")).json()["pairs"][0]["difference"]
    assert (shown["p_value"], shown["interval"]) == (None, None)
    [section] = leaderboard(board, first_phase(board)).sections
    assert not section.is_compared
    assert not section.has_intervals
    assert [row.ranks["rank_ffa"] for row in section.rows] == [1, 2]


def test_kinds_of_errors_are_counted_by_item(entries: list[Entry], run_jobs: RunJobs) -> None:
    counts = {row.name: row.counts for row in compared(None, entries, run_jobs).error_rows}
    assert counts["sign"] == [0, 1, 0]
    assert counts["no prediction"] == [0, 0, 2]


# --- when it is computed ----------------------------------------------------------------------


def test_tests_come_from_a_job_that_is_queued_once(
    entries: list[Entry], client_of: ClientOf, run_jobs: RunJobs
) -> None:
    client, url = client_of(None), address(entries)
    forget_replicates()
    before = Job.objects.count()
    text = text_of(client, url)
    assert "0 of 3 models done" in text
    assert 'hx-trigger="every 2s"' in text
    assert "66.67" in text
    text_of(client, url)
    assert Job.objects.count() == before + 3
    run_jobs()
    text = text_of(client, url)
    assert "being computed" not in text
    assert "hx-trigger" not in text
    assert Job.objects.filter(kind=RESAMPLE_KIND).count() == 3
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "Pairwise comparison" in part
    assert "<html" not in part


def test_final_failures_are_not_retried_on_every_visit(entries: list[Entry]) -> None:
    gradings = [entry.grading for entry in entries if entry.grading]
    forget_replicates()
    assert ask_for_replicates(gradings) == 3
    Job.objects.filter(kind=RESAMPLE_KIND).update(state=Job.State.FAILED)
    assert ask_for_replicates(gradings) == 0


def test_the_job_can_be_run_twice(entries: list[Entry], run_jobs: RunJobs) -> None:
    first = compared(None, entries, run_jobs).pairs[0].difference.p_text
    for entry in entries:
        store_replicates(entry.grading_id or 0, resample(entry.grading_id or 0))
    assert compared(None, entries, run_jobs).pairs[0].difference.p_text == first


def test_comparisons_wait_for_missing_summaries(
    entries: list[Entry], run_jobs: RunJobs, client_of: ClientOf
) -> None:
    ItemScore.objects.filter(grading=entries[0].grading_id).update(part=None, score=None)
    found = compared(None, entries, run_jobs)
    assert found.items is None
    assert found.pairs[0].wins is None
    assert "are still being computed" in text_of(client_of(None), address(entries))


@pytest.mark.parametrize("count", [3, 30])
def test_query_budget(
    researcher: User,
    run_jobs: RunJobs,
    client_of: ClientOf,
    count: int,
    django_assert_max_num_queries: Any,
) -> None:
    gold = {f"p{n}": f"<p>Item {n} <Number>{n},000</Number></p>" for n in range(count)}
    systems = {"One": {"p1": "x"}, "Other": {"p1": "<p>1,000</p>"}}
    board = make_board(make_release(gold))
    entries = published(board, researcher, systems)
    compared(researcher, entries, run_jobs)
    client = client_of(researcher)
    with django_assert_max_num_queries(8):
        text_of(client, address(entries))


# --- what cannot be compared ------------------------------------------------------------------


def refusal(board: Board, *texts: str) -> str:
    with pytest.raises(ComparisonRefused) as refused:
        compared_entries(board, entry_numbers(texts))
    return str(refused.value)


def test_refusals_say_why(board: Board, researcher: User, entries: list[Entry]) -> None:
    one, other = entries[0].pk, entries[1].pk
    assert refusal(board) == "Select 2 to 5 models to compare. You selected 0."
    assert refusal(board, f"{one},{one}") == "Select 2 to 5 models to compare. You selected 1."
    assert refusal(board, "1,2,3,4,5,6") == "Select 2 to 5 models to compare. You selected 6."
    assert refusal(board, "1,x") == "“x” is not an entry number."
    assert refusal(board, "1," + "9" * 40).endswith("is not an entry number.")
    assert refusal(board, f"{one},999999") == "This board has no entry 999999."
    foreign = make_entry(make_board(make_release(), slug="other"), researcher)
    assert refusal(board, f"{one},{foreign.pk}") == f"This board has no entry {foreign.pk}."
    load_reported(board=board)
    reported = Entry.objects.filter(board=board).exclude(kind=Entry.Kind.GRADED)[0]
    assert "was not graded by Factboard" in refusal(board, f"{one},{reported.pk}")
    Entry.objects.filter(pk=other).update(signature="another")
    assert (
        refusal(board, f"{one},{other}")
        == "“Perfect” and “Flawed” have different signatures. Choose models graded with the same "
        "metric version and options."
    )


def test_one_row_is_refused_once_and_stays_selected(
    client_of: ClientOf, board: Board, entries: list[Entry]
) -> None:
    response = client_of(None).get(f"/boards/board/compare/?entries={entries[0].pk}")
    page = response.content.decode()
    assert response.status_code == 400
    assert "Select 2 to 5 models to compare. You selected 1." in page
    assert "No models selected" not in page
    assert f'href="/boards/board/?phase=test&amp;entries={entries[0].pk}"' in page
    assert selection_query(board, ["x"]) == selection_query(board, ["999999"]) == ""


def test_other_releases_and_phases_are_refused(board: Board, entries: list[Entry]) -> None:
    numbers = f"{entries[0].pk},{entries[1].pk}"
    phase = first_phase(board)
    gold = {"page-9": "<p>Costs were <Number>77</Number>.</p>"}
    later = make_release(gold, dataset=phase.release.dataset, version="2.0.0")
    Grading.objects.filter(entry=entries[1]).update(release=later)
    assert "different releases" in refusal(board, numbers)
    second = Phase.objects.create(board=board, slug="second", title="Second", release=later)
    Entry.objects.filter(pk=entries[1].pk).update(phase=second)
    assert "different phases" in refusal(board, numbers)


def test_refusals_on_page_and_api(entries: list[Entry], client_of: ClientOf, api_of: ApiOf) -> None:
    url = "/boards/board/compare/"
    assert "select two to five models" in text_of(client_of(None), url)
    assert "Select 2 to 5" in text_of(client_of(None), f"{url}?entries={entries[0].pk}", status=400)
    answer = api_of(None).get(f"/api/v1{url}?entries=1,x")
    assert answer.status_code == 400
    assert answer.json() == {"entries": ["“x” is not an entry number."]}


# --- who sees what ----------------------------------------------------------------------------


def test_items_are_named_for_who_may_see_all_of_them(
    board: Board,
    entries: list[Entry],
    run_jobs: RunJobs,
    researcher: User,
    stranger: User,
    organiser: User,
) -> None:
    for user, names in (
        (None, []),
        (stranger, []),
        (researcher, ["page-2", "page-3", "page-1"]),
        (organiser, ["page-2", "page-3", "page-1"]),
    ):
        found = compared(user, entries, run_jobs)
        assert [row.name for row in found.disputed] == names
        assert found.pairs[0].wins == 2, "totals are for everybody"
    foreign = make_submission(board, stranger, FLAWED, name="Foreign")
    run_jobs()
    publish_submission(submission=foreign, actor=stranger)
    entry = Entry.objects.get(grading__submission=foreign)
    assert compared(researcher, [entries[0], entry], run_jobs).disputed == []


def test_totals_alone_where_the_phase_shows_no_items(
    researcher: User, run_jobs: RunJobs, client_of: ClientOf
) -> None:
    board = make_board(diagnostics=Phase.Diagnostics.AGGREGATES)
    entries = published(board, researcher)
    found = compared(researcher, entries, run_jobs)
    assert (found.disputed, found.pairs[0].wins) == ([], 2)
    text = text_of(client_of(researcher), address(entries))
    assert not any(name in text for name in GOLD)


@pytest.mark.parametrize(
    "phase",
    [
        {"score_decimals": 0},
        {"public_share": 50, "diagnostics": Phase.Diagnostics.AGGREGATES},
    ],
    ids=["rounded", "in parts"],
)
def test_nothing_undoes_rounding_or_parts(
    phase: dict[str, Any],
    researcher: User,
    organiser: User,
    run_jobs: RunJobs,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    board = make_board(make_release(visibility=Release.Visibility.GOLD_HIDDEN), **phase)
    entries = published(board, researcher)
    for user in (None, researcher):
        found = comparison(user or AnonymousUser(), board, [entry.pk for entry in entries])
        assert not found.is_exact
        assert {(each.wins, each.difference.test) for each in found.pairs} == {(None, None)}
        assert (found.disputed, found.error_rows) == ([], [])
        text = text_of(client_of(user), address(entries))
        assert "Pairwise comparison" not in text
        assert not any(name in text for name in GOLD)
        answer = api_of(user).get(address(entries, "/api/v1/")).json()
        shown = [entry.scores.get("ffa") for entry in entries]
        [row] = [row for row in answer["figures"] if row["key"] == "ffa"]
        assert [cell["value"] for cell in row["cells"]] == shown
        assert {cell["difference"]["p_value"] for cell in row["cells"] if cell["difference"]} == {
            None
        }
    forget_replicates()
    for user in (None, researcher):
        text_of(client_of(user), address(entries))
    assert not Job.objects.filter(kind=RESAMPLE_KIND).exists()
    assert compared(organiser, entries, run_jobs).is_exact


def test_unpublished_scores_give_no_tests(
    board: Board, entries: list[Entry], run_jobs: RunJobs
) -> None:
    board.phases.update(scores_after=timezone.now() + timedelta(days=1))
    assert not compared(None, entries, run_jobs).is_exact


def test_the_api_gives_what_the_page_shows(
    entries: list[Entry], run_jobs: RunJobs, api_of: ApiOf, researcher: User
) -> None:
    compared(researcher, entries, run_jobs)
    answer = api_of(researcher).get(address(entries, "/api/v1/")).json()
    assert answer["is_ready"] is True
    assert [each["entry"] for each in answer["entries"]] == [entry.pk for entry in entries]
    first = answer["pairs"][0]
    assert (first["wins"], first["ties"], first["losses"]) == (2, 1, 0)
    assert first["difference"]["value"] == pytest.approx(1 / 3)
    assert 0 < first["difference"]["p_value"] <= 1
    assert answer["disputed"][0]["name"] == "page-2"


def test_the_leaderboard_leads_there(entries: list[Entry], client_of: ClientOf) -> None:
    text = text_of(client_of(None), "/boards/board/")
    for entry in entries:
        assert f'name="entries" value="{entry.pk}"' in text
    assert 'action="/boards/board/compare/"' in text
    repeated = "&".join(f"entries={entry.pk}" for entry in entries)
    assert "66.67" in text_of(client_of(None), f"/boards/board/compare/?{repeated}")
