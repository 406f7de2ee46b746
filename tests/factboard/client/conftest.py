"""Clients of the site in this process, without the network."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import httpx2
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from factboard import Client
from factboard.cli import main
from factboard.client import settings as client_settings
from portal.accounts.access import issue_token
from portal.accounts.models import User
from tests.scoring.conftest import board, graded, queued
from tests.worlds import _worlds_end, pytest_fixture_setup

__all__ = ["_worlds_end", "board", "graded", "pytest_fixture_setup", "queued"]

SITE = "http://testserver"
ClientFor = Callable[..., Client]


class Done(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def site() -> Iterator[httpx2.BaseTransport]:
    """The site's WSGI application on the connection of the test, which requests must not close."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield httpx2.WSGITransport(app=WSGIHandler())
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def client_for(site: httpx2.BaseTransport) -> Iterator[ClientFor]:
    """A client with a token of the user, or without one for None."""
    opened: list[Client] = []

    def make(user: User | None, transport: httpx2.BaseTransport = site) -> Client:
        token = "" if user is None else issue_token(user=user, name="cli")[1]
        opened.append(Client(SITE, token, transport=transport, sleep=lambda _: None))
        return opened[-1]

    yield make
    for client in opened:
        client.close()


@pytest.fixture
def command(
    site: httpx2.BaseTransport,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """Runs the command `factboard` against the site, with the token of a user."""
    monkeypatch.delenv("FACTBOARD_TOKEN", raising=False)
    monkeypatch.setenv("FACTBOARD_SITE", SITE)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setattr(
        client_settings, "Client", partial(Client, transport=site, sleep=lambda _: None)
    )

    def run(*arguments: object, user: User | None = None, token: str = "") -> Done:
        if user is not None:
            token = issue_token(user=user, name="cli")[1]
        if token:
            monkeypatch.setenv("FACTBOARD_TOKEN", token)
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        assert not token or token not in out + err
        return Done(code, out, err)

    return run
