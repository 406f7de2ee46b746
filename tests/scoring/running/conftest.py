"""A board whose endpoint is a scripted model on this machine."""

from collections.abc import Iterator
from typing import Any

import pytest

from scoring.models import Board
from tests.scoring.judge.server import JudgeServer, serve

from .models import Reader, board_with_images, give_endpoint


@pytest.fixture
def one_attempt(settings: Any) -> None:
    settings.JUDGE_ATTEMPTS = 1


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def server(reader: Reader) -> Iterator[JudgeServer]:
    with serve(reader) as running:
        yield running


@pytest.fixture
def board_with_endpoint(db: None, one_attempt: None, server: JudgeServer) -> Board:
    made = board_with_images()
    give_endpoint(made, server.url)
    return made
