"""A re-grade by real workers that are killed."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.processes import kill_group, start_worker, wait_until

from .test_grading_processes import EMAIL, GradingSite, prepared

pytestmark = pytest.mark.processes


def test_a_worker_killed_in_a_regrade_changes_nothing_and_the_next_ends_it(
    tmp_path: Path,
) -> None:
    names = [f"page-{number:03}" for number in range(60)]
    site = prepared(GradingSite(tmp_path, SCORING_SECONDS="0.1"), names)
    gradings = [site.hands(f"submit({names!r}, {EMAIL!r})") for _ in range(2)]
    log = tmp_path / "worker.log"
    # The first gradings are fast.
    worker = start_worker(site.env | {"SCORING_SECONDS": "0"}, log)
    found: dict[str, Any] = {}

    def reached(items: int) -> bool:
        found.update(site.hands("regrade_state()"))
        return int(found["items"]) >= items

    def has_ended() -> bool:
        reached(0)
        return bool(found["state"] != "running")

    try:
        for grading in gradings:
            assert site.ended(grading)["state"] == "done"
        site.hands("publish_all()")
        kill_group(worker)
        site.hands("regrade()")
        for items in (1, 30):
            worker = start_worker(site.env, log)
            wait_until(partial(reached, items), seconds=60, what="it has come so far")
            kill_group(worker)
            reached(0)
            assert found["state"] == "running", "all was done before the kill"
            assert found["entries"] == [["1.0.0", 1.0]] * 2
            assert found["moves"] == []
        worker = start_worker(site.env, log)
        wait_until(has_ended, seconds=120, what="the re-grade has ended")
    finally:
        kill_group(worker)
        site.stop()
    assert (found["state"], found["error"]) == ("done", "")
    assert (found["gradings"], found["items"], found["doubles"]) == (2, 120, 0)
    assert found["entries"] == [["1.1.0", 1.0]] * 2
    assert found["moves"] == [[1, 1]] * 2
