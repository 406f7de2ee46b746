"""A scripted judge and whatever asks it, with waits too short to be felt."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scoring.judge.asking import Asker, FolderCache
from scoring.judge.client import Client
from scoring.judge.endpoint import Backoff, Budget, Endpoint

from .server import MODEL, JudgeServer, serve

AskerOf = Callable[..., Asker]
Command = Callable[..., tuple[int, str, str]]


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with serve() as judge:
        yield judge


@pytest.fixture
def command(
    server: JudgeServer, settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command of manage.py against the scripted judge: exit code, output and errors."""
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = server.url, MODEL
    settings.JUDGE_CACHE, settings.JUDGE_ATTEMPTS = tmp_path / "answers", 1
    settings.JUDGE_PRICE_INPUT, settings.JUDGE_PRICE_OUTPUT = 2.0, 10.0

    def call(name: str, benchmark: str, **options: Any) -> tuple[int, str, str]:
        code = 0
        try:
            call_command(name, benchmark, **options)
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def files(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The GOLD and READ of the module, as files."""
    return {
        "gold": lines(tmp_path / "gold.jsonl", request.module.GOLD),
        "submission": lines(tmp_path / "sub.jsonl", request.module.READ),
    }


@pytest.fixture
def cache(tmp_path: Path) -> FolderCache:
    return FolderCache(tmp_path / "answers")


@pytest.fixture
def asker_of(server: JudgeServer, cache: FolderCache) -> Iterator[AskerOf]:
    with ExitStack() as stack:

        def make(
            *,
            budget: Budget | None = None,
            timeout: float = 5.0,
            attempts: int = 3,
            url: str = "",
        ) -> Asker:
            backoff = Backoff(attempts=attempts, first=0.001, most=0.01)
            endpoint = Endpoint(
                url or server.url, MODEL, "secret-key", timeout=timeout, backoff=backoff
            )
            client = Client(endpoint, budget or Budget())
            stack.callback(client.close)
            return Asker(client, cache)

        yield make
