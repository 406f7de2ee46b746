"""A scripted judge."""

from collections.abc import Iterator

import pytest

from tests.scoring.judge.server import JudgeServer, serve


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with serve() as judge:
        yield judge
