"""The way to a site: retries, redirects, errors, and a token that is never shown."""

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from factboard.cli import parser
from factboard.client import (
    Client,
    NotAllowedError,
    NotFoundError,
    RefusedError,
    SiteError,
    UnreachableError,
)
from factboard.client import connection as connection_module
from factboard.client.settings import open_client
from scoring.offline.terminal import BadInput

TOKEN = "secret-token-of-the-tests"
BOARD = {"slug": "b", "title": "B", "benchmark": "findoc"}
Handler = Callable[[httpx2.Request], httpx2.Response]


def client_of(handler: Handler, site: str = "https://facts.example") -> Client:
    return Client(site, TOKEN, transport=httpx2.MockTransport(handler), sleep=lambda _: None)


def answers(*responses: httpx2.Response | Exception) -> tuple[Handler, list[httpx2.Request]]:
    """A site that gives these answers in turn, and the requests that it got."""
    asked: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        response = responses[len(asked)]
        request.read()
        asked.append(request)
        if isinstance(response, Exception):
            raise response
        return response

    return handler, asked


def test_the_token_is_sent_and_not_shown() -> None:
    handler, asked = answers(httpx2.Response(200, json=BOARD))
    client = client_of(handler)
    assert client.board("b").title == "B"
    assert asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in repr(client) + repr(vars(client))


@pytest.mark.parametrize(
    "response",
    [
        httpx2.Response(403, json={"detail": f"{TOKEN} is wrong"}),
        httpx2.Response(400, json={"file": [f"{TOKEN} is wrong"]}),
        httpx2.ReadError(f"{TOKEN} is wrong"),
    ],
)
def test_an_echoed_token_is_masked(response: httpx2.Response | Exception) -> None:
    handler, _ = answers(*[response] * 4)
    with pytest.raises(SiteError, match="… is wrong") as caught:
        client_of(handler).board("b")
    assert TOKEN not in str(caught.value) + repr(caught.value) + str(caught.value.messages)


def test_a_token_with_a_line_break_is_refused_without_it() -> None:
    with pytest.raises(NotAllowedError) as caught:
        Client("https://facts.example", "abc\nHost: evil")
    assert "abc" not in str(caught.value)


def test_busy_and_broken_answers_are_asked_again() -> None:
    handler, asked = answers(
        httpx2.Response(503),
        httpx2.ReadError("broken"),
        httpx2.Response(429, headers={"retry-after": "1"}),
        httpx2.Response(200, json=BOARD),
    )
    assert client_of(handler).board("b").slug == "b"
    assert len(asked) == 4


def test_a_site_that_stays_down_is_named() -> None:
    refused = httpx2.ConnectError("no")
    refused.__cause__ = ConnectionRefusedError()
    handler, asked = answers(*[refused] * 4)
    with pytest.raises(UnreachableError, match=r"facts\.example cannot be reached: .*was refused"):
        client_of(handler).board("b")
    assert len(asked) == 4


def test_publishing_is_not_repeated() -> None:
    handler, asked = answers(httpx2.ReadError("broken"))
    with pytest.raises(UnreachableError, match=r"facts\.example failed"):
        client_of(handler).publish(1)
    assert len(asked) == 1


def test_a_submission_is_repeated_with_the_same_key_and_the_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_text('{"id": "a"}\n')
    handler, asked = answers(httpx2.ReadError("broken"), httpx2.Response(409, json={"detail": "x"}))
    with pytest.raises(RefusedError):
        client_of(handler).submit("b", file)
    bodies = [
        request.content.replace(request.headers["content-type"].split("=")[1].encode(), b"")
        for request in asked
    ]
    assert bodies[0] == bodies[1]
    assert b'{"id": "a"}\n' in bodies[1]
    assert b'name="key"' in bodies[1]


def test_an_upload_is_streamed(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_bytes(b"x" * 5_000_000)
    largest = 0

    class Reading(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            nonlocal largest
            assert isinstance(request.stream, httpx2.SyncByteStream)
            largest = max(len(piece) for piece in request.stream)
            return httpx2.Response(409, json={"detail": "no"})

    with pytest.raises(RefusedError), Client("https://a.example", transport=Reading()) as client:
        client.submit("b", file)
    assert 0 < largest < 1_000_000


def test_a_redirect_to_another_host_is_refused_and_gets_no_token() -> None:
    handler, asked = answers(httpx2.Response(302, headers={"location": "https://evil.example/x"}))
    with pytest.raises(SiteError, match=r"redirects to https://evil\.example"):
        client_of(handler).board("b")
    assert [request.url.host for request in asked] == ["facts.example"]


def test_a_redirect_to_plain_http_is_refused() -> None:
    handler, asked = answers(httpx2.Response(301, headers={"location": "http://facts.example/x"}))
    with pytest.raises(SiteError, match=r"redirects to http://facts\.example"):
        client_of(handler).board("b")
    assert len(asked) == 1


def test_a_redirect_within_the_site_is_followed() -> None:
    moved = httpx2.Response(301, headers={"location": "/api/v1/boards/c/"})
    handler, asked = answers(moved, httpx2.Response(200, json=BOARD))
    assert client_of(handler).board("b").slug == "b"
    assert asked[1].url.path == "/api/v1/boards/c/"


def test_redirects_in_a_circle_end() -> None:
    moved = [httpx2.Response(301, headers={"location": "/again/"}) for _ in range(20)]
    handler, _ = answers(*moved)
    with pytest.raises(UnreachableError, match="too many times"):
        client_of(handler).board("b")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"\xff", b""])
def test_an_answer_that_is_no_json_object(body: bytes) -> None:
    handler, _ = answers(httpx2.Response(200, content=body))
    with pytest.raises(UnreachableError, match="not from a Factboard site"):
        client_of(handler).board("b")


def test_an_answer_without_a_field_names_it() -> None:
    handler, _ = answers(httpx2.Response(200, json={"slug": "b", "title": "B"}))
    with pytest.raises(UnreachableError, match=r"benchmark: Field required"):
        client_of(handler).board("b")


def test_an_endless_answer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "MOST_BYTES", 1000)
    handler, _ = answers(httpx2.Response(200, content=b" " * 1001))
    with pytest.raises(UnreachableError, match="larger than 1,000 bytes"):
        client_of(handler).board("b")


def test_names_cannot_leave_their_place_in_the_path() -> None:
    handler, asked = answers(httpx2.Response(404, json={"detail": "Not found."}))
    with pytest.raises(NotFoundError, match="Not found"):
        client_of(handler).board("../../admin?x=")
    assert asked[0].url.raw_path == b"/api/v1/boards/..%2F..%2Fadmin%3Fx%3D/"


@pytest.mark.parametrize(
    "site", ["", "ftp://facts.example", "https://", "https://u:p@facts.example"]
)
def test_a_site_that_is_no_url(site: str) -> None:
    with pytest.raises(UnreachableError, match=r"must be a URL|must not contain a user"):
        Client(site)


def test_a_site_in_a_folder() -> None:
    handler, asked = answers(httpx2.Response(200, json=BOARD))
    client_of(handler, "https://example.org/facts/").board("b")
    assert asked[0].url.path == "/facts/api/v1/boards/b/"


# --- settings ---------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("FACTBOARD_SITE", "FACTBOARD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "factboard" / "config.toml"
    path.parent.mkdir()
    path.write_text(f'site = "https://facts.example"\ntoken = "{TOKEN}"\n')
    path.chmod(0o600)
    return path


def opened(*arguments: str) -> Client:
    return open_client(parser().parse_args(["boards", *arguments]))


def token_of(client: Client) -> str:
    return client._connection._token


def test_the_configuration_file_names_site_and_token(config: Path) -> None:
    client = opened()
    assert (client.site, token_of(client)) == ("https://facts.example", TOKEN)


def test_the_token_of_one_site_is_not_sent_to_another(config: Path) -> None:
    assert token_of(opened("--site", "https://other.example")) == ""


def test_a_token_file_comes_before_the_environment(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FACTBOARD_TOKEN", "from-environment")
    assert token_of(opened()) == "from-environment"
    file = tmp_path / "token"
    file.write_text("from-file\n")
    assert token_of(opened("--token-file", str(file))) == "from-file"


def test_a_configuration_file_that_others_can_read_is_refused(config: Path) -> None:
    config.chmod(0o644)
    with pytest.raises(BadInput, match="chmod 600") as caught:
        opened()
    assert TOKEN not in str(caught.value)


def test_a_configuration_file_that_is_broken_is_not_quoted(config: Path) -> None:
    config.write_text(f"token = {TOKEN}\n")
    with pytest.raises(BadInput, match="is not valid TOML") as caught:
        opened()
    assert TOKEN not in str(caught.value)


def test_without_a_site_the_command_says_how_to_name_one(config: Path) -> None:
    config.unlink()
    with pytest.raises(BadInput, match="--site URL"):
        opened()
