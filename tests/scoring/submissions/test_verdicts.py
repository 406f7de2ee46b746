"""Versions, withdrawing, verdicts, and scores that are rounded or shown later."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.accounts.models import User
from portal.accounts.teams.services import make_team
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard.disclosure import rounded_scores
from scoring.models import Board, Entry, Grading, Phase, Submission
from scoring.submissions.services import PublicationRefused, publish_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    FLAWED,
    PERFECT,
    first_phase,
    latest_grading,
    lines_of,
    make_board,
    make_submission,
    upload,
)
from tests.worlds import shared

pytestmark = pytest.mark.django_db


def again(client: Client, earlier: Submission, key: str = "k2") -> Any:
    return client.post(
        f"/boards/board/submit/?again={earlier.pk}",
        {
            "form_key": key,
            "phase": earlier.phase_id,
            "name": earlier.name,
            "category": "other",
            "file": upload(lines_of(PERFECT)),
        },
    )


def test_a_new_version_leaves_the_earlier_one_as_it_was(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    page = client_of(researcher).get(f"/boards/board/submit/?again={graded.pk}").content.decode()
    assert 'value="Reader"' in page
    assert "This is a new version of" in page
    assert again(client_of(researcher), graded).status_code == 302
    newer = Submission.objects.get(replaces=graded)
    assert (newer.version, latest_grading(graded).state) == (2, "done")
    page = client_of(researcher).get(f"/submissions/{graded.pk}/").content.decode()
    assert f"/submissions/{newer.pk}/" in page
    assert "Submit a new version" not in page


def test_a_version_is_replaced_once(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    again(client_of(researcher), graded)
    answer = again(client_of(researcher), graded, key="k3")
    assert answer.status_code == 409
    assert "a newer version" in answer.content.decode()


def test_nobody_replaces_what_is_somebody_elses(
    client_of: ClientOf, graded: Submission, stranger: User, organiser: User
) -> None:
    for user in (stranger, organiser):
        assert again(client_of(user), graded).status_code == 404


def test_an_owner_publishes_and_takes_back(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    client_of(researcher).post(f"/submissions/{graded.pk}/publish/")
    assert Entry.objects.get().grading == latest_grading(graded)
    client_of(researcher).post(f"/submissions/{graded.pk}/unpublish/")
    assert not Entry.objects.exists()


def test_withdrawing_is_for_good(
    client_of: ClientOf, graded: Submission, researcher: User, organiser: User
) -> None:
    publish_submission(submission=graded, actor=researcher)
    for _ in range(2):
        assert client_of(researcher).post(f"/submissions/{graded.pk}/withdraw/").status_code == 302
    graded.refresh_from_db()
    assert graded.withdrawn_at is not None
    assert not Entry.objects.exists()
    with pytest.raises(PublicationRefused, match="withdrawn"):
        publish_submission(submission=graded, actor=organiser)


def test_who_disqualifies_gives_a_reason_that_stands_on_the_entry(
    api_of: ApiOf, graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    url = f"/api/v1/submissions/{graded.pk}/verdict/"
    bare = api_of(organiser).post(url, {"verdict": "disqualified", "reason": "  "}, format="json")
    assert bare.status_code == 409
    told = api_of(organiser).post(
        url, {"verdict": "disqualified", "reason": "Trained on the test set."}, format="json"
    )
    assert told.json()["verdict"] == "disqualified"
    entry = Entry.objects.get()
    assert (entry.verdict, entry.verdict_reason) == ("disqualified", "Trained on the test set.")
    api_of(organiser).post(url, {"verdict": ""}, format="json")
    entry.refresh_from_db()
    assert (entry.verdict, entry.verdict_reason) == ("", "")


def test_organisers_do_not_verify_their_own_submissions(
    api_of: ApiOf, graded: Submission, organiser: User, stranger: User
) -> None:
    url = f"/api/v1/submissions/{graded.pk}/verdict/"
    Submission.objects.filter(pk=graded.pk).update(owner=organiser)
    refused = api_of(organiser).post(url, {"verdict": "verified"}, format="json")
    assert refused.status_code == 409
    assert "Ask another organiser." in refused.json()["detail"]
    team = make_team(name="Lab", actor=organiser)
    Submission.objects.filter(pk=graded.pk).update(owner=stranger, team=team)
    assert api_of(organiser).post(url, {"verdict": "verified"}, format="json").status_code == 409
    own = {"verdict": "disqualified", "reason": "A mistake."}
    assert api_of(organiser).post(url, own, format="json").status_code == 200


def test_what_was_said_before_publishing_stands_on_the_entry(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    client_of(organiser).post(f"/submissions/{graded.pk}/verdict/", {"verdict": "verified"})
    client_of(organiser).post(f"/submissions/{graded.pk}/pin/", {"pinned": "1"})
    publish_submission(submission=graded, actor=organiser)
    entry = Entry.objects.get()
    assert (entry.verdict, entry.is_pinned) == ("verified", True)


PUBLIC = Release(visibility=Release.Visibility.PUBLIC)


def test_scores_are_rounded_to_decimals_of_a_percentage() -> None:
    scores = {"ffa": 2 / 3, "missing": None, "one": 1.0}
    phase = Phase(board=Board(benchmark="fincriticaled"), score_decimals=1, release=PUBLIC)
    grading = Grading(scores=scores)
    assert rounded_scores(phase, grading) == {"ffa": 0.667, "missing": None, "one": 1.0}
    phase.score_decimals = None
    assert rounded_scores(phase, grading) == scores


def test_counts_among_the_scores_are_left_out_where_scores_are_rounded() -> None:
    scores = {"overall": 2 / 3, "fp_overall": 3, "reward": 0.25}
    phase = Phase(board=Board(benchmark="receiptbench"), score_decimals=0, release=PUBLIC)
    assert "fp_overall" in phase.counting_figures
    assert rounded_scores(phase, Grading(scores=scores)) == {"overall": 0.67, "reward": 0.25}


@pytest.fixture
@shared
def rounding(researcher: User) -> Submission:
    """Four of six facts right, in a phase that shows whole percentages."""
    board = make_board(score_decimals=0, diagnostics="aggregates")
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    return submission


def test_a_rounding_phase_tells_nothing_that_undoes_it(
    api_of: ApiOf, client_of: ClientOf, rounding: Submission, researcher: User, organiser: User
) -> None:
    told = api_of(researcher).get(f"/api/v1/submissions/{rounding.pk}/").json()["grading"]
    assert told["scores"]["ffa"] == 0.67
    assert (told["counts"], told["subsets"]) == ({}, {})
    exact = api_of(organiser).get(f"/api/v1/submissions/{rounding.pk}/").json()["grading"]
    assert exact["scores"]["ffa"] == pytest.approx(2 / 3, abs=1e-12)
    assert exact["counts"]
    items = f"/api/v1/submissions/{rounding.pk}/items/"
    assert api_of(researcher).get(items).status_code == 404
    page = client_of(researcher).get(f"/submissions/{rounding.pk}/").content.decode()
    assert re.search(r">\s*67\s*<", page)
    assert "66.67" not in page
    # No decimals look measured that were rounded away.
    assert "67.0" not in page


def test_the_leaderboard_ranks_by_the_rounded_figures(
    api_of: ApiOf, rounding: Submission, researcher: User
) -> None:
    publish_submission(submission=rounding, actor=researcher)
    assert Entry.objects.get().scores["ffa"] == 0.67


@pytest.fixture
@shared
def later(researcher: User) -> Submission:
    board = make_board(scores_after=timezone.now() + timedelta(days=1))
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    return submission


def test_scores_that_are_told_later_are_nowhere_before(
    api_of: ApiOf, client_of: ClientOf, later: Submission, researcher: User, organiser: User
) -> None:
    told = api_of(researcher).get(f"/api/v1/submissions/{later.pk}/").json()["grading"]
    assert (told["state"], told["scores"], told["counts"]) == ("done", {}, {})
    page = client_of(researcher).get(f"/submissions/{later.pk}/").content.decode()
    assert "Scores will be shown from" in page
    assert "66.67" not in page
    listed = client_of(researcher).get("/submissions/").content.decode()
    assert "66.67" not in listed
    with pytest.raises(PublicationRefused, match="shows its scores from"):
        publish_submission(submission=later, actor=researcher)
    assert "66.67" in client_of(organiser).get(f"/submissions/{later.pk}/").content.decode()


def test_from_the_minute_on_they_are_told(
    client_of: ClientOf, later: Submission, researcher: User
) -> None:
    Phase.objects.update(scores_after=timezone.now())
    later.refresh_from_db()
    assert "66.67" in client_of(researcher).get(f"/submissions/{later.pk}/").content.decode()
    publish_submission(submission=Submission.objects.get(pk=later.pk), actor=researcher)
    assert Entry.objects.count() == 1


def test_the_whole_card_is_kept_and_shown(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    client_of(researcher).post(
        "/boards/board/submit/",
        {
            "form_key": "k",
            "phase": first_phase(board).pk,
            "name": "Reader",
            "category": "open_vlm",
            "open_weights": "true",
            "architecture": "mixture",
            "reasoning": "minimal",
            "licence": "Apache-2.0",
            "released_on": "2026-05-04",
            "prompt": "Read <this> page.",
            "output_tokens": "120000",
            "cost": "1.5000",
            "file": upload(lines_of(PERFECT)),
        },
    )
    page = client_of(researcher).get(f"/submissions/{Submission.objects.get().pk}/")
    text = page.content.decode()
    for words in ("Mixture of experts", "Apache-2.0", "4 May 2026", "120,000", "1.5 US dollars"):
        assert words in text
    assert "Minimal, cannot be turned off" in text
    assert "Read &lt;this&gt; page." in text
