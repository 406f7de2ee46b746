"""An organiser gives a board its own judge in a browser: set, tried, used, moved, taken away."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Board, JudgeEndpoint
from scoring.submissions.services import publish_submission
from tests.fixture_types import PageOf
from tests.looks import faults_in_this_look
from tests.scoring.factories import FLAWED, make_submission
from tests.scoring.judge.server import MODEL, Call, JudgeServer, Reply, perfect, serve

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def script(call: Call) -> Reply:
    """Of trials and of pages."""
    return Reply('{"same": true, "why": "equal"}') if "FIELD" in call.sections else perfect(call)


@pytest.fixture
def server(settings: Any, tmp_path: Path) -> Iterator[JudgeServer]:
    settings.JUDGE_CACHE, settings.JUDGE_MODEL = tmp_path / "answers", ""
    with serve(script) as judge:
        yield judge


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_board_gets_its_own_judge(
    page_of: PageOf,
    board: Board,
    researcher: User,
    organiser: User,
    server: JudgeServer,
    script: bool,
) -> None:
    submission = make_submission(board, researcher, FLAWED)
    run_due_jobs()
    publish_submission(submission=submission, actor=None)
    page = page_of(organiser, java_script_enabled=script)
    page.goto("/boards/board/judge/manage/")
    page.get_by_role("link", name="Endpoint", exact=True).click()
    expect(page.get_by_text("No judge endpoint is configured")).to_be_visible()

    page.get_by_label("URL").fill(server.url)
    page.get_by_label("Model").fill(MODEL)
    page.get_by_label("Key").fill("sk-of-the-board")
    page.get_by_label("Monthly budget").fill("5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("A budget needs prices")).to_be_visible()
    expect(page.get_by_label("Key")).to_have_value("")

    page.get_by_label("Key").fill("sk-of-the-board")
    page.get_by_label("input tokens").fill("100")
    page.get_by_label("output tokens").fill("200")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{MODEL} is now the judge of this board")).to_be_visible()
    expect(page.get_by_text("with a key")).to_be_visible()
    page.get_by_role("button", name="Send test question").click()
    expect(page.get_by_text(f"{MODEL} answered in")).to_be_visible()
    expect(page.get_by_text("4.9800")).to_be_visible()
    if script:
        assert faults_in_this_look(page) == []

    page.get_by_role("link", name="Experts and samples").click()
    page.get_by_label("Submission").select_option(label=str(submission))
    page.get_by_role("button", name="Start run").click()
    run_due_jobs()
    page.reload()
    expect(page.get_by_role("row").filter(has_text=MODEL)).to_contain_text("3 of 3")
    page.get_by_role("link", name="Endpoint", exact=True).click()
    # One trial and three pages at 0.02 each.
    expect(page.get_by_text("4.9200")).to_be_visible()

    page.get_by_label("URL").fill("http://127.0.0.1:9/v1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("its key, query and headers were deleted")).to_be_visible()
    expect(page.get_by_text("without a key")).to_be_visible()
    page.get_by_role("button", name="Remove endpoint").click()
    expect(page.get_by_text("No judge endpoint is configured")).to_be_visible()
    assert not JudgeEndpoint.objects.exists()
    assert {call.headers["authorization"] for call in server.calls} == {"Bearer sk-of-the-board"}
