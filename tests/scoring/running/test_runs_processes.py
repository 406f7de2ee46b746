"""A worker that is killed while a model is asked: no answer that was stored is paid for twice."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.site import Site
from tests.jobs.processes import kill_group, start_worker, wait_until
from tests.scoring.judge.server import Call, JudgeServer, Reply, serve

from .models import KEY

pytestmark = pytest.mark.processes

PAGES = 24
MAKE = """
import json
from portal.accounts.models import User
from tests.scoring.running.models import board_with_images, give_endpoint, start

gold = {{f"p{{n:02}}": f"<p>Page <Number>{{n}}</Number> of it</p>" for n in range({pages})}}
board = board_with_images(gold)
give_endpoint(board, {url!r}, price_input=1.0, price_output=1.0, budget=50.0)
organiser = User.objects.get()
organiser.is_organiser = True
organiser.save()
start(board, organiser, budget=20.0)
print(json.dumps(None))
"""
STATE = """
import json
from scoring.models import ModelRun
run = ModelRun.objects.get()
states = run.submission.manifest.states if run.submission else {}
print(json.dumps([run.state, run.error, run.answers.count(), states]))
"""


def slow(_: Call) -> Reply:
    return Reply("<p>Page 1 of it</p>", wait=0.15)


def test_a_killed_worker_loses_only_calls_under_way(tmp_path: Path) -> None:
    with serve(slow) as server, Site(tmp_path, JUDGE_ATTEMPTS="1") as site:
        _kill_and_go_on(site, server)


def _kill_and_go_on(site: Site, server: JudgeServer) -> None:
    site.prepare()
    site.add_users("Olga")
    site.shell(MAKE.format(pages=PAGES, url=server.url))
    log = site.folder / "worker.log"

    worker = start_worker(site.env, log)
    wait_until(lambda: len(server.calls) >= 8, seconds=60, what="pages are being asked")
    kill_group(worker)
    state, _, kept, _ = site.shell(STATE)
    assert (state, 0 < kept < PAGES) == ("running", True)
    before = len(server.calls)

    worker = start_worker(site.env, log)
    found: list[Any] = []

    def is_done() -> bool:
        found[:] = site.shell(STATE)
        return bool(found[0] != "running")

    try:
        wait_until(is_done, seconds=90, what="the run has ended")
    finally:
        kill_group(worker)
    assert found == ["done", "", PAGES, {"answered": PAGES}]
    assert len(server.calls) - before == PAGES - kept
    # Two calls were under way at the kill; their answers may not have been stored.
    assert PAGES <= len(server.calls) <= PAGES + 4
    assert KEY not in log.read_text(encoding="utf-8", errors="replace")
