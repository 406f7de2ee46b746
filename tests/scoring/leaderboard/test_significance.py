"""Intervals and ranks of entries: resampling after grading, comparison, display."""

from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from portal.accounts.models import User
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from scoring.benchmarks.items import Observation, replicated, resampled_documents
from scoring.grading.regrades import start_regrade
from scoring.leaderboard.rows import Section
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import (
    RANKING_KIND,
    RESAMPLE_KIND,
    queue_missing,
    rank_entries,
    resample,
    store_replicates,
    stored_replicates,
)
from scoring.models import Board, Entry, Replicate, Submission
from scoring.submissions.selectors import SubmissionPage, submission_page
from scoring.submissions.services import judge_submission, publish_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    FLAWED,
    PERFECT,
    first_phase,
    latest_grading,
    make_board,
    make_release,
    make_submission,
)
from tests.scoring.ranked import graded, published
from tests.scoring.regrading import next_release, release_of, three_results

pytestmark = pytest.mark.django_db

JSON = "/api/v1/boards/board/leaderboard/"


def section_of(board: Board) -> Section:
    return leaderboard(board, first_phase(board)).sections[0]


def ranks_of(board: Board, figure: str = "ffa") -> dict[str, int | None]:
    return {row.entry.name: row.ranks[f"rank_{figure}"] for row in section_of(board).rows}


def test_a_grading_is_resampled_once_it_is_done(board: Board, researcher: User) -> None:
    submission = graded(board, researcher)
    grading = latest_grading(submission)
    rows = {row.figure: row for row in Replicate.objects.filter(grading=grading)}
    assert set(rows) == {"r1", "rl", "edit_distance", "general", "n_ffa", "t_ffa", "ffa"}
    # The same by hand: three pages, each a document.
    spec = board.spec
    results = [
        Observation(f"document {name}", result)
        for name, result in grading.item_scores.values_list("item__document__name", "result")
    ]
    weights = resampled_documents(results, spec.stratum, seed=grading.release.same_gold)
    expected = replicated(
        results, lambda result: spec.contributions(result, grading.options), spec.combined, weights
    )
    for figure, row in rows.items():
        stored = stored_replicates(row)
        assert stored.value == pytest.approx(grading.scores[figure], abs=1e-12)
        assert np.array_equal(stored.values, expected[figure].values, equal_nan=True)
        assert stored.key == expected[figure].key
    # Two of six facts are wrong, in different pages.
    low, high = rows["ffa"].low, rows["ffa"].high
    assert low is not None
    assert high is not None
    assert 0 <= low < 4 / 6 < high <= 1


def test_entries_of_a_board_are_drawn_alike(board: Board, researcher: User) -> None:
    for name, predictions in (("A", FLAWED), ("B", PERFECT)):
        graded(board, researcher, name, predictions)
    assert Replicate.objects.filter(figure="ffa").values("key").distinct().count() == 1
    perfect = Replicate.objects.get(figure="ffa", value=1.0)
    assert perfect.high == 1
    # All that three pages with a different number of facts can say.
    assert 0 < (perfect.low or 0) < 0.3


def test_published_rows_show_their_intervals(
    board: Board, researcher: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    submission = graded(board, researcher)
    publish_submission(submission=submission, actor=None)
    row = Replicate.objects.get(figure="ffa")
    shown = api_of(None).get(JSON).json()["sections"][0]["rows"][0]["intervals"]
    assert shown["ffa"] == [row.low, row.high]
    assert row.low is not None
    assert row.high is not None
    page = client_of(None).get("/boards/board/").content.decode()
    assert f">{100 * row.low:.1f}–{100 * row.high:.1f}<" in page


def test_a_view_has_intervals_and_ranks_of_its_own(researcher: User) -> None:
    """Only numbers and dates, on a board that counts currencies too."""
    gold = {
        f"page-{number}": f"<p><Number>{number}00</Number> in <Date>202{number}</Date></p>"
        for number in range(1, 4)
    }
    board = make_board(make_release(gold), options={"labels": "Number,Date,MonetaryUnit"})
    for name, predictions in {"Numbers": gold, "Nothing": {"page-1": "<p></p>"}}.items():
        publish_submission(submission=graded(board, researcher, name, predictions), actor=None)
    run_due_jobs()
    [section] = leaderboard(board, first_phase(board), view="first_version").sections
    assert section.is_compared
    assert [(row.entry.name, row.ranks["rank_first_ffa"]) for row in section.rows] == [
        ("Numbers", 1),
        ("Nothing", 2),
    ]
    # Three pages: 0.025^(1/3).
    assert section.rows[0].entry.intervals["first_ffa"] == pytest.approx([0.2924, 1], abs=1e-4)


def intervals_of(page: SubmissionPage) -> dict[str, str]:
    groups = page.result.groups if page.result else []
    figures = [figure for group in groups for figure in group.figures]
    return {figure.key: figure.interval for figure in figures if figure.interval}


def test_the_page_of_a_submission_shows_what_its_row_does(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    submission = graded(board, researcher)
    publish_submission(submission=submission, actor=None)
    (row,) = section_of(board).rows
    found = intervals_of(submission_page(AnonymousUser(), submission))
    on_the_board = [cell.interval for cell in row.cells if cell.interval]
    assert set(on_the_board) <= set(found.values())
    assert set(found) == set(Replicate.objects.values_list("figure", flat=True))
    page = client_of(None).get(submission.get_absolute_url()).content.decode()
    assert f'<span class="interval">{found["ffa"]}</span>' in page


def test_an_entry_that_was_published_before_gets_them_later(board: Board, researcher: User) -> None:
    submission = graded(board, researcher)
    Replicate.objects.all().delete()
    Job.objects.all().delete()
    entry = publish_submission(submission=submission, actor=None)
    assert entry.intervals == {}
    assert queue_missing() == 1
    assert queue_missing() == 0
    before = Board.objects.get().revision
    run_due_jobs()
    entry.refresh_from_db()
    assert "ffa" in entry.intervals
    assert Board.objects.get().revision > before
    assert queue_missing() == 0


def test_ranks_count_those_significantly_better(board: Board, researcher: User) -> None:
    published(board, researcher, Best=0.9, Second=0.899, Third=0.5)
    assert section_of(board).is_compared
    assert ranks_of(board) == {"Best": 1, "Second": 1, "Third": 3}
    # Rows that share a rank are ordered by their figures.
    assert [row.entry.name for row in section_of(board).rows] == ["Best", "Second", "Third"]


def test_until_they_are_compared_ranks_go_by_the_figures(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    made = published(board, researcher, Best=0.9, Second=0.899, Third=0.5)
    judge_submission(
        submission=made["Third"],
        verdict=Submission.Verdict.DISQUALIFIED,
        reason="Trained on the test set.",
        actor=researcher,
    )
    assert not section_of(board).is_compared
    assert ranks_of(board) == {"Best": 1, "Second": 2, "Third": None}
    assert "Ranked by score only" in client_of(None).get("/boards/board/").content.decode()
    run_due_jobs()
    assert section_of(board).is_compared
    assert ranks_of(board) == {"Best": 1, "Second": 1, "Third": None}
    assert "significantly better" in client_of(None).get("/boards/board/").content.decode()


def test_a_rank_among_others_is_no_rank_here(board: Board, researcher: User) -> None:
    published(board, researcher, Best=0.9, Second=0.899)
    graded_later = graded(board, researcher, "Later")
    publish_submission(submission=graded_later, actor=None)
    assert not section_of(board).is_compared
    assert ranks_of(board)["Second"] == 2


def test_one_without_replicates_keeps_all_from_being_compared(
    board: Board, researcher: User
) -> None:
    made = published(board, researcher, Best=0.9, Second=0.899)
    Replicate.objects.filter(grading=latest_grading(made["Best"])).delete()
    graded_later = graded(board, researcher, "Later")
    publish_submission(submission=graded_later, actor=None)
    run_due_jobs()
    assert not section_of(board).is_compared


def test_many_changes_wait_for_one_ranking(board: Board, researcher: User) -> None:
    made = [graded(board, researcher, name) for name in "ABC"]
    for submission in made:
        publish_submission(submission=submission, actor=None)
    assert Job.objects.filter(kind=RANKING_KIND, state=Job.State.QUEUED).count() == 1


def test_a_phase_that_rounds_shows_rounded_intervals_and_no_ranks(
    board: Board, researcher: User
) -> None:
    board.phases.update(score_decimals=0)
    submission = graded(board, researcher)
    entry = publish_submission(submission=Submission.objects.get(pk=submission.pk), actor=None)
    run_due_jobs()
    entry.refresh_from_db()
    row = Replicate.objects.get(figure="ffa")
    assert row.low is not None
    assert row.high is not None
    assert entry.intervals["ffa"] == [round(row.low, 2), round(row.high, 2)]
    intervals = intervals_of(submission_page(AnonymousUser(), submission))
    assert intervals["ffa"] == f"{100 * row.low:.0f}–{100 * row.high:.0f}"
    assert (entry.ranks, entry.ranked_among) == ({}, "")


def test_a_phase_in_parts_shows_no_intervals(board: Board, researcher: User) -> None:
    board.phases.update(public_share=50)
    submission = graded(board, researcher)
    entry = publish_submission(submission=Submission.objects.get(pk=submission.pk), actor=None)
    run_due_jobs()
    entry.refresh_from_db()
    assert (entry.intervals, entry.ranks) == ({}, {})
    assert intervals_of(submission_page(AnonymousUser(), submission)) == {}


def test_grading_again_brings_new_intervals(
    board: Board, researcher: User, organiser: User
) -> None:
    made = three_results(board, researcher)
    run_due_jobs()
    start_regrade(board=board, release=next_release(release_of(board)), actor=organiser)
    run_due_jobs()
    for submission in made.values():
        entry = Entry.objects.get(grading__submission=submission)
        new = Replicate.objects.get(grading=entry.grading, figure="ffa")
        assert entry.intervals["ffa"] == [new.low, new.high]
        assert new.value == pytest.approx(entry.scores["ffa"])
    assert Replicate.objects.filter(figure="ffa").values("key").distinct().count() == 2


def test_unfinished_gradings_have_no_replicates(board: Board, researcher: User) -> None:
    submission = make_submission(board, researcher)
    assert resample(latest_grading(submission).pk) == {}


def test_resampling_twice_writes_the_same(board: Board, researcher: User) -> None:
    grading = latest_grading(graded(board, researcher))
    rows = Replicate.objects.filter(grading=grading).values_list("figure", "low", "high", "key")
    before = list(rows.all())
    store_replicates(grading.pk, resample(grading.pk))
    assert list(rows.all()) == before
    assert Job.objects.filter(kind=RESAMPLE_KIND, state=Job.State.DONE).count() == 1


@pytest.mark.parametrize("entries", [2, 12])
def test_ranking_asks_as_often_for_many_as_for_few(
    board: Board, researcher: User, entries: int, django_assert_num_queries: Any
) -> None:
    published(board, researcher, **{f"R{number}": 0.5 for number in range(entries)})
    phase = first_phase(board).pk
    # The phase with its board, its entries, and the replicates of three ranked columns.
    with django_assert_num_queries(5):
        assert len(rank_entries(phase)) == entries
