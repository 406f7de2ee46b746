"""Scores before and after the training date of a system."""

from datetime import date

import pytest

from portal.accounts.models import User
from portal.datasets.models import Document
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, Entry, Phase, Submission
from scoring.results.training_dates import training_dates
from scoring.submissions.services import publish_submission
from tests.fixture_types import ClientOf
from tests.scoring.factories import FLAWED, first_phase, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def dated(board: Board, researcher: User) -> Entry:
    """Page 1 is from 2020, the others from 2022; the system's data end in 2021."""
    for name, year in {"page-1": 2020, "page-2": 2022, "page-3": 2022}.items():
        Document.objects.filter(name=name).update(fiscal_year=year)
    submission = make_submission(board, researcher, FLAWED)
    Submission.objects.update(training_until=date(2021, 6, 1), released_on=date(2031, 1, 1))
    run_due_jobs()
    submission.refresh_from_db()
    return publish_submission(submission=submission, actor=None)


def test_scores_up_to_the_year_and_later(dated: Entry, board: Board, researcher: User) -> None:
    """By hand: FLAWED has 2 of 3 facts of page 1, and 2 of 3 of pages 2 and 3."""
    found = training_dates(researcher, board, first_phase(board))
    assert found is not None
    assert (found.dated, found.total) == (3, 3)
    [group] = found.groups
    assert group.title == "Training cutoff before gold release"
    [row] = group.rows
    assert row.until == date(2021, 6, 1)
    key = found.column.key
    assert key == "ffa"
    assert (row.before, row.after) == ("66.67", "66.67")
    Document.objects.filter(name="page-2").update(fiscal_year=2021)
    again = training_dates(researcher, board, first_phase(board))
    assert again is not None
    # Pages 1 and 2 have 3 of 5, page 3 has 1 of 1.
    assert [(each.before, each.after) for each in again.groups[0].rows] == [("60.00", "100.00")]


def test_the_day_of_filing_comes_before_the_fiscal_year(
    dated: Entry, board: Board, researcher: User, client_of: ClientOf
) -> None:
    """The system's data end on 1 June 2021. Page 1 of the fiscal year 2020 was filed after that,
    page 2 of 2022 on that day, and the filing date of page 3 cannot be read."""
    filed = {"page-1": "20210602", "page-2": "2021-06-01", "page-3": "summer 2019"}
    for name, day in filed.items():
        Document.objects.filter(name=name).update(metadata={"filing_date": day})
    found = training_dates(researcher, board, first_phase(board))
    assert found is not None
    assert (found.dated, found.by_day, found.total) == (3, 2, 3)
    # Page 2 has 1 of 2 facts; pages 1 and 3 have 3 of 4.
    [row] = found.groups[0].rows
    assert (row.before, row.after) == ("50.00", "75.00")
    page = client_of(None).get("/boards/board/training/").content.decode()
    assert "2 a filing or publication date, the others only a fiscal year" in page
    assert client_of(None).get("/api/v1/boards/board/training/").json()["by_day"] == 2


def test_systems_are_grouped_by_the_release_of_the_gold(
    dated: Entry, board: Board, researcher: User, client_of: ClientOf
) -> None:
    Entry.objects.update(training_until=None)
    later = training_dates(researcher, board, first_phase(board))
    assert later is not None
    assert [each.title for each in later.groups] == ["Training cutoff on or after gold release"]
    Entry.objects.update(released_on=None)
    page = client_of(None).get("/boards/board/training/").content.decode()
    assert "No training cutoff stated" in page
    answer = client_of(None).get("/api/v1/boards/board/training/").json()
    assert answer["groups"][0]["rows"][0]["until"] is None


def test_documents_without_years_only_group(dated: Entry, board: Board, researcher: User) -> None:
    Document.objects.update(fiscal_year=None)
    found = training_dates(researcher, board, first_phase(board))
    assert found is not None
    assert found.dated == 0
    assert (found.groups[0].rows[0].before, found.groups[0].rows[0].after) == ("", "")


def test_a_phase_that_rounds_shows_it_to_organisers_alone(
    dated: Entry, board: Board, researcher: User, organiser: User, client_of: ClientOf
) -> None:
    Phase.objects.update(score_decimals=1)
    assert training_dates(researcher, board, first_phase(board)) is None
    assert training_dates(organiser, board, first_phase(board)) is not None
    assert client_of(None).get("/boards/board/training/").status_code == 200
    assert client_of(None).get("/api/v1/boards/board/training/").json()["groups"] == []
