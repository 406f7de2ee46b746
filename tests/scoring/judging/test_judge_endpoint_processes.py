"""A worker that is killed while a judge is asked: no call beyond the month's budget, none twice."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.site import Site
from tests.jobs.processes import kill_group, start_worker, wait_until
from tests.scoring.judge.server import JudgeServer, serve, slow
from tests.scoring.judges import COST, endpoint_values

pytestmark = pytest.mark.processes

PAGES = 24
KEY = "sk-of-the-board"
MAKE = """
import json
from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Submission
from scoring.judging.services import set_endpoint
from scoring.judging.runs import start_judge_run
from scoring.submissions.services import (publish_submission)
from tests.scoring.factories import make_board, make_release, make_submission

gold = {{f"p{{n:02}}": f"<p>Page <Number>{{n}}</Number> of it</p>" for n in range({pages})}}
read = {{name: f"<p>Page {{int(name[1:])}} of it</p>" for name in gold}}
board = make_board(make_release(gold))
make_submission(board, User.objects.get(), read)
run_due_jobs()
submission = Submission.objects.get()
publish_submission(submission=submission, actor=None)
set_endpoint(board=board, values={values!r}, key={key!r}, actor=None)
start_judge_run(submission=submission, budget=None, actor=None)
print(json.dumps(None))
"""
STATE = """
import json
from scoring.models import JudgeRun, JudgeSpending
run = JudgeRun.objects.get()
rows = list(JudgeSpending.objects.order_by("id").values_list("amount", "is_open"))
print(json.dumps([run.state, run.verdicts.count(), run.unscored, rows]))
"""


def test_a_killed_worker_leaves_its_reservation_and_the_next_goes_on(tmp_path: Path) -> None:
    # The last page asked may need as much as a call can cost at most.
    options = {"JUDGE_CONCURRENCY": "2", "JUDGE_ATTEMPTS": "1"}
    with serve() as server, Site(tmp_path, **options) as site:
        _kill_and_go_on(site, server)


def _kill_and_go_on(site: Site, server: JudgeServer) -> None:
    server.script = slow(0.1)
    site.prepare()
    site.add_users("Rex")
    values = endpoint_values(server.url, budget=1_000.0)
    site.shell(MAKE.format(pages=PAGES, values=values, key=KEY))
    log = site.folder / "worker.log"

    worker = start_worker(site.env, log)
    wait_until(lambda: len(server.calls) >= 6, seconds=60, what="pages are being judged")
    kill_group(worker)
    before = len(server.calls)
    [[set_aside, is_open]] = site.shell(STATE)[3]
    assert is_open
    assert set_aside >= before * COST, "what was called was set aside before"

    worker = start_worker(site.env, log)
    found: list[Any] = []

    def is_done() -> bool:
        found[:] = site.shell(STATE)
        return bool(found[0] == "done")

    try:
        wait_until(is_done, seconds=90, what="the run has ended")
    finally:
        kill_group(worker)
    _, verdicts, unscored, rows = found
    assert (verdicts, unscored) == (PAGES, {})
    assert [is_open for _, is_open in rows] == [False, False]
    assert rows[0][0] == set_aside
    # Calls that were running at the kill were repeated: two at most.
    assert PAGES <= len(server.calls) <= PAGES + 2
    assert server.cost(1_000, 2_000) <= sum(amount for amount, _ in rows) <= 1_000
    assert rows[1][0] == pytest.approx((len(server.calls) - before) * COST)
    assert KEY not in log.read_text(encoding="utf-8", errors="replace")
    assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}
