"""Grading by real processes that are killed, and items that kill the process that scores them."""

import json
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.e2e.site import Site
from tests.jobs.processes import Env, kill_group, start_worker, wait_until
from tests.jobs.test_processes import OwnRedis, empty_redis, services  # noqa: F401

pytestmark = pytest.mark.processes

EMAIL = "rex@example.org"
SECRETS = ("1,200", "(350)", "May 27, 2021")


class GradingSite(Site):
    """A site whose scorers can die."""

    def __init__(self, folder: Path, **extra: str) -> None:
        super().__init__(folder, **extra)
        self.env["DJANGO_SETTINGS_MODULE"] = "tests.scoring.process_settings"

    def hands(self, call: str) -> Any:
        """Calls a function of process_hands."""
        code = f"import json\nfrom tests.scoring.process_hands import *\nprint(json.dumps({call}))"
        return self.shell(code)

    def ended(self, grading: int, seconds: float = 90) -> dict[str, Any]:
        """The grading, once it has ended."""
        found: dict[str, Any] = {}

        def is_over() -> bool:
            found.update(self.hands(f"state({grading})"))
            return found["state"] in {"done", "failed"}

        wait_until(is_over, seconds=seconds, what=f"the grading has ended: {found}")
        return found


def prepared(site: GradingSite, names: Sequence[str]) -> GradingSite:
    site.prepare()
    site.add_users("Rex")
    site.hands(f"make({list(names)!r})")
    return site


@pytest.mark.parametrize("failing", ["dies", "grows"])
def test_one_failing_item_is_named_and_all_others_are_graded(tmp_path: Path, failing: str) -> None:
    names = [failing, *(f"page-{number:02}" for number in range(9))]  # as a release orders them
    with prepared(GradingSite(tmp_path), names) as site:
        grading = site.hands(f"submit({names!r}, {EMAIL!r})")
        worker = start_worker(site.env, tmp_path / "worker.log")
        try:
            found = site.ended(grading, seconds=150)
        finally:
            kill_group(worker)
    why = {
        "dies": "the worker crashed or ran out of memory each time",
        "grows": "the scorer stopped with MemoryError",
    }
    assert found["state"] == "failed"
    assert found["error"] == f"1 of 10 items cannot be graded: “{failing}” ({why[failing]})"
    assert found["items"] == names[1:]
    assert found["scores"] == {}, "no figure is made up of a part"
    assert set(found["jobs"]) == {"done", "failed"}
    log = "\n".join(found["log"])
    if failing == "dies":
        assert "Items 1 to 4: the worker was lost in attempt 3" in log
        assert "Item 1: failed after 3 attempts (The worker was lost" in log
    else:
        assert "attempt 1 failed (item “grows” cannot be scored (MemoryError)), next attempt" in log
    assert not any(secret in log for secret in SECRETS)


@pytest.fixture
def own_redis() -> Iterator[OwnRedis]:
    broker = OwnRedis()
    yield broker
    broker.kill()


def upload(site: GradingSite, token: str, content: str) -> int:
    """Submits by the API as a script would; the submission's id."""
    edge = "edge"
    fields = {"name": "Reader", "category": "other"}
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = 'Content-Disposition: form-data; name="file"; filename="predictions.jsonl"'
    parts.append(f"--{edge}\r\n{head}\r\n\r\n{content}\r\n--{edge}--\r\n")
    request = urllib.request.Request(
        f"{site.url}/api/v1/boards/board/submissions/",
        data="".join(parts).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": f"multipart/form-data; boundary={edge}",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return int(json.load(answer)["id"])


def read(site: GradingSite, token: str, submission: int) -> Any:
    """The submission as its owner reads it by the API."""
    request = urllib.request.Request(
        f"{site.url}/api/v1/submissions/{submission}/?{urlencode({'format': 'json'})}",
        headers={"Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["grading"]


TOKEN = (
    "import json\n"
    "from portal.accounts.models import User\n"
    "from portal.accounts.access import issue_token\n"
    f"print(json.dumps(issue_token(user=User.objects.get(email={EMAIL!r}), name='t')[1]))"
)


@pytest.mark.services
def test_worker_web_server_and_redis_killed_mid_grade_lose_and_double_nothing(
    services: Env,  # noqa: F811
    own_redis: OwnRedis,
    tmp_path: Path,
) -> None:
    names = [f"page-{number:03}" for number in range(80)]
    broker = f"redis://127.0.0.1:{own_redis.port}/0"
    urls = {"DATABASE_URL": services["DATABASE_URL"], "CELERY_BROKER_URL": broker}
    site = GradingSite(tmp_path, **urls)
    # The database has the queue's tables already, from the probe's settings.
    site = prepared(site, names)
    token = site.shell(TOKEN)
    log = tmp_path / "worker.log"

    def done() -> int:
        return int(read(site, token, submission)["items_done"])

    site.start_web()
    worker = start_worker(site.env, log)
    try:
        content = site.hands(f"predictions({names!r})")
        submission = upload(site, token, content)
        wait_until(lambda: done() >= 8, seconds=60, what="grading has begun")
        kill_group(worker)
        site.kill_web()
        own_redis.kill()
        site.start_web()  # without a broker it serves and says what happened
        before = read(site, token, submission)
        assert before["state"] == "running"
        assert before["items_done"] < len(names), "all was done before the kill"
        own_redis.start()
        worker = start_worker(site.env, log)
        wait_until(lambda: done() >= len(names) - 30, seconds=90, what="it went on")
        own_redis.kill()
        wait_until(
            lambda: read(site, token, submission)["state"] == "done",
            seconds=90,
            what="graded although Redis was killed again",
        )
        told = read(site, token, submission)
        again = site.hands(f"submit({names!r}, {EMAIL!r})")
        own_redis.start()
        undisturbed = site.ended(again)
        first = site.hands(f"state({again - 1})")
    finally:
        kill_group(worker)
        site.stop()
    assert (first["doubles"], first["done twice"]) == (0, 0)
    assert first["items"] == names
    assert first["scores"] == undisturbed["scores"] != {}
    stages = [line["text"] for line in told["stages"]]
    assert any(text.endswith("the worker was lost in attempt 1") for text in stages), stages
    assert any(text.endswith("started again, attempt 2") for text in stages), stages
    assert "20 chunks done" in stages
