"""Disclosure: phases in two parts, and counts in phases that round their scores."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.home.selectors import boards_at_a_glance, newest_entries
from portal.jobs.worker import run_due_jobs
from scoring.boards.protection import NewPhase
from scoring.boards.services import BoardRefused, edit_phase, phase_faults
from scoring.grading.notices import message
from scoring.leaderboard.disclosure import public_count, public_items, shown_part
from scoring.models import Board, Entry, Phase, Submission
from scoring.submissions.services import publish_submission
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import (
    FLAWED,
    first_phase,
    latest_grading,
    make_board,
    make_release,
    make_submission,
    receipt_board,
    send_lines,
)
from tests.scoring.judge.test_receipts import GOLD, READ
from tests.worlds import shared

pytestmark = pytest.mark.django_db

# Flawed predictions: correct facts, and all facts, of each page.
RIGHT = {"page-1": (2, 3), "page-2": (1, 2), "page-3": (1, 1)}


@pytest.fixture
@shared
def board(db: None) -> Board:
    """A third of three items is public: one. Hidden gold, an open phase that closes tomorrow."""
    release = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    return make_board(
        release,
        diagnostics=Phase.Diagnostics.AGGREGATES,
        public_share=34,
        closes_at=timezone.now() + timedelta(days=1),
    )


@pytest.fixture
@shared
def graded(board: Board, researcher: User) -> Submission:
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    return submission


def names_of(phase: Phase) -> tuple[list[str], list[str]]:
    """Accuracy over the public items, and over the others."""
    public = public_items(phase, phase.release_id)
    items = list(phase.items.order_by("name"))
    return (
        [item.name for item in items if item.pk in public],
        [item.name for item in items if item.pk not in public],
    )


def accuracy(names: list[str]) -> float:
    right, facts = zip(*(RIGHT[name] for name in names), strict=True)
    return float(sum(right) / sum(facts))


def close(board: Board) -> None:
    """Close the phase at this very instant."""
    board.phases.update(closes_at=timezone.now())


def grading_of(api: APIClient, submission: Submission) -> dict[str, Any]:
    grading: dict[str, Any] = api.get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    return grading


def test_each_part_has_the_figures_of_its_items(board: Board, graded: Submission) -> None:
    public, private = names_of(first_phase(board))
    grading = latest_grading(graded)
    assert (len(public), len(private)) == (1, 2)
    assert grading.scores["ffa"] == pytest.approx(4 / 6)
    assert grading.parts["public"]["ffa"] == pytest.approx(accuracy(public))
    assert grading.parts["private"]["ffa"] == pytest.approx(accuracy(private))


@pytest.mark.parametrize(
    ("total", "share", "expected"),
    [(10, 25, 3), (10, 24, 2), (3, 1, 1), (3, 99, 2), (2, 50, 1), (1000, 30, 300)],
)
def test_the_share_is_rounded_and_leaves_an_item_in_each_part(
    total: int, share: int, expected: int
) -> None:
    assert public_count(total, share) == expected


def test_a_secret_draws_the_items(board: Board) -> None:
    phase = first_phase(board)
    assert public_items(phase, phase.release_id) == public_items(
        first_phase(board), phase.release_id
    )
    drawn = set()
    for number in range(40):
        phase.part_salt = f"salt {number}"
        drawn.add(public_items(phase, phase.release_id))
    assert len(drawn) == 3


def test_every_kind_of_document_has_its_share() -> None:
    release = make_release({f"p{n}": f"<p><Number>{n}</Number> sold</p>" for n in range(10)})
    for item in release.items.select_related("document"):
        assert item.document is not None
        item.document.doc_type = "10-K" if int(item.name[1:]) < 6 else "10-Q"
        item.document.save()
    phase = first_phase(make_board(release, diagnostics="aggregates", public_share=50))
    public, _ = names_of(phase)
    assert len([name for name in public if int(name[1:]) < 6]) == 3
    assert len(public) == 5


def test_owners_read_the_public_part_while_it_is_open_then_the_private_one(
    board: Board, graded: Submission, researcher: User, api_of: ApiOf
) -> None:
    public, private = names_of(first_phase(board))
    api = api_of(researcher)
    before = grading_of(api, graded)
    assert before["scores"]["ffa"] == pytest.approx(accuracy(public))
    close(board)
    after = grading_of(api, graded)
    assert after["scores"]["ffa"] == pytest.approx(accuracy(private))
    for grading in (before, after):
        assert (grading["counts"], grading["subsets"], grading["parts"]) == ({}, {}, None)


def test_the_closing_instant_belongs_to_the_private_part(board: Board) -> None:
    phase = first_phase(board)
    assert phase.closes_at is not None
    assert shown_part(phase, phase.closes_at - timedelta(microseconds=1)) == "public"
    assert shown_part(phase, phase.closes_at) == "private"
    phase.closes_at = None
    assert shown_part(phase, timezone.now()) == "public"


def test_organisers_read_both_parts_and_all(
    board: Board, graded: Submission, organiser: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    public, private = names_of(first_phase(board))
    grading = grading_of(api_of(organiser), graded)
    assert grading["scores"]["ffa"] == pytest.approx(4 / 6)
    assert grading["parts"]["public"]["ffa"] == pytest.approx(accuracy(public))
    assert grading["parts"]["private"]["ffa"] == pytest.approx(accuracy(private))
    page = client_of(organiser).get(graded.get_absolute_url()).content.decode()
    assert "Scores by part" in page
    assert f"{100 * accuracy(private):.2f}" in page


CSV = "/boards/board/leaderboard.csv"
PARTS = "one of all, private, public"


def row_of(api: APIClient, **asked: str) -> Any:
    """Return the part that the leaderboard counts, and the accuracy of its first row."""
    table = api.get("/api/v1/boards/board/leaderboard/", asked).json()
    return table["part"], table["sections"][0]["rows"][0]["values"]["ffa"]


def test_the_leaderboard_changes_over_by_itself(
    board: Board,
    graded: Submission,
    researcher: User,
    organiser: User,
    api_of: ApiOf,
    client_of: ClientOf,
) -> None:
    publish_submission(submission=graded, actor=researcher)
    public, private = names_of(first_phase(board))
    assert row_of(api_of(None)) == ("public", pytest.approx(accuracy(public)))
    assert "the public part of the phase, 34% of its items" in page_of(
        client_of(None), "/boards/board/"
    )
    assert newest_entries()[0].score == f"{100 * accuracy(public):.2f}"
    # Only organisers choose.
    for part, expected in (("private", accuracy(private)), ("all", 4 / 6)):
        refused = api_of(researcher).get("/api/v1/boards/board/leaderboard/", {"part": part})
        assert refused.json() == {"part": [f"Organisers choose {PARTS} in a phase with parts."]}
        assert client_of(researcher).get(f"{CSV}?part={part}").status_code == 400
        assert row_of(api_of(organiser), part=part) == (part, pytest.approx(expected))
    assert row_of(api_of(researcher), part="public")[0] == "public"
    assert client_of(organiser).get(f"{CSV}?part=nope").status_code == 400
    chart = api_of(None).get("/api/v1/boards/board/charts/").json()[0]["key"]
    for path in ("charts/", f"charts/{chart}/", "cite/"):
        refused = api_of(researcher).get(f"/api/v1/boards/board/{path}", {"part": "private"})
        assert refused.json() == {"part": [f"Organisers choose {PARTS} in a phase with parts."]}
        shown = api_of(organiser).get(f"/api/v1/boards/board/{path}", {"part": "private"})
        assert shown.status_code == 200, path
    for path in (f"charts/{chart}.csv", "embed/"):
        file = client_of(researcher).get(f"/boards/board/{path}?part=private")
        assert file.status_code == 400, path
        assert "part: Organisers choose" in file.content.decode()
    page = page_of(client_of(organiser), "/boards/board/cite/?part=private")
    assert "/boards/board/embed/&quot;" in page
    close(board)
    assert row_of(api_of(None)) == ("private", pytest.approx(accuracy(private)))
    assert "the private part" in page_of(client_of(None), "/boards/board/")
    assert newest_entries()[0].score == f"{100 * accuracy(private):.2f}"
    assert boards_at_a_glance()[0].places[0].score == f"{100 * accuracy(private):.2f}"


def page_of(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def test_the_parts_of_items_stay_secret(
    board: Board, graded: Submission, researcher: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    """The totals of a part are hidden too: with counts one would know how many facts it has."""
    publish_submission(submission=graded, actor=researcher)
    for is_closed in (False, True):
        if is_closed:
            close(board)
        for user in (researcher, None):
            address = f"/submissions/{graded.pk}/"
            assert api_of(user).get(f"/api/v1{address}items/").status_code == 404
            assert api_of(user).get(f"/api/v1{address}items/page-1/").status_code == 404
            assert client_of(user).get(f"{address}items/page-1/").status_code == 404
            for path in (address, "/boards/board/", "/"):
                page = page_of(client_of(user), path)
                assert "page-1" not in page
                assert first_phase(board).part_salt not in page
            for path in (f"{address}", "/boards/", "/boards/board/", "/boards/board/leaderboard/",
                         "/boards/board/phases/test/"):  # fmt: skip
                answer = api_of(user).get(f"/api/v1{path}").content.decode()
                assert "page-1" not in answer
                assert first_phase(board).part_salt not in answer


def test_webhooks_and_rounding_keep_to_the_part(api_of: ApiOf, researcher: User) -> None:
    """On public gold; see test_hidden_gold for hidden gold."""
    totals = Phase.Diagnostics.AGGREGATES
    board = make_board(diagnostics=totals, public_share=34, score_decimals=0)
    graded = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    public, _ = names_of(first_phase(board))
    grading = latest_grading(graded)
    scores: Any = message(grading)["scores"]
    assert scores["ffa"] == round(accuracy(public), 2)
    publish_submission(submission=graded, actor=researcher)
    assert row_of(api_of(None))[1] == round(accuracy(public), 2)
    assert mail.outbox == []


def test_the_requirements_of_a_phase_in_parts(board: Board) -> None:
    release = first_phase(board).release
    short = make_release({"only": "<p><Number>1</Number></p>"})

    def faults(public_share: int, **changes: Any) -> set[str]:
        phase = NewPhase("p", "P", **({"release": release} | changes), public_share=public_share)
        return set(phase_faults("fincriticaled", phase))

    assert faults(1) == faults(99) == set()
    assert faults(0) == faults(100) == {"public_share"}
    assert faults(50, release=short) == {"public_share"}
    assert faults(50, diagnostics="items") == {"diagnostics"}


def test_the_share_stays_once_something_was_submitted(
    board: Board, graded: Submission, organiser: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    phase = first_phase(board)
    wanted = NewPhase(
        phase.slug, phase.title, phase.release, options=phase.options, public_share=50
    )
    with pytest.raises(BoardRefused):
        edit_phase(phase=phase, wanted=wanted, actor=organiser)
    answer = api_of(organiser).patch("/api/v1/boards/board/phases/test/", {"public_share": 50})
    assert answer.status_code == 409
    answer = api_of(organiser).patch("/api/v1/boards/board/phases/test/", {"public_share": 100})
    assert "public_share" in answer.json()
    form = page_of(client_of(organiser), "/boards/board/phases/test/")
    assert "Public share" in form


WITHHELD = "and counts are hidden"


def receipts(score_decimals: int | None) -> Board:
    return receipt_board(GOLD, diagnostics="aggregates", score_decimals=score_decimals)


def published(board: Board, owner: User, run_jobs: RunJobs) -> Submission:
    submission = send_lines(board, owner, READ)
    run_jobs()
    publish_submission(submission=submission, actor=owner)
    return submission


@pytest.mark.parametrize("decimals", [None, 0], ids=["exact", "rounded"])
def test_counts_are_shown_with_exact_scores_only(
    decimals: int | None,
    researcher: User,
    run_jobs: RunJobs,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    is_exact = decimals is None
    submission = published(receipts(decimals), researcher, run_jobs)
    assert ("fp_overall" in Entry.objects.get(kind="graded").scores) is is_exact
    shown = api_of(None).get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    assert ("fp_overall" in shown["scores"]) is is_exact
    assert ("false_positives" in shown["views"]) is is_exact
    assert shown["scores"]["overall"] is not None
    page = client_of(None).get(submission.get_absolute_url()).content.decode()
    assert ('id="view-false_positives"' in page) is is_exact
    assert 'id="view-precision"' in page


@pytest.mark.parametrize("decimals", [None, 0], ids=["exact", "rounded"])
def test_the_view_keeps_what_others_report(
    decimals: int | None,
    researcher: User,
    run_jobs: RunJobs,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    published(receipts(decimals), researcher, run_jobs)
    page = client_of(None).get("/boards/board/?view=false_positives").content.decode()
    assert (WITHHELD in page) is (decimals == 0)
    assert "No results yet" not in page
    table = api_of(None).get("/api/v1/boards/board/leaderboard/?view=false_positives").json()
    kinds = {section["kind"] for section in table["sections"]}
    assert kinds == ({"reported"} if decimals == 0 else {"graded", "reported"})
    plain = client_of(None).get("/boards/board/").content.decode()
    assert "Reader of receipts" in plain
    assert WITHHELD not in plain


@pytest.mark.parametrize("decimals", [None, 0], ids=["exact", "rounded"])
def test_a_view_without_figures_of_graded_rows_has_no_tab(
    decimals: int | None, researcher: User, run_jobs: RunJobs, client_of: ClientOf
) -> None:
    published(receipts(decimals), researcher, run_jobs)

    def tabs(query: str = "") -> str:
        page = client_of(None).get(f"/boards/board/{query}").content.decode()
        return page.split('id="views"')[1].split("</nav>")[0]

    assert ("view=false_positives" in tabs()) is (decimals is None)
    assert "view=precision" in tabs()
    assert "view=false_positives" in tabs("?others=on")
    assert "view=false_positives" in tabs("?view=false_positives")


def test_organisers_read_the_counts(
    researcher: User, organiser: User, run_jobs: RunJobs, api_of: ApiOf
) -> None:
    submission = published(receipts(0), researcher, run_jobs)
    shown = api_of(organiser).get(f"/api/v1/submissions/{submission.pk}/").json()["grading"]
    assert shown["scores"]["fp_overall"] == shown["counts"]["fp"]
    assert shown["views"]["false_positives"]["fp_overall"] == shown["scores"]["fp_overall"]
