"""The summary of a result: score, rank, largest losses and typical errors."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Phase, Submission
from scoring.submissions.selectors import submission_page
from scoring.submissions.services import open_items, publish_submission, unpublish_submission
from tests.fixture_types import ClientOf, RunJobs
from tests.pages import text_of
from tests.scoring.factories import FLAWED, PERFECT, make_board, make_release, make_submission
from tests.scoring.ranked import published

pytestmark = pytest.mark.django_db


def summary_of(client: Client, submission: Submission) -> str:
    """The visible words of the summary."""
    response = client.get(submission.get_absolute_url())
    assert response.status_code == 200
    text = response.content.decode().partition('aria-label="Summary">')[2]
    text = text.partition('<h2 id="figures"')[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_score_losses_and_errors_come_first(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    """Four of six facts are right: of three facts on page-1 the sign of one is wrong, of two on
    page-2 the date."""
    said = summary_of(client_of(researcher), graded)
    assert "FFA 66.67 %" in said
    assert "95% interval" in said
    assert "Most frequent errors Sign 16.67% (1) Date 16.67% (1)" in said
    assert "Lowest-scoring document types Other 66.67%" in said
    assert "Date Gold 2020 Prediction 2029 View page-2" in said
    assert "Sign Gold (350) Prediction 350 View page-1" in said
    assert "Rank" not in said, "it is not on the leaderboard"
    page = client_of(researcher).get(graded.get_absolute_url()).content.decode()
    assert (
        page.index('aria-label="Summary"') < page.index('id="figures"') < page.index('id="items"')
    )
    assert f'href="/submissions/{graded.pk}/items/page-1/?fact=1"' in page


def test_the_rank_is_that_of_the_leaderboard(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    made = [make_submission(board, researcher, file) for file in (PERFECT, FLAWED, PERFECT)]
    run_due_jobs()
    for submission in made[:2]:
        publish_submission(submission=submission, actor=researcher)
    run_due_jobs()
    board_page = html.unescape(client_of(None).get("/boards/board/").content.decode())
    ranks = [submission_page(researcher, submission).place for submission in made]
    assert ranks[2] is None
    assert [place and place.of for place in ranks[:2]] == [2, 2]
    for submission, place in zip(made[:2], ranks, strict=False):
        assert place is not None
        assert submission.get_absolute_url() in board_page
        assert f"Rank {place.rank} of 2" in summary_of(client_of(None), submission)


def test_until_the_ranks_are_tested_the_page_shows_the_rank_of_the_board(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    """The page updates its rank when the ranking is finished."""
    made = published(board, researcher, Best=0.9, Second=0.899, Third=0.5)
    second, client = made["Second"], client_of(None)
    assert "Rank 1 of 3" in summary_of(client, second)
    unpublish_submission(submission=made["Third"], actor=researcher)
    [section] = client.get("/api/v1/boards/board/leaderboard/").json()["sections"]
    assert [row["ranks"]["rank_ffa"] for row in section["rows"]] == [1, 2]
    said = summary_of(client, second)
    assert "Rank 2 of 2 by score only, until the differences are tested for significance" in said
    assert 'hx-select="#rank"' in client.get(second.get_absolute_url()).content.decode()
    run_due_jobs()
    assert "Rank 1 of 2" in summary_of(client, second)
    assert "by score only" not in summary_of(client, second)
    assert 'hx-select="#rank"' not in client.get(second.get_absolute_url()).content.decode()


def test_a_rank_that_is_never_tested_says_so(researcher: User, client_of: ClientOf) -> None:
    board = make_board(diagnostics="aggregates", score_decimals=0)
    made = published(board, researcher, Best=0.9, Second=0.8)
    page = client_of(None).get(made["Second"].get_absolute_url()).content.decode()
    assert "by score only<" in page
    assert 'hx-select="#rank"' not in page


def test_a_perfect_result_has_no_losses(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    submission = make_submission(board, researcher, PERFECT)
    run_due_jobs()
    said = summary_of(client_of(researcher), submission)
    assert said.startswith("FFA 100.00 %")
    assert "Error breakdown" not in said
    assert "Example errors" not in said


def test_missing_predictions_are_counted(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    submission = make_submission(board, researcher, {"page-1": PERFECT["page-1"]})
    run_due_jobs()
    assert "Missing items 2 of 3" in summary_of(client_of(researcher), submission)


def test_others_see_the_errors_once_the_items_are_open(
    client_of: ClientOf, graded: Submission, researcher: User, stranger: User
) -> None:
    publish_submission(submission=graded, actor=researcher)
    for user in (None, stranger):
        said = summary_of(client_of(user), graded)
        assert "FFA 66.67 %" in said
        assert "Most frequent errors" in said
        assert "Example errors" not in said
        assert "(350)" not in said
    open_items(submission=graded, has_open_items=True, actor=researcher)
    for user in (None, stranger):
        assert "Sign Gold (350) Prediction 350" in summary_of(client_of(user), graded)


@pytest.mark.parametrize("diagnostics", list(Phase.Diagnostics))
def test_hidden_gold_is_in_no_summary(
    client_of: ClientOf,
    researcher: User,
    organiser: User,
    run_jobs: RunJobs,
    diagnostics: Phase.Diagnostics,
) -> None:
    release = make_release(visibility="gold_hidden")
    submission = make_submission(
        make_board(release, diagnostics=diagnostics), researcher, {"page-1": "Nothing"}
    )
    run_jobs()
    publish_submission(submission=submission, actor=organiser)
    for user in (None, researcher, organiser):
        said = summary_of(client_of(user), submission)
        assert "FFA 0.00 %" in said
        assert "Example errors" not in said
        for secret in ("1,200", "(350)", "May 27, 2021", "3.5%", "2020", "98,765"):
            assert secret not in said


@pytest.mark.parametrize(
    ("visibility", "phase", "text", "lost"),
    [
        ("public", {"score_decimals": 0}, "67", ["17", "17"]),
        ("gold_hidden", {"score_decimals": 0}, "–", None),
        (
            "gold_hidden",
            {"public_share": 50, "diagnostics": Phase.Diagnostics.AGGREGATES},
            None,
            None,
        ),
    ],
    ids=["rounded", "withheld", "in parts"],
)
def test_a_summary_does_not_undo_rounding_or_parts(
    client_of: ClientOf,
    researcher: User,
    run_jobs: RunJobs,
    visibility: str,
    phase: dict[str, Any],
    text: str | None,
    lost: list[str] | None,
) -> None:
    """No counts, and the figures as the leaderboard has them."""
    release = make_release(visibility=visibility)
    submission = make_submission(make_board(release, **phase), researcher, FLAWED)
    run_jobs()
    page = submission_page(researcher, submission)
    assert page.grading is not None
    assert page.result is not None
    assert page.result.score.value == page.grading.scores.get("ffa")
    assert [figure.count for losses in page.result.losses for figure in losses.figures] == [
        None
    ] * sum(len(losses.figures) for losses in page.result.losses)
    if text is not None:
        assert page.result.score.text == text
        assert bool(page.result.losses) == bool(lost)
    if lost:
        assert [figure.text for figure in page.result.losses[0].figures] == lost


def test_before_scores_are_due_there_is_no_summary(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    Phase.objects.update(scores_after=timezone.now() + timedelta(days=1))
    assert summary_of(client_of(researcher), graded) == ""


def test_the_result_and_the_item_say_what_was_removed_and_that_nothing_is_left(
    board: Board, researcher: User, client_of: ClientOf, run_jobs: RunJobs
) -> None:
    names = list(PERFECT)
    drafts = {name: f"<think>{PERFECT[name]}</think>" for name in names[:2]}
    submission = make_submission(board, researcher, PERFECT | drafts)
    run_jobs()
    client = client_of(researcher)
    page = text_of(client, submission.get_absolute_url())
    assert "reasoning removed in 2 answers, nothing left in 2 answers." in page
    item = text_of(client, f"{submission.get_absolute_url()}items/{names[0]}/")
    assert "reasoning removed, nothing left" in item
    assert "Before grading" not in text_of(
        client, f"{submission.get_absolute_url()}items/{names[2]}/"
    )
