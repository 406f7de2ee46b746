"""Human runs: a seeded sample of the items, graded on exactly those, and compared with systems."""

import json

import pytest

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard.selectors import leaderboard
from scoring.models import Board, Entry, Phase, Submission
from scoring.reported.selectors import draw_items, same_items
from scoring.submissions.services import publish_submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import FLAWED, PERFECT, first_phase, lines_of, make_submission, upload

pytestmark = pytest.mark.django_db

PAGE = "/boards/board/human-run/"
API = "/api/v1/boards/board/human-runs/"


def answers(names: tuple[str, ...], source: dict[str, str] = PERFECT) -> bytes:
    return lines_of({name: source[name] for name in names})


@pytest.fixture
def run(board: Board, organiser: User, client_of: ClientOf) -> Submission:
    """Two of the three pages, all facts right; published."""
    sample = draw_items(first_phase(board), size=2, seed=7)
    asked = {"phase": "test", "size": 2, "seed": 7, "name": "People"}
    sent = client_of(organiser).post(PAGE, {**asked, "file": upload(answers(sample.names))})
    submission = Submission.objects.get(name="People")
    assert (sent.status_code, sent["Location"]) == (302, f"/submissions/{submission.pk}/")
    run_due_jobs()
    publish_submission(submission=submission, actor=organiser)
    run_due_jobs()
    return submission


def test_the_same_seed_draws_the_same_items(board: Board) -> None:
    phase = first_phase(board)
    draws = {draw_items(phase, size=2, seed=seed).names for seed in range(20)}
    assert draw_items(phase, size=2, seed=7) == draw_items(phase, size=2, seed=7)
    assert draws == {("page-1", "page-2"), ("page-1", "page-3"), ("page-2", "page-3")}
    assert draw_items(phase, size=9, seed=7).words == "3 of 3 items"


def test_a_run_is_graded_on_exactly_its_items(run: Submission, board: Board) -> None:
    entry = Entry.objects.get(kind=Entry.Kind.HUMAN)
    assert entry.grading is not None
    assert (entry.grading.items_total, entry.grading.missing) == (2, 0)
    assert entry.grading.item_scores.count() == 2
    assert entry.scores["ffa"] == 1.0
    assert entry.provenance == "2 of 3 items, drawn with seed 7"


def test_a_run_is_shown_without_a_rank_and_says_its_items(
    run: Submission, board: Board, client_of: ClientOf
) -> None:
    [section] = leaderboard(board, first_phase(board)).sections
    [row] = section.rows
    assert set(row.ranks.values()) == {None}
    page = client_of(None).get("/boards/board/").content.decode()
    assert page.count("2 of 3 items, drawn with seed 7") >= 2
    assert "Human baseline" in page


def test_systems_are_shown_on_the_same_items(
    run: Submission, board: Board, organiser: User, researcher: User, client_of: ClientOf
) -> None:
    """By hand: of page 1, 2 and 3, FLAWED has 2 of 3, 1 of 2 and 1 of 1 facts right."""
    system = make_submission(board, researcher, FLAWED, name="Flawed")
    run_due_jobs()
    publish_submission(submission=system, actor=organiser)
    entry = Entry.objects.get(kind=Entry.Kind.HUMAN)
    right = {"page-1": (2, 3), "page-2": (1, 2), "page-3": (1, 1)}
    found = [right[name] for name in run.sample_items]
    share = 100 * sum(each[0] for each in found) / sum(each[1] for each in found)
    same = same_items(researcher, entry)
    assert same is not None
    assert [each.entry.name for each in same.rows] == ["People", "Flawed"]
    column = [each.key for each in same.columns].index("ffa")
    assert [each.cells[column] for each in same.rows] == ["100.00", f"{share:.2f}"]
    url = f"boards/board/rows/{entry.pk}/"
    assert "Models on the same items" in client_of(None).get(f"/{url}").content.decode()
    answer = client_of(None).get(f"/api/v1/{url}same-items/").json()
    assert [each["cells"][answer["columns"].index("ffa")] for each in answer["rows"]] == [
        "100.00",
        f"{share:.2f}",
    ]


def test_a_phase_that_rounds_shows_the_same_items_to_organisers_alone(
    run: Submission, board: Board, organiser: User, researcher: User
) -> None:
    Phase.objects.update(score_decimals=1)
    entry = Entry.objects.select_related("phase", "grading").get(kind=Entry.Kind.HUMAN)
    assert same_items(researcher, entry) is None
    assert same_items(organiser, entry) is not None


def test_a_run_must_answer_its_items_and_no_others(
    board: Board, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    first, second = draw_items(first_phase(board), size=2, seed=7).names
    asked = {"phase": "test", "size": 2, "seed": 7, "name": "People"}
    client = client_of(organiser)
    short = client.post(PAGE, {**asked, "file": upload(answers((first,)))})
    assert short.status_code == 422
    assert "A human baseline needs an answer for every item of its" in short.content.decode()
    other = next(name for name in PERFECT if name not in {first, second})
    more = {**asked, "file": upload(answers((first, second, other)))}
    refused = api_of(organiser).post(API, more, format="multipart")
    assert refused.status_code == 422
    assert refused.json()["faults"][0]["id"] == other
    assert not Submission.objects.exists()


def test_the_items_of_a_sample_can_be_downloaded_and_sent_back(
    board: Board, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    query: dict[str, str | int] = {"phase": "test", "size": 2, "seed": 7}
    names = draw_items(first_phase(board), size=2, seed=7).names
    file = client_of(organiser).get(f"{PAGE}items.jsonl", query).content
    assert [json.loads(line)["id"] for line in file.splitlines()] == list(names)
    listed = api_of(organiser).get(f"{API}sample/", query).json()
    assert (listed["ids"], listed["total"]) == (list(names), 3)
    sent = {**query, "name": "People", "file": upload(file)}
    assert api_of(organiser).post(API, sent, format="multipart").status_code == 201
    shown = client_of(organiser).get(PAGE, query).content.decode()
    assert "Drawn: 2 of 3 items (seed 7)." in shown


@pytest.mark.parametrize("query", [{"size": 0}, {"seed": -1}, {"phase": "none"}, {"size": "x"}])
def test_a_faulty_draw_is_refused(
    board: Board, organiser: User, api_of: ApiOf, query: dict[str, str | int]
) -> None:
    asked: dict[str, str | int] = {"phase": "test", "size": 2, "seed": 7, **query}
    answer = api_of(organiser).get(f"{API}sample/", asked)
    assert answer.status_code == 400
    assert set(answer.json()) == set(query)


def test_a_run_can_be_withdrawn_but_has_no_new_version(
    run: Submission, organiser: User, client_of: ClientOf
) -> None:
    client = client_of(organiser)
    assert client.get("/boards/board/submit/", {"again": run.pk}).status_code == 403
    client.post(f"/submissions/{run.pk}/withdraw/")
    assert not Entry.objects.exists()


def test_a_run_is_graded_again_with_its_items(
    run: Submission, board: Board, organiser: User
) -> None:
    from scoring.grading.regrades import start_regrade

    entry = Entry.objects.get(kind=Entry.Kind.HUMAN)
    start_regrade(board=board, release=None, actor=organiser)
    run_due_jobs()
    after = Entry.objects.get(pk=entry.pk)
    assert after.grading_id != entry.grading_id
    assert after.grading is not None
    assert after.grading.items_total == 2
