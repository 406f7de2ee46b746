"""A scripted judge and whatever asks it, with waits too short to be felt."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from scoring.judge.asking import Asker, FolderCache
from scoring.judge.client import Client
from scoring.judge.endpoint import Backoff, Budget, Endpoint

from .server import MODEL, JudgeServer, serve

AskerOf = Callable[..., Asker]


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with serve() as judge:
        yield judge


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
